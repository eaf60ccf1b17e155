"""Topology: which nodes are used and where their arcs lead, equations (6)-(10); pass-throughs; one numbering of nodes.

Symmetry breaking keeps one numbering of the nodes of each layer, in place of (11) and by (12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.formulations.odd.flow import Flows
from treeform.formulations.odd.skeleton import Skeleton
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared
from treeform.model import Expr, Model, concatenate
from treeform.utils.arrays import Ints


@dataclass(frozen=True)
class Design(Shared, publisher="Topology"):
    """The design variables: which nodes are in use, and where their arcs lead."""

    d: Expr
    """(V,)"""
    passing: Ints
    """(Q,) int64: the nodes that may be pass-throughs."""
    passes: Expr
    """(Q,)"""
    y: Expr | None
    """(A,), or None: none in trees, whose inner arcs are no choice."""
    y_terminal: Expr
    """(V, 2, K)"""


class Topology(Component):
    """Binary design variables, and flows only along chosen arcs.

    Parameters
    ----------
    everywhere : bool, default False
        Whether any node may be a pass-through; otherwise those of `Skeleton.gaining`. Needed where a requirement
        asks for tests.
    own_leaves : bool, default False
        Whether each arc that ends has a leaf of its own, as where leaves hold values; otherwise there is one terminal
        per class.

    Notes
    -----
    Publishes ``d`` (V,), ``y`` (A,) over inner arcs, ``y_terminal`` (V, 2, K) over long arcs. In a tree the
    inner arcs are no choice: the arc to a child is there when the child is, so ``y = d`` at its head.

    Publishes ``arc``, where it is read: in a diagram to terminals, in a tree to a leaf for each side (`Accuracy`).

    Publishes ``passes`` (V,): the node is in use as a pass-through. It has one arc, on its left side. The paper's
    pass-throughs are hyperplanes outside of the data's range and have a second arc that carries nothing; without
    it, equivalent choices of its head are one, and (7) counts no test that only such arcs enter. Where
    ``passes`` is not read (hyperplanes state them by their offsets), or a minimum support excludes them, there are
    none.
    """

    needs = frozenset({"z", "z_terminal", "constant"})
    offers = frozenset({"active", "arc", "d", "passes", "y", "y_terminal"})

    def __init__(self, everywhere: bool = False, own_leaves: bool = False) -> None:
        self.everywhere = everywhere
        self.own_leaves = own_leaves

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.get(Skeleton)
        d = model.bool("d", skeleton.n_nodes)
        passing = self._passing(ports, skeleton)
        chosen = model.bool("pass", len(passing))
        passes = _at(chosen, passing, skeleton.n_nodes)
        y_terminal = model.bool("y_terminal", (skeleton.n_nodes, 2, ports.n_classes))
        columns = None if skeleton.is_tree else model.bool("y", skeleton.n_arcs)
        y = d[skeleton.head] if columns is None else columns
        ports.shared.publish(Design(d, passing, chosen, columns, y_terminal))
        # The root is used unless a terminal is fed directly (the paper has d_0 = 1 and no such arc).
        model.add(ports.constant.sum() == 1 - d[0], "a constant model uses no test")
        self._design(model, skeleton, d, passes, y, y_terminal)
        self._follow(model, skeleton, ports, y, y_terminal)
        ports.publish("d", d)
        ports.publish("passes", passes)
        ports.publish("y", y)
        ports.publish("y_terminal", y_terminal)
        ports.publish("active", d)
        if "arc" in ports.wanted:
            ends = _at_leaves(y_terminal) if skeleton.is_tree else y_terminal
            ports.publish("arc", arcs_by_side(skeleton, y, ends))

    def _passing(self, ports: Ports, skeleton: Skeleton) -> Ints:
        """The nodes that may be pass-throughs."""
        nodes = np.arange(skeleton.n_nodes) if self.everywhere else skeleton.gaining
        # A pass-through has an empty side, which gets no support.
        if "passes" not in ports.wanted or ports.limits.min_support > 0:
            nodes = nodes[:0]
        return nodes

    def _design(
        self, model: Model, skeleton: Skeleton, d: Expr, passes: Expr, y: Expr, y_terminal: Expr
    ) -> None:
        leading = y_terminal.sum(axis=2)
        if skeleton.n_arcs:
            leading = leading + (y @ skeleton.out_of).reshape(-1, 2)
        # (6) d_u = sum_{v in delta+(u)} y+_uv = sum_{v in delta+(u)} y-_uv
        model.add(leading[:, 0] == d, "(6) one arc on the left of a used node")
        model.add(leading[:, 1] == d - passes, "(6) one arc on the right, unless it is a pass-through")
        # (8) y+_uv + y-_uv <= d_v, where d_v = 1 at terminals; with (6) d_u bounds it as well. A tree has leaves of
        # its own at each arc, so its sides may lead to leaves of one class; a test there decides nothing.
        if not (self.own_leaves or (skeleton.is_tree and self.everywhere)):
            model.add(y_terminal.sum(axis=1) <= d[:, None], "(8) sides lead to different terminals")
        if skeleton.is_tree or skeleton.n_arcs == 0:
            return
        # (7) d_v <= sum_{u in delta-(v)} (y+_uv + y-_uv), v other than the root
        model.add(d[1:] <= (y @ skeleton.into)[1:], "(7) a used node is reached")
        left = np.flatnonzero(skeleton.side == 0)
        right = skeleton.arc_at[skeleton.tail[left], 1, skeleton.head[left]]
        model.add(y[left] + y[right] <= d[skeleton.head[left]], "(8) sides lead to different nodes in use")

    def _follow(self, model: Model, skeleton: Skeleton, ports: Ports, y: Expr, y_terminal: Expr) -> None:
        # (9) z+_iuv <= y+_uv     (10) z-_iuv <= y-_uv
        if len(skeleton.inner):
            model.add(
                ports.z_terminal <= y_terminal[skeleton.inner], "(9)-(10) flow to terminals along chosen arcs"
            )
        z_last = ports.shared.get(Flows).last.z
        if "w_last" in ports.wanted and z_last is not None:
            model.add(z_last <= y_terminal[skeleton.last], "(9)-(10) flow from the last layer")
        if skeleton.n_arcs and not skeleton.is_tree:
            model.add(ports.z <= y, "(9)-(10) flow between nodes along chosen arcs")
        # In a tree, (9)-(10) on inner arcs read w-_iv + w+_iv <= d_v: the split component states it, as it states
        # for the last layer which terminals points may arrive at, unless it reads the flows of that layer.


def _at(columns: Expr, nodes: Ints, n_nodes: int) -> Expr:
    """(V,) the columns at their nodes, and 0 elsewhere."""
    place = np.full(n_nodes, len(nodes))
    place[nodes] = np.arange(len(nodes))
    return concatenate([columns, np.zeros(1)])[place]


def _at_leaves(y_terminal: Expr) -> Expr:
    """(V, 2, 2 V + 1): each side that ends leads to its own leaf; to the leaf of a model without a test, none does."""
    sides = 2 * y_terminal.shape[0]
    index = np.where(np.eye(sides, sides + 1, dtype=bool), np.arange(sides)[:, None], sides)
    return concatenate([y_terminal.sum(axis=2).ravel(), np.zeros(1)])[index.reshape(-1, 2, sides + 1)]


def arcs_by_side(skeleton: Skeleton, y: Expr, ends: Expr) -> Expr:
    """(V, 2, V + L): from each side to each node, and then the ``ends`` (V, 2, L), to each leaf or terminal."""
    absent = np.where(skeleton.arc_at >= 0, skeleton.arc_at, y.size)
    return concatenate([concatenate([y.ravel(), np.zeros(1)])[absent], ends], axis=2)


RULES = ("first_arc", "in_degree")


@dataclass(frozen=True)
class Numbering(Shared, publisher="SymmetryBreaking"):
    """The rule by which the nodes of a layer are numbered, one of `RULES`."""

    rule: str


@dataclass(frozen=True)
class OrderedSides(Shared, publisher="SideOrder"):
    """States that the rows (11) are in the model."""



class SymmetryBreaking(Component):
    """Of all numberings of a layer's nodes, keep one (diagrams only; a tree's nodes have fixed places).

    Parameters
    ----------
    rule : {"first_arc", "in_degree"}
        ``"in_degree"`` is the paper's (12): along a layer in-degrees do not grow, which leaves nodes of equal
        in-degree interchangeable. ``"first_arc"`` numbers a layer in the order in which arcs of the layer
        above first enter it (breadth first), which leaves exactly one numbering.

    Notes
    -----
    The paper's (11), y-_uv = 1 and y+_uw = 1 only if v < w, is valid when a hyperplane may be turned around to
    swap the sides of a node. Here a test goes left when x <= t: its direction is fixed, and (11) would cut
    off models. What remains of it, y-_uv + y+_uv <= 1, is implied by (8). The places that (11) would have
    fixed in layer 1 are fixed by the rule instead.
    """

    needs = frozenset({"y"})
    offers = frozenset[str]()

    def __init__(self, rule: str = "first_arc") -> None:
        if rule not in RULES:
            raise SpecError(f"there is no symmetry rule {rule!r}", cause=f"the rules are {', '.join(RULES)}")
        self.rule = rule

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.get(Skeleton)
        ports.shared.publish(Numbering(self.rule))
        if skeleton.is_tree:
            return
        for level, nodes in enumerate(skeleton.layers[1:], 1):
            if len(nodes) < 2:
                continue
            # (V_l, 2 V_{l-1}): node by arc into it, arcs in the order of tail and side
            arcs = skeleton.arc_at[skeleton.layers[level - 1]][:, :, nodes].reshape(-1, len(nodes)).T
            if self.rule == "first_arc" or level == 1:
                _by_first_arc(model, ports.y, arcs, level)
            else:
                # (12) sum_{w in delta-(u)} (y+_wu + y-_wu) >= sum_{w in delta-(v)} (y+_wv + y-_wv), u < v
                degree = ports.y[arcs].sum(axis=1)
                model.add(degree[:-1] >= degree[1:], f"(12) in-degrees do not grow along layer {level}")


def _by_first_arc(model: Model, y: Expr, arcs: np.ndarray, level: int) -> None:
    """Arc a enters node k + 1 of the layer only if an earlier arc enters node k."""
    into = y[arcs]
    n_arcs = into.shape[1]
    earlier = into[:-1] @ np.triu(np.ones((n_arcs, n_arcs)), 1)
    model.add(into[1:] <= earlier, f"nodes of layer {level} in the order of their first arcs")


class SideOrder(Component):
    """The negative side leads to a lower number than the positive side, (11); for hyperplanes only.

    Notes
    -----
    A hyperplane may be turned around, which swaps the sides of its node, so one of the two orders is enough.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"y", "y_terminal"})
    offers = frozenset[str]()

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.get(Skeleton)
        ports.shared.publish(OrderedSides())
        arcs = arcs_by_side(skeleton, ports.y, ports.y_terminal)
        n_nodes, _, n_heads = arcs.shape
        up_to = np.triu(np.ones((n_heads, n_heads)))
        if (
            skeleton.is_tree
        ):  # leaves of one class are two leaves there; where they are not wanted, (8) rules them out
            up_to[range(n_nodes, n_heads), range(n_nodes, n_heads)] = 0
        exists = np.ones((n_nodes, n_heads), dtype=bool)
        exists[:, :n_nodes] = skeleton.arc_at[:, 0] >= 0
        at = np.flatnonzero(exists.ravel())
        # (11) y-_uv + sum_{w in delta+(u), w <= v} y+_uw <= 1
        lower = (arcs[:, 1] @ up_to).ravel()[at]
        model.add(arcs[:, 0].ravel()[at] + lower <= 1, "(11) left arcs lead to lower numbers than right arcs")
