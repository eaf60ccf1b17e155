"""Sweeps: what runs learn from their neighbours."""
