"""The size table: the least error with at most m tests, for m = 0, 1, 2, ...

Every objective "error + price * tests" reads its optimum, and the proof of it, off this one table (Florio et al.,
AAAI 2023, price tests by alpha in (18)).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.certify.certificate import Certificate
from treeform.certify.family import IMPOSSIBLE, Family, Place
from treeform.certify.family_certificate import (
    answer_of,
    answers_in,
    certify_family,
    enter_answer,
    other_problem,
)
from treeform.certify.files import read_json_file
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.losses import without_tests
from treeform.language.numbers import as_fraction
from treeform.language.question import Question, ceiling
from treeform.solve.result import Limit, Number, SolveResult, StageRun, as_number
from treeform.solve.stage.given_models import bound_with, most_tests
from treeform.solve.verification import judge_candidate
from treeform.utils.notebook import Printed
from treeform.utils.text import count_of


@dataclass(frozen=True)
class SizeRow:
    """Known bounds of the models with at most ``tests`` tests.

    Attributes
    ----------
    tests : int
    lower : int or Fraction or None
        No such model has a smaller value; None: there is no admissible model.
    upper : int or Fraction or None
        Value of ``graph``; None without a model.
    by : str
        The solver or engine that proved ``lower``.
    """

    tests: int
    lower: Number | None
    upper: Number | None
    graph: DecisionGraph | None
    by: str

    @property
    def proved(self) -> bool:
        """Whether nothing is left to prove."""
        return self.lower is None or self.lower == self.upper


@dataclass(frozen=True)
class PriceOptimum:
    """The optimum at one price per test, as far as it is known.

    Attributes
    ----------
    price : Fraction
    graph : DecisionGraph or None
        The best model known.
    objective, bound : int or Fraction or None
        Its value, tests included, and what is proved; None without a model.
    """

    price: Fraction
    graph: DecisionGraph | None
    objective: Number | None
    bound: Number | None

    @property
    def proved(self) -> bool:
        """Whether ``graph`` is optimal at this price."""
        return self.objective is not None and self.objective == self.bound

    def __str__(self) -> str:
        tests = "no model" if self.graph is None else count_of(self.graph.n_nodes, "test")
        state = "optimal" if self.proved else f"bound {float(self.bound or 0):.6g}"
        return f"price {float(self.price):.6g}: objective {float(self.objective or 0):.6g}, {tests}, {state}"


@dataclass(frozen=True, repr=False)
class SizeTable(Printed):
    """The least value for each number of tests.

    Attributes
    ----------
    question : Question
        Without a price on tests in its objective.
    rows : tuple of SizeRow
        For 0, 1, 2, ... tests.
    seconds : float
    limit : Limit or None
        Why the search stopped before everything was proved.
    notes : tuple of str
    plan : tuple of StageRun
        The stages that ran, in order, with the seconds of each.
    """

    question: Question
    rows: tuple[SizeRow, ...]
    seconds: float
    limit: Limit | None = None
    notes: tuple[str, ...] = ()
    plan: tuple[StageRun, ...] = ()

    def at(self, price: Fraction | float | str, free_root: bool = False) -> PriceOptimum:
        """The best model and the bound at a price of each test, in units of the objective.

        Parameters
        ----------
        price : Fraction, float or str
        free_root : bool, default False
            Whether the first test costs nothing.

        Raises
        ------
        SpecError
            If the price is negative or no finite number.
        """
        each = checked_price(price)
        best: Fraction | None = None
        graph = None
        bounds = []
        for row in self.rows:
            if row.graph is not None and row.upper is not None:
                value = row.upper + each * max(0, row.graph.n_nodes - free_root)
                if best is None or value < best:
                    best, graph = Fraction(value), row.graph
            if row.lower is not None:
                bounds.append(Fraction(row.lower + each * max(0, row.tests - free_root)))
        bound = min(bounds, default=None)
        objective = None if best is None else as_number(best)
        return PriceOptimum(each, graph, objective, None if bound is None else as_number(bound))

    def at_alpha(self, alpha: Fraction | float | str) -> PriceOptimum:
        """As `at`, for (18) of the paper: alpha prices the share of the skeleton's tests beyond the root.

        In units of the objective a test beyond the root costs ``alpha * total weight / (|V_I| - 1)``.
        """
        return self.at(price_of_alpha(self.question, alpha), free_root=True)

    @property
    def proved(self) -> bool:
        """Whether every row is proved, and with it every price."""
        return all(row.proved for row in self.rows)

    def certificate(self) -> Certificate:
        """The certificate of the whole table, which `treeform.check` verifies: all rows follow from its answers."""
        family = Family(self.question, by_tests=True)
        return certify_family(family, row_answers(self, family), self.seconds, self.limit, names(self.rows))

    def to_json(self) -> dict[str, Any]:
        """The table as plain values; numbers exact, as text."""

        def text(value: Number | None) -> str | None:
            return None if value is None else str(Fraction(value))

        return {
            "shape": self.question.shape.to_json(),
            "objective": str(self.question.objective),
            "requirements": list(self.question.labels),
            "digest": self.question.data.digest,
            "seconds": round(self.seconds, 3),
            "limit": None if self.limit is None else str(self.limit),
            "rows": [
                {
                    "tests": row.tests,
                    "lower": text(row.lower),
                    "upper": text(row.upper),
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
        return "\n".join(lines)


class SizeBounds:
    """Bounds and models by number of tests while a size table is filled; whole numbers, scaled."""

    def __init__(self, question: Question) -> None:
        self.question = question.with_(objective=without_tests(question.objective))
        self.most = most_tests(question)
        start = [bound_with(self.question, m) for m in range(self.most + 1)]
        self.lower: list[int | None] = [max(start[m:]) for m in range(self.most + 1)]
        self.upper: list[int | None] = [None] * (self.most + 1)
        self.graph: list[DecisionGraph | None] = [None] * (self.most + 1)
        self.by = ["identical rows and few terminals"] * (self.most + 1)

    def enter_family(self, known: Family) -> None:
        """Enter models and bounds of the problems that are the rows of this table."""
        for model in known.models:
            self.submit(model.graph)
        for m in range(self.most, -1, -1):
            proof = known.lower(known.place(tests=m))
            if proof is not None:
                lower = None if proof.lower == IMPOSSIBLE else math.ceil(proof.lower * self.question.scale)
                self.raise_lower(m, lower, proof.by)

    def enter_models(self, table: SizeTable) -> None:
        """Enter the models of a table, of this shape or a smaller one."""
        for graph in {id(row.graph): row.graph for row in table.rows if row.graph is not None}.values():
            self.submit(graph)

    def submit(self, graph: DecisionGraph) -> bool:
        """Enter a model where it is the best; True if it is for some number of tests."""
        candidate, judged = judge_candidate(self.question, graph)
        if not judged.ok:
            return False
        better = False
        for m in range(candidate.n_nodes, self.most + 1):
            known = self.upper[m]
            if known is None or judged.value < known:
                self.upper[m], self.graph[m], better = int(judged.value), candidate, True
        return better

    def raise_lower(self, m: int, value: int | None, by: str) -> None:
        """No model with at most ``m`` tests is below ``value``; None: there is none."""
        for k in range(m, -1, -1):
            known = self.lower[k]
            if known is None or (value is not None and value <= known):
                return
            self.lower[k], self.by[k] = value, by

    def best(self, price: Fraction, free: int) -> Fraction | None:
        """The least scaled value of a known model when a test costs ``price``, the first ``free`` ones nothing."""
        pairs = zip(self.upper, self.graph, strict=True)
        values = (u + price * max(0, g.n_nodes - free) for u, g in pairs if u is not None and g is not None)
        return min(values, default=None)

    def target(self, m: int, price: Fraction | None, free: int = 0) -> int | None:
        """The lower bound that row ``m`` needs for ``price`` to be proved; None when it has it.

        That is the value of the best known model less the price of ``m`` tests; without a price, the row's upper bound.
        Without a model all values are open.
        """
        lower = self.lower[m]
        if lower is None:
            return None
        if price is None:
            asked = self.upper[m]
        else:
            best = self.best(price, free)
            asked = None if best is None else math.ceil(best - price * max(0, m - free))
        if asked is None:
            return max(math.floor(ceiling(self.question)), lower) + 1
        return asked if asked > lower else None

    def rows(self) -> tuple[SizeRow, ...]:
        """The table in the user's units."""

        def units(value: int | None) -> Number | None:
            return None if value is None else as_number(self.question.to_units(value))

        columns = zip(self.lower, self.upper, self.graph, self.by, strict=True)
        return tuple(SizeRow(m, units(lo), units(up), g, by) for m, (lo, up, g, by) in enumerate(columns))


def row_answers(
    table: SizeTable, family: Family, depth: int | None = None
) -> Iterator[tuple[Place, SolveResult]]:
    """The rows as answers to the problems of a family."""
    for row in table.rows:
        place = family.place(depth, row.tests)
        yield place, answer_of(family.at(place), row.graph, row.upper, row.lower, row.by)


def enter_rows(table: SizeTable, family: Family, depth: int | None = None) -> None:
    """Enter the models and bounds of the rows in a family."""
    for row in table.rows:
        lower = IMPOSSIBLE if row.lower is None else Fraction(row.lower)
        family.prove(family.place(depth, row.tests), lower, row.by)
        if row.graph is not None and row.upper is not None:
            family.enter(row.graph, row.upper)


def names(rows: Iterable[SizeRow]) -> str:
    """Who proved the rows."""
    return ", ".join(dict.fromkeys(row.by for row in rows if row.by)) or "none"


Start = SizeTable | Family | str | os.PathLike[str] | Mapping[str, Any] | None
"""What a size table starts from: an earlier one, its certificate, or what a curve over depths knows."""


def certificate_of_start(start: Any, kind: type) -> Any:
    """The certificate that is given as a start, or read from its file.

    Raises
    ------
    SpecError
        If it is anything else, or there is no such file.
    CertificateError
        If the file is no certificate.
    """
    if isinstance(start, str | os.PathLike):
        return read_json_file(start)
    if isinstance(start, Mapping):
        return start
    raise SpecError(
        f"start={start!r} is no {kind.__name__}",
        cause="it begins with the models and bounds of an earlier one",
        fix="give an earlier result of the same call, or its certificate, or leave it out",
    )


def begun(start: Start, family: Family) -> Family:
    """The problems of a size table, with the models and bounds of a start.

    Raises
    ------
    SpecError, CertificateError
        If the start is of another problem, or nothing of the kind.
    """
    if isinstance(start, SizeTable):
        refuse_other(start.question, family.question)
        enter_rows(start, family)
    elif isinstance(start, Family):
        family.models += start.models
        family.proofs += start.proofs
    elif start is not None:
        for place, answer in answers_in(certificate_of_start(start, SizeTable), family):
            enter_answer(family, place, answer)
    return family


def refuse_other(theirs: Question, ours: Question) -> None:
    """A table of another question is no start; by content: different arrays of groups may have the same label.

    Raises
    ------
    SpecError
        If it is of another question.
    """
    parts = ("shape", "objective", "requirements")
    if theirs.data.digest != ours.data.digest or any(
        getattr(theirs, part) != getattr(ours, part) for part in parts
    ):
        raise other_problem()


def price_of_alpha(question: Question, alpha: Fraction | float | str) -> Fraction:
    """What a test beyond the root costs in (18), in units of an error objective."""
    weight = question.data.total_weight * question.data.weight_unit
    return checked_price(alpha, "alpha") * weight / max(sum(question.shape.widths) - 1, 1)


def checked_price(value: Fraction | float | str, what: str = "the price of a test") -> Fraction:
    """``value`` as an exact number that is at least 0."""
    price = as_fraction(value, what)
    if price < 0:
        raise SpecError(
            f"{what} cannot be {value}",
            cause="below 0, tests that do nothing would pay",
            fix="use a number that is at least 0",
        )
    return price
