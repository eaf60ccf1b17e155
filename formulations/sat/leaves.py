"""Component: the classes of the leaves and what is predicted; clauses (5) and (6), Algorithm 2."""

from __future__ import annotations

import numpy as np

from treeform.formulations.sat.clauses import equal_and, leaf_clauses, right_turns, same_class_clauses
from treeform.formulations.sat.formula import Formula
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Expr, Model, at_most, clauses, constant, exactly, stack
from treeform.utils.arrays import Ints


class LeafClasses(Component):
    """Each leaf has a class, and an example is predicted the class of its leaf.

    ``C_vc`` says that leaf ``v`` has class ``c``. Where no error is allowed, formula (5) of Avellaneda (AAAI
    2020) fixes the class of the leaf where an example of class ``a`` ends; formula (6), that it has no other
    class, follows since a leaf has one class (for two classes, one variable)::

        (5)  X_i = v  =>  C_va
        (6)  X_i = v  =>  not C_va'     for a' != a

    Where errors are allowed, the prediction of an example is a separate variable::

        X_i = v  =>  (P_ic <=> C_vc)

    Parameters
    ----------
    unlabelled : bool
        A leaf may also have no class, and no example ends there then: for trees that are pruned.
    """

    offers = frozenset({"predicted", "label", "class_at"})

    def __init__(self, unlabelled: bool = False) -> None:
        self.unlabelled = unlabelled

    def build(self, model: Model, ports: Ports) -> None:
        formula = ports.shared.get(Formula)
        name = "C: leaf has class"
        if self.unlabelled:
            C = model.bool(name, (formula.n_leaves, ports.n_classes))
            model.add(at_most(C, 1, axis=1), "(6) at most one class each: C")
        else:
            C = _one_of(model, name, formula.n_leaves, ports.n_classes)
        formula.C = C.as_literals()
        ports.publish("class_at", C)
        if "label" in ports.wanted:
            ports.publish("label", C if self.unlabelled else _of_leaves(model, formula, C))
        if formula.consistent:
            self.add_examples(model, formula, formula.inside)
            # Every example is predicted its own class, also those that are not in the formula yet.
            ports.publish("predicted", constant(np.eye(ports.n_classes)[np.asarray(ports.data.y)]))
            return
        P = _one_of(model, "P: example is predicted class", len(formula.X), ports.n_classes)
        literals = P.as_literals()
        for c in range(1 if ports.n_classes == 2 else ports.n_classes):
            rows = same_class_clauses(formula.X, formula.C[:, c], literals[:, c])
            model.add(clauses(rows), f"prediction of class {ports.data.classes[c]} is the class of the leaf")
        formula.links["predicted"] = literals
        ports.publish("predicted", P[ports.points.index])

    def add_examples(self, model: Model, formula: Formula, points: Ints) -> None:
        """Put points into the formula, for which no error is allowed: (5)."""
        wanted = formula.C[:, formula.truth[points]].T
        model.add(
            clauses(leaf_clauses(formula.X[points], wanted)), "(5)-(6) the class of the leaf of each example"
        )


def _of_leaves(model: Model, formula: Formula, C: Expr) -> Expr:
    """Port `label`: ``L_vc <=> C_vc``, and each node on the way to v that it leaves to the right makes a test.

    Without such a test no path leads there, and v is no leaf.
    """
    testing = formula.A if formula.B is None else formula.B
    assert testing is not None
    label = model.bool("L: a path leads to the leaf, which has class", C.shape)
    literals = label.as_literals()
    for leaf, nodes in enumerate(right_turns(formula.depth)):
        parts = formula.C[leaf], *testing[nodes[nodes >= 0], None]
        for rows in equal_and(literals[leaf], *parts):
            model.add(clauses(rows), "the class of a leaf that a path leads to")
    formula.links["label"] = literals
    return label


def _one_of(model: Model, name: str, rows: int, n_classes: int) -> Expr:
    """Literals ``(rows, n_classes)`` of which exactly one in each row is true."""
    if n_classes == 2:
        second = model.bool(name, rows)
        return stack([~second, second], axis=1)
    many = model.bool(name, (rows, n_classes))
    model.add(exactly(many, 1, axis=1), f"one class each: {name[0]}")
    return many
