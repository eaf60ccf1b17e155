"""The optima over all thresholds at depth 2 again, by enumeration in NumPy that shares no code with the search.

For every test at the root and each side of it, every test below is counted by prefix sums: errors and positive
predictions of both groups, for both ways to label its leaves. A rule is two rows; of these the one that the cheapest
tree without the rule breaks is kept. Root tests are passed over where their sides' least errors, or least errors less
a price on the row, leave nothing as good as the optimum that is to be confirmed; elsewhere the sides are sorted by the
row, and each tree of one side takes its cheapest partner. What is found cannot be above the optimum; that the optimum
is attained under both rows is seen by counting the errors and the rates of its tree. User CPU seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.totals.continuous import KEY, RULES, SETS, data_of, problem_of
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax
from treeform.utils.budget import Budget

Whole = NDArray[np.int64]
KINDS = 4  # 2 * label + group
BITS = 16  # of a packed count; the four kinds of a sample stand in one number
UNIT = 320
PRICES = (8, 16, 32, 64, 96, 128, 192, 256, 320, 480, 640)
"""Errors for a unit of the row, in 1 / UNIT of what one prediction adds to it."""


@dataclass
class Row:
    """A row ``a0 * positive in group 0 + a1 * positive in group 1 >= least``."""

    a0: int
    a1: int
    least: int


class Tests:
    """Counts of all tests on any set of the rows, by prefix sums."""

    def __init__(self, X: NDArray[np.float64], kind: Whole) -> None:
        self.n, self.features = X.shape
        self.order = np.argsort(X, axis=0, kind="stable").T
        values = np.take_along_axis(X.T, self.order, axis=1)
        self.feature, self.place = np.nonzero(values[:, :-1] < values[:, 1:])
        self.packed = np.left_shift(np.int64(1), BITS * kind)

    def below(self, inside: NDArray[np.bool_]) -> Whole:
        """Per test and kind: rows of the set on its lower side."""
        sums = np.cumsum(np.where(inside, self.packed, 0)[self.order], axis=1)[self.feature, self.place]
        return _unpacked(sums)

    def roots(self) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Each test, and the rows on its lower side."""
        inside = np.zeros(self.n, dtype=bool)
        feature, end = -1, 0
        for t, (f, place) in enumerate(zip(self.feature.tolist(), self.place.tolist(), strict=True)):
            if f != feature:
                feature, end = f, 0
                inside[:] = False
            inside[self.order[f, end : place + 1]] = True
            end = place + 1
            yield t, inside


def _unpacked(sums: Whole) -> Whole:
    return np.stack([(sums >> (BITS * k)) & ((1 << BITS) - 1) for k in range(KINDS)], axis=-1)


def trees(below: Whole, side: Whole) -> tuple[Whole, Whole]:
    """Errors, and positive samples of each kind, of all trees of at most one test on a side of so many rows."""
    above = side - below
    low_high = (below[:, 0] + below[:, 1] + above[:, 2] + above[:, 3], below)  # positive below the test
    high_low = (above[:, 0] + above[:, 1] + below[:, 2] + below[:, 3], above)
    leaves = np.array([side[2] + side[3], side[0] + side[1]]), np.stack([np.zeros_like(side), side])
    parts = (low_high, high_low, leaves)
    return np.concatenate([errors for errors, _ in parts]), np.concatenate([kinds for _, kinds in parts])


def rows_of(rule: str, kind: Whole) -> tuple[list[Row], list[int]]:
    """A rule's two rows, and the labels whose samples count."""
    counted = [1] if rule.startswith("equal opportunity") else [0, 1]
    n0, n1 = (int(sum((kind == 2 * label + g).sum() for label in counted)) for g in (0, 1))
    if rule == "ratio .8":  # 5 p1 / n1 >= 4 p0 / n0, and with the groups exchanged
        return [Row(-4 * n1, 5 * n0, 0), Row(5 * n1, -4 * n0, 0)], counted
    # 20 |p1 / n1 - p0 / n0| <= 1
    return [Row(-20 * n1, 20 * n0, -n0 * n1), Row(20 * n1, -20 * n0, -n0 * n1)], counted


def amount(row: Row, counted: list[int], kinds: Whole) -> Whole:
    """The row of trees with so many positive samples of each kind."""
    weight = np.zeros(KINDS, dtype=np.int64)
    for label in counted:
        weight[2 * label : 2 * label + 2] = row.a0, row.a1
    total: Whole = kinds @ weight
    return total


def cheapest_pair(errors: list[Whole], row: list[Whole], least: int) -> int | None:
    """The least errors of a tree of each side whose rows sum up to at least that."""
    order = np.argsort(row[1], kind="stable")
    best = np.minimum.accumulate(errors[1][order][::-1])[::-1]  # of all whose row is no less
    at = np.searchsorted(row[1][order], least - row[0])
    there = at < len(order)
    return int((errors[0][there] + best[at[there]]).min()) if there.any() else None


class Enumeration:
    """Trees of depth two on one table that cost less than some bound."""

    def __init__(self, X: NDArray[np.float64], kind: Whole, seconds: float) -> None:
        self.tests, self.kind, self.until = Tests(X, kind), kind, user_seconds() + seconds
        self.whole = self.tests.below(np.ones(len(X), dtype=bool))
        self.total = np.bincount(kind, minlength=KINDS)

    def sides(self, t: int, inside: NDArray[np.bool_]) -> list[tuple[Whole, Whole]]:
        """Errors and positive samples of the trees on both sides of a root test."""
        if user_seconds() > self.until:
            raise TimeoutError
        low = self.tests.below(inside)
        return [trees(low, self.whole[t]), trees(self.whole - low, self.total - self.whole[t])]

    def plain(self) -> tuple[Whole, Whole]:
        """Per root test the least errors; positive samples of each kind of the cheapest tree."""
        least = np.zeros(len(self.tests.feature), dtype=np.int64)
        best, kinds = len(self.kind) + 1, np.zeros(KINDS, dtype=np.int64)
        for t, inside in self.tests.roots():
            (a, u), (b, v) = self.sides(t, inside)
            i, j = int(a.argmin()), int(b.argmin())
            least[t] = a[i] + b[j]
            if least[t] < best:
                best, kinds = int(least[t]), u[i] + v[j]
        return least, kinds

    def below(self, row: Row, counted: list[int], least: Whole, bound: int) -> tuple[int, int]:
        """The least errors below `bound` under the row, or `bound`; how many root tests had to be sorted."""
        one, examined, last = max(abs(row.a0), abs(row.a1)), 0, 0
        for t, inside in self.tests.roots():
            if least[t] >= bound:
                continue
            sides = self.sides(t, inside)
            amounts = [amount(row, counted, kinds) for _, kinds in sides]
            errors = [errors for errors, _ in sides]
            for i in [last, *range(len(PRICES))]:
                price = [UNIT * one * e - PRICES[i] * a for e, a in zip(errors, amounts, strict=True)]
                if sum(int(p.min()) for p in price) + PRICES[i] * row.least >= UNIT * one * bound:
                    last = i
                    break
            else:
                examined += 1
                found = cheapest_pair(errors, amounts, row.least)
                bound = bound if found is None else min(bound, found)
        return bound, examined


def judged(graph: tf.DecisionGraph, X: Any, kind: Whole, rule: str) -> int | None:
    """Errors of a tree, from its predictions; None if it breaks the rule."""
    positive = np.asarray(graph.predict(X)).astype(int) == 1
    rows, counted = rows_of(rule, kind)
    kinds = np.bincount(kind[positive], minlength=KINDS)
    if any(amount(row, counted, kinds) < row.least for row in rows):
        return None
    return int((positive != (kind >= 2)).sum())


def broken(rule: str, kind: Whole, kinds: Whole) -> tuple[Row | None, list[int]]:
    """The row that a tree breaks, if any, and the labels that count."""
    rows, counted = rows_of(rule, kind)
    return next((row for row in rows if amount(row, counted, kinds) < row.least), None), counted


def confirmed(name: str, rule: str, known: dict[str, Any], seconds: float) -> dict[str, Any]:
    """One line; `known` keeps what the rules of one set share."""
    problem, engine = problem_of(name, rule, 2), tf.ContinuousTotals()
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    own = engine.run(problem.data, relaxation.task, EngineRun(Budget(seconds)))
    X, y = data_of(name)
    first = X.columns[0]
    kind = 2 * np.asarray(y).astype(np.int64) + (X[first] > X[first].median()).to_numpy()
    X = X.drop(columns=first)
    began = user_seconds()
    line: dict[str, Any] = {"rows": len(X), "errors": own.upper if own.proved else None}
    try:
        if not known:
            known["search"] = Enumeration(X.to_numpy(dtype=float), kind, seconds)
            known["plain"] = known["search"].plain()
        search, (least, kinds) = known["search"], known["plain"]
        search.until = user_seconds() + seconds
        row, counted = broken(rule, kind, kinds)
        found, examined = (
            (int(least.min()), 0) if row is None else search.below(row, counted, least, int(own.upper) + 1)
        )
    except TimeoutError:
        return line | {"tests": len(known["search"].tests.feature) if known else "", "same": ""}
    attained = own.graph is not None and judged(own.graph, X, kind, rule) == own.upper
    return line | {
        "tests": len(least), "without the rule": int(least.min()), "roots sorted": examined,
        "enumerated": found, "attained": attained, "same": found == own.upper and attained,
        "CPU s": round(user_seconds() - began, 2),
    }  # fmt: skip


@table("continuous_brute_force")
def shown(rows: Rows) -> Shown:
    """A line for each question, and how many are confirmed."""
    same = rows.frame["same"].astype(str)
    note = (
        f"Depth 2, all thresholds, {rows.facts['seconds']} CPU seconds. Of {len(same)} questions "
        f"{int((same == 'True').sum())} are confirmed, {int((same == 'False').sum())} are not, "
        f"{int((same == '').sum())} are open. *without the rule*: the least errors of any tree; *roots sorted*: root "
        "tests that no bound excluded; *attained*: errors and rates of the tree that the search found. The first rule "
        "of a set pays for what all of them share."
    )
    return Shown("Optima on continuous columns by enumeration", rows.frame, note)


def main(sets: str = "", seconds: float = 120) -> None:
    """Measure."""
    figures = Figures("continuous_brute_force", KEY, seconds=f"{seconds:g}")
    for name in sets.split(",") if sets else SETS:
        known: dict[str, Any] = {}
        for rule in RULES:
            figures.measure(partial(confirmed, name, rule, known, seconds), set=name, rule=rule, depth=2)
