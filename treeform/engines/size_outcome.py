"""What a search over numbers of tests returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.data import Dataset
from treeform.engines.native_call import Start, counters_of, reason_for_end, to_diagram
from treeform.errors import Infeasible
from treeform.graph import DecisionGraph

_NEVER = 2**61


@dataclass(frozen=True)
class SizeOutcome:
    """Known bounds of e(k), the least cost with at most k tests, for k = 0, 1, 2, ..."""

    lower: tuple[int, ...]
    """No model of at most k tests costs less than ``lower[k]`` (weight units)."""
    upper: tuple[int | None, ...]
    """What the best model found of at most k tests costs; None where there is none."""
    graphs: tuple[DecisionGraph | None, ...]
    """These models."""
    proved_at: dict[Fraction, float | None]
    """Seconds after which each price was proved, None where it was not."""
    seconds: float
    reason: str | None
    """Why the run ended early: ``"time"``, ``"interrupted"`` or ``"memory"``."""
    counters: dict[str, int]
    free: int = 0
    """So many tests have no price."""

    @classmethod
    def of(
        cls,
        native: dict[str, Any],
        data: Dataset,
        is_tree: bool,
        prices: Sequence[Fraction],
        start: Sequence[Start],
        interrupted: bool,
        free: int = 0,
    ) -> SizeOutcome:
        """From the core's answer, which has an entry for each number of tests; where it has no model, the best of
        ``start`` has the least cost.

        ``prices`` of a test are in the order of the answer; ``free`` tests have none. ``interrupted``: by Ctrl-C.
        """
        graphs: list[DecisionGraph | None] = []
        upper: list[int | None] = []
        for k, diagram in enumerate(native["diagrams"]):
            cost = None if native["upper"][k] >= _NEVER else int(native["upper"][k])
            graph = None if diagram is None else to_diagram(diagram, data, is_tree)
            given = min((one for one in start if one.tests <= k), key=lambda one: one.cost, default=None)
            # A run that is stopped while the points are prepared has not looked at the start.
            if given is not None and graph is None and (cost is None or given.cost <= cost):
                graph, cost = given.graph, given.cost
            graphs.append(graph)
            upper.append(cost)
        lower = [int(value) for value in native["lower"]]
        return cls(
            lower=tuple(
                low if high is None else min(low, high) for low, high in zip(lower, upper, strict=True)
            ),
            upper=tuple(upper),
            graphs=tuple(graphs),
            proved_at={
                price: at if at >= 0 else None for price, at in zip(prices, native["proved_at"], strict=True)
            },
            seconds=float(native["seconds"]),
            reason=reason_for_end(native, interrupted),
            counters=counters_of(native),
            free=free,
        )

    def lower_of(self, tests: int) -> int:
        """No model of at most so many tests costs less, for any number that the task allows.

        The tuples of a search over trees end where all samples can be told apart: further tests have nothing to part.
        """
        return self.lower[min(tests, len(self.lower) - 1)]

    def best(self, price: Fraction | int) -> tuple[Fraction, DecisionGraph | None]:
        """The least known ``cost + price * max(tests - free, 0)``, and its model.

        Raises Infeasible if there is no model: the data weigh less than a leaf has to.
        """
        values = [
            (Fraction(price) * max(k - self.free, 0) + cost, k)
            for k, cost in enumerate(self.upper)
            if cost is not None
        ]
        if not values:
            raise Infeasible("there is no model", cause="the samples weigh less than a leaf has to")
        value, k = min(values)
        return value, self.graphs[k]

    def bound(self, price: Fraction | int) -> Fraction:
        """No model has a smaller ``cost + price * max(tests - free, 0)``."""
        return min(Fraction(price) * max(k - self.free, 0) + low for k, low in enumerate(self.lower))

    def proved(self, price: Fraction | int) -> bool:
        """Whether the two meet."""
        return self.bound(price) >= self.best(price)[0]
