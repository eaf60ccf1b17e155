"""Data: from the user's table to exact arrays with provenance, and the views that algorithms read."""

from __future__ import annotations

from treeform.data.columns import Column
from treeform.data.conflicts import contradictions_text, contradictory_rows
from treeform.data.dataset import Dataset
from treeform.data.encode import Encoder
from treeform.data.midpoints import midpoint, midpoints
from treeform.data.views import Points, Ranks, Splits

__all__ = [
    "Column",
    "Dataset",
    "Encoder",
    "Points",
    "Ranks",
    "Splits",
    "contradictions_text",
    "contradictory_rows",
    "midpoint",
    "midpoints",
]
