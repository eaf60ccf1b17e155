"""Normal form: tests that part their samples, and pass-throughs for those that do not."""

from __future__ import annotations

from typing import ClassVar

from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Model, concatenate


class NormalForm(Component):
    """Each test has points on both sides, and each pass-through has points.

    Notes
    -----
    A test that parts nothing decides nothing. Without these rows a node could count as a test of a column although all
    its points leave on one side, or count as in use although no point arrives. Where tests only cost, no optimum is
    lost either way, and the rows are left out; a requirement that demands tests would be satisfied by
    tests that decide nothing.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"d", "passes", "w", "w_last"})

    def build(self, model: Model, ports: Ports) -> None:
        w = concatenate([ports.w, ports.w_last], axis=1)
        # sum_i w-_iv >= d_v,   sum_i w+_iv >= d_v - p_v, where p_v = 1 at pass-throughs
        model.add(w[:, :, 0].sum(axis=0) >= ports.d, "a used node has points on its left")
        model.add(w[:, :, 1].sum(axis=0) >= ports.d - ports.passes, "a test has points on its right")
