"""What the SAT components share while they build, and what reads the solver's answer back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeform.data import Dataset
from treeform.formulations.sat.examples import refuse_contradictions
from treeform.language.ports import Ports, Shared
from treeform.model import Expr
from treeform.utils.arrays import Bools, Ints


def _no_literals() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass
class Order:
    """Thresholds of the nodes in the ordered encoding, with one literal per distinct value of a column."""

    column: Ints
    """ndarray of int64, shape (u,): columns of the data that have tests."""
    first: Ints
    """ndarray of int64, shape (u + 1,): where the values of each begin among all values."""
    first_test: Ints
    """ndarray of int64, shape (u,): the first test of each; test ``first_test[c] + j`` sends the values of rank ``<=
    j`` to the left."""
    value: Ints
    """ndarray of int64, shape (P, u): each point's value in each column, as a position among all values."""
    O: Ints = field(default_factory=_no_literals)  # noqa: E741
    """ndarray of int64, shape (2^k - 1, values): the node sends this value to the left if it tests its column."""

    @property
    def n_values(self) -> int:
        return int(self.first[-1])


@dataclass
class LeafCount:
    """A unary counter of the leaves that have a class."""

    U: Ints
    """ndarray of int64, shape (2^k,): leaf ``v`` has a class."""
    H: Ints
    """ndarray of int64, shape (2^k + 1, 2^k + 1): at least ``j`` of the first ``i`` leaves have one."""
    labelled: Expr
    """(2^k,): ``U`` as an expression, for the objective."""


@dataclass
class Formula(Shared, publisher="NodeFeatures"):
    """Literals of the perfect tree, by the paper's letters.

    Signed literals are ``+-(col + 1)``. "Points" are the distinct feature vectors of the data, "tests" the
    distinct Boolean features ``x <= threshold`` that separate some of them (false is left, true is right).
    """

    depth: int
    """``k``; there are ``2^k - 1`` nodes in heap order and ``2^k`` leaves from left to right."""
    right: Bools
    """ndarray of bool, shape (P, m): ``e_i[f]``: test ``f`` sends point ``i`` to the right."""
    feature: Ints
    threshold: np.ndarray
    """ndarray, shape (m,): the tests in terms of the data."""
    truth: Ints
    """ndarray of int64, shape (P,): class of each point; -1 where rows of several classes share it."""
    consistent: bool
    """No training error is allowed. Then the points that are not in the formula yet may be added later."""
    F: Ints = field(default_factory=_no_literals)
    """ndarray of int64, shape (2^k - 1, m): one literal per test; per column of the data (2^k - 1, number of columns
    with tests) with `order`."""
    order: Order | None = None
    """Where each node holds its threshold as an ordered number."""
    A: Ints | None = None
    """ndarray of int64, shape (2^k - 1,), or None: node is used; None when every node is."""
    B: Ints | None = None
    """ndarray of int64, shape (2^k - 1,), or None: node makes a test, and is no pass-through; None when there are no
    pass-throughs."""
    X: Ints = field(default_factory=_no_literals)
    """ndarray of int64, shape (P, k): 0 for points that are not in the formula."""
    C: Ints = field(default_factory=_no_literals)
    """ndarray of int64, shape (2^k, c)"""
    leaf_count: LeafCount | None = None
    links: dict[str, Ints] = field(default_factory=dict)
    """Literals of further variables of the points, by port: they follow from the others."""
    by_column: dict[int, Ints] = field(default_factory=dict)
    """Literals "node tests column f of the data", for columns with several tests."""

    @property
    def n_nodes(self) -> int:
        return (1 << self.depth) - 1

    @property
    def n_leaves(self) -> int:
        return 1 << self.depth

    @property
    def n_tests(self) -> int:
        return len(self.feature)

    @property
    def per_node(self) -> int:
        """Clauses of (3)-(4) for one example and node."""
        return self.n_tests if self.order is None else 2 * len(self.order.column)

    @property
    def inside(self) -> Ints:
        """The points that are in the formula."""
        return np.flatnonzero(self.X[:, 0])

    def level(self, level: int) -> slice:
        """The nodes of a level in heap order."""
        return slice(2**level - 1, 2 ** (level + 1) - 1)


def publish_formula(ports: Ports, ordered: bool) -> Formula:
    """The formula, still without literals; ``ordered``: thresholds are ordered numbers.

    Of several tests that part the samples alike one stands for all, unless `feature` is read or the
    tests of a column are taken in order.
    """
    consistent = ports.limits.max_errors == 0
    if consistent:
        refuse_contradictions(ports.data)
    splits = ports.data.splits(None if ordered or "feature" in ports.wanted else "global")
    weights = np.asarray(ports.points.weights)
    pure = (weights > 0).sum(axis=1) == 1
    feature = np.asarray(splits.feature, dtype=np.int64)
    return ports.shared.publish(
        Formula(
            depth=ports.shape.depth,
            right=~np.asarray(splits.left, dtype=bool).T,
            feature=feature,
            threshold=np.asarray(splits.threshold, dtype=np.float64),
            truth=np.where(pure, weights.argmax(axis=1), -1).astype(np.int64),
            consistent=consistent,
            order=_order(ports.data, feature) if ordered else None,
        )
    )


def _order(data: Dataset, feature: Ints) -> Order:
    column, first_test, tests = np.unique(feature, return_index=True, return_counts=True)
    first = np.concatenate([[0], np.cumsum(tests + 1)])
    ranks = np.empty((data.points.n_points, len(column)), dtype=np.int64)
    ranks[np.asarray(data.points.index)] = np.asarray(data.ranks.codes)[:, column]
    return Order(column, first.astype(np.int64), first_test.astype(np.int64), ranks + first[:-1])
