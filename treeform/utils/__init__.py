"""Helpers that know nothing of problems: texts, arguments, settings, files, progress, the machine, extensions."""
