"""The guarantee in plain words: what is proved, what rests on somebody's word, and what was not asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeform.language.question import Question
from treeform.solve import Status


@dataclass(frozen=True)
class Guarantee:
    """Sentences for readers who did not make the model.

    Attributes
    ----------
    proved : tuple of str
        What was counted or proved, and how anybody can repeat it.
    on_trust : tuple of str
        What rests on a program alone.
    not_asked : tuple of str
        What nobody has looked at.
    """

    proved: tuple[str, ...]
    on_trust: tuple[str, ...]
    not_asked: tuple[str, ...]


NO_WITNESS = "no witness"
_GROUPED = ("parity", "opportunity", "odds", "equality", "group_error")


def guarantee_of(
    question: Question,
    *,
    status: Status | None,
    counted: str,
    kept: bool,
    claims: Sequence[tuple[str, str, str]],
    compared: bool,
    held_out: bool,
) -> Guarantee:
    """The sentences of a report.

    Parameters
    ----------
    question : Question
    status : Status or None
        None for a model without a certificate.
    counted : str
        The errors, as they were counted: "155 of 1000 training rows".
    kept : bool
        Whether the model satisfies every requirement on the rows of the report.
    claims : sequence of (what, by, how it is checked again)
        What solvers and engines say.
    compared : bool
        Whether groups were compared in this report.
    held_out : bool
        Whether rows that were not trained on were looked at.
    """
    proved = [f"The model is wrong on {counted}: counted here, row by row."] if counted else []
    if question.requirements and counted:
        names = ", ".join(question.labels)
        proved.append(
            f"The model {'satisfies' if kept else 'does not satisfy'} every requirement on these rows ({names}): "
            "evaluated here in exact arithmetic."
        )
    on_trust = []
    for what, by, again in claims:
        if again.startswith(NO_WITNESS):
            on_trust.append(
                f"{what}: this rests on the word of {by}. treeform check tries to prove it again by itself."
            )
        else:
            proved.append(f"{what}: found by {by}; treeform check repeats it {again}.")
    if status is Status.FEASIBLE:
        on_trust.append("That no better model exists is not proved: the search ended before.")
    return Guarantee(tuple(proved), tuple(on_trust), _not_asked(question, status, compared, held_out))


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
        sentences.append("How the model does on rows that it was not fitted on: no held-out table was given.")
    sentences.append(
        "Whether the labels are right, and whether the rows resemble those that will be decided on."
    )
    shape = str(question.shape)
    if status is not None:
        sentences.append(f"Models of another shape: the proof is about {shape} on these columns only.")
    return tuple(sentences)
