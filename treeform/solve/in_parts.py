"""Objectives that are no sums, minimised through questions whose objectives are sums.

**A ratio** N / D (`RatioTerm`), by Dinkelbach's iterations: with the ratio p/q of the best model known, ``q N - p D``
is a sum. Where its minimum is 0, no model has a smaller ratio; where it is negative, its model has one, and the next
round begins there. All numbers are rationals, so the last round is a proof. A round that is stopped leaves a bound as
well: with ``q N - p D >= b`` for all models, ``N / D >= p/q + b / (q D)``.

**The largest of several sums** (`LargestTerm`), one part for each: the least value of that sum over the models in which
no other one is larger. The least of the parts is the optimum. A part is over as soon as it has nothing below the best
value known.

Every model of a part is admissible in the whole. A part is searched like any question, with its own claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from treeform.graph import DecisionGraph
from treeform.language.composed import LargestTerm, RatioTerm
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.engines import NOTHING_FITS
from treeform.solve.ledger import Ledger
from treeform.solve.result import Limit
from treeform.solve.verification import Verified

MOST_PARTS = 100
Search = Callable[[Question, Ledger], Limit | None]
"""Searches one part within a ledger; returns why it stopped early."""


@dataclass(frozen=True)
class Part:
    """A question whose objective is a sum, and the value below which a model of it can improve the whole.

    Attributes
    ----------
    question : Question
    target : Fraction or None
        In units of the part's objective: no model is below the value claimed of the whole exactly if no model of any
        part is below its target. None: the claim is that there is no model at all.
    """

    question: Question
    target: Fraction | None


def parts_of(question: Question, value: Fraction | None) -> list[Part]:
    """What has to be shown for "no model has a value below ``value``"; None: for "there is no model".

    Parameters
    ----------
    question : Question
        Its objective is no sum.
    value : Fraction or None
        In the user's units.
    """
    weight, term = _composed(question)[0]
    if isinstance(term, RatioTerm):
        cost, target = term.at(question.data, Fraction(1, 2) if value is None else value / weight)
        part = question.with_(objective=Objective.of(cost))
        return [Part(part, None if value is None else target)]
    largest = [(w, t) for w, t in _composed(question) if isinstance(t, LargestTerm)]
    sums = Objective(item for item in question.objective.terms if item[1].is_sum)
    parts = []
    for chosen in product(*(term.members(question.data) for _, term in largest)):
        priced = [(w, t) for (w, _), (t, _) in zip(largest, chosen, strict=True) if t is not None]
        rules = (rule for _, rule in chosen)
        part = question.with_(
            objective=Objective((*priced, *sums.terms)), requirements=(*question.requirements, *rules)
        )
        parts.append(Part(part, value))
    return parts


def first_part(question: Question) -> Question:
    """A part in place of the whole: what engines and formulations can do for it, they can do for all."""
    return parts_of(question, None)[0].question


def is_largest(question: Question) -> bool:
    """Whether solvers can state the whole as it is, with a variable for the largest of the sums."""
    return any(isinstance(term, LargestTerm) for _, term in _composed(question))


def too_many_parts(question: Question) -> bool:
    """Whether there are more parts than are searched one after the other."""
    numbers = [len(t.members(question.data)) for _, t in _composed(question) if isinstance(t, LargestTerm)]
    return math.prod(numbers) > MOST_PARTS


def search_in_parts(question: Question, ledger: Ledger, search: Search) -> Limit | None:
    """Answer ``question`` in ``ledger`` through its parts."""
    _, term = _composed(question)[0]
    whole = _Whole(question, ledger, search)
    return whole.ratio() if isinstance(term, RatioTerm) else whole.largest()


def _composed(question: Question) -> list[tuple[Fraction, RatioTerm | LargestTerm]]:
    """The terms that are no sums: one ratio, or the largest of several sums, once or more."""
    return [(w, t) for w, t in question.objective.terms if isinstance(t, RatioTerm | LargestTerm)]


class _PartLedger(Ledger):
    """The claims on one part; models go on to the whole, and what is not below ``target`` is not wanted."""

    def __init__(self, part: Part, whole: Ledger, title: str) -> None:
        super().__init__(part.question, whole.budget)
        self.whole = whole
        self.title = title
        self.runners = whole.runners
        self._most = None
        if part.target is not None:
            self._most = math.ceil(part.target * part.question.scale) - 1

    @property
    def cutoff(self) -> int | None:
        known = [value for value in (self.upper, self._most) if value is not None]
        return math.floor(min(known)) if known else None

    @property
    def closed(self) -> bool:
        beyond = self._most is not None and self.lower is not None and self.lower > self._most
        return super().closed or beyond

    def submit(self, graph: DecisionGraph, by: str) -> Verified:
        self.whole.submit(graph, by)
        return super().submit(graph, by)

    def set_phase(self, phase: str) -> None:
        self.whole.set_phase(f"{self.title}: {phase}")

    @property
    def bound(self) -> Fraction | None:
        """No model of the part is below; None: there is none."""
        if self.impossible:
            return None
        return Fraction(0) if self.lower is None else self.question.to_units(self.lower)


class _Whole:
    """One question, its ledger, and how its parts are searched."""

    def __init__(self, question: Question, ledger: Ledger, search: Search) -> None:
        self.question = question
        self.ledger = ledger
        self.search = search

    def ratio(self) -> Limit | None:
        """Dinkelbach's iterations."""
        weight, term = _composed(self.question)[0]
        assert isinstance(term, RatioTerm)
        least = term.least_denominator(self.question.data) * self.question.data.weight_unit
        limit = None
        for turn in range(1, 1000):
            best = self.ledger.upper
            ratio = Fraction(1) if best is None else self.question.to_units(best) / weight
            (part,) = parts_of(self.question, weight * ratio)
            assert part.target is not None
            inner = _PartLedger(
                part if best is not None else Part(part.question, None), self.ledger, f"round {turn}"
            )
            limit = self._searched(inner)
            if inner.impossible and best is None:
                self._none_at_all([inner])
                return None
            if inner.bound is not None:
                short = min(Fraction(0), inner.bound - part.target) / (ratio.denominator * least)
                self._at_least(max(Fraction(0), weight * (ratio + short)), [inner])
            else:
                self._at_least(weight * ratio, [inner])
            if self.ledger.stop() or not self._better(best):
                return limit
        return limit

    def largest(self) -> Limit | None:
        """One part after the other."""
        parts = parts_of(self.question, self._value())
        done: list[_PartLedger] = []
        limits: list[Limit] = []
        for index in range(len(parts)):
            if self.ledger.budget.stop():
                return limits[0] if limits else None
            part = parts_of(self.question, self._value())[index]
            inner = _PartLedger(part, self.ledger, f"part {index + 1} of {len(parts)}")
            seconds = schedule.equal_part(self.ledger.budget.remaining, len(parts) - index)
            inner.budget = self.ledger.budget.share(seconds)
            limit = self._searched(inner)
            limits += [] if limit is None else [limit]
            done.append(inner)
        bounds = [inner.bound for inner in done if inner.bound is not None]
        if bounds:
            self._at_least(min(bounds), done)
        elif self.ledger.upper is None:
            self._none_at_all(done)
        else:
            self._at_least(self.question.to_units(self.ledger.upper), done)
        return limits[0] if limits else None

    def _searched(self, inner: _PartLedger) -> Limit | None:
        if self.ledger.graph is not None:
            inner.submit(self.ledger.graph, "the best model so far")
        limit = self.search(inner.question, inner)
        # That nothing fits in one part says nothing of the whole.
        kept = [note for note in inner.notes if not note.startswith(NOTHING_FITS)]
        self.ledger.notes += [note for note in kept if note not in self.ledger.notes]
        return limit

    def _value(self) -> Fraction | None:
        best = self.ledger.upper
        return None if best is None else self.question.to_units(best)

    def _better(self, before: int | Fraction | None) -> bool:
        now = self.ledger.upper
        return now is not None and (before is None or now < before)

    def _at_least(self, value: Fraction, parts: list[_PartLedger]) -> None:
        """Enter what the parts prove together; a bound above the best model's value is that value."""
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
            _witnesses(last_claims),
            _counters(last_claims),
        )

    def _none_at_all(self, parts: list[_PartLedger]) -> None:
        last_claims = [_last(inner) for inner in parts]
        by = ", ".join(dict.fromkeys(claim.by for claim in last_claims if claim is not None)) or "counting"
        self.ledger.prove_infeasible(by, (), _witnesses(last_claims))


def _last(inner: _PartLedger) -> Any:
    """The claim that the part's bound rests on."""
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
