"""Models that others made, as decision graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treeform.data import Dataset
from treeform.graph.decision import DecisionGraph


def is_model(given: Any) -> bool:
    """Whether ``given`` is a model that `read_model` reads, or an estimator, of which it says why it does not."""
    return isinstance(given, DecisionGraph | Mapping) or any(
        hasattr(given, name) for name in ("graph_", "tree_", "predict")
    )


def read_model(given: Any, data: Dataset) -> DecisionGraph:
    """A graph from a graph, its description (`DecisionGraph.from_dict`), or a fitted tree of treeform or scikit-learn.

    Raises SpecError if it is no model of these data.
    """
    given = getattr(given, "graph_", given)
    if isinstance(given, DecisionGraph):
        return given
    read = DecisionGraph.from_dict if isinstance(given, Mapping) else DecisionGraph.from_sklearn
    return read(given, data)
