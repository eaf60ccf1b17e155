"""Small diagrams with pass-throughs that several test files share."""

from __future__ import annotations

from typing import Any

import pandas as pd

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.shape import Diagram

A = {"feature": 0, "threshold": 0.5}
B = {"feature": 1, "threshold": 0.5}
LEAVES = {"no": {"label": 0}, "yes": {"label": 1}}
XOR = Dataset.from_user(pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}), [0, 1, 1, 0])
NARROW = Diagram(1, 1, 2)
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


def xor_below(root: dict[str, Any]) -> DecisionGraph:
    """The four tests of the design document; the root hands all samples on."""
    nodes = {
        "root": root,
        "a": {**A, "left": "b0", "right": "b1"},
        "b0": {**B, "left": "no", "right": "yes"},
        "b1": {**B, "left": "yes", "right": "no"},
        **LEAVES,
    }
    return DecisionGraph.build(nodes, XOR)
