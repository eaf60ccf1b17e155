"""Hyperplanes: multivariate splits, (13)-(14), and the paper's restriction to one feature, (15)-(16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.formulations.odd.separate import STATED, Cube
from treeform.formulations.odd.skeleton import Skeleton
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared, by_column
from treeform.model import Expr, Model, concatenate
from treeform.shape import MARGIN, UNIVARIATE
from treeform.utils.arrays import Floats


@dataclass(frozen=True)
class Signs:
    """Columns (V, F') of which weights may be above 0, and which below."""

    rising: Expr
    falling: Expr


@dataclass(frozen=True)
class Hyperplanes(Shared, publisher="MultivariateSplits"):
    """The hyperplanes of the nodes, over features scaled to [0, 1] without those that are constant."""

    cube: Cube
    centre: float
    """What is subtracted from every feature in the rows."""
    epsilon: float
    """The margin in the rows."""
    reach: float
    """Offsets are within [-reach, reach]."""
    upright: bool
    """Whether sides and columns are read, so that hyperplanes of one feature are not turned around."""
    a: Expr
    """Expr (V, F')"""
    b: Expr
    """Expr (V,)"""
    takes: Expr | None
    """Expr (P, V, 2), or None: binary copies of the flows, where (13)-(14) are enforced rows."""
    signs: Signs | None
    """Where the columns of hyperplanes over several features are read."""


@dataclass(frozen=True)
class FeatureChoice(Shared, publisher="OneFeature"):
    """Columns (V, F') of (15)-(16): the feature of each node."""

    e: Expr


class MultivariateSplits(Component):
    """Each used node has a hyperplane ``a x = b`` over features scaled to [0, 1], ``a`` within [-1, 1].

    Parameters
    ----------
    indicators : bool
        State (13)-(14) as enforced rows, which reach a solver as indicator constraints where it has them and as
        per-row big-M where not. False states the big-M over the flows themselves, which then need no binary
        copies (the flows are integral by (4)-(5)): smaller for solvers without indicators.
    paper_offsets : bool
        Bound ``b`` by [-1, 1], as the paper does; otherwise by what hyperplanes through the unit cube need.
    epsilon : float
        The margin of (13).

    Notes
    -----
    Publishes ``a`` (V, F) and ``b`` (V,). Points are needed on the side of their flow only at nodes that they
    pass, so hyperplanes of nodes not in use are free. Internally the cube is centred: a (x - 1/2) against
    b - sum(a) / 2, which halves the big-M constants and is the same set of hyperplanes.

    (13) is stated with `STATED` of the margin: exact evaluation requires a share of it that is larger than that by
    more than the tolerance of solvers, so that no admissible model is cut off.

    The paper's offsets within [-1, 1] reach all splits of one feature. They would cut off hyperplanes of several, so
    in multivariate shapes offsets are bounded by what hyperplanes through the unit cube need.

    In multivariate shapes publishes ``feature`` and ``falling`` where they are read: the columns with a weight
    other than 0, and those with a weight below 0. In univariate shapes with a reader of ``feature`` and ``branch``,
    hyperplanes are not turned around, so that the left side is the one of lower values.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"d", "w", "w_last"})
    offers = frozenset({"a", "b", "falling", "feature"})

    def __init__(
        self, indicators: bool = True, paper_offsets: bool = False, epsilon: float = float(MARGIN)
    ) -> None:
        self.indicators = indicators
        self.paper_offsets = paper_offsets
        self.epsilon = epsilon

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.get(Skeleton)
        frame = Cube.of(ports.data)
        centre = 0.0 if self.paper_offsets else 0.5
        cube = frame.unit - centre
        univariate = ports.shape.splits == UNIVARIATE
        epsilon = STATED * self.epsilon
        reach = len(frame.kept) * (1 - centre) + self.epsilon
        reach = 1.0 if self.paper_offsets and univariate else reach
        upright = ports.wanted >= {"feature", "branch"}
        least = 0.0 if univariate and upright else -1.0
        a = model.continuous("a", (skeleton.n_nodes, len(frame.kept)), least, 1.0)
        b = model.continuous("b", skeleton.n_nodes, -reach, reach)
        w = concatenate([ports.w, ports.w_last], axis=1)
        value = (a @ cube.T).T
        takes = None
        if self.indicators:
            takes = _enforced(model, value, b, w, epsilon)
        else:
            _big_m(model, value, b, w, np.abs(cube).sum(axis=1) + reach, epsilon)
        ports.publish("a", a)
        ports.publish("b", b)
        signs = None
        if not univariate and ports.wanted & {"falling", "feature"}:
            signs = self._signs(model, ports, a, frame)
        ports.shared.publish(Hyperplanes(frame, centre, epsilon, reach, upright, a, b, takes, signs))

    def _signs(self, model: Model, ports: Ports, a: Expr, frame: Cube) -> Signs:
        """Which weights may be above 0, and which below."""
        rising = model.bool("rising", a.shape)
        falling = model.bool("falling", a.shape)
        # -falling_vj <= a_vj <= rising_vj,   rising_vj + falling_vj <= d_v
        model.add(a <= rising, "a weight above 0 is rising")
        model.add(a >= -falling, "a weight below 0 is falling")
        model.add(rising + falling <= ports.d[:, None], "a weight has one sign, at a used node")
        ports.publish("feature", by_column(rising + falling, frame.kept, ports.n_features))
        ports.publish("falling", by_column(falling, frame.kept, ports.n_features))
        return Signs(rising, falling)


def _enforced(model: Model, value: Expr, b: Expr, w: Expr, epsilon: float) -> Expr:
    """(13)-(14) as implications of binary copies of the flows."""
    takes = model.bool("takes", w.shape)
    model.add(takes == w, "flows as literals of (13)-(14)")
    # (13) (w-_iv = 1) => (a_v x_i + epsilon <= b_v)
    model.add(value + epsilon <= b, "(13) left below the hyperplane", when=takes[:, :, 0])
    # (14) (w+_iv = 1) => (a_v x_i >= b_v)
    model.add(value >= b, "(14) right above the hyperplane", when=takes[:, :, 1])
    return takes


def _big_m(model: Model, value: Expr, b: Expr, w: Expr, most: Floats, epsilon: float) -> None:
    """(13)-(14) with the least constant of every row: ``|a x_i - b|`` cannot exceed ``most[i]``."""
    each = most[:, None]
    # a_v x_i + epsilon <= b_v + M_i (1 - w-_iv)
    model.add(value + epsilon <= b + (each + epsilon) * (1 - w[:, :, 0]), "(13) left below the hyperplane")
    # a_v x_i >= b_v - M_i (1 - w+_iv)
    model.add(value >= b - each * (1 - w[:, :, 1]), "(14) right above the hyperplane")


class OneFeature(Component):
    """The paper's univariate splits: hyperplanes with one coefficient, (15)-(16).

    Parameters
    ----------
    explicit : bool, default False
        Distinguish tests from pass-throughs by ``passes``: a test has exactly one feature. Needed where a
        requirement demands tests.

    Notes
    -----
    `UnivariateSplits` states the same without epsilon and big-M; this is the paper's, to compare with.
    Publishes ``feature``. (15) reads ``<= d_v`` here, ``= 1`` in the paper: a node that is not in use, or a
    pass-through (a = 0 and an offset that sends everything one way), reads no column.
    """

    offers = frozenset({"feature"})

    def __init__(self, explicit: bool = False) -> None:
        self.explicit = explicit
        self.needs = frozenset({"a", "d", "passes"} if explicit else {"a", "d"})

    def build(self, model: Model, ports: Ports) -> None:
        kept = ports.shared.get(Hyperplanes).cube.kept
        e = ports.shared.publish(FeatureChoice(model.bool("e", (ports.a.shape[0], len(kept))))).e
        # (15) sum_j e_vj = 1
        if self.explicit:
            model.add(e.sum(axis=1) == ports.d - ports.passes, "(15) one feature at a test")
        else:
            model.add(e.sum(axis=1) <= ports.d, "(15) at most one feature at a used node")
        # (16) -e_vj <= a_vj <= e_vj
        model.add(ports.a <= e, "(16) weight of the chosen feature only")
        model.add(ports.a >= -e, "(16) weight of the chosen feature only, below")
        if "feature" in ports.wanted:
            ports.publish("feature", by_column(e, kept, ports.n_features))
