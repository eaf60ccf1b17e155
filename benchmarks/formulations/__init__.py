"""Formulations beside each other, and what helps a solver to start."""
