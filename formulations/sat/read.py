"""From literals to a tree and back: reading a solver's point, and placing a tree in the perfect one."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.formulations.sat.clauses import right_turns
from treeform.formulations.sat.formula import Formula
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Bools, Ints

NO_CLASS = -1


def is_true(literals: Ints, x: np.ndarray) -> Bools:
    """Truth of signed literals at a point."""
    value: Bools = x[np.abs(literals) - 1] > 0.5
    return np.asarray(value == (literals > 0), dtype=bool)


def read_tree(formula: Formula, x: np.ndarray, data: Dataset) -> DecisionGraph:
    """The tree that a point states, without leaves that have no class and tests that part no training rows.

    Tests with equal leaves stay: a requirement may depend on them.
    """
    used, test = _tests(formula, x)
    has_class = is_true(formula.C, x)
    label: Ints = np.where(has_class.any(axis=1), has_class.argmax(axis=1), NO_CLASS)

    if formula.B is not None:
        return _as_stated(formula, x, used, test, label, data)

    def below(q: int, here: Bools) -> Any:
        """Class code, (feature, threshold, low, high), or None for a tree without any class."""
        if q > formula.n_nodes:
            return None if label[q - formula.n_leaves] == NO_CLASS else int(label[q - formula.n_leaves])
        if not used[q - 1]:
            return below(2 * q, here)  # an unused node sends everything to the left
        t = test[q - 1]
        right = here & formula.right[:, t]
        left = here & ~formula.right[:, t]
        if not right.any() or not left.any():
            return below(2 * q + int(right.any()), here)
        low, high = below(2 * q, left), below(2 * q + 1, right)
        if low is None or high is None:
            return high if low is None else low
        return (int(formula.feature[t]), float(formula.threshold[t]), low, high)

    nested = below(1, np.ones(len(formula.right), dtype=bool))
    return DecisionGraph.from_nested(0 if nested is None else nested, data)


def _as_stated(
    formula: Formula, x: np.ndarray, used: Bools, test: Ints, label: Ints, data: Dataset
) -> DecisionGraph:
    """The tree with every used node as it stands, pass-throughs among them."""
    assert formula.A is not None
    in_use = is_true(formula.A, x)
    nodes: dict[int, dict[str, Any]] = {}
    for q in range(1, formula.n_nodes + formula.n_leaves + 1):
        if q > formula.n_nodes or not in_use[q - 1]:
            leaf = q << (formula.depth + 1 - q.bit_length())  # an unused node sends everything to the left
            nodes[q] = {"label": int(label[leaf - formula.n_leaves])}
        elif not used[q - 1]:
            nodes[q] = {"pass": 2 * q}
        else:
            column, cut = int(formula.feature[test[q - 1]]), float(formula.threshold[test[q - 1]])
            nodes[q] = {"feature": column, "threshold": cut, "left": 2 * q, "right": 2 * q + 1}
    return DecisionGraph.build(nodes, data)


def _tests(formula: Formula, x: np.ndarray) -> tuple[Bools, Ints]:
    """Which nodes make a test, and which one."""
    chosen = is_true(formula.F, x)
    used: Bools = np.asarray(chosen.any(axis=1))
    testing = formula.A if formula.B is None else formula.B
    if testing is not None:
        used &= is_true(testing, x)
    test: Ints = chosen.argmax(axis=1).astype(np.int64)
    if formula.order is None:
        return used, test
    order = formula.order
    lefts = np.add.reduceat(is_true(order.O, x), order.first[:-1], axis=1, dtype=np.int64)
    return used, order.first_test[test] + lefts[np.arange(len(test)), test] - 1


def place(formula: Formula, graph: DecisionGraph, data: Dataset, n_cols: int) -> np.ndarray | None:
    """A point (n_cols,) that states ``graph``, nan where ``graph`` does not determine it; None when it does not fit.

    Tests are found by how they part the training points; where the formula holds the same partition with
    sides swapped, the subtrees are swapped too. Tests that part nothing are passed over. Nodes below a leaf of
    ``graph`` repeat their parent's test, which sends everything one way, or go unused.
    """
    if graph.depth > formula.depth or not formula.n_tests:
        return None
    test = np.full(formula.n_nodes, -1)
    label = np.full(formula.n_leaves, NO_CLASS)
    known = _by_partition(formula)
    goes_right = ~graph.goes_left(data.points.X)
    todo: list[tuple[int, int]] = [(1, 0)]
    while todo:
        q, node = todo.pop()
        if graph.feature[node] < 0:
            label[_leaves_below(formula, q)] = graph.label[node]
            continue
        right = goes_right[:, node]
        if right.all() or not right.any():
            todo.append((q, int((graph.right if right.all() else graph.left)[node])))
            continue
        child = _find(known, formula, right, int(graph.feature[node]))
        if child is None:
            return None
        test[q - 1], swapped = child
        children = (int(graph.left[node]), int(graph.right[node]))
        todo += [(2 * q + s, children[s ^ swapped]) for s in (0, 1)]
    return _point(formula, test, label, n_cols)


def _leaves_below(formula: Formula, q: int) -> slice:
    """The leaves that stand for a leaf at node ``q``: all below it or, where they count, the one that is reached.

    The nodes below repeat the test above ``q``, so that they send everything to the side on which ``q`` is.
    """
    span = 1 << (formula.depth - q.bit_length() + 1)
    first, last = q * span - formula.n_leaves, (q + 1) * span - formula.n_leaves
    if formula.leaf_count is None or q == 1:
        return slice(first, last)
    return slice(last - 1, last) if q % 2 and formula.A is None else slice(first, first + 1)

Known = dict[bytes, list[tuple[int, int]]]


def _by_partition(formula: Formula) -> Known:
    """Tests by the bits of their partition, with 1 where the sides are swapped."""
    known: Known = {}
    for j, right in enumerate(formula.right.T):
        flip = int(right[0])
        known.setdefault(np.packbits(right ^ bool(flip)).tobytes(), []).append((j, flip))
    return known


def _find(known: Known, formula: Formula, right: np.ndarray, feature: int) -> tuple[int, int] | None:
    """A test with the same partition, of the same feature if there is one; and whether it is swapped."""
    flip = int(right[0])
    some = known.get(np.packbits(right ^ bool(flip)).tobytes())
    if some is None:
        return None
    j, other = min(some, key=lambda item: int(formula.feature[item[0]]) != feature)
    return j, flip ^ other


def _point(formula: Formula, test: Ints, label: Ints, n_cols: int) -> np.ndarray:
    """Values of all literals from the tests of the nodes (-1: none) and the labels of the leaves."""
    if formula.A is None:
        test[0] = max(test[0], 0)
        for q in range(2, formula.n_nodes + 1):
            if test[q - 1] < 0:
                test[q - 1] = test[q // 2 - 1]
    used = test >= 0
    x = np.full(n_cols, np.nan)
    _state_tests(x, formula, test)
    if formula.A is not None:
        _set(x, formula.A, used)
    _set(x, formula.C, label[:, None] == np.arange(formula.C.shape[1]))
    turns, passes = _walk(formula, test)
    inside = formula.inside
    _set(x, formula.X[inside], turns[inside])
    if formula.leaf_count is not None:
        has = label != NO_CLASS
        total = np.concatenate([[0], np.cumsum(has)])
        _set(x, formula.leaf_count.U, has)
        _set(x, formula.leaf_count.H, total[:, None] >= np.arange(formula.n_leaves + 1))
    for port, literals in formula.links.items():
        _set(x, literals, _meaning(formula, port, test, label, turns, passes))
    for column, literals in formula.by_column.items():
        _set(x, literals, used & (formula.feature[test] == column))
    return x


def _state_tests(x: np.ndarray, formula: Formula, test: Ints) -> None:
    order = formula.order
    if order is None:
        _set(x, formula.F, test[:, None] == np.arange(formula.n_tests))
        return
    column = np.where(test < 0, -1, np.searchsorted(order.first_test, test, side="right") - 1)
    of_column = column[:, None] == np.arange(len(order.column))
    _set(x, formula.F, of_column)
    rank = np.where(of_column, test[:, None] - order.first_test, 0)
    which = np.repeat(np.arange(len(order.column)), np.diff(order.first))
    _set(x, order.O, np.arange(order.n_values) - order.first[which] <= rank[:, which])


def _meaning(
    formula: Formula, port: str, test: Ints, label: Ints, turns: np.ndarray, passes: Ints
) -> np.ndarray:
    """Values of a port of the points."""
    leaf = passes[:, -1] - formula.n_leaves
    if port == "label":
        ways = right_turns(formula.depth)
        is_leaf = ((test[ways] >= 0) | (ways < 0)).all(axis=1, keepdims=True)
        return np.asarray((label[:, None] == np.arange(formula.C.shape[1])) & is_leaf)
    if port == "predicted":
        return np.asarray(label[leaf][:, None] == np.arange(formula.C.shape[1]))
    if port == "leaf":
        return np.asarray(leaf[:, None] == np.arange(formula.n_leaves))
    there = (passes[:, :-1, None] == np.arange(1, formula.n_nodes + 1)) & (test >= 0)
    if port == "reaches":
        return np.asarray(there.any(axis=1))
    sides = [(there & ~turns[:, :, None]).any(axis=1), (there & turns[:, :, None]).any(axis=1)]
    return np.stack(sides, axis=2)


def _walk(formula: Formula, test: Ints) -> tuple[np.ndarray, Ints]:
    """Turns (P, k) of every point, and the nodes (P, k + 1) it passes, in heap order."""
    n = len(formula.right)
    turns = np.zeros((n, formula.depth), dtype=bool)
    passes = np.ones((n, formula.depth + 1), dtype=np.int64)
    for level in range(formula.depth):
        tests = test[passes[:, level] - 1]
        turns[:, level] = (tests >= 0) & formula.right[np.arange(n), tests]
        passes[:, level + 1] = 2 * passes[:, level] + turns[:, level]
    return turns, passes


def _set(x: np.ndarray, literals: Ints, value: np.ndarray) -> None:
    x[np.abs(literals).ravel() - 1] = (value == (literals > 0)).ravel()
