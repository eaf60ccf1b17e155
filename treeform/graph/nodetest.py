"""The tests of a graph, one value each: a column, a linear form, or a pass-through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeform.graph.forms import LinearForm
from treeform.utils.arrays import Floats


@dataclass(frozen=True)
class NodeTest:
    """What one inner node tests. Exactly one of `column` and `form` is None."""

    node: int
    """Its position in the arrays of the graph."""
    column: int | None
    """Encoded feature of a univariate test."""
    form: LinearForm | None
    """Weighted sum of a multivariate test; the empty form of a pass-through."""
    threshold: float
    """Samples with a value of at most this go left; 0 at a pass-through."""

    @property
    def passes(self) -> bool:
        """Whether the node is a pass-through, which reads no column."""
        return self.form is not None and not self.form.features

    @property
    def columns(self) -> tuple[int, ...]:
        """Encoded features that the test reads: one, several, or none at a pass-through."""
        if self.form is not None:
            return self.form.features
        assert self.column is not None
        return (self.column,)

    def weight(self, column: int) -> float:
        """Weight of an encoded feature in what is compared with the threshold; 0.0 if it is not read."""
        if self.form is None:
            return 1.0 if column == self.column else 0.0
        return dict(zip(self.form.features, self.form.weights, strict=True)).get(column, 0.0)


def node_tests(
    feature: NDArray[np.int32], threshold: Floats, forms: Sequence[LinearForm], n_features: int
) -> tuple[NodeTest, ...]:
    """See `DecisionGraph.tests`."""
    made = []
    for node in np.flatnonzero(feature >= 0).tolist():
        read = int(feature[node])
        form = forms[read - n_features] if read >= n_features else None
        made.append(NodeTest(node, read if form is None else None, form, float(threshold[node])))
    return tuple(made)
