"""Component: tests that part their examples, and pass-throughs that are reached."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from treeform.formulations.sat.formula import Formula
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Model, clauses


class NormalTests(Component):
    """Each used node sends examples to its left, and each test also to its right.

    Needed where a requirement asks for tests: otherwise a node that no example reaches, or whose test parts nothing,
    would be counted::

        A_q  =>  S_0q,left or ... or S_n-1,q,left
        B_q  =>  S_0q,right or ... or S_n-1,q,right
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"active", "branch"})

    def build(self, model: Model, ports: Ports) -> None:
        formula = ports.shared.get(Formula)
        assert formula.A is not None
        assert formula.B is not None
        side = formula.links["branch"]
        for used, way, name in ((formula.A, 0, "left"), (formula.B, 1, "right")):
            rows = np.concatenate([-used[:, None], side[:, :, way].T], axis=1)
            model.add(clauses(rows), f"some example leaves to the {name}")
