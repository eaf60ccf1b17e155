"""Optimal decision diagrams: the experiments of Florio et al. (AAAI 2023) with open solvers and the native search."""
