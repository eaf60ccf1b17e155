"""A loss that depends on two counts x and y (`TwoCountTerm`), such as Matthews' correlation, minimised exactly.

**By supporting lines.** Every answer to "minimise the cost a x + b y", with its bound c, is a line below which no model
is. The lines and the axes leave a region of the plane with corners. As long as the points with a loss of at least v
form a convex set, they hold the whole region when they hold its corners. So the corner of least loss is a bound; the
next costs are those at right angles to the segment between the models on its two lines (Aneja and Nair, Bicriteria
transportation problem, Management Science 25, 1979). Their answer is a new model, or a line that settles the corner. A
question is over as soon as its line suffices for the best model known, so that few are solved to the end.

**By steps**, where even the best model's loss is above `TwoCountTerm.turning`: the least y, then the least y among
models with a smaller x than that model's, and so on. Every model is behind one of these steps.

All coordinates are rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any, ClassVar, cast

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.composed import TwoCountTerm
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import is_whole
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.part_ledger import Part, PartLedger, Reduction
from treeform.utils.budget import Limit, Share

Point = tuple[Fraction, Fraction]
MOST_UNITS = 100
"""That one of the counts costs for each unit of the other, about, where models are searched for: costs of many digits
make searches slow."""


@dataclass(frozen=True, eq=False)
class Line:
    """No model has ``a x + b y < c``."""

    a: int
    b: int
    c: int
    """In units of weight."""
    at: tuple[int, int] | None = None
    """(int, int) or None: A point on it: that of a model, or of an axis the corner of the rectangle. None: it settles
    all of its corners."""
    graph: DecisionGraph | None = None
    """The model there."""

    def meets(self, other: Line) -> Point | None:
        """Where two lines cross; None where they are parallel."""
        determinant = self.a * other.b - self.b * other.a
        if not determinant:
            return None
        x, y = self.c * other.b - self.b * other.c, self.a * other.c - self.c * other.a
        return Fraction(x, determinant), Fraction(y, determinant)

    def value(self, point: Sequence[int | Fraction]) -> Fraction:
        """``a x + b y``."""
        return Fraction(self.a * point[0] + self.b * point[1])


def corner_of(one: Line, other: Line) -> Point:
    """Where two lines of different directions cross."""
    point = one.meets(other)
    assert point is not None
    return point


def least_loss(term: TwoCountTerm, data: Dataset, lines: Iterable[Line]) -> Fraction | None:
    """The least loss in the rectangle above all lines, if it is at most the turning point; None: nothing is left there.

    The corners are those of the region, found among all pairs of lines and sides.
    """
    right, top = term.most(data)
    sides = [Line(1, 0, 0), Line(0, 1, 0), Line(-1, 0, -right), Line(0, -1, -top)]
    all_lines = [*lines, *sides]
    meeting = (one.meets(other) for one, other in combinations(all_lines, 2))
    corners = {p for p in meeting if p is not None and all(line.value(p) >= line.c for line in all_lines)}
    return min((term.loss(data, *corner) for corner in corners), default=None)


def any_model(question: Question) -> Part:
    """A part with a model wherever there is one: both counts in proportion to their largest values."""
    term = _term(question)[1]
    x, y = term.most(question.data)
    return Part(_question(question, *_direction(y or 1, x or 1)), None)


def parts_of_claim(question: Question, value: Fraction | None, shown: Any) -> list[Part] | None:
    """What has to be shown for "no model has a loss below ``value``", by a claim's lines or steps.

    ``question``: its objective is one `TwoCountTerm`. ``value``: in the user's units; None: there is no model.
    ``shown``: ``lines``: triples (a, b, c), or ``steps``: pairs (x, y), see `TwoCounts`. Returns None: the claim would
    not follow even if all of them were shown.
    """
    if value is None:
        return [any_model(question)]
    weight, term = _term(question)
    loss, data = value / weight, question.data
    if isinstance(rows := shown.get("lines"), list) and loss <= term.turning:
        lines = [Line(*row) for row in rows if _whole_numbers(row, 3)]
        left = least_loss(term, data, lines)
        if len(lines) < len(rows) or (left is not None and left < loss):
            return None
        return [Part(_question(question, one.a, one.b), one.c * data.weight_unit) for one in lines]
    if isinstance(rows := shown.get("steps"), list) and rows:
        ends = [*(row[0] for row in rows[1:]), -1]
        # Behind a step (u, y) are the models with x <= u, and y at least this; y is None where there are none.
        for row, end in zip(rows, ends, strict=True):
            if not _whole_numbers(row, 2) or not isinstance(end, int) or end >= row[0]:
                return None
            if row[1] <= term.most(data)[1] and term.loss(data, Fraction(end + 1), Fraction(row[1])) < loss:
                return None
        if rows[0][0] < term.most(data)[0]:
            return None
        return [
            Part(_at_most(question, u), y * data.weight_unit if y <= term.most(data)[1] else None)
            for u, y in rows
        ]
    return None


def _whole_numbers(row: Any, length: int) -> bool:
    return isinstance(row, list) and len(row) == length and all(is_whole(v) and v >= 0 for v in row)


def _term(question: Question) -> tuple[Fraction, TwoCountTerm]:
    weight, term = question.objective.terms[0]
    return weight, cast(TwoCountTerm, term)


def _question(question: Question, a: int, b: int) -> Question:
    """Minimise ``a x + b y``."""
    return question.with_(objective=Objective.of(_term(question)[1].cost(question.data, a, b)))


def _at_most(question: Question, most: int) -> Question:
    """Minimise y over the models with x at most ``most``."""
    _, term = _term(question)
    rule = CountAtMost(term, most)
    every = most >= term.most(question.data)[0]
    rules = question.requirements if every else (*question.requirements, rule)
    return _question(question, 0, 1).with_(requirements=rules)


def _direction(a: int, b: int) -> tuple[int, int]:
    step = math.gcd(a, b)
    return a // step, b // step


class TwoCounts(Reduction, of=TwoCountTerm):
    """The search for the least loss.

    A claim names, beside the witness of each part, its ``lines`` (a, b, c) or its ``steps`` (x, y): no model with at
    most x has less than y; a y above the largest one says that there is no such model.
    """

    @classmethod
    def parts(cls, question: Question, value: Fraction | None) -> list[Part]:
        return [any_model(question)]  # that no model has a smaller loss is shown by what a claim names

    @classmethod
    def parts_of_claim(
        cls, question: Question, value: Fraction | None, details: dict[str, Any]
    ) -> list[Part] | None:
        return parts_of_claim(question, value, details)

    @cached_property
    def _term(self) -> TwoCountTerm:
        return _term(self.question)[1]

    def run(self) -> Limit | None:
        """Lines, then steps where the best model's loss is above the turning point."""
        limit = None
        if self.ledger.upper is None:
            inner = PartLedger(any_model(self.question), self.ledger, "any model")
            limit = self.searched(inner)
            if inner.impossible:
                self.none_at_all([inner])
        if self.ledger.upper is None or self.ledger.stop():
            return limit
        if self._best > self._term.turning:
            return self._by_steps() or limit
        if not self.is_seldom_proved:
            return self._by_lines() or limit
        limit = self._by_lines(schedule.FIRST_DIRECTION)
        if limit is Limit.TIME and not self.ledger.stop():
            self._downhill()
            limit = self.ledger.budget.reason or self._by_lines()
        return limit

    def _downhill(self) -> None:
        """Deep models, each from the best one towards less loss there, for as long as they are better.

        The models of at least its loss are a convex set: what is below its tangent is better.
        """
        best = None
        while self.better(best) and not self.ledger.stop():
            best, graph = self.ledger.upper, self.ledger.graph
            assert graph is not None
            x, y = self._term.point(graph, self.question.data)
            loss = partial(self._term.loss, self.question.data)
            steps = [abs(loss(Fraction(x + i), Fraction(y + j)) - self._best) for i, j in ((1, 0), (0, 1))]
            if not all(steps):
                return
            ratio = (steps[0] / steps[1]).limit_denominator(MOST_UNITS)
            a, b = ratio.numerator or 1, ratio.denominator
            inner = PartLedger(Part(_question(self.question, a, b), None), self.ledger, f"{a} x + {b} y")
            inner.budget = schedule.DIRECTION.of(self.ledger.budget)
            self.searched(inner)

    @property
    def _best(self) -> Fraction:
        value = self.value()
        assert value is not None
        return value / _term(self.question)[0]

    def _enter(self, loss: Fraction, parts: Sequence[PartLedger], **shown: Any) -> None:
        self.at_least(_term(self.question)[0] * min(loss, self._best), parts, shown)

    # -- lines ----------------------------------------------------------------------------------------

    def _by_lines(self, share: Share | None = None) -> Limit | None:
        """``share``: of the time, for each line; None: each has all."""
        right, top = self._term.most(self.question.data)
        lines = [Line(1, 0, 0, (0, top)), Line(0, 1, 0, (right, 0))]
        parts: dict[Line, PartLedger] = {}
        limit, useful = None, True
        while True:
            losses = [self._loss(one, other) for one, other in pairwise(lines)]
            least = min(losses)
            if least >= self._best:
                self._thin_out(lines)
            own = lines[1:-1]
            shown = [[one.a, one.b, one.c] for one in own]
            self._enter(least, [parts[one] for one in own], lines=shown)
            if least >= self._best or not useful or self.ledger.stop():
                return limit
            index = losses.index(least)
            inner, line, limit = self._ask(lines[index], lines[index + 1], share)
            if line.c <= line.value(corner_of(lines[index], lines[index + 1])):
                return limit  # stopped before its bound was any use
            parts[line] = inner
            lines.insert(index + 1, line)
            corners = (self._loss(one, other) for one, other in pairwise(lines[index : index + 3]))
            useful = line.at is not None or min(corners) >= self._best

    def _thin_out(self, lines: list[Line]) -> None:
        """Leave out lines without which the others suffice: each one is proved again by a check."""
        right, top = self._term.most(self.question.data)
        index = 1
        while index < len(lines) - 1:
            x, y = corner_of(lines[index - 1], lines[index + 1])
            if x <= right and y <= top and self._term.loss(self.question.data, x, y) >= self._best:
                del lines[index]
            else:
                index += 1

    def _loss(self, one: Line, other: Line) -> Fraction:
        return self._term.loss(self.question.data, *corner_of(one, other))

    def _ask(self, left: Line, right: Line, share: Share | None) -> tuple[PartLedger, Line, Limit | None]:
        """The line between two others whose corner has a smaller loss than the best model."""
        assert left.at is not None and right.at is not None
        a, b = _direction(left.at[1] - right.at[1], right.at[0] - left.at[0])
        target = self._enough(left, right, a, b)
        unit = self.question.data.weight_unit
        part = Part(_question(self.question, a, b), target * unit)
        inner = PartLedger(part, self.ledger, f"{a} x + {b} y")
        if share is not None:
            inner.budget = share.of(self.ledger.budget)
        limit = self.searched(inner, [one.graph for one in (left, right) if one.graph is not None])
        proved = 0 if inner.bound is None else math.ceil(inner.bound / unit)
        if proved >= target:
            return inner, Line(a, b, target), limit
        if inner.graph is not None and inner.closed:
            at = self._term.point(inner.graph, self.question.data)
            return inner, Line(a, b, proved, at, inner.graph), limit
        return inner, Line(a, b, proved), limit

    def _enough(self, left: Line, right: Line, a: int, b: int) -> int:
        """The least c that settles the corner: both corners of its line have at least the best model's loss."""
        assert left.at is not None
        level, best = Line(a, b, 0), self._best
        # Through the models on both lines it does; through their corner it does not.
        low, high = math.floor(level.value(corner_of(left, right))), int(level.value(left.at))
        while high - low > 1:
            line = Line(a, b, (low + high) // 2)
            if min(self._loss(left, line), self._loss(line, right)) >= best:
                high = line.c
            else:
                low = line.c
        return high

    # -- steps ----------------------------------------------------------------------------------------

    def _by_steps(self) -> Limit | None:
        most, top = self._term.most(self.question.data)
        parts: list[PartLedger] = []
        steps: list[list[int]] = []
        while not self.ledger.stop():
            inner = PartLedger(Part(_at_most(self.question, most), None), self.ledger, f"x <= {most}")
            limit = self.searched(inner)
            parts.append(inner)
            if inner.impossible:
                steps.append([most, top + 1])
                self._enter(self._best, parts, steps=steps)
                return None
            if inner.graph is None or not inner.closed:
                return limit
            x, y = self._term.point(inner.graph, self.question.data)
            steps.append([most, y])
            most = x - 1
            if most < 0:
                self._enter(self._best, parts, steps=steps)
                return None
        return None


class CountAtMost(LinearRequirement, listed=False):
    """The first count of a loss is at most a number: a step of the search."""

    name: ClassVar[str] = "count_at_most"

    def __init__(self, term: TwoCountTerm, most: int) -> None:
        self.term, self.most = term, most

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield self.term.counts(rows)[0] <= self.most * rows.data.weight_unit

    def __str__(self) -> str:
        return f"{self.name}:{self.most}"
