"""Symmetry breaking: one numbering of the nodes of each layer, in place of (11) and by (12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.formulations.odd.skeleton import Skeleton
from treeform.formulations.odd.topology import arcs_by_side
from treeform.language.component import Component
from treeform.language.ports import Shared

if TYPE_CHECKING:
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model

RULES = ("first_arc", "in_degree")


@dataclass(frozen=True)
class Numbering(Shared):
    """The rule by which the nodes of a layer are numbered, one of `RULES`."""

    publisher: ClassVar[str] = "SymmetryBreaking"
    rule: str


@dataclass(frozen=True)
class OrderedSides(Shared):
    """States that the rows (11) are in the model."""

    publisher: ClassVar[str] = "SideOrder"


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
