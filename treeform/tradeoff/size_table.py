"""The size table: the least error with at most m tests, for m = 0, 1, 2, ...

Every objective "error + price * tests" reads its optimum, and the proof of it, off this one table (Florio et al.,
AAAI 2023, price tests by alpha in (18)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeform.certify.certificate import number_in_file
from treeform.certify.family import IMPOSSIBLE, Family, Place
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.losses import leaf_loss, without_tests
from treeform.language.numbers import not_negative
from treeform.language.question import Question, ceiling
from treeform.solve.result import Number, StageRun, as_number
from treeform.solve.stage.given_models import bound_with, most_tests
from treeform.solve.verification import judge_candidate
from treeform.tradeoff.view import View
from treeform.utils.text import count_of


@dataclass(frozen=True)
class SizeRow:
    """Known bounds of the models with at most ``tests`` tests."""

    tests: int
    lower: Number | None
    """No such model has a smaller value; None: there is no admissible model."""
    upper: Number | None
    """Value of ``graph``; None without a model."""
    graph: DecisionGraph | None
    by: str
    """The solver or engine that proved ``lower``."""

    @property
    def proved(self) -> bool:
        """Whether nothing is left to prove."""
        return self.lower is None or self.lower == self.upper


def row_of(family: Family, place: Place, tests: int) -> SizeRow:
    """What a family knows of the models with at most so many tests."""
    proof, known = family.lower(place), family.best(place)
    assert proof is not None  # that of identical rows at least
    lower = None if proof.lower == IMPOSSIBLE else as_number(Fraction(proof.lower))
    upper, graph = (None, None) if known is None else (known.value, known.graph)
    return SizeRow(tests, lower, upper, graph, proof.by)


def best_at(rows: Sequence[SizeRow], each: Fraction, free: int) -> tuple[Fraction, DecisionGraph] | None:
    """The best known model and its value when a test costs ``each``, the first ``free`` ones nothing."""
    priced = [
        (Fraction(row.upper + each * max(0, row.graph.n_nodes - free)), row.graph)
        for row in rows
        if row.graph is not None and row.upper is not None
    ]
    return min(priced, key=lambda pair: pair[0], default=None)


@dataclass(frozen=True)
class PriceOptimum:
    """The optimum at one price per test, as far as it is known."""

    price: Fraction
    graph: DecisionGraph | None
    """The best model known."""
    objective: Number | None
    bound: Number | None
    """Its value, tests included, and what is proved; None without a model."""

    @property
    def proved(self) -> bool:
        """Whether ``graph`` is optimal at this price."""
        return self.objective is not None and self.objective == self.bound

    def __str__(self) -> str:
        tests = "no model" if self.graph is None else count_of(self.graph.n_nodes, "test")
        state = "optimal" if self.proved else f"bound {float(self.bound or 0):.6g}"
        return f"price {float(self.price):.6g}: objective {float(self.objective or 0):.6g}, {tests}, {state}"


@dataclass(frozen=True, repr=False, kw_only=True)
class SizeTable(View):
    """The least value for each number of tests.

    Attributes
    ----------
    plan : tuple of StageRun
        The stages that ran, in order, with the seconds of each.
    """

    plan: tuple[StageRun, ...] = ()

    @cached_property
    def rows(self) -> tuple[SizeRow, ...]:
        """For 0, 1, 2, ... tests; with as many as requirements allow, the problem is the whole one."""
        most = most_tests(self.question)
        places = [self.family.place(None, m if m < most else None) for m in range(most + 1)]
        return tuple(row_of(self.family, place, m) for m, place in enumerate(places))

    def at(self, price: Fraction | float | str, free_root: bool = False) -> PriceOptimum:
        """The best model and the bound at a price of each test, in units of the objective.

        Parameters
        ----------
        price : Fraction, float or str
            A decimal is taken as it is written.
        free_root : bool, default False
            Whether the first test costs nothing.

        Raises
        ------
        SpecError
            If the price is negative or no finite number.
        """
        each = checked_price(price)
        value, graph = best_at(self.rows, each, free_root) or (None, None)
        priced = (row.lower + each * max(0, row.tests - free_root) for row in self.rows if row.lower is not None)
        bound = min(map(Fraction, priced), default=None)
        objective = None if value is None else as_number(value)
        return PriceOptimum(each, graph, objective, None if bound is None else as_number(bound))

    def at_alpha(self, alpha: Fraction | float | str) -> PriceOptimum:
        """As `at`, for (18) of the paper: alpha prices the share of the skeleton's tests beyond the root.

        In units of the objective a test beyond the root costs ``alpha * total weight / (|V_I| - 1)``.

        Parameters
        ----------
        alpha : Fraction, float or str
            A decimal is taken as it is written.
        """
        return self.at(price_of_alpha(self.question, alpha), free_root=True)

    def to_json(self) -> dict[str, Any]:
        """The table as plain values; numbers exact, as text."""
        return {
            "shape": self.question.shape.to_json(),
            **self._facts(),
            "rows": [
                {
                    "tests": row.tests,
                    "lower": number_in_file(row.lower),
                    "upper": number_in_file(row.upper),
                    "by": row.by,
                    "model": None if row.graph is None else row.graph.to_json(),
                }
                for row in self.rows
            ],
        }

    def __str__(self) -> str:
        lines = [f"{'tests':>5}  {'lower':>10}  {'upper':>10}  proved by"]
        for row in self.rows:
            lower = "none" if row.lower is None else f"{float(row.lower):.6g}"
            upper = "-" if row.upper is None else f"{float(row.upper):.6g}"
            lines.append(f"{row.tests:>5}  {lower:>10}  {upper:>10}  {row.by if row.proved else '(open)'}")
        if self.limit is not None:
            lines.append(f"stopped ({self.limit}): better models may exist in the open rows")
        return "\n".join(lines)


class SizeBounds:
    """The rows of a size table as problems of a family, in whole scaled numbers.

    A price on tests is left out of the question. What is found is entered in ``family``, by number of tests and maybe
    by depth; by default one of its own.
    """

    def __init__(self, question: Question, family: Family | None = None) -> None:
        self.question = question.with_(objective=without_tests(question.objective))
        self.family = Family(self.question, by_tests=True) if family is None else family
        self.most = most_tests(self.question)
        if leaf_loss(self.question.objective) is not None:
            self.family.prove(self.place(self.most), Fraction(0), "counting")
            return
        for m in reversed(range(self.most + 1)):  # most rows have the bound of the next larger one
            self.raise_lower(m, bound_with(self.question, m), "identical rows and few terminals")

    def place(self, m: int) -> Place:
        """Where the problem with at most ``m`` tests stands; with as many as requirements allow it is the whole one."""
        return self.family.place(self.question.shape.depth, m if m < self.most else None)

    @property
    def own_family(self) -> Family:
        """The problems of this question alone, with the models and bounds found so far."""
        return self.family.of_depth(self.question.shape.depth) if self.family.by_depth else self.family

    def row(self, m: int) -> SizeRow:
        """The models with at most ``m`` tests: their bounds and the best one, in the user's units."""
        return row_of(self.family, self.place(m), m)

    @property
    def rows(self) -> list[SizeRow]:
        """All rows."""
        return [self.row(m) for m in range(self.most + 1)]

    def scaled(self, value: Number | None) -> int | None:
        """A value of a row as a whole number."""
        return None if value is None else math.ceil(Fraction(value) * self.question.scale)

    @property
    def lower(self) -> list[int | None]:
        """What is proved of each row; None: there is no admissible model."""
        return [self.scaled(row.lower) for row in self.rows]

    def enter_models(self, table: SizeTable) -> None:
        """Enter the models of a table, of this shape or a smaller one."""
        for graph in {id(row.graph): row.graph for row in table.rows if row.graph is not None}.values():
            self.submit(graph)

    def submit(self, graph: DecisionGraph) -> bool:
        """Enter a model where it is the best; True if it is for some number of tests."""
        candidate, judged = judge_candidate(self.question, graph)
        if not judged.ok or candidate.n_nodes > self.most:
            return False
        value = as_number(self.question.to_units(judged.value))
        known = self.family.best(self.place(candidate.n_nodes))
        better = known is None or value < known.value
        if better:
            self.family.enter(candidate, value)
        return better

    def raise_lower(self, m: int, value: int | None, by: str) -> None:
        """No model with at most ``m`` tests is below ``value``; None: there is none."""
        lower = IMPOSSIBLE if value is None else Fraction(self.question.to_units(value))
        known = self.family.lower(self.place(m))
        if known is None or lower > known.lower:
            self.family.prove(self.place(m), lower, by)

    def best(self, price: Fraction, free: int) -> Fraction | None:
        """The least scaled value of a known model when a test costs ``price``, the first ``free`` ones nothing."""
        found = best_at(self.rows, price / self.question.scale, free)
        return None if found is None else found[0] * self.question.scale

    def targets(self, price: Fraction | None, free: int = 0) -> list[int | None]:
        """The lower bound that each row needs for ``price`` to be proved; None where it has it.

        That is the value of the best known model less the price of the tests; without a price, the row's upper bound.
        Without a model all values are open.
        """
        best = None if price is None else self.best(price, free)
        return [
            self._target(m, price, None if best is None else best - (price or 0) * max(0, m - free))
            for m in range(self.most + 1)
        ]

    def _target(self, m: int, price: Fraction | None, asked: Fraction | None) -> int | None:
        row, scale = self.row(m), Fraction(self.question.scale)
        if row.lower is None:
            return None
        lower = row.lower * scale
        if price is None and row.upper is not None:
            asked = row.upper * scale
        if asked is None:
            return max(math.floor(ceiling(self.question)), math.ceil(lower)) + 1
        return math.ceil(asked) if asked > lower else None


def price_of_alpha(question: Question, alpha: Fraction | float | str) -> Fraction:
    """What a test beyond the root costs in (18), in units of an error objective."""
    weight = question.data.total_weight * question.data.weight_unit
    return checked_price(alpha, "alpha") * weight / max(sum(question.shape.widths) - 1, 1)


def checked_price(value: Fraction | float | str, what: str = "the price of a test") -> Fraction:
    """``value`` as an exact number that is at least 0."""
    return not_negative(
        value,
        what,
        f"{what} cannot be {{}}",
        cause="below 0, tests that do nothing would pay",
        fix="use a number that is at least 0",
    )


@dataclass(frozen=True)
class Price:
    """A price per test in scaled units, and how many tests are free."""

    each: Fraction | None
    free: int


EVERY_ROW = Price(None, 0)


def wanted_prices(question: Question, prices: Sequence[Any] | None, alphas: Sequence[Any] | None) -> list[Price]:
    """What has to be proved, the most expensive price first; without any, every row."""
    scale = question.scale
    wanted = [Price(checked_price(p) * scale, 0) for p in _several(prices, "prices")]
    wanted += [Price(price_of_alpha(question, a) * scale, 1) for a in _several(alphas, "alphas")]
    if prices is None and alphas is None:
        return [EVERY_ROW]
    return sorted(wanted, key=lambda price: -(price.each or 0))


def _several(given: Any, name: str) -> Sequence[Any]:
    """The numbers of an argument that takes several of them."""
    if given is None:
        return ()
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return list(given)
    raise SpecError(
        f"{name}={given!r} is not several numbers",
        cause="it is a list of them, also for a single one",
        fix=f"write {name}=[{given}]",
    )
