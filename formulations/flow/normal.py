"""Normal form: tests that part their samples, for requirements that ask for tests."""

from __future__ import annotations

from typing import ClassVar

from treeform.formulations.flow.branching import Design
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Model


class NormalForm(Component):
    """Each test has samples on both sides, and each pass-through has samples.

    Notes
    -----
    Only where a requirement asks for tests: it could be satisfied by tests that part nothing otherwise.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"branch"})

    def build(self, model: Model, ports: Ports) -> None:
        design = ports.shared.get(Design)
        # sum_i z_i,n,l(n) >= a_n,   sum_i z_i,n,r(n) >= a_n - pass_n, where a_n = 1 at nodes in use
        used = ports.branch.sum(axis=0)
        model.add(used[:, 0] >= design.active, "a used node has samples on its left")
        model.add(used[:, 1] >= design.active - design.passes, "a test has samples on its right")
