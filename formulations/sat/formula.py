"""What the SAT components share while they build, and what reads the solver's answer back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from treeform.formulations.sat.clauses import Bools, Ints
from treeform.formulations.sat.examples import refuse_contradictions

if TYPE_CHECKING:
    from treeform.ports import Ports

KEY = "sat"


def _no_literals() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass
class Formula:
    """Literals of the perfect tree, by the paper's letters.

    Signed literals are ``+-(col + 1)``. "Points" are the distinct feature vectors of the data, "tests" the
    distinct Boolean features ``x <= threshold`` that separate some of them (false is left, true is right).

    Attributes
    ----------
    depth : int
        ``k``; there are ``2^k - 1`` nodes in heap order and ``2^k`` leaves from left to right.
    right : ndarray of bool, shape (P, m)
        ``e_i[f]``: test ``f`` sends point ``i`` to the right.
    feature, threshold : ndarray, shape (m,)
        The tests in terms of the data.
    truth : ndarray of int64, shape (P,)
        Class of each point; -1 where rows of several classes share it.
    consistent : bool
        No training error is allowed. Then the points that are not in the formula yet may be added later.
    F : ndarray of int64, shape (2^k - 1, m)
    A : ndarray of int64, shape (2^k - 1,), or None
        Node is used; None when every node is.
    X : ndarray of int64, shape (P, k)
        0 for points that are not in the formula.
    C : ndarray of int64, shape (2^k, c)
    """

    depth: int
    right: Bools
    feature: Ints
    threshold: np.ndarray
    truth: Ints
    consistent: bool
    F: Ints = field(default_factory=_no_literals)
    A: Ints | None = None
    X: Ints = field(default_factory=_no_literals)
    C: Ints = field(default_factory=_no_literals)
    leaf_count: tuple[Ints, Ints] | None = None
    """``U_v`` (2^k,) and ``H_ij`` (2^k + 1, 2^k + 1), where leaves with a class are counted."""
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
    def inside(self) -> Ints:
        """The points that are in the formula."""
        return np.flatnonzero(self.X[:, 0])

    def level(self, level: int) -> slice:
        """The nodes of a level in heap order."""
        return slice(2**level - 1, 2 ** (level + 1) - 1)


def formula_of(t: Ports) -> Formula:
    """The formula under construction; made by the first component that asks.

    Of several tests that part the samples alike one stands for all, unless somebody reads `feature`.
    """
    if KEY not in t.state:
        consistent = t.facts.get("max_errors") == 0
        if consistent:
            refuse_contradictions(t.data)
        splits = t.data.splits(None if "feature" in t.wanted else "global")
        weights = np.asarray(t.points.weights)
        pure = (weights > 0).sum(axis=1) == 1
        t.state[KEY] = Formula(
            depth=t.shape.depth,
            right=~np.asarray(splits.left, dtype=bool).T,
            feature=np.asarray(splits.feature, dtype=np.int64),
            threshold=np.asarray(splits.threshold, dtype=np.float64),
            truth=np.where(pure, weights.argmax(axis=1), -1).astype(np.int64),
            consistent=consistent,
        )
    formula: Formula = t.state[KEY]
    return formula
