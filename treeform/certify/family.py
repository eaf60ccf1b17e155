"""A family of nested problems: fewer tests, less depth, or a tighter bound of one requirement.

What is proved of a problem holds for those inside it, and a model of a problem is a model of those around it. Size
tables, Pareto curves and frontiers are views of one family, and its certificate is checked in the same terms.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from treeform.errors import Infeasible
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.question import Question
from treeform.requirements import MaxNodes
from treeform.solve.result import Number
from treeform.utils.text import count_of, exact_text

IMPOSSIBLE = math.inf
"""The lower bound of a problem without an admissible model."""


@dataclass(frozen=True)
class Place:
    """Where a problem stands in its family, or how much of each a model needs."""

    depth: int | None = None
    tests: int | None = None
    """At most so many; None: as many as the shape allows."""
    bound: Value | None = None
    """Of the requirement that is moved; None: without it."""


@dataclass(frozen=True)
class Known:
    """An admissible model: what it needs, and its value in units of the objective."""

    needs: Place
    value: Number
    graph: DecisionGraph


@dataclass(frozen=True)
class Proof:
    """No model at ``place`` is below ``lower``; `IMPOSSIBLE`: there is none."""

    place: Place
    lower: Fraction | float
    by: str


@dataclass
class Family:
    """Nested problems, with models and bounds."""

    question: Question
    """The widest problem."""
    by_tests: bool = False
    by_depth: bool = False
    """Whether the number of tests and the depth are bounded."""
    axis: Bounded | None = None
    """The requirement whose bound is moved."""
    between: tuple[Value | None, Value | None] = (None, None)
    """(loosest, tightest): its range; None: no limit."""
    models: list[Known] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    # What was asked before, and how many models and proofs there were then: tables ask for each row again and again.
    _best: dict[Place, tuple[int, Known | None]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lower: dict[Place, tuple[int, Proof | None]] = field(default_factory=dict, init=False, repr=False, compare=False)

    # -- the problems -------------------------------------------------------------------------------

    @property
    def most_tests(self) -> int:
        """Tests of the shape."""
        return sum(self.question.shape.widths)

    def at(self, place: Place) -> Question:
        """The problem at a place."""
        stated = self.question
        if place.depth is not None:
            stated = stated.with_(shape=stated.shape.at_depth(place.depth))
        if place.tests is not None:
            stated = stated.with_(requirements=(*stated.requirements, MaxNodes(place.tests)))
        if place.bound is None:
            return stated
        assert self.axis is not None
        return with_axis(stated, self.axis, place.bound)

    def place(self, depth: int | None = None, tests: int | None = None, bound: Value | None = None) -> Place:
        """A place without the bounds that its shape has anyway."""
        depth = None if depth is None or depth >= self.question.shape.depth else depth
        widths = self.question.shape.widths[:depth]
        return Place(depth, None if tests is None or tests >= sum(widths) else tests, bound)

    def problems(self) -> Iterator[tuple[Place, Known | None]]:
        """The problems whose optima are those of the whole family, the widest first, each with the best model known.

        Sizes are finitely many. A best model of measure v stays the best for all bounds down to v, so the next bound is
        the loosest that excludes v (`Bounded.beyond`): no model's measure falls between two bounds.
        """
        if self.axis is not None:
            yield from self._segments()
            return
        last = self.question.shape.depth
        for depth in range(last, 0, -1) if self.by_depth else (last,):
            for tests in range(sum(self.question.shape.widths[:depth]), -1, -1):
                place = self.place(depth, tests)
                yield place, self.best(place)

    def _segments(self) -> Iterator[tuple[Place, Known | None]]:
        assert self.axis is not None
        place = Place(bound=self.between[0])
        while True:
            known = self.best(place)
            yield place, known
            following = None if known is None else self._next(cast(Value, known.needs.bound))
            if following is None:
                return
            place = Place(bound=following)

    def _next(self, value: Value) -> Value | None:
        """The bound after a measure; None when nothing is left."""
        assert self.axis is not None
        following, tightest = self.axis.beyond(value, self.question.data), self.between[1]
        if following is None or tightest is None:
            return following
        if not self.axis.is_tighter(tightest, value):
            return None
        return tightest if self.axis.is_tighter(following, tightest) else following

    def contains(self, outer: Place, inner: Place) -> bool:
        """Whether each model at ``inner`` is one at ``outer``."""
        pairs = ((outer.depth, inner.depth), (outer.tests, inner.tests))
        if any(most is not None and (used is None or used > most) for most, used in pairs):
            return False
        if outer.bound is None:
            return True
        assert self.axis is not None
        return inner.bound is not None and not self.axis.is_tighter(outer.bound, inner.bound)

    def width(self, place: Place) -> tuple[float, float, bool, Value]:
        """A key that sorts every problem before those inside it."""
        tight = 1 if self.axis is None or self.axis.is_upper else -1
        depth, tests = (-math.inf if most is None else -most for most in (place.depth, place.tests))
        return depth, tests, place.bound is not None, -tight * (place.bound or 0)

    def name(self, place: Place) -> str:
        """A place as words."""
        words = [] if place.depth is None else [f"depth {place.depth}"]
        words += [] if place.tests is None else [f"at most {count_of(place.tests, 'test')}"]
        if self.axis is not None:
            bound = "no bound" if place.bound is None else exact_text(Fraction(place.bound))
            words.append(f"{self.axis.bound_name} {bound}" if place.bound is not None else bound)
        return ", ".join(words) or "the whole shape"

    # -- models and bounds ----------------------------------------------------------------------

    def enter(self, graph: DecisionGraph, value: Number) -> None:
        """A model that is admissible in the widest problem, and its value."""
        measure = None if self.axis is None else self.axis.measured(graph, self.question.data)
        self.models.append(Known(Place(graph.depth, graph.n_nodes, measure), value, graph))

    def prove(self, place: Place, lower: Fraction | float | None, by: str) -> None:
        """What was proved of a place; None: nothing."""
        if lower is not None:
            self.proofs.append(Proof(place, lower, by))

    def best(self, place: Place) -> Known | None:
        """The best model known at a place; of equal ones that with the tightest measure, then the fewest tests."""
        tight = 1 if self.axis is None or self.axis.is_upper else -1

        def key(known: Known) -> tuple[Number, Value, int]:
            return known.value, tight * (known.needs.bound or 0), known.needs.tests or 0

        seen, found = self._best.get(place, (0, None))
        for known in self.models[seen:]:
            if self.contains(place, known.needs) and (found is None or key(known) < key(found)):
                found = known
        self._best[place] = len(self.models), found
        return found

    def lower(self, place: Place) -> Proof | None:
        """The strongest proof that holds at a place, of its own or of a wider problem."""
        seen, found = self._lower.get(place, (0, None))
        for proof in self.proofs[seen:]:
            if self.contains(proof.place, place) and (found is None or proof.lower > found.lower):
                found = proof
        self._lower[place] = len(self.proofs), found
        return found

    def is_open(self, place: Place) -> bool:
        """Whether its optimum does not follow from models and bounds."""
        known, proof = self.best(place), self.lower(place)
        if proof is None:
            return True
        return proof.lower < (IMPOSSIBLE if known is None else known.value)

    @property
    def complete(self) -> bool:
        """Whether every optimum of the family follows from models and bounds."""
        return not any(self.is_open(place) for place, _ in self.problems())

    def of_depth(self, depth: int) -> Family:
        """The problems of one depth, with the models and bounds found so far."""
        shape, whole = self.question.shape.at_depth(depth), self.place(depth)
        part = Family(self.question.with_(shape=shape), self.by_tests)
        part.models = [known for known in self.models if self.contains(whole, known.needs)]
        for proof in self.proofs:
            if self.contains(proof.place, self.place(depth, proof.place.tests)):
                part.prove(part.place(None, proof.place.tests), proof.lower, proof.by)
        return part

    def without_knowledge(self) -> Family:
        """The same problems, of which nothing is known."""
        return replace(self, models=[], proofs=[])


def with_axis(question: Question, axis: Bounded, bound: Value) -> Question:
    """The question with the requirement at a bound besides its own requirements."""
    moved = axis.with_bound(bound)
    # Counting may show that no model satisfies it; the solve gives the proof.
    with contextlib.suppress(Infeasible):
        moved = moved.bind(question.data)
    return question.with_(requirements=(*question.requirements, moved))
