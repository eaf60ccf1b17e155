"""How rows move through a graph: counts at nodes, visits, and the sides that are taken."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import Column
from treeform.data.dataset import Dataset
from treeform.data.encode import Encoder
from treeform.data.views import chunks
from treeform.graph.forms import LinearForm
from treeform.utils.arrays import Bools, Floats

Indices = NDArray[np.int64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Nodes(ABC):
    """The arrays by which rows are routed; see `DecisionGraph`."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    label: Ints
    columns: tuple[Column, ...]
    classes: NDArray[Any]
    encoder: Encoder | None = None
    counts: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    forms: tuple[LinearForm, ...] = ()

    @abstractmethod
    def tested(self, X: Floats) -> Floats:
        """The matrix that tests read: the encoded columns, and the forms beside them."""

_CELLS = 2**16
"""Of the rows that are copied at a time."""


class Routed:
    """Computed facts about the rows of one data set in one graph, which never change; kept beside the graph.

    A candidate is simplified, brought to its normal form and judged: each of these asks the same of the same rows.

    ``counted``: the counts of the graph are those of these rows. ``leaf_of_point``, (P,) int32: the leaf that each of
    the merged points reaches. ``carried``, (N, 2) int64: the weight of the rows along each arc. ``reaching``, (N, K)
    int64: the weight of each class that reaches each node.
    """

    def __init__(self, data: Dataset) -> None:
        self._data = weakref.ref(data)
        self.counted = False
        self.leaf_of_point: Ints | None = None
        self.carried: Indices | None = None
        self.reaching: Indices | None = None

    @classmethod
    def of(cls, graph: Nodes, data: Dataset) -> Routed:
        """Computed facts about `data`; none yet where the graph was last asked about other rows."""
        known = vars(graph).get(ROUTED)
        if known is None or known._data() is not data:
            known = vars(graph)[ROUTED] = cls(data)
        return known

    @classmethod
    def leaf_known(cls, graph: Nodes, X: object) -> Indices | None:
        """The leaf that each row of `X` reaches, if `X` is the matrix of the data set last asked about."""
        known: Routed | None = vars(graph).get(ROUTED)
        if known is None:
            return None
        data = known._data()
        if data is None or X is not data.X:
            return None
        if len(graph.feature) == 1:
            return np.zeros(data.n_samples, dtype=np.int64)
        if known.leaf_of_point is None:
            return None
        return known.leaf_of_point[data.points.index].astype(np.int64)


def leaf_of_point(graph: Nodes, data: Dataset) -> Ints:
    """The leaf that each of the merged points of `data` reaches: (P,) int32."""
    known = Routed.of(graph, data)
    if known.leaf_of_point is None:
        _move(graph, data)
    assert known.leaf_of_point is not None
    return known.leaf_of_point


ROUTED = "_routed"
"""Where a graph holds its `Routed`: no field, and in no file."""


def steps(graph: Nodes, matrix: Floats) -> Iterator[tuple[Indices, Indices]]:
    """The rows of a matrix that `Nodes.tested` made, and where they are: all at the root, then those that go on."""
    rows, node = np.arange(len(matrix)), np.zeros(len(matrix), dtype=np.int64)
    while rows.size:
        yield rows, node
        going = graph.feature[node] >= 0
        rows, node = rows[going], node[going]
        left = matrix[rows, graph.feature[node]] <= graph.threshold[node]
        node = np.where(left, graph.left[node], graph.right[node]).astype(np.int64)


def leaf_of_row(graph: Nodes, X: Floats) -> Indices:
    """The leaf that each row of the encoded matrix reaches: (m,) int64."""
    return moved(graph, X, np.empty((len(X), 0), dtype=np.int64))[0].astype(np.int64)


def _parts(graph: Nodes, X: Floats) -> Iterator[slice]:
    """The rows, some at a time where a test reads a form: its values are beside a copy of the columns."""
    return chunks(len(X), X.shape[1], _CELLS) if graph.forms else iter((slice(0, len(X)),))


def visits(graph: Nodes, X: Floats) -> Bools:
    """Nodes that each row of the encoded matrix visits: (m, N) bool."""
    seen = np.zeros((len(X), len(graph.feature)), dtype=bool)
    for pairs in steps(graph, graph.tested(X)):
        seen[pairs] = True
    return seen


def counts(graph: Nodes, data: Dataset) -> NDArray[np.int64]:
    """Weight of each class of `data` that reaches each node, in weight units: (N, K) int64.

    Where there is no test, no row is moved, and equal rows of a large table need not be found.
    """
    known = Routed.of(graph, data)
    if known.reaching is None:
        if len(graph.feature) > 1:
            _move(graph, data)
        else:
            known.carried, known.reaching = np.zeros((1, 2), dtype=np.int64), data.class_weights[None]
    assert known.reaching is not None
    return known.reaching


def _move(graph: Nodes, data: Dataset) -> None:
    """Move the merged points once: what each arc carries gives the counts and the sides taken."""
    known = Routed.of(graph, data)
    known.leaf_of_point, carried, known.reaching = moved(graph, data.points.X, data.points.weights)
    known.carried = carried.sum(axis=2)
    for shared in (known.carried, known.reaching):
        shared.setflags(write=False)


def moved(graph: Nodes, X: Floats, weights: Indices) -> tuple[Ints, Indices, Indices]:
    """The leaf of each encoded row, (m,), and weights that leave the sides and reach nodes: (N, 2, K), (N, K)."""
    from treeform import _core

    arrays, size = (graph.feature, graph.threshold, graph.left, graph.right), len(graph.feature)
    leaf = np.zeros(len(X), dtype=np.int32)
    carried = np.zeros(2 * size * weights.shape[1], dtype=np.int64)
    reaching = np.zeros(size * weights.shape[1], dtype=np.int64)
    for part in _parts(graph, X):
        matrix = np.ascontiguousarray(graph.tested(X[part]))
        leaf[part], sides, nodes = _core.move_rows(matrix, weights[part], *arrays)
        carried += sides
        reaching += nodes
    return leaf, carried.reshape(size, 2, weights.shape[1]), reaching.reshape(size, weights.shape[1])


def sides_taken(graph: Nodes, data: Dataset) -> Bools:
    """Whether some row of `data` leaves each node by its left and by its right side: (N, 2) bool."""
    return arc_weights(graph, data) > 0


def arc_weights(graph: Nodes, data: Dataset) -> Indices:
    """Weight of the rows of `data` along the left and the right arc of each node, in weight units: (N, 2) int64."""
    counts(graph, data)  # finds both
    carried = Routed.of(graph, data).carried
    assert carried is not None
    return carried


def goes_left(graph: Nodes, X: Floats) -> Bools:
    """Whether each row of the encoded matrix would go left at each node: (m, N) bool, False at leaves."""
    tests = np.flatnonzero(graph.feature >= 0)
    out = np.zeros((len(X), len(graph.feature)), dtype=bool)
    for part in chunks(len(X), max(len(tests), X.shape[1])):
        out[part, tests] = graph.tested(X[part])[:, graph.feature[tests]] <= graph.threshold[tests]
    return out


def codes_of_points(graph: Nodes, data: Dataset) -> NDArray[np.int64]:
    """Class code of each of the merged points of the data: (P,) int64; see `Dataset.points`."""
    return graph.label[leaf_of_point(graph, data)].astype(np.int64)
