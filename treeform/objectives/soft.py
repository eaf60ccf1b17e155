"""What a model lacks of a requirement, as a term of the objective."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible, SpecError, TreeformError
from treeform.graph import DecisionGraph
from treeform.language.composed import LargestTerm, SteppedTerm
from treeform.language.costs import LARGEST_COST, SampleCost, too_large
from treeform.language.objective import Objective, Term
from treeform.language.ports import Ports
from treeform.language.question import Question
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.language.requirement_text import parse
from treeform.language.totals import Totals
from treeform.model import Expr, Model
from treeform.objectives.group_error import AT
from treeform.requirements.counted import PayableAtMost
from treeform.shape import Shape
from treeform.utils.arrays import Ints
from treeform.utils.text import exact_text

SAFE = 2**62
"""Coefficients up to here are taken in int64."""


class Soft(Term):
    """The violation of a requirement as a term of the objective; 0 if it is satisfied.

    Made by `Requirement.soft`, which gives it a price. What is the largest excess of sum constraints is minimised by
    the native engines, row by row, and a count bound by bound; what else can be stated over ports by solvers.

    Parameters
    ----------
    requirement : Requirement
        What a model may lack, at a price.

    Raises
    ------
    SpecError
        If it is no requirement; when bound to data, if what is lacking cannot be stated.
    """

    name: ClassVar[str] = "soft"

    def __init__(self, requirement: Requirement) -> None:
        if not isinstance(requirement, Requirement):
            raise SpecError(
                f"soft({requirement!r}) is not possible",
                cause="what is paid is what a model lacks of a requirement",
                fix="write for example 2 * tf.Soft(tf.MaxNodes(3)), or tf.MaxNodes(3).soft(2)",
            )
        self.requirement = requirement

    def bind(self, data: Dataset, **context: Any) -> Soft:
        """The requirement bound to the data, and how what it lacks is minimised."""
        requirement = self.requirement
        groups = getattr(requirement, "groups", None)
        if isinstance(groups, str) and groups.startswith(AT):
            requirement = requirement._copy(groups=(context.get("arrays") or {}).get(groups.removeprefix(AT)))
        bound = _bound(requirement, data, **context)
        if bound.name == "on_rows" and '"codes"' in json.dumps(bound.to_json()):
            raise SpecError(
                f"{bound} cannot be soft",
                cause="it rests on an array, and an objective is written as text",
                fix="give a condition as text, or the name of a column: .on(\"region == 'north'\"), .each('quarter')",
            )
        rows = bound.shortfall(data)
        if rows is not None and not rows.of_nodes and rows.rows:
            return SoftRows(bound, data)
        reason = "what a model lacks of it is stated neither as linear constraints over sums of samples nor over ports"
        if asks_for_tests([bound]):
            reason = "a test that decides nothing could satisfy it, and objectives leave such tests out"
        elif bound.slack_unit(data) is not None:
            return SoftCount(bound) if isinstance(bound, PayableAtMost) else SoftPorts(bound)
        elif rows is not None and not rows.rows:
            return SoftRows(bound, data)  # nothing is compared here, so nothing is ever lacking
        raise SpecError(
            f"{bound} cannot be soft",
            cause=reason,
            fix=f"demand it instead: problem += tf.{type(bound).__name__}(...)",
        )

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return self.requirement.lacking(graph, data)

    def remark(self, graph: DecisionGraph, data: Dataset) -> str | None:
        lacking = self.evaluate(graph, data)
        amount = f"{exact_text(lacking)}, in the unit of its price" if lacking else "nothing"
        return f"paid for: {self.requirement}: the model lacks {amount}"

    def unit(self, data: Dataset) -> Fraction:
        return self._bound(data).unit(data)

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return self._bound(data).largest(data, shape)

    def build(self, model: Model, ports: Ports) -> Expr:
        return self._bound(ports.data).build(model, ports)

    def _bound(self, data: Dataset) -> Soft:
        bound = self.bind(data)
        assert type(bound) is not Soft
        return bound

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        return self.requirement.refusal(data, shape)

    # -- text ---------------------------------------------------------------------------------------

    @property
    def groups(self) -> Any:
        """Those of the requirement, or None."""
        return getattr(self.requirement, "groups", None)

    def called(self, name: str) -> str:
        return f"{self.name}[{_text(self.requirement._copy(groups=AT + name))}]"

    @classmethod
    def from_text(cls, inside: str | None) -> Soft:
        if not inside:
            raise SpecError("soft[] names no requirement", fix="write for example soft[max_nodes:3]")
        if not inside.lstrip().startswith("{"):
            return cls(parse(inside))
        try:
            return cls(Requirement.from_json(json.loads(inside)))
        except (ValueError, TypeError, KeyError) as error:
            raise SpecError(f"soft[{inside}] is not understood", cause=f"{error}") from None

    def __str__(self) -> str:
        return f"{self.name}[{_text(self.requirement)}]"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Soft) and self.requirement == other.requirement

    def __hash__(self) -> int:
        return hash((Soft, self.requirement.name))


def _apart(question: Question) -> tuple[Objective, tuple[Requirement, ...]]:
    """The objective without what is paid for, and that."""
    terms = question.objective.terms
    rules = tuple(term.requirement for _, term in terms if isinstance(term, Soft))
    return Objective(item for item in terms if not isinstance(item[1], Soft)), rules


def prices(question: Question) -> list[tuple[Fraction, Requirement]]:
    """What is paid for, each with the price of what a model lacks of it."""
    return [(price, term.requirement) for price, term in question.objective.terms if isinstance(term, Soft)]


def demanded(question: Question) -> Question | None:
    """The question with all that is paid for demanded: its models are some of the question's, and pay nothing.

    None where nothing is paid for.
    """
    rest, rules = _apart(question)
    return question.with_(objective=rest, requirements=(*question.requirements, *rules)) if rules else None


def unpaid(question: Question) -> Question | None:
    """The question without what is paid for: it has the same models, and none costs more.

    None where nothing is paid for, or where the rest is no sum.
    """
    rest, rules = _apart(question)
    return question.with_(objective=rest) if rules and rest.terms and rest.is_sum else None


def _bound(requirement: Requirement, data: Dataset, **context: Any) -> Requirement:
    """Bound to the data; what no model satisfies may be paid for all the same."""
    try:
        return requirement.bind(data, **context)
    except Infeasible:
        return requirement


def _text(requirement: Requirement) -> str:
    """A requirement as `Soft.from_text` reads it back."""
    stated, text = requirement.to_json(), str(requirement)
    try:
        written = json.dumps(stated, ensure_ascii=False, separators=(",", ":"))
    except TypeError:  # groups given as an array that are not bound yet
        return text
    try:
        if text.count("[") == text.count("]") and parse(text).to_json() == stated:
            return text
    except TreeformError:
        pass
    return written


class SoftPorts(Soft):
    """What is lacking as an expression over ports, for solvers; engines have bounds from the rest of the objective."""

    def bind(self, data: Dataset, **context: Any) -> Soft:
        return self

    @property
    def needs(self) -> Set[str]:  # type: ignore[override]
        return self.requirement.needs

    def unit(self, data: Dataset) -> Fraction:
        unit = self.requirement.slack_unit(data)
        assert unit is not None
        return unit

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return self.unit(data) * self.requirement.largest_slack(data, shape)

    def build(self, model: Model, ports: Ports) -> Expr:
        return self.requirement.slack(model, ports)


class SoftCount(SoftPorts, SteppedTerm):
    """What a count has beyond its bound: for native engines, the least over all bounds of what is paid under it."""

    is_sum: ClassVar[bool] = False

    def steps(self, data: Dataset, shape: Shape) -> Sequence[tuple[Requirement | None, Fraction]]:
        assert isinstance(self.requirement, PayableAtMost)
        return self.requirement.steps(data, shape)

    def counted(self, data: Dataset) -> tuple[Term, int] | None:
        assert isinstance(self.requirement, PayableAtMost)
        size = self.requirement.size
        return None if size is None else (size, self.requirement.at_most)


class SoftRows(LargestTerm, Soft):
    """What is lacking as the largest excess of linear constraints over sums of samples, or 0."""

    evaluate = Soft.evaluate

    def __init__(self, requirement: Requirement, data: Dataset) -> None:
        super().__init__(requirement)
        rows = requirement.shortfall(data)
        assert rows is not None
        self._data = data
        self._sides = [RowExcess(self, *side) for side in _sides(rows)]

    def bind(self, data: Dataset, **context: Any) -> Soft:
        return self if data is self._data else SoftRows(_bound(self.requirement, data, **context), data)

    def members(self, data: Dataset) -> Sequence[tuple[SampleCost | None, Requirement]]:
        """Each excess with the condition that it is the largest one; at last nothing, where the requirement holds."""
        sides = [(one, LargestExcess(self.requirement, self._sides, r)) for r, one in enumerate(self._sides)]
        return [*sides, (None, self.requirement)]

    def remark(self, graph: DecisionGraph, data: Dataset) -> str | None:
        idle = f"{self} is 0 for every model: there is nothing to compare"
        return super().remark(graph, data) if self._sides else idle

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        for one in self._sides:
            dearest = Fraction(max(1, int(np.abs(one.coef).max(initial=0))))
            dearest = max(dearest, Fraction(abs(one.side), data.total_weight))
            if dearest * data.total_weight >= LARGEST_COST:
                return too_large(dearest, data)
        return super().refusal(data, shape)


def _sides(totals: Totals) -> Iterator[tuple[Ints, int, Fraction, str]]:
    """``(coef, side, unit, name)`` of each side of a row; what is lacking is the largest excess, or 0.

    The excess is ``sum_i weight_i * coef[i, predicted_i] - side``, in multiples of the unit.

    Raises SpecError if coefficients leave 64 bits.
    """
    added = max(1, int(np.abs(totals.added).max(initial=0)))
    largest = max((sum(map(abs, row.coef)) for row in totals.rows), default=0) * added
    if largest >= SAFE:
        raise SpecError(
            "what a model lacks of a requirement cannot be stated exactly on these weights",
            cause=f"as whole numbers the coefficients of its rows have up to {len(str(largest))} digits",
            fix="round the sample weights, or the bound, to fewer digits",
        )
    for row in totals.rows:
        each, text = totals.weighted(np.array(row.coef, dtype=np.int64)), totals.row_text(row)
        if row.hi is not None:
            yield each, row.hi, Fraction(row.unit), f"{text}, above"
        if row.lo is not None:
            yield -each, -row.lo, Fraction(row.unit), f"{text}, below"


class RowExcess(SampleCost):
    """The excess of one side of a row, negative where the row holds with something to spare."""

    name: ClassVar[str] = "excess"

    def __init__(self, owner: Soft, coef: np.ndarray, side: int, each: Fraction, text: str) -> None:
        self.owner, self.coef, self.side, self.each, self.text = owner, coef, side, each, text

    @cached_property
    def _least(self) -> np.ndarray:
        return np.asarray(self.coef.min(axis=1))

    def per_sample(self, data: Dataset) -> np.ndarray:
        return np.asarray(self.coef - self._least[:, None])

    def constant(self, data: Dataset) -> int:
        return int((self._least.astype(object) * data.weights).sum()) - self.side

    def unit(self, data: Dataset) -> Fraction:
        return self.each

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowExcess) and (self.owner, self.text) == (other.owner, other.text)

    def __hash__(self) -> int:
        return hash((self.owner, self.text))

    def __str__(self) -> str:
        return f"{self.owner}, {self.text}"

    __repr__ = __str__


class LargestExcess(Requirement, listed=False):
    """No other side of the rows has a greater excess than this one, and it is not negative: a part of `Soft`."""

    name: ClassVar[str] = "largest_excess"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"predicted"})

    def __init__(self, of: Requirement, sides: Sequence[RowExcess], chosen: int) -> None:
        self.of = of
        self.sides = list(sides)
        self.chosen = chosen

    def _rows(self) -> list[tuple[np.ndarray, int]]:
        """(coef, side): the sum is at most the side; whole numbers, in multiples of the least unit of two rows."""
        chosen = self.sides[self.chosen]
        rows = [(-chosen.coef, -chosen.side)]  # c_r t - h_r >= 0
        for number, other in enumerate(self.sides):
            if number == self.chosen:
                continue
            # u_s (c_s t - h_s) <= u_r (c_r t - h_r)
            ratio = other.each / chosen.each
            a, b = ratio.numerator, ratio.denominator
            coef, side = a * other.coef - b * chosen.coef, a * other.side - b * chosen.side
            step = max(1, int(np.gcd.reduce(np.abs(coef), axis=None)))
            rows.append((coef // step, side // step))
        return rows

    def build(self, model: Model, ports: Ports) -> None:
        for coef, side in self._rows():
            model.add((ports.predicted * (coef * ports.weights[:, None])).sum() <= side, str(self))

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        return self._rows()

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        values = [one.evaluate(graph, data) for one in self.sides]
        return max(Fraction(0), *values) - values[self.chosen] if self.sides else Fraction(0)

    def __str__(self) -> str:
        return f"{self.name}:{self.sides[self.chosen]}"
