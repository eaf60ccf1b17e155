"""Hyperplanes: multivariate splits, (13)-(14), and the paper's restriction to one feature, (15)-(16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.formulations.odd.separate import Cube
from treeform.formulations.odd.skeleton import Skeleton, keep
from treeform.language.component import Component
from treeform.model import concatenate
from treeform.shape import MARGIN

if TYPE_CHECKING:
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model

Floats = NDArray[np.float64]


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
    """

    needs = frozenset({"w", "w_last"})
    offers = frozenset({"a", "b"})

    def __init__(
        self, indicators: bool = True, paper_offsets: bool = False, epsilon: float = float(MARGIN)
    ) -> None:
        self.indicators = indicators
        self.paper_offsets = paper_offsets
        self.epsilon = epsilon

    def build(self, m: Model, t: Ports) -> None:
        skeleton: Skeleton = t.state["skeleton"]
        frame = Cube.of(t.data)
        centre = 0.0 if self.paper_offsets else 0.5
        cube = frame.unit - centre
        reach = 1.0 if self.paper_offsets else len(frame.kept) / 2 + self.epsilon
        a = keep(t, "a", m.continuous("a", (skeleton.n_nodes, len(frame.kept)), -1.0, 1.0))
        b = keep(t, "b", m.continuous("b", skeleton.n_nodes, -reach, reach))
        t.state.update(cube=frame, centre=centre, epsilon=self.epsilon, reach=reach)
        w = concatenate([t.w, t.state["w_last"]], axis=1)
        value = (a @ cube.T).T
        if self.indicators:
            _enforced(m, t, value, b, w, self.epsilon)
        else:
            _big_m(m, value, b, w, np.abs(cube).sum(axis=1) + reach, self.epsilon)
        t.publish("a", a)
        t.publish("b", b)


def _enforced(m: Model, t: Ports, value: Expr, b: Expr, w: Expr, epsilon: float) -> None:
    """(13)-(14) as implications of binary copies of the flows."""
    takes = keep(t, "takes", m.bool("takes", w.shape))
    m.add(takes == w, "flows as literals of (13)-(14)")
    # (13) (w-_iv = 1) => (a_v x_i + epsilon <= b_v)
    m.add(value + epsilon <= b, "(13) left below the hyperplane", when=takes[:, :, 0])
    # (14) (w+_iv = 1) => (a_v x_i >= b_v)
    m.add(value >= b, "(14) right above the hyperplane", when=takes[:, :, 1])


def _big_m(m: Model, value: Expr, b: Expr, w: Expr, most: Floats, epsilon: float) -> None:
    """(13)-(14) with the least constant of every row: ``|a x_i - b|`` cannot exceed ``most[i]``."""
    each = most[:, None]
    # a_v x_i + epsilon <= b_v + M_i (1 - w-_iv)
    m.add(value + epsilon <= b + (each + epsilon) * (1 - w[:, :, 0]), "(13) left below the hyperplane")
    # a_v x_i >= b_v - M_i (1 - w+_iv)
    m.add(value >= b - each * (1 - w[:, :, 1]), "(14) right above the hyperplane")


class OneFeature(Component):
    """The paper's univariate splits: hyperplanes with one coefficient, (15)-(16).

    Notes
    -----
    `UnivariateSplits` says the same without epsilon and big-M; this is the paper's own, to compare with.
    Publishes ``feature``. A node that is not in use tests nothing: (15) reads ``= d_v`` here, ``= 1`` in the
    paper, which makes no difference to the diagrams.
    """

    needs = frozenset({"a", "d"})
    offers = frozenset({"feature"})

    def build(self, m: Model, t: Ports) -> None:
        kept = t.state["cube"].kept
        e = keep(t, "e", m.bool("e", (t.a.shape[0], len(kept))))
        # (15) sum_j e_vj = 1
        m.add(e.sum(axis=1) == t.d, "(15) one feature at a used node")
        # (16) -e_vj <= a_vj <= e_vj
        m.add(t.a <= e, "(16) weight of the chosen feature only")
        m.add(t.a >= -e, "(16) weight of the chosen feature only, below")
        if "feature" in t.wanted:
            column = np.full(t.n_features, len(kept))
            column[kept] = np.arange(len(kept))
            t.publish("feature", concatenate([e, np.zeros((e.shape[0], 1))], axis=1)[:, column])
