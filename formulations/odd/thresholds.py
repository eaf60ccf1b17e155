"""The tests to choose from: ordered thresholds between values, and where points stand among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from treeform.formulations.odd.flow import Flows
from treeform.formulations.odd.skeleton import Skeleton
from treeform.language.component import Component
from treeform.language.ports import OfferedTests, Ports, Shared, by_column
from treeform.model import Expr, Model, concatenate
from treeform.utils.arrays import Bools, Ints


class Tests(OfferedTests, Shared, publisher="UnivariateSplits"):
    """The tests to choose from, sorted by feature and threshold, and where points stand between them."""

    @cached_property
    def first(self) -> Ints:
        """Position of the first test of every feature that has one."""
        new = np.ones(self.n_tests, dtype=bool)
        new[1:] = self.feature[1:] != self.feature[:-1]
        return np.flatnonzero(new)

    @cached_property
    def group(self) -> Ints:
        """(T,) which of the features that have tests a test belongs to."""
        return np.repeat(np.arange(len(self.first)), np.diff([*self.first, self.n_tests]))

    @cached_property
    def later(self) -> Ints:
        """Position of every test that is not the first of its feature."""
        return np.setdiff1d(np.arange(self.n_tests), self.first)

    def choices(self, literals: Expr) -> Expr:
        """(..., T) cumulative literals at the first test of every feature: whether the feature is tested."""
        return literals[:, self.first] if self.n_tests else literals

    def read(self, on_left: Expr, on_right: Expr, all_left: Expr, all_right: Expr) -> list[tuple[Ints, Expr]]:
        """The value of cumulative literals (V, T) at every point, in as few terms as possible.

        A node that makes a test at threshold k or a later one of its feature has ``on_left[u, k] = 1`` when its
        left side has some property (such as "leads to class c"), and ``on_right[u, k] = 1`` when its right side
        has. A point with ``k`` as its first threshold >= x_p then meets the property iff

            sum over features of  on_left[k] + (on_right[first] - on_right[k]).

        With the totals ``all_left = sum on_left[first]`` and ``all_right`` alike, this is

            all_right + sum over features with such a k of (on_left - on_right)[k], or
            all_left - sum over features of (on_left - on_right)[first] - (on_left - on_right)[k].

        Of the two forms each point takes the one with fewer terms.
        """
        matrix, turned = self._forms
        gain = matrix @ (on_left - on_right).T
        plain, other = np.flatnonzero(~turned), np.flatnonzero(turned)
        parts = [(plain, all_right + gain[plain]), (other, all_left - gain[other])]
        return [(points, expr) for points, expr in parts if len(points)]

    @cached_property
    def _forms(self) -> tuple[Any, Bools]:
        """Coefficients (P, T) of the two forms of `read`, and which points take the second."""
        points = self.left.shape[1]
        if self.n_tests == 0:
            return sparse.csr_array((points, 0)), np.zeros(points, dtype=bool)
        size = np.diff([*self.first, self.n_tests])
        # (features, P): number of thresholds below the point's value
        below = np.add.reduceat(~self.left, self.first, axis=0, dtype=np.int64)
        may_left, may_right = below < size[:, None], below > 0
        turned = may_right.sum(axis=0) + (may_right & may_left).sum(axis=0) < may_left.sum(axis=0)
        at = np.minimum(self.first[:, None] + below, self.n_tests - 1)
        start = np.broadcast_to(self.first[:, None], below.shape)
        point = np.broadcast_to(np.arange(points), below.shape)
        plain = may_left & ~turned
        opens, closes = may_right & turned, may_right & may_left & turned
        rows = np.concatenate([point[plain], point[opens], point[closes]])
        cols = np.concatenate([at[plain], start[opens], at[closes]])
        vals = np.repeat([1.0, 1.0, -1.0], [plain.sum(), opens.sum(), closes.sum()])
        return sparse.csr_array((vals, (rows, cols)), shape=(points, self.n_tests)), turned


@dataclass(frozen=True)
class Sides:
    """Columns (P, U) of the side that each point would take at ``nodes`` (U,): 1 for left."""

    nodes: Ints
    left: Expr


@dataclass(frozen=True)
class LastByTest:
    """Columns of the last layer, stated test by test."""

    leads: Expr
    """(V'', T, K): cumulative literals of tests whose left side leads to a class."""
    leads_right: Expr | None
    """(V'', T, K), or None: the same for right sides; None with two classes, where it is the other class."""
    reach: Expr
    """(P, V'', K - 1): the class to which the test of a node leads a point."""


@dataclass(frozen=True)
class TestLiterals(Shared, publisher="UnivariateSplits"):
    """Columns of the choice of tests."""

    g: Expr
    """(V or V', T): cumulative literals, without the last layer where it is stated test by test."""
    by_test: LastByTest | None
    sides: tuple[Sides, ...]


class UnivariateSplits(Component):
    """Each used node makes one test ``x[feature] <= threshold`` out of those that separate points.

    Parameters
    ----------
    disaggregate : bool or None
        State the last layer test by test, see below; otherwise as all others, by (9)-(10) and (13)-(14). None
        leaves it to `ODD`, which knows the solver and the requirements.

    Notes
    -----
    The paper states splits by a vector a and an offset b with an epsilon and big-M rows (13)-(14), of which
    (15)-(16) leave one entry of a. Between the ordered values of a feature only finitely many thresholds
    differ, so here binary literals choose among them, exactly and on any scale. The literals are cumulative,
    ``g[u, k]`` = "u tests this feature, at its k-th threshold or a later one": a point goes left iff g holds at
    its own place in the order, one term per feature, and branching on g halves a range of thresholds.

    Nodes of the last layer lead to terminals only. Their literals also state where the left side leads,
    ``leads[u, k, c]``: the product of the choice of a test and the choice of a class, which the relaxation of
    (9)-(10) and (13)-(14) takes apart. With it the relaxation is exact once the nodes above are fixed, and
    branching on the last layer is not needed.

    A pass-through makes no test, and all points leave it to the left.

    Publishes ``g`` (V, T) and ``feature``.
    """

    offers = frozenset({"feature", "g"})

    def __init__(self, disaggregate: bool | None = None) -> None:
        self.disaggregate = disaggregate
        last = {"arrival", "y_terminal"} if disaggregate else {"w_last"}
        self.needs = frozenset({"d", "passes", "w", *last})

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.get(Skeleton)
        tests = ports.shared.publish(Tests.of(ports))
        inner, last = skeleton.inner, skeleton.last
        n_inner = len(inner) if self.disaggregate else skeleton.n_nodes
        g = chosen = model.bool("g", (n_inner, tests.n_tests))
        by_test = None
        if len(tests.later) and n_inner:
            # (16) thresholds of the chosen feature only, in order
            model.add(g[:, tests.later] <= g[:, tests.later - 1], "(16) thresholds in order")
        if self.disaggregate:
            leads = model.bool("leads", (len(last), tests.n_tests, ports.n_classes))
            g = concatenate([g, leads.sum(axis=2)], axis=0)
            by_test = _lead(model, ports, tests, g[last], leads)
        # (15) sum_j e_vj = d_v, where e_vj = g at the first threshold of feature j; none at a pass-through
        model.add(tests.choices(g).sum(axis=1) == ports.d - ports.passes, "(15) one feature at a used node")
        left = [self._sides(model, ports, tests, g[inner], inner, ports.w)]
        w_last = ports.shared.get(Flows).last.w
        if w_last is not None:
            left.append(self._sides(model, ports, tests, g[last], last, w_last))
        stated = tuple(sides for sides in left if sides is not None)
        ports.shared.publish(TestLiterals(chosen, by_test, stated))
        ports.publish("g", g)
        if "feature" in ports.wanted:
            at = tests.feature[tests.first]
            ports.publish("feature", by_column(tests.choices(g), at, ports.n_features))

    def _sides(self, model: Model, ports: Ports, tests: Tests, g: Expr, nodes: Ints, w: Expr) -> Sides | None:
        """Points leave ``nodes`` on the side of their test, pass-throughs to the left."""
        if len(nodes) and nodes[0] == 0:
            # All points pass the root: its flows are the sides.
            d, passes = ports.d[:1], ports.passes[:1]
            for points, side in tests.read(g[:1], g[:1] * 0, d - passes, d * 0):
                model.add(w[points, :1, 0] == side + passes, "(13)-(14) side of every point at the root")
            nodes, g, w = nodes[1:], g[1:], w[:, 1:]
        if not len(nodes):
            return None
        d, passes = ports.d[nodes], ports.passes[nodes]
        # The side that a point would take, whether it passes the node or not.
        left = model.bool("left", (ports.points.n_points, len(nodes)), relax=True)
        for points, side in tests.read(g, g * 0, d - passes, d * 0):
            model.add(left[points] == side + passes, "side of every point at every node")
        # (13) w-_iu = 1 only if x_i goes left at u     (14) w+_iu = 1 only if it goes right
        model.add(w[:, :, 0] <= left, "(13) left only where the test sends the sample")
        model.add(w[:, :, 1] <= d - left, "(14) right only where the test sends the sample")
        return Sides(nodes, left)


def _lead(model: Model, ports: Ports, tests: Tests, g: Expr, leads: Expr) -> LastByTest:
    """The last layer, test by test: points arrive at class c only from sides that lead to c."""
    skeleton = ports.shared.get(Skeleton)
    columns = None
    n_classes = ports.n_classes
    y = ports.y_terminal[skeleton.last]
    if n_classes == 2:
        # (8) leaves one way to lead the right side: to the other class
        right = leads[:, :, ::-1]
    else:
        right = columns = model.bool("leads_right", leads.shape, relax=True)
        model.add(right.sum(axis=2) == g, "right sides lead somewhere")
        # (8) for each test: its sides lead to different classes
        model.add(_steps(tests, leads) + _steps(tests, right) <= _steps(tests, g)[:, :, None], "(8) by test")
    later = tests.later
    if len(later):
        model.add(leads[:, later] <= leads[:, later - 1], "(16) left sides, thresholds in order")
        if n_classes > 2:
            model.add(right[:, later] <= right[:, later - 1], "(16) right sides, thresholds in order")
    model.add(tests.choices(leads).sum(axis=1) == y[:, 0], "left sides lead along the chosen arc")
    model.add(tests.choices(right).sum(axis=1) == y[:, 1], "right sides lead along the chosen arc")
    # One class is what is left over: sum_c reach_c = d.
    reach = model.bool("reach", (ports.points.n_points, len(skeleton.last), n_classes - 1), relax=True)
    for c in range(n_classes - 1):
        for points, side in tests.read(leads[:, :, c], right[:, :, c], y[:, 0, c], y[:, 1, c]):
            model.add(reach[points, :, c] == side, f"class of every point at every last node, class {c}")
    d = ports.d[skeleton.last]
    # (9)-(10) with (13)-(14): arrival_iuc = 1 only if the test of u leads x_i to c
    model.add(ports.arrival[:, :, :-1] <= reach, "(9)-(14) arrival where the test leads")
    model.add(
        ports.arrival[:, :, -1] <= d - reach.sum(axis=2), "(9)-(14) arrival where the test leads, last class"
    )
    return LastByTest(leads, columns, reach)


def _steps(tests: Tests, cumulative: Expr) -> Expr:
    """Literals of single tests from cumulative ones along axis 1: each minus the next of its feature."""
    following = np.append(np.arange(1, tests.n_tests), tests.n_tests)
    following[np.append(tests.first[1:] - 1, tests.n_tests - 1)] = tests.n_tests
    padded = concatenate([cumulative, np.zeros((cumulative.shape[0], 1, *cumulative.shape[2:]))], axis=1)
    return cumulative - padded[:, following]
