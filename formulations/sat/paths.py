"""Component: where each example goes in the perfect tree; clauses (3) and (4), Algorithm 1."""

from __future__ import annotations

import numpy as np

from treeform.errors import SpecError
from treeform.formulations.sat.clauses import (
    equal_and,
    left_when_unused,
    ordered_clauses,
    split_clauses,
    turns_to,
)
from treeform.formulations.sat.examples import first_examples
from treeform.formulations.sat.formula import Formula
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Expr, Model, clauses
from treeform.utils.arrays import Ints

MOST_CLAUSES = 2**24
"""Clauses at once beyond which memory would not do."""

BY_SAMPLE = frozenset({"reaches", "branch", "leaf"})


class ExamplePaths(Component):
    """The turns of each example on its way down, as a binary number.

    ``X_ij`` says that example ``i`` turns right at level ``j``; the digits ``X_i0 X_i1 ... X_i,k-1`` are the
    number of its leaf. Formulas (3) and (4) of Avellaneda (AAAI 2020), as Algorithm 1 states them::

        (3)  e_i[f] = 0:  X_ij   =>  not F_{X_i[..j], f}
        (4)  e_i[f] = 1:  ~X_ij  =>  not F_{X_i[..j], f}

    Parameters
    ----------
    start : int
        Number of examples to begin with when no error is allowed; `SatDepth.refine` adds others as they turn
        out to be misclassified (Algorithm 3). Otherwise all distinct examples are in from the start.
    """

    offers = BY_SAMPLE

    def __init__(self, start: int = 10) -> None:
        if not isinstance(start, int) or isinstance(start, bool) or start < 1:
            raise SpecError(
                f"start={start!r} is no number of examples to begin with",
                cause="the first formula holds at least one example",
                fix="use start=10",
            )
        self.start = start

    def build(self, model: Model, ports: Ports) -> None:
        formula = ports.shared.get(Formula)
        n_points = len(formula.truth)
        formula.X = np.zeros((n_points, formula.depth), dtype=np.int64)
        if formula.consistent and not ports.wanted & BY_SAMPLE:
            chosen = ports.examples
            if chosen is None:
                chosen = first_examples(formula.right, formula.truth, self.start)
        else:
            chosen = np.arange(n_points)
        self.add_examples(model, formula, chosen)
        index = ports.points.index
        if ports.wanted & {"reaches", "branch"}:
            flow, side = _routes(model, formula)
            for name, expr in (("reaches", flow), ("branch", side)):
                if name in ports.wanted:
                    ports.publish(name, expr[index])
        if "leaf" in ports.wanted:
            ports.publish("leaf", _sinks(model, formula)[index])

    def add_examples(self, model: Model, formula: Formula, points: Ints) -> None:
        """Put points into the formula: their turns, and what these imply for the nodes on the way."""
        expected = len(points) * ((1 << formula.depth) - 1) * formula.per_node
        if expected > MOST_CLAUSES:
            raise SpecError(
                f"{len(points)} examples, {formula.n_tests} distinct tests and depth {formula.depth} make "
                f"{expected:,} clauses, more than {MOST_CLAUSES:,}",
                cause="every example says for every node and test where it goes",
                fix="use a smaller depth, fewer thresholds or rows, or a native engine",
            )
        path = model.bool("X: example turns right", (len(points), formula.depth)).as_literals()
        formula.X[points] = path
        right = formula.right[points]
        for level in range(formula.depth):
            nodes = formula.level(level)
            if formula.order is None:
                rows = split_clauses(path, formula.F[nodes], right, level)
            else:
                left = formula.order.O[nodes][:, formula.order.value[points]]
                rows = ordered_clauses(path, formula.F[nodes], left, level)
            model.add(clauses(rows), f"(3)-(4) features fit the turns at level {level}")
            testing = formula.A if formula.B is None else formula.B
            if testing is not None:
                rows = left_when_unused(path, testing[nodes], level)
                model.add(clauses(rows), f"unused nodes send all to the left at level {level}")


def _routes(model: Model, formula: Formula) -> tuple[Expr, Expr]:
    """Ports `reaches` and `branch` of the points: an example passes a node when it is there and the node is used.

    ::

        W_iq <=> S_i,parent,turn and A_q          (W_i,root <=> A_root)
        S_iq,right <=> W_iq and X_ij,   S_iq,left <=> W_iq and not X_ij
    """
    assert formula.A is not None
    n, nodes = len(formula.X), formula.n_nodes
    flow = model.bool("W: example passes node", (n, nodes))
    side = model.bool("S: example leaves node by side", (n, nodes, 2))
    w, s = flow.as_literals(), side.as_literals()
    for level in range(formula.depth):
        at = np.arange(nodes)[formula.level(level)]
        turn = formula.X[:, level, None]
        if level == 0:
            _define(model, w[:, :1], "passes the root", formula.A[:1])
        else:
            parent, digit = (at - 1) // 2, (at - 1) % 2
            _define(model, w[:, at], f"passes a node of level {level}", s[:, parent, digit], formula.A[at])
        _define(model, s[:, at, 1], f"leaves level {level} to the right", w[:, at], turn)
        _define(model, s[:, at, 0], f"leaves level {level} to the left", w[:, at], -turn)
    formula.links |= {"reaches": w, "branch": s}
    return flow, side


def _sinks(model: Model, formula: Formula) -> Expr:
    """Port `leaf` of the points: ``R_iv <=> X_i = v``."""
    sink = model.bool("R: example ends in leaf", (len(formula.X), formula.n_leaves))
    digits = np.where(turns_to(formula.depth), 1, -1)[None] * formula.X[:, None, :]
    literals = sink.as_literals()
    _define(
        model,
        literals,
        "ends in the leaf that its turns name",
        *(digits[:, :, j] for j in range(formula.depth)),
    )
    formula.links["leaf"] = literals
    return sink


def _define(model: Model, result: Ints, what: str, *parts: Ints) -> None:
    for rows in equal_and(result, *parts):
        model.add(clauses(rows), what)
