"""Benchmark protocols of the papers, resumable and in parallel."""
