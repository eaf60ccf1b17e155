"""Regression trees: pystreed and CART beside the exact search."""
