"""Component: which test each node of the perfect tree holds; clauses (1) and (2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.sat.formula import Formula, Order, publish_formula
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Expr, Model, any_of, at_most, clauses, concatenate, constant
from treeform.utils.arrays import Ints

AT_MOST_ONE = ("none", "pairwise", "auto")
TESTS = ("each", "ordered", "auto")
MANY_THRESHOLDS = 16
"""Thresholds per column from which they are ordered numbers by default."""


class NodeFeatures(Component):
    """Each node tests at least one Boolean feature.

    Clauses (1) and, if wanted, (2) of Avellaneda (AAAI 2020)::

        (1)  F_q0 or F_q1 or ... or F_q,m-1         for each node q
        (2)  not F_qa or not F_qb                   for each node q and a < b

    Where a requirement reads `active` or the like, a node may go unused: then it tests nothing, and so do
    its descendants.

    Where a requirement asks for tests, a used node may also be a pass-through: it tests nothing, and its examples
    go left.

    In the ordered encoding ``F_qu`` says that the node tests *column* ``u``, and its threshold is an ordered
    number: ``O_quv`` says that it sends the value ``v`` of the column to the left::

        O_quv  =>  O_quw        for values w < v, neighbours;
        the least value goes left, the greatest right

    An example then takes two clauses per node and column, however many thresholds there are.

    Parameters
    ----------
    at_most_one : {"none", "pairwise", "auto"} or None
        How (2) is stated: not at all, as it stands, or as the solver's route has it.
        A node with two features is consistent with either, so by default (None) it is omitted unless a component
        reads `feature`.
    tests : {"each", "ordered", "auto"}
        One literal for each distinct test, or ordered thresholds; "auto" takes the latter when columns have many
        thresholds.
    """

    offers = frozenset({"feature", "active"})

    def __init__(self, at_most_one: str | None = None, *, tests: str = "auto") -> None:
        one_of(at_most_one, (None, *AT_MOST_ONE), "at_most_one")
        one_of(tests, TESTS, "tests")
        self.at_most_one = at_most_one
        self.tests = tests

    def ordered(self, data: Dataset) -> bool:
        """Whether thresholds of ``data`` are stated as ordered numbers."""
        if self.tests != "auto":
            return self.tests == "ordered"
        columns = sum(len(values) > 1 for values in data.ranks.values)
        return data.n_tests > MANY_THRESHOLDS * columns

    def build(self, model: Model, ports: Ports) -> None:
        formula = publish_formula(ports, self.ordered(ports.data))
        wide = formula.n_tests if formula.order is None else len(formula.order.column)
        F = model.bool("F: node tests feature", (formula.n_nodes, wide))
        formula.F = F.as_literals()
        if ports.wanted & {"active", "feature", "reaches", "branch", "label"}:
            self._unused_nodes(model, ports, formula, F)
        else:
            model.add(any_of(F, axis=1), "(1) a feature at each node")
        if formula.order is not None:
            _thresholds(model, formula, formula.order)
        one = self.at_most_one or ("auto" if "feature" in ports.wanted else "none")
        if wide > 1:
            _at_most_one(model, formula.F, F, one)
        if "feature" in ports.wanted:
            ports.publish("feature", _by_column(model, ports, formula, F))

    def _unused_nodes(self, model: Model, ports: Ports, formula: Formula, F: Expr) -> None:
        """B_q <=> F_q0 or ... or F_q,m-1, where B_q = A_q without pass-throughs; a used node has a used parent."""
        A = B = model.bool("A: node is used", formula.n_nodes)
        formula.A = A.as_literals()
        if ports.asks_for_tests:
            B = model.bool("B: node makes a test", formula.n_nodes)
            formula.B = B.as_literals()
            model.add(any_of(~B, A), "a node with a test is used")
        # The clause  not B_q or F_q0 or ... or F_q,m-1.
        model.add(
            clauses(np.concatenate([-B.as_literals()[:, None], formula.F], axis=1)),
            "(1) a feature at each used node",
        )
        model.add(any_of(~F, B[:, None]), "a node with a feature is used")
        child = np.arange(1, formula.n_nodes)
        if len(child):
            model.add(any_of(~A[child], A[(child - 1) // 2]), "below an unused node none is used")
        if "active" in ports.wanted:
            ports.publish("active", A)


def one_of(value: object, known: Sequence[object], what: str) -> None:
    """Refuse a setting that is not among those known."""
    if value not in known or isinstance(value, int) != isinstance(known[0], int):
        raise SpecError(
            f"{what}={value!r} is not known",
            cause=f"it is one of {', '.join(map(repr, known))}",
            fix=f"use {what}={known[0]!r}",
        )


def _thresholds(model: Model, formula: Formula, order: Order) -> None:
    """``O_quv => O_qu,v-1``; the least value of a column goes left, the greatest right."""
    O = model.bool("O: node sends value to the left", (formula.n_nodes, order.n_values))  # noqa: E741
    order.O = O.as_literals()
    later = np.setdiff1d(np.arange(order.n_values), order.first[:-1])
    chain = np.stack([-order.O[:, later], order.O[:, later - 1]], axis=2)
    model.add(clauses(chain.reshape(-1, 2)), "thresholds are ordered")
    ends = np.concatenate([order.O[:, order.first[:-1]], -order.O[:, order.first[1:] - 1]], axis=1)
    model.add(clauses(ends.reshape(-1, 1)), "the least value goes left, the greatest right")


def _at_most_one(model: Model, literals: Ints, F: Expr, how: str) -> None:
    """Clauses (2), or others with the same meaning."""
    name = "(2) at most one feature at each node"
    if how == "auto":
        model.add(at_most(F, 1, axis=1), name)
    elif how == "pairwise":
        a, b = np.triu_indices(literals.shape[1], 1)
        model.add(clauses(-literals[:, np.stack([a, b], axis=1)].reshape(-1, 2)), name)


def _by_column(model: Model, ports: Ports, formula: Formula, F: Expr) -> Expr:
    """The port `feature`: node tests column f of the data, that is, one of the tests ``x_f <= threshold``."""
    none = constant(np.zeros((formula.n_nodes, 1)))
    if formula.order is not None:
        at = {int(f): u for u, f in enumerate(formula.order.column)}
        return concatenate([F[:, [at[f]]] if f in at else none for f in range(ports.n_features)], axis=1)
    parts: list[Expr] = []
    for f in range(ports.n_features):
        tests: Ints = np.flatnonzero(formula.feature == f)
        if len(tests) == 0:
            column = none
        elif len(tests) == 1:
            column = F[:, tests]
        else:
            column = model.bool(f"node tests {ports.data.columns[f].name}", (formula.n_nodes, 1))
            model.add(
                any_of(~F[:, tests], column), f"a threshold of {ports.data.columns[f].name} is a test of it"
            )
            model.add(
                any_of(~column[:, 0], *(F[:, j] for j in tests)),
                f"a test of {ports.data.columns[f].name} has a threshold",
            )
            formula.by_column[f] = column.as_literals()[:, 0]
        parts.append(column)
    return concatenate(parts, axis=1)


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
