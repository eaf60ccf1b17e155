"""Requirements judged on a model, with the rates of groups where they compare some."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.language.findings import finding
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.report.figures import Interval, interval_of, percent
from treeform.solve.result import Number
from treeform.utils.text import value_text


@dataclass(frozen=True)
class Rate:
    """One group under a fairness requirement."""

    group: str
    weight: str
    positive: str
    share: float | None
    """None where no sample of the group counts, so that it has no rate."""
    interval: Interval | None = None
    """The exact interval of 95 %; None where rows have weights."""
    limit: float | None = None
    """How high, or under a ratio how low, the rate may be beside the others of its set."""


@dataclass(frozen=True)
class RequirementFact:
    """A requirement, whether the model satisfies it, and what was measured."""

    label: str
    """As the specification writes it."""
    words: str
    """The same for readers who did not write it."""
    violation: Number | None
    """None where it could not be judged on these rows."""
    rates: tuple[Rate, ...] = ()
    measured: str = ""
    held_out: str = ""
    """How it fares on the held-out rows, where there are some."""
    found: str = ""
    """Where it is violated: what the model has, and what is allowed."""
    side: str = "highest"
    """Which rates the bound limits: "highest" or "lowest"."""

    @property
    def heading(self) -> str:
        """The title of its figures, which states nothing that does not hold."""
        if self.ok:
            return self.words
        return f"{'Not judged' if self.violation is None else 'Violated'}, though required: {self.words}"

    @property
    def limit_words(self) -> str:
        """What the mark in the bars stands for."""
        if not any(rate.limit is not None for rate in self.rates):
            return ""
        return f"The mark in a bar is the {self.side} rate that the bound allows beside the other groups."

    @property
    def ok(self) -> bool:
        """Whether nothing is left of it."""
        return self.violation == 0

    @property
    def verdict(self) -> str:
        """Satisfied, violated by how much, or not judged."""
        if self.violation is None:
            return f"not judged: {self.measured}"
        return "satisfied" if self.ok else f"violated: {self.found}"


def sentence(clause: str) -> str:
    """A clause with a capital letter."""
    return clause[:1].upper() + clause[1:]


def requirement_facts(
    graph: DecisionGraph, question: Question, held_out: Dataset | None = None
) -> tuple[RequirementFact, ...]:
    """Each requirement judged on the rows of the question, and on held-out ones."""
    judgements = []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        words = requirement.in_words()
        words = words if words == str(requirement) else sentence(words)  # a name of one's own stays as it is
        later = "" if held_out is None else _judged(requirement, graph, held_out)
        try:
            violation = requirement.violation(graph, question.data)
            rates = _rates(requirement, graph, question.data)
        except TreeformError as error:
            judgements.append(RequirementFact(label, words, None, (), error.what, later))
            continue
        found = finding(requirement, graph, question.data) if violation else ""
        side = "highest" if getattr(requirement, "ratio", None) is None else "lowest"
        measured = _measured(rates)
        judgements.append(RequirementFact(label, words, violation, rates, measured, later, found, side))
    return tuple(judgements)


def _judged(requirement: Requirement, graph: DecisionGraph, data: Dataset) -> str:
    """On held-out rows, groups given as an array are not known: the requirement is not judged there."""
    try:
        violation = requirement.violation(graph, data)
        measured = _measured(_rates(requirement, graph, data))
    except TreeformError as error:
        return f"not judged: {error.what}"
    return ("satisfied" if violation == 0 else f"violated: {finding(requirement, graph, data)}") + (
        f" ({measured})" if measured else ""
    )


def _rates(requirement: Requirement, graph: DecisionGraph, data: Dataset) -> tuple[Rate, ...]:
    """Rates of a requirement that reports them: one row per group with weight, positive weight and rate."""
    if hasattr(requirement, "reports"):
        sets = list(requirement.reports(graph, data).values())
    elif hasattr(requirement, "report"):
        sets = [requirement.report(graph, data)]
    else:
        return ()
    return tuple(
        Rate(
            str(row.group),
            value_text(row.weight),
            value_text(row.positive),
            _share(row.rate),
            interval_of(row.positive, row.weight, data),
            _limit(requirement, [one.rate for one in rows if one.rate is not None]),
        )
        for rows in sets
        for row in rows
    )


def _limit(requirement: Requirement, rates: list[Fraction]) -> float | None:
    """The rate at the bound: a difference above the lowest rate, or a ratio of the highest one."""
    difference: Any = getattr(requirement, "difference", None)
    ratio: Any = getattr(requirement, "ratio", None)
    if not rates or (difference is None) == (ratio is None):
        return None
    return float(max(rates) * ratio) if difference is None else float(min(rates) + difference)


def _share(rate: Fraction | None) -> float | None:
    return None if rate is None else float(rate)


def _measured(rates: tuple[Rate, ...]) -> str:
    shares = [rate.share for rate in rates if rate.share is not None]
    if not shares:
        return ""
    low, high = min(shares), max(shares)
    ratio = "-" if high == 0 else f"{low / high:.3f}"
    each = ", ".join(f"{rate.group} {percent(rate.share)}" for rate in rates)
    return f"{each}; ratio {ratio}, difference {high - low:.3f}"
