"""Stability: every branch, or every test, is backed by enough samples."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.graph.routing import arc_weights
from treeform.language.numbers import whole_number
from treeform.language.ports import Ports
from treeform.model import Expr, Model
from treeform.requirements.amount import AtLeastAmount
from treeform.shape import Limits, Shape
from treeform.utils.text import exact_text


class _WeightAtTests(AtLeastAmount, listed=False):
    """A least weight at each test; a model without one satisfies it."""

    demands_tests: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    limit: ClassVar[str]
    """Its name among the `Limits` of engines."""
    source: ClassVar[str] = ""
    """The equation that it is, in front of the rows' names."""
    clause: ClassVar[str]
    """What gets the weight, as a clause with a place for the number."""

    @abstractmethod
    def _passing(self, ports: Ports) -> tuple[Expr, Expr]:
        """The weight at each test, or at each of its sides; and whether there is the test."""

    def build(self, model: Model, ports: Ports) -> None:
        weight, active = self._passing(ports)
        model.add(weight >= active * self._needed(ports.data), f"{self.source}{self}")

    def _needed(self, data: Dataset) -> int:
        """The weight that is needed; where it is more than there is, one unit more than all: no test has it."""
        return min(self.amount.at_least(data), data.total_weight + 1)

    def slack_unit(self, data: Dataset) -> Fraction:
        return data.weight_unit

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        return self.amount.at_least(data)

    def slack(self, model: Model, ports: Ports) -> Expr:
        """The weight that is lacking where there is the least."""
        least = self.amount.at_least(ports.data)
        amount = whole_number(model, f"{self}: lacking", least)
        weight, active = self._passing(ports)
        model.add(weight + amount >= active * least, f"{self}: weight lacking")
        return amount

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return super().violation(graph, data) if (graph.feature >= 0).any() else Fraction(0)

    @property
    def measure(self) -> str:
        return self.clause.format("{}" if self.amount.count is not None else "{} of the weight")

    def limits(self, data: Dataset) -> Limits:
        # More than there is means that there is no test, since a model without one satisfies it.
        needed = self._needed(data)
        return Limits(max_nodes=0) if needed > data.total_weight else Limits(**{self.limit: needed})

    def remark(self, data: Dataset) -> str | None:
        """That no test can satisfy it, where the amount is more than there is."""
        if self.amount.at_least(data) <= data.total_weight:
            return None
        total = data.total_weight * data.weight_unit
        return f"{self} leaves no test: all samples together have weight {exact_text(total)}"


class MinSupport(_WeightAtTests):
    """Each side of every test gets at least this much training weight.

    In a tree that is a minimum support per leaf. A constant model satisfies it: all samples are in its leaf. A
    pass-through has an empty side, so no model with one satisfies it (unless the amount is 0).

    Parameters
    ----------
    at_least : int or float
        A whole number counts samples (weight), anything else is a fraction of the total weight.
    count : int, optional
        The bound as a number of samples.
    fraction : float, optional
        The bound as a share of the total weight.

    Notes
    -----
    Stricter than Florio et al. (AAAI 2023), equation (20), which bounds the flow into a node: both flows out
    of it are bounded here, so that no leaf is small.
    """

    name: ClassVar[str] = "min_support"
    words: ClassVar[str] = "each side of every test gets at least {amount.words}"
    samples: ClassVar[tuple[str, ...]] = ("min_support:2", "min_support:0.3")
    limit: ClassVar[str] = "min_support"
    clause: ClassVar[str] = "a side of a test gets {}"
    needs = frozenset({"branch", "active"})

    def _passing(self, ports: Ports) -> tuple[Expr, Expr]:
        # sum_i weight_i * side[i, v, s] >= S * active[v]
        return (ports.branch * ports.weights[:, None, None]).sum(axis=0), ports.active[:, None]

    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        of_tests = arc_weights(graph, data)[graph.feature >= 0]
        return int(of_tests.min(initial=data.total_weight))


class Stability(_WeightAtTests):
    """Each test is reached by at least this much training weight.

    Weaker than `MinSupport`, which bounds what leaves a test on either side: here a leaf may be small. A constant
    model satisfies it. Pass-throughs are tests: they have to be reached by as much.

    Parameters
    ----------
    at_least, count, fraction
        See `MinSupport`.

    Notes
    -----
    Florio et al. (AAAI 2023), equation (20).
    """

    name: ClassVar[str] = "stability"
    words: ClassVar[str] = "each test is reached by at least {amount.words}"
    samples: ClassVar[tuple[str, ...]] = ("stability:0.5",)
    limit: ClassVar[str] = "min_flow"
    source: ClassVar[str] = "(20) "
    clause: ClassVar[str] = "a test is reached by {}"
    needs = frozenset({"reaches", "active"})

    def _passing(self, ports: Ports) -> tuple[Expr, Expr]:
        # (20) sum_i weight_i sum_{u in delta-(v)} (z+_iuv + z-_iuv) >= S d_v; the sum over u is the flow through v
        return (ports.reaches * ports.weights[:, None]).sum(axis=0), ports.active

    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        tests = np.flatnonzero(graph.feature >= 0)
        reaching = data.points.weights.sum(axis=1) @ graph.route(data.points.X)[:, tests]
        return int(reaching.min()) if len(tests) else data.total_weight
