"""The guarantee in plain words: what is proved, what is on trust, and what was not asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeform.language.question import Question
from treeform.report.claims import ClaimFact
from treeform.report.figures import shape_text
from treeform.report.judged import RequirementFact, sentence
from treeform.solve import Status
from treeform.utils.text import count_of


@dataclass(frozen=True)
class Guarantee:
    """Sentences for readers who did not make the model."""

    proved: tuple[str, ...]
    """What was counted or proved, and how anybody can repeat it."""
    on_trust: tuple[str, ...]
    """What rests on a program alone."""
    not_asked: tuple[str, ...]
    """What was not verified."""


NO_WITNESS = "no witness"
_GROUPED = ("parity", "opportunity", "odds", "equality", "group_error")


def guarantee_of(
    question: Question,
    *,
    status: Status | None,
    counted: str,
    judged: Sequence[RequirementFact],
    rows_of: str,
    claims: Sequence[ClaimFact],
    compared: bool,
    held_out: bool,
) -> Guarantee:
    """The sentences of a report; of a model without a certificate there is no status.

    ``counted`` are the errors, as they were counted: "155 of 1000 training rows"; ``judged`` says what was found of
    each requirement on the rows of the report, named by ``rows_of``, ``claims`` what solvers and engines say.
    ``compared`` and ``held_out``: whether groups were compared, and whether rows that were not trained on were looked
    at.
    """
    proved = [f"The model is wrong on {counted}: counted here, row by row."] if counted else []
    for fact in judged:
        if fact.violation is not None:
            verdict = "holds" if fact.ok else f"does NOT hold ({fact.found})"
            proved.append(f"{fact.words}: {verdict} on {rows_of}, counted here in exact arithmetic.")
    on_trust = [
        f"{fact.words}: whether it holds was not found out. {sentence(fact.measured)}."
        for fact in judged
        if fact.violation is None
    ]
    if question.restriction is not None:
        on_trust.append(
            f"The problem is narrowed by {question.restriction}. They are code: that the model satisfies them is on "
            "trust, and what is said of other models is said of those that satisfy them."
        )
    for claim in {claim.kind: claim for claim in claims}.values():  # the last claim of a kind is the best one
        stated = _sentence_of(claim, question)
        if claim.rechecked.startswith(NO_WITNESS):
            on_trust.append(
                f"{stated}: this rests on {claim.by} alone. treeform check tries to prove it again by itself."
            )
        else:
            proved.append(f"{stated}: found by {claim.by}; treeform check repeats it {claim.rechecked}.")
    if status is Status.FEASIBLE:
        on_trust.append("That no better model exists is not proved: the search ended before.")
    return Guarantee(tuple(proved), tuple(on_trust), _not_asked(question, status, compared, held_out))


def _sentence_of(claim: ClaimFact, question: Question) -> str:
    """A claim as a sentence, in errors where these are the objective."""
    objective = str(question.objective)
    words = {
        label: requirement.in_words()
        for label, requirement in zip(question.labels, question.requirements, strict=True)
    }
    narrowed = question.restriction
    if narrowed is not None:
        words[str(narrowed)] = f"{narrowed} hold"
    models = f"no {shape_text(question.shape)}"
    if claim.relaxation:
        models += f", even where it need not hold that {' or that '.join(words.get(r, r) for r in claim.relaxation)},"
    elif question.requirements:
        models += " that satisfies every requirement"
        models += "" if narrowed is None else f" and {narrowed}"
    elif narrowed is not None:
        models += f" that satisfies {narrowed}"
    if claim.kind == "infeasible":
        return sentence(f"{models} exists")
    if claim.kind == "upper":
        worth = count_of(claim.value, "error") if objective == "error" else f"the objective {claim.value}"
        return f"A model with {worth} exists"
    if objective == "error":
        return sentence(f"{models} has fewer than {count_of(claim.value, 'error')}")
    return sentence(f"{models} has an objective{f' ({objective})' if objective else ''} below {claim.value}")


def _not_asked(question: Question, status: Status | None, compared: bool, held_out: bool) -> tuple[str, ...]:
    names = {requirement.name for requirement in question.requirements}
    sentences = []
    if status is None:
        sentences.append("Whether a better model exists: nothing is proved of other models.")
    if not any(part in name for name in names for part in _GROUPED):
        seen = "they are compared in this report" if compared else "no sensitive column was named"
        sentences.append(f"Equal treatment of groups was no requirement ({seen}).")
    if "min_support" not in names:
        sentences.append("How few rows may support a decision: a leaf may rest on a single row.")
    if "monotone" not in names:
        sentences.append("Whether more of a column may only help or only harm (monotonicity).")
    if not held_out:
        sentences.append("How the model performs on rows that it was not fitted on: no held-out table was given.")
    sentences.append(
        "Whether the labels are right, and whether the rows resemble those that will be decided on."
    )
    if status is not None:
        shape = shape_text(question.shape)
        sentences.append(f"Models of another shape: what is proved is about every {shape} on these columns.")
    return tuple(sentences)
