"""A model as the values of ports, so that rows over ports are judged without a formulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.backends import Backend, Run, Session, Verdict
from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.ports import Ports
from treeform.model import Model
from treeform.shape import UNIVARIATE, Shape

State = Callable[[Model, Ports], Any]
"""Adds rows over ports to a model; may return an expression that is minimised."""


def values_of_ports(graph: DecisionGraph, data: Dataset, shape: Shape) -> dict[str, NDArray[np.int64]]:
    """The ports of a model in normal form; test nodes that the shape has beyond its tests are not used."""
    n, n_nodes = data.n_samples, sum(shape.widths)
    visits, left = graph.route(data.X), graph.goes_left(data.X)
    reaches = np.zeros((n, n_nodes), dtype=np.int64)
    branch = np.zeros((n, n_nodes, 2), dtype=np.int64)
    active = np.zeros(n_nodes, dtype=np.int64)
    feature = np.zeros((n_nodes, data.n_features), dtype=np.int64)
    falling = np.zeros_like(feature)
    for v, test in enumerate(graph.tests()):  # parents come before their children
        here, low = visits[:, test.node], left[:, test.node]
        active[v] = 1
        reaches[:, v], branch[:, v, 0], branch[:, v, 1] = here, here & low, here & ~low
        feature[v, list(test.columns)] = 1
        falling[v] = [test.weight(f) < 0 for f in range(data.n_features)]
    known = {"reaches": reaches, "branch": branch, "active": active, "feature": feature, "falling": falling}
    codes = graph.predict_codes(data.X)
    if data.quantity is None:
        known["predicted"] = (codes[:, None] == np.arange(data.n_classes)).astype(np.int64)
    else:
        known["value"] = np.array([int(data.quantity.in_units(v)) for v in graph.values])[codes]
    return known


class FixedPorts:
    """Rows over ports, and what they say of single models.

    Parameters
    ----------
    needs : set of str
        The ports that are read.
    backend : Backend
        Finds values of the columns that rows have beside the ports.
    """

    def __init__(
        self, data: Dataset, shape: Shape, needs: frozenset[str], state: State, backend: Backend
    ) -> None:
        self.data, self.shape, self.needs, self.state, self.backend = data, shape, needs, state, backend
        self.at: dict[str, NDArray[np.int64]] = {}
        self.model = self._stated({})
        self._session: Session | None = None

    def _stated(self, values: dict[str, NDArray[np.int64]], at_most: int | None = None) -> Model:
        data, n_nodes = self.data, sum(self.shape.widths)
        sizes = {
            "reaches": (data.n_samples, n_nodes),
            "branch": (data.n_samples, n_nodes, 2),
            "active": (n_nodes,),
            "feature": (n_nodes, data.n_features),
            "predicted": (data.n_samples, data.n_classes),
            "value": (data.n_samples,),
        }
        if self.shape.splits != UNIVARIATE:
            sizes["falling"] = sizes["feature"]
        read = {"predicted" if name == "correct" else name for name in self.needs} & set(sizes) | {"feature"}
        model, ports = Model("fixed ports"), Ports(data, self.shape)
        for name in sorted(read):
            first = model.n_cols
            if name == "value":
                quantity = data.quantity
                assert quantity is not None
                low, high = values.get(name, quantity.lowest), values.get(name, quantity.highest)
                expr = model.integer(name, data.n_samples, low, high)
            else:
                expr = model.bool(name, sizes[name])
            ports.publish(name, expr)
            self.at[name] = np.arange(first, model.n_cols)
        self.n_ports = model.n_cols
        least = self.state(model, ports)
        if least is not None:
            model.minimize(least)
            if at_most is not None:
                model.add(least <= at_most, "less")
        return model

    def least(self, graph: DecisionGraph, expected: Fraction | None = None) -> Fraction | None:
        """The least value of what is minimised (0 where nothing is) for a model; None where rows forbid it.

        ``expected`` saves work where a solver stops within its tolerance: it is looked at first.
        """
        known = values_of_ports(graph, self.data, self.shape)
        x = np.zeros(self.model.n_cols)
        for name, at in self.at.items():
            x[at] = known[name].reshape(-1)
        if self.model.n_cols > self.n_ports:
            found = self._completed(x, known, expected)
            if found is None:
                return None
            x = found
        if any(self.model.check(x).values()):
            return None
        return self._value(x)

    def _value(self, x: NDArray[np.float64]) -> Fraction:
        objective = self.model.objective
        pairs = zip(objective.vals.tolist(), x[objective.cols].tolist(), strict=True)
        return sum((Fraction(a) * Fraction(v) for a, v in pairs), Fraction(objective.const))

    def _completed(
        self, x: NDArray[np.float64], known: dict[str, NDArray[np.int64]], expected: Fraction | None
    ) -> NDArray[np.float64] | None:
        """The point with the columns beside the ports, as a solver finds them; it is checked afterwards."""
        if "value" in self.at:  # values are no literals, and cannot be assumed
            self.close()
            self.model = self._stated(known)
        found = self._solved(x)
        if found is None or found[1]:
            return None if found is None else found[0]
        # A solver may stop within its tolerance: then halve what is left between the point and its bound.
        best, low = found[0], math.ceil(found[2])
        while low < self._value(best):
            middle = (low + int(self._value(best)) - 1) // 2
            if expected is not None and low < expected <= self._value(best):
                middle = int(expected) - 1
            self.close()
            self.model = self._stated(known, at_most=middle)
            better = self._solved(x)
            if better is None:
                low = middle + 1
            else:
                best = better[0]
        self.close()
        self.model = self._stated(known)
        return best

    def _solved(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool, float] | None:
        """A point with these ports, whether the solver calls it the best, and its bound."""
        if self._session is None:
            self._session = self.backend.open(self.model)
        ports = np.flatnonzero(self.model.is_binary[: self.n_ports])
        if "value" in self.at:
            ports = np.setdiff1d(ports, self.at["value"])
        literals = np.where(x[ports] > 0.5, ports + 1, -(ports + 1)).tolist()
        outcome = self._session.solve(Run(assumptions=literals))
        if outcome.verdict is Verdict.INFEASIBLE:
            return None
        if outcome.x is None:
            raise AssertionError(f"{self.backend!r} gave no verdict on rows over fixed ports: {outcome}")
        point = np.rint(np.asarray(outcome.x)[: self.model.n_cols])
        return point, outcome.verdict is Verdict.OPTIMAL, outcome.bound or 0.0

    def close(self) -> None:
        """Free the solver."""
        if self._session is not None:
            self._session.close()
            self._session = None


def is_whole(graph: DecisionGraph, data: Dataset) -> bool:
    """Whether the formulations have a place for the values of a model."""
    quantity = data.quantity
    if quantity is None:
        return True
    units = [quantity.in_units(value) for value in graph.values]
    return all(v.denominator == 1 and quantity.lowest <= v <= quantity.highest for v in units)
