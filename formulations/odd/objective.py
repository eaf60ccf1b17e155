"""Predictions, (17), and the paper's objective, (18)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.component import Component
from treeform.language.numbers import as_fraction
from treeform.language.objective import Error, Objective
from treeform.language.ports import Ports, Shared
from treeform.language.size_terms import Nodes
from treeform.model import Expr, Model, concatenate, constant
from treeform.shape import Shape


@dataclass(frozen=True)
class Arrivals(Shared, publisher="Accuracy"):
    """Columns (P, K) of what arrives at each terminal; (P, 1) with two classes, where the other one is the rest."""

    w_terminal: Expr


class Accuracy(Component):
    """What arrives at the terminals, one per class: the prediction of every point.

    Parameters
    ----------
    own_leaves : bool, default False
        Whether each side of a test that ends is a leaf, as in trees; otherwise the terminals are.

    Notes
    -----
    Publishes ``predicted`` (n, K). Of terminals ``leaf`` is the same, and ``label`` the identity. Leaves of a tree are
    the sides of its tests in their order, 2 V, and the model without a test.
    """

    needs = frozenset({"z_terminal", "arrival", "constant"})
    offers = frozenset({"predicted", "leaf", "label"})

    def __init__(self, own_leaves: bool = False) -> None:
        self.own_leaves = own_leaves
        if own_leaves:
            self.needs = frozenset({*self.needs, "w_last", "y_terminal"})

    def build(self, model: Model, ports: Ports) -> None:
        # (17) w_iv = sum_{u in delta-(v)} (z+_iuv + z-_iuv); by (1)-(3) they add up to 1 over the terminals, so
        # that the last class is what is left over.
        shape = (ports.points.n_points, ports.n_classes)
        arriving = ports.z_terminal.sum(axis=(1, 2)) + ports.arrival.sum(axis=1) + ports.constant
        if ports.n_classes == 2:
            columns = model.bool("w_terminal", (shape[0], 1), relax=True)
            arrived = concatenate([columns, 1 - columns], axis=1)
        else:
            arrived = columns = model.bool("w_terminal", shape, relax=True)
            model.add(arrived.sum(axis=1) == 1, "(17) every point arrives")
        model.add(arrived[:, :-1] == arriving[:, :-1], "(17) arrival at terminals")
        ports.shared.publish(Arrivals(columns))
        predicted = arrived[ports.points.index]
        ports.publish("predicted", predicted)
        leaf, label = predicted, constant(np.eye(ports.n_classes))
        if self.own_leaves:
            ending = concatenate([ports.z_terminal.sum(axis=3), ports.w_last], axis=1).reshape(shape[0], -1)
            untested = np.ones((shape[0], 1)) * ports.constant.sum()
            leaf = concatenate([ending, untested], axis=1)[ports.points.index]
            label = concatenate([ports.y_terminal.reshape(-1, ports.n_classes), ports.constant[None]], axis=0)
        ports.publish("leaf", leaf)
        ports.publish("label", label)


def paper_objective(alpha: float | Fraction | str, data: Dataset, shape: Shape) -> Objective:
    """The objective (18): the error rate plus alpha times the share of nodes in use beyond the root.

    Parameters
    ----------
    alpha : float, str or Fraction
        At least 0; taken as the decimal that it is written as.
    data : Dataset
    shape : Tree or Diagram

    Raises
    ------
    SpecError
        If alpha is negative or no finite number.

    Returns
    -------
    Objective
        ``Error() / total weight + alpha / (|V_I| - 1) * Nodes()``. It counts the root, which (18) does not: a
        model with a root has ``alpha / (|V_I| - 1)`` more here, and a constant model is comparable.
    """
    price = as_fraction(alpha, "alpha")
    if price < 0:
        raise SpecError(
            f"alpha = {alpha} is not possible",
            cause="alpha prices tests in (18): below 0, tests that do nothing would pay",
            fix="use alpha >= 0, for example one of 0.01, 0.1, 0.2, 0.5, 1",
        )
    nodes = sum(shape.widths)
    total = data.total_weight * data.weight_unit
    return Error() * (1 / total) + Nodes() * (price / max(nodes - 1, 1))
