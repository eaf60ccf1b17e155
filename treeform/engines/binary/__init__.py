"""Exact engines for binary and binarised features: DL8.5, CA-DL8.5 and Blossom on one native core."""

from __future__ import annotations

from treeform.engines.binary.binarize import Binarised, binarise
from treeform.engines.binary.strategies import CADL85, DL85, RELAXATIONS, Blossom, rule_names

__all__ = ["CADL85", "DL85", "RELAXATIONS", "Binarised", "Blossom", "binarise", "rule_names"]
