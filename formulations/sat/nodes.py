"""Component: which test each node of the perfect tree holds; clauses (1) and (2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeform.formulations.sat.clauses import Ints
from treeform.formulations.sat.formula import Formula, formula_of
from treeform.model import Expr, any_of, at_most, clauses, concatenate, constant
from treeform.ports import Component

if TYPE_CHECKING:
    from treeform.model import Model
    from treeform.ports import Ports


class NodeFeatures(Component):
    """Each node tests at least one Boolean feature.

    Clauses (1) and, if wanted, (2) of Avellaneda (AAAI 2020)::

        (1)  F_q0 or F_q1 or ... or F_q,m-1         for each node q
        (2)  not F_qa or not F_qb                   for each node q and a < b

    Where a requirement reads `active` or the like, a node may go unused: then it tests nothing, and so do
    its descendants.

    Parameters
    ----------
    at_most_one : bool or None
        Whether (2) is stated. A node with two features is consistent with either, so by default (None) it is
        stated only when somebody reads `feature`.
    """

    offers = frozenset({"feature", "active"})

    def __init__(self, at_most_one: bool | None = None) -> None:
        self.at_most_one = at_most_one

    def build(self, m: Model, t: Ports) -> None:
        formula = formula_of(t)
        F = m.bool("F: node tests feature", (formula.n_nodes, formula.n_tests))
        formula.F = F.as_literals()
        if t.wanted & {"active", "feature", "flow", "side"}:
            self._unused_nodes(m, t, formula, F)
        else:
            m.add(any_of(F, axis=1), "(1) a feature at each node")
        one = "feature" in t.wanted if self.at_most_one is None else self.at_most_one
        if one and formula.n_tests > 1:
            m.add(at_most(F, 1, axis=1), "(2) at most one feature at each node")
        if "feature" in t.wanted:
            t.publish("feature", _by_column(m, t, formula, F))

    def _unused_nodes(self, m: Model, t: Ports, formula: Formula, F: Expr) -> None:
        """A_q <=> F_q0 or ... or F_q,m-1, and a used node has a used parent."""
        A = m.bool("A: node is used", formula.n_nodes)
        formula.A = A.as_literals()
        # The clause  not A_q or F_q0 or ... or F_q,m-1.
        m.add(
            clauses(np.concatenate([-formula.A[:, None], formula.F], axis=1)),
            "(1) a feature at each used node",
        )
        m.add(any_of(~F, A[:, None]), "a node with a feature is used")
        child = np.arange(1, formula.n_nodes)
        if len(child):
            m.add(any_of(~A[child], A[(child - 1) // 2]), "below an unused node none is used")
        if "active" in t.wanted:
            t.publish("active", A)


def _by_column(m: Model, t: Ports, formula: Formula, F: Expr) -> Expr:
    """The port `feature`: node tests column f of the data, that is, one of the tests ``x_f <= threshold``."""
    parts: list[Expr] = []
    for f in range(t.n_features):
        own: Ints = np.flatnonzero(formula.feature == f)
        if len(own) == 0:
            column = constant(np.zeros((formula.n_nodes, 1)))
        elif len(own) == 1:
            column = F[:, own]
        else:
            column = m.bool(f"node tests {t.data.columns[f].name}", (formula.n_nodes, 1))
            m.add(any_of(~F[:, own], column), f"a threshold of {t.data.columns[f].name} is a test of it")
            m.add(
                any_of(~column[:, 0], *(F[:, j] for j in own)),
                f"a test of {t.data.columns[f].name} has a threshold",
            )
            formula.by_column[f] = column.as_literals()[:, 0]
        parts.append(column)
    return concatenate(parts, axis=1)
