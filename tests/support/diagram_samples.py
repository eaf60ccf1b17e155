"""Small diagrams with pass-throughs that several test files share."""

from __future__ import annotations

import pandas as pd

from treeform.data import Dataset
from treeform.graph import DecisionGraph

A = {"feature": 0, "threshold": 0.5}
B = {"feature": 1, "threshold": 0.5}
LEAVES = {"no": {"label": 0}, "yes": {"label": 1}}
LATE = Dataset.from_user(
    pd.DataFrame({"a": [0, 0, 0, 1, 1, 0, 1, 2], "b": [1, 0, 2, 2, 0, 0, 2, 1]}), [1, 0, 1, 0, 0, 0, 0, 1]
)


def handed_on_late() -> DecisionGraph:
    """Node u parts its four samples, two and two, and sends both sides to w, one layer further down."""
    nodes = {
        "root": {**A, "left": "u", "right": "v"},
        "u": {**B, "left": "w", "right": "w"},
        "v": {"feature": 1, "threshold": 1.5, "left": "w", "right": "no"},
        "w": {**B, "left": "no", "right": "yes"},
        **LEAVES,
    }
    return DecisionGraph.build(nodes, LATE)
