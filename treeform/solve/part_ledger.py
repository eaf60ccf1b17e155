"""The parts of a question whose objective is no sum: their ledgers, and what is entered for the whole."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.composed import others_of
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.engines import NOTHING_FITS
from treeform.solve.ledger import Ledger
from treeform.solve.result import Claim
from treeform.solve.verification import Verified
from treeform.utils.budget import Limit

Search = Callable[[Question, Ledger], Limit | None]
"""Searches one part within a ledger; returns why it stopped early."""


@dataclass(frozen=True)
class Part:
    """A question whose objective is a sum, and the value below which a model of it can improve the whole."""

    question: Question
    target: Fraction | None
    """In units of the part's objective: no model is below the value claimed of the whole exactly if no model of any
    part is below its target. None: the claim is that there is no model at all."""
    plus: Fraction = Fraction(0)
    """The objective of the whole minus that of the part, in the user's units."""


def part_at(whole: Question, part: Question, value: Fraction | None, plus: Fraction) -> Part:
    """The part ``part`` of a question, with the target that "no model of the whole is below ``value``" asks of it.

    Values of models are whole multiples of 1 / scale. So it is enough that none of the part's models, ``plus`` added,
    is at or below the last multiple below ``value``.
    """
    if value is None:
        return Part(part, None, plus)
    target = value - plus
    if whole.objective.is_whole and part.objective.is_whole:
        last = Fraction(math.ceil(value * whole.scale) - 1, whole.scale)
        target = Fraction(math.floor((last - plus) * part.scale) + 1, part.scale)
    return Part(part, target, plus)


class InnerLedger(Ledger):
    """Claims on a question that is searched for another one: models go on to that one, and bounds do not."""

    def __init__(self, question: Question, whole: Ledger) -> None:
        super().__init__(question, whole.budget)
        self.whole = self.outer = whole
        self.runners = whole.runners
        self.worth: int | Fraction | None = None
        """The least value that a model of this search has in the other question."""

    @property
    def asked(self) -> Ledger:
        return self.whole.asked

    def submit(self, graph: DecisionGraph, by: str, *, is_point: bool = False) -> Verified:
        judged = self.whole.submit(graph, by, is_point=is_point)
        if judged.ok and (self.worth is None or judged.value < self.worth):
            self.worth = judged.value
        return super().submit(graph, by, is_point=is_point)

    @property
    def bound(self) -> Fraction | None:
        """No model of this question is below; None: there is none."""
        if self.impossible:
            return None
        return Fraction(0) if self.lower is None else self.question.to_units(self.lower)

    def set_phase(self, phase: str) -> None:
        self.whole.set_phase(phase)

    def pass_notes_on(self) -> None:
        """Add its notes to those of the other question, but for that nothing fits here, which says nothing there."""
        for note in self.notes:
            if not note.startswith(NOTHING_FITS):
                self.whole.note(note)


class SomeModels(InnerLedger):
    """Claims on some of the models of a question: what is proved of them says nothing of all."""

    def __init__(self, whole: Ledger) -> None:
        super().__init__(whole.question, whole)
        self.graph, self.judged, self.upper = whole.graph, whole.judged, whole.upper
        self.lower, self.most = whole.lower, whole.most

    def note(self, text: str) -> None:
        self.whole.note(text)

    def _check(self, claim: Claim) -> None:
        """A better model than some is no contradiction: it may be one of the others."""


class PartLedger(InnerLedger):
    """The claims on one part; what is not below ``target`` is not wanted.

    ``brief``: whether it is searched for a proof alone, as better models are searched for after it.
    """

    def __init__(self, part: Part, whole: Ledger, title: str, brief: bool = False) -> None:
        super().__init__(part.question, whole)
        self.title, self.brief = title, brief
        if part.target is not None:
            self.most = math.ceil(part.target * part.question.scale) - 1

    @property
    def asked(self) -> Ledger:
        return self

    def set_phase(self, phase: str) -> None:
        super().set_phase(f"{self.title}: {phase}")


class Whole:
    """One question, its ledger, and how its parts are searched."""

    def __init__(self, question: Question, ledger: Ledger, search: Search) -> None:
        self.question = question
        self.ledger = ledger
        self.search = search

    def searched(self, inner: PartLedger, known: Sequence[DecisionGraph] = ()) -> Limit | None:
        """Search a part, from the best model of the whole and the models ``known``; why it stopped early."""
        for graph in known if self.ledger.graph is None else (self.ledger.graph, *known):
            inner.submit(graph, "the best model so far")
        limit = self.search(inner.question, inner)
        inner.pass_notes_on()
        return limit

    @property
    def is_seldom_proved(self) -> bool:
        """Whether models are so deep that a limited run mostly ends in its first part."""
        return self.ledger.budget.remaining is not None and self.question.shape.depth >= schedule.LEAST_DEPTH

    def value(self) -> Fraction | None:
        """Of the best model known, in the user's units."""
        best = self.ledger.upper
        return None if best is None else self.question.to_units(best)

    def better(self, before: int | Fraction | None) -> bool:
        """Whether a better model is known than ``before``, scaled."""
        now = self.ledger.upper
        return now is not None and (before is None or now < before)

    def at_least(
        self, value: Fraction, parts: Sequence[InnerLedger | None], shown_by: dict[str, Any] | None = None
    ) -> None:
        """Enter what the parts prove together; a bound above the best model's value is that value.

        ``value``: in the user's units. ``parts``: None for a part that needed no search. ``shown_by``: what a check
        needs to know beside the witness of each part.
        """
        scaled: int | Fraction = value * self.question.scale
        if self.question.objective.is_whole:
            scaled = math.ceil(scaled)
        if self.ledger.upper is not None:
            scaled = min(scaled, self.ledger.upper)
        last_claims = [_last(inner) for inner in parts]
        self.ledger.prove_lower(
            scaled,
            ", ".join(dict.fromkeys(claim.by for claim in last_claims if claim is not None)) or "counting",
            tuple(
                dict.fromkeys(name for claim in last_claims if claim is not None for name in claim.relaxation)
            ),
            _witnesses(last_claims) | (shown_by or {}),
            _counters(last_claims),
        )

    def none_at_all(self, parts: Sequence[InnerLedger | None]) -> None:
        """Enter that there is no model in any part."""
        last_claims = [_last(inner) for inner in parts]
        by = ", ".join(dict.fromkeys(claim.by for claim in last_claims if claim is not None)) or "counting"
        self.ledger.prove_infeasible(by, (), _witnesses(last_claims))


class Reduction(Whole, ABC):
    """How an objective that is no sum is minimised through questions whose objectives are sums.

    ``class ByRounds(Reduction, of=MyTerm)`` serves every term of that kind: planning, search and check find it there.
    """

    def __init_subclass__(cls, of: type[Any], **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _reduction.register(of, lambda _: cls)

    @classmethod
    @abstractmethod
    def parts(cls, question: Question, value: Fraction | None) -> list[Part]:
        """The parts that together prove that no model has a value below ``value``.

        ``question``: the whole; its objective is no sum. ``value``: in the user's units. None: the parts have to prove
        that there is no model. Returns questions whose objectives are sums. The claim holds if no model of any of them
        is below its target.
        """

    @classmethod
    def parts_of_claim(
        cls, question: Question, value: Fraction | None, details: dict[str, Any]
    ) -> list[Part] | None:
        """The parts that a check proves for a claim of a certificate.

        ``question``: the whole. ``value``: the claim: no model has a smaller value, in the user's units; None: there is
        no model. ``details``: those of the claim: the witness of each part, and ``shown_by`` of `at_least`. Returns
        None if what the claim names does not show it.
        """
        return cls.parts(question, value)

    @classmethod
    def first_part(cls, question: Question) -> Question:
        """A part in place of the whole: what engines and formulations can do for it, they can do for all."""
        return cls.parts(question, None)[0].question

    @abstractmethod
    def run(self) -> Limit | None:
        """Search for the optimum, and enter models and bounds in the ledger; returns why it stopped early, or None."""


def reduction_of(question: Question) -> type[Reduction]:
    """How an objective that is no sum is reduced to sums: by the class of its first such term, or the nearest base.

    Raises SpecError if there is no reduction.
    """
    _, term = others_of(question.objective)[0]
    return _reduction(term)


@singledispatch
def _reduction(term: Any) -> type[Reduction]:
    raise SpecError(
        f"{term} is not minimised",
        cause="it is no sum, and nothing says how it is reduced to sums",
        fix=f"define class MyReduction(Reduction, of={type(term).__name__}) beside it (treeform.solve.part_ledger)",
    )


def _last(inner: InnerLedger | None) -> Any:
    """The claim that the part's bound rests on."""
    if inner is None:
        return None
    return next((claim for claim in reversed(inner.claims) if claim.kind != "upper"), None)


def _witnesses(claims: list[Any]) -> dict[str, Any]:
    """How a check can prove the bound again: by the same engine, with a witness for each part."""
    rechecks = [{} if claim is None or claim.recheck is None else claim.recheck for claim in claims]
    engines = [one["engine"] for one in rechecks if "engine" in one]
    witness: dict[str, Any] = {"kind": "engine"}
    if engines:
        witness["engine"] = engines[0]
    return witness | {"parts": [one.get("witness") for one in rechecks]}


def _counters(claims: list[Any]) -> dict[str, int]:
    """The counters of all parts, added up."""
    total: dict[str, int] = {}
    for claim in claims:
        for name, number in ({} if claim is None else claim.counters).items():
            total[name] = total.get(name, 0) + number
    return total


def witnesses(details: Any, parts: int) -> Iterator[Any]:
    """The witness of each part, from the entry of a claim in a certificate; None where it has none."""
    stored = details.get("parts") if isinstance(details, dict) else None
    fits = isinstance(stored, list) and len(stored) == parts
    for index in range(parts):
        yield stored[index] if fits and isinstance(stored, list) else None
