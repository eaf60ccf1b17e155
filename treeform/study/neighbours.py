"""What one run of a study tells another on the same rows: models, and bounds on the objective."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.shape import smaller_shapes
from treeform.solve.result import Claim, known_bound

MOST_JUDGED = 3
"""Models that a run judges, which takes a pass over all rows each."""


@dataclass(frozen=True)
class Neighbour:
    """A run that has ended."""

    number: int
    """Of the run."""
    question: Question
    """What it answered."""
    base: str
    """Its objective without the price of a test."""
    price: Fraction
    """Of a test, in units of the objective."""
    graph: DecisionGraph | None
    """Its model."""
    objective: Fraction | None
    """The value of its model."""
    bound: Fraction | None
    """What it proved: no model is below."""

    def value_at(self, price: Fraction) -> Fraction:
        """The objective of its model at another price of a test."""
        assert self.objective is not None and self.graph is not None
        return self.objective + (price - self.price) * self.graph.n_nodes


def best_models(neighbours: Sequence[Neighbour], base: str, price: Fraction) -> list[DecisionGraph]:
    """The models of earlier runs that cost least at this price, the best first; each once."""
    known = [one for one in neighbours if one.base == base and one.graph is not None]
    known.sort(key=lambda one: one.value_at(price))
    # Models of the same size and value are mostly the same one.
    graphs: dict[tuple[Fraction, int], DecisionGraph] = {}
    for one in known:
        assert one.graph is not None
        graphs.setdefault((one.value_at(price), one.graph.n_nodes), one.graph)
    return list(graphs.values())[:MOST_JUDGED]


def bounds_from(
    neighbours: Sequence[Neighbour], question: Question, base: str, price: Fraction
) -> list[Claim]:
    """Bounds that earlier runs prove for another question on the same rows, the largest last.

    A run whose models are all the models of the question and more has an optimum that is no larger, at the same price
    of a test or a smaller one. Between two prices p < q of such runs, with bounds P and Q, a model with e errors and
    t tests has at price r = (1 - s) p + s q

        e + r t = (1 - s) (e + p t) + s (e + q t) >= (1 - s) P + s Q.
    """  # fmt: skip
    wider = [one for one in neighbours if one.base == base and has_all_models(one.question, question)]
    found = [*_at_smaller_prices(wider, price), *_between_prices(wider, price)]
    return [known_bound(value, by) for value, by in sorted(found, key=lambda one: one[0])]


def _at_smaller_prices(wider: Iterable[Neighbour], price: Fraction) -> Iterator[tuple[Fraction, str]]:
    for one in wider:
        if one.price <= price and one.bound is not None:
            yield one.bound, f"run {one.number} of the study"


def _between_prices(wider: Iterable[Neighbour], price: Fraction) -> Iterator[tuple[Fraction, str]]:
    bounded = [one for one in wider if one.bound is not None]
    for one, other in combinations(bounded, 2):
        low, high = sorted((one, other), key=lambda each: each.price)
        if not low.price < price < high.price:
            continue
        assert low.bound is not None and high.bound is not None
        share = (price - low.price) / (high.price - low.price)
        value = (1 - share) * low.bound + share * high.bound
        yield value, f"runs {low.number} and {high.number} of the study"


def has_all_models(wide: Question, narrow: Question) -> bool:
    """Whether every model that the second question admits is admitted by the first; False where that is not known."""
    shapes = wide.shape == narrow.shape or (wide.shape.splits == narrow.shape.splits and any(
        shape == narrow.shape for shape in smaller_shapes(wide.shape)
    ))  # fmt: skip
    same = len(wide.requirements) == len(narrow.requirements)
    return shapes and same and all(map(_is_looser, wide.requirements, narrow.requirements))


def _is_looser(one: Requirement, other: Requirement) -> bool:
    """Whether the first holds wherever the second does: they are equal, or differ in their bound."""
    if _text(one) == _text(other):
        return True
    if not isinstance(one, Bounded) or not isinstance(other, Bounded) or type(one) is not type(other):
        return False
    if one.bound_name != other.bound_name:  # a count of rows and a share of them are not compared
        return False
    if one.bound is None or other.bound is None or one.is_tighter(one.bound, other.bound):
        return False
    return _text(one.with_bound(other.bound)) == _text(other)


def _text(requirement: Requirement) -> str:
    return json.dumps(requirement.to_json(), sort_keys=True, default=str)
