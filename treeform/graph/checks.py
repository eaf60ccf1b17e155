"""What makes the arrays of a `FlatGraph` no decision graph."""

from __future__ import annotations

from typing import Any, Protocol

from treeform.graph import forms, structure


class Parts(Protocol):
    """What is checked; see `DecisionGraph`."""

    @property
    def feature(self) -> Any: ...
    @property
    def threshold(self) -> Any: ...
    @property
    def left(self) -> Any: ...
    @property
    def right(self) -> Any: ...
    @property
    def label(self) -> Any: ...
    @property
    def columns(self) -> tuple[Any, ...]: ...
    @property
    def classes(self) -> Any: ...
    @property
    def counts(self) -> Any: ...
    @property
    def moments(self) -> Any: ...
    @property
    def values(self) -> tuple[Any, ...]: ...
    @property
    def forms(self) -> tuple[forms.LinearForm, ...]: ...
    @property
    def passes(self) -> Any: ...


def fault(graph: Parts) -> str | None:
    """The first thing that is wrong, or None."""
    size, outcomes = len(graph.feature), len(graph.values or graph.classes)
    arrays = (graph.feature, graph.threshold, graph.left, graph.right, graph.label)
    n_features = len(graph.columns) + len(graph.forms)
    wrong = structure.fault(*arrays, n_features=n_features, n_classes=outcomes)
    if wrong is None and graph.forms:
        wrong = forms.fault(graph.forms, len(graph.columns)) or forms.fault_of_passes(
            graph.passes, graph.threshold, graph.left, graph.right
        )
    if wrong is None and graph.counts.shape != (size, len(graph.classes)):
        wrong = f"counts has shape {graph.counts.shape}"
    if wrong is None and graph.moments.shape != (size, 2):
        wrong = f"moments has shape {graph.moments.shape}"
    return wrong
