"""The certificate of a family of nested problems, written and checked: the answers from which the others follow.

A bound that was proved here of one problem is that of all inside it, so a table of many rows needs few proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeform.certify.bounds import claim_rows
from treeform.certify.certificate import Certificate, answered, is_of, number_in_file, read_any, written
from treeform.certify.family import IMPOSSIBLE, Family, Known, Place, Proof
from treeform.certify.provers import Means
from treeform.certify.schema import FAMILY, FamilyPart, NestedPart
from treeform.certify.statements import model_rows, requirement_of, stated_head, status_row
from treeform.certify.steps import nothing_between
from treeform.certify.verdicts import CheckRow, Verdict, false, holds, on_trust
from treeform.data import Dataset
from treeform.errors import CertificateError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import counted_errors
from treeform.language.bounded import Bounded
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.requirements.groups import Groups
from treeform.solve.result import Claim, SolveResult, Status, as_number
from treeform.solve.verification import judge_candidate, verify
from treeform.utils.budget import Limit
from treeform.utils.text import count_of

MOST_PROBLEMS = 20_000
"""A check looks at each problem of a family; larger ones are refused."""


def answer_of(question: Question, known: Known | None, proof: Proof | None) -> SolveResult:
    """The best model and the strongest proof of one problem, as an answer to it."""
    lower = None if proof is None or proof.lower == IMPOSSIBLE else as_number(Fraction(proof.lower))
    claims: tuple[Claim, ...] = ()
    if proof is not None:
        worth = None if lower is None else Fraction(lower)
        claims = (Claim("infeasible" if lower is None else "lower", worth, proof.by, 0.0),)
    by = "" if proof is None else proof.by
    if known is None:
        status = Status.INFEASIBLE if proof is not None and lower is None else Status.UNKNOWN
        return SolveResult(
            None, status, None, None, lower, None, {}, claims, (), 0.0, question=question, solver=by
        )
    graph, value = known.graph, known.value
    status = Status.OPTIMAL if lower is not None and lower >= value else Status.FEASIBLE
    violations = {name: as_number(lack) for name, lack in verify(question, graph).violations.items()}
    claims = (Claim("upper", Fraction(value), "the family", 0.0), *claims)
    errors = counted_errors(graph, question.data)
    return SolveResult(
        graph, status, None, value, lower, errors, violations, claims, (), 0.0, question=question, solver=by
    )


def certify_family(
    family: Family, answers: Iterable[tuple[Place, SolveResult]], seconds: float, limit: Limit | None
) -> Certificate:
    """The certificate of a family, with the answers that do not follow from wider ones.

    Raises CertificateError if nothing is known.
    """
    kept, members, names = family.without_knowledge(), [], list[str]()
    for place, result in sorted(answers, key=lambda answer: family.width(answer[0])):
        lower = IMPOSSIBLE if result.status is Status.INFEASIBLE else result.bound
        names += [result.solver] if result.solver else []
        proof, known = kept.lower(place), kept.best(place)
        stronger = lower is not None and (proof is None or proof.lower < lower)
        better = result.objective is not None and (known is None or result.objective < known.value)
        if not (stronger or better):
            continue
        enter_answer(kept, place, result)
        at = {"depth": place.depth, "tests": place.tests, "bound": number_in_file(place.bound)}
        members.append({"at": at, **answered(result)})
    if not members:
        raise CertificateError(
            "there is nothing to certify",
            cause="no model was found, and nothing was proved",
            fix="give it more time, or loosen the requirements",
        )
    over = {
        "tests": family.by_tests,
        "depth": family.by_depth,
        "requirement": None,
        "loosest": number_in_file(family.between[0]),
        "tightest": number_in_file(family.between[1]),
    }
    content = {"over": over, "complete": kept.complete, "members": members}
    by = ", ".join(dict.fromkeys(names)) or "none"
    stopped = None if limit is None else str(limit)
    run = {"solver": by, "formulation": None, "seconds": round(seconds, 3), "limit": stopped}
    moved = family.axis if isinstance(family.axis, Requirement) else None
    return written(FAMILY, family.question, run, content, moved)


def answers_in(certificate: Any, family: Family) -> list[tuple[Place, SolveResult]]:
    """The answers of an earlier certificate of the same family.

    Models are evaluated again. Bounds are not proved again; they say where they come from.

    Raises CertificateError if it is damaged, or that of a single answer; SpecError if it is of another problem.
    """
    body, moved = read_any(certificate), family.axis if isinstance(family.axis, Requirement) else None
    if not isinstance(body, FamilyPart):
        raise CertificateError(
            "the start is the certificate of a single answer",
            cause="a start holds the answers of an earlier size table, Pareto curve or frontier",
            fix="give the certificate of one, or use the model of this one as warm_start",
        )
    same = (body.over.tests, body.over.depth) == (family.by_tests, family.by_depth)
    if not (same and is_of(certificate, family.question, moved)):
        raise other_problem()
    return [_answer_in(family, _place_of(family, body, member), member) for member in body.members]


def known_family(
    body: FamilyPart, question: Question, data: Dataset, groups: dict[str, Groups]
) -> tuple[Family, list[tuple[Place, SolveResult]]]:
    """The family of a certificate with what its answers say, and these answers, the widest problem first.

    Models are evaluated again, bounds are not proved again; seconds are those of the whole run. The arguments are as
    in `family_rows`.
    """
    family, seconds = _family_of(body, question, data, groups), float(body.metadata.seconds)
    found = [_answer_in(family, _place_of(family, body, member), member) for member in body.members]
    answers = [(place, replace(result, seconds=seconds)) for place, result in found]
    for place, result in answers:
        enter_answer(family, place, result)
    return family, answers


def _answer_in(family: Family, place: Place, member: NestedPart) -> tuple[Place, SolveResult]:
    question, known = family.at(place), None
    if member.model is not None:
        graph, judged = judge_candidate(question, DecisionGraph.from_json(member.model))
        if judged.ok:
            known = Known(place, as_number(question.to_units(judged.value)), graph)
    bounds = [claim for claim in member.claims if claim.kind != "upper"]
    best = max(bounds, key=lambda one: math.inf if one.value is None else Fraction(one.value), default=None)
    if best is None:
        return place, answer_of(question, known, None)
    lower = IMPOSSIBLE if best.value is None else Fraction(best.value)
    return place, answer_of(question, known, Proof(place, lower, f"{best.metadata.by} (from a certificate)"))


def enter_answer(family: Family, place: Place, result: SolveResult) -> None:
    """Enter model and bound of an answer."""
    if result.graph is not None and result.objective is not None:
        family.enter(result.graph, result.objective)
    if result.status is Status.INFEASIBLE:
        family.prove(place, IMPOSSIBLE, result.solver)
    elif result.bound is not None:
        family.prove(place, Fraction(result.bound), result.solver)


def other_problem() -> SpecError:
    """The error for a start of another problem."""
    return SpecError(
        "the start is of another problem",
        cause="data, shape, objective and requirements have to be the same",
        fix="leave out start",
    )


# -- the check ------------------------------------------------------------------------------------------


def family_rows(
    body: FamilyPart, question: Question, data: Dataset, groups: dict[str, Groups], means: Means
) -> list[CheckRow]:
    """The verdicts on a family: its members, the widest first, and whether its optima follow from them."""
    family = _family_of(body, question, data, groups)
    stated, names = family.without_knowledge(), list[str]()
    rows = stated_head(body, question)
    members = [(_place_of(family, body, member), member) for member in body.members]
    for place, member in sorted(members, key=lambda one: family.width(one[0])):
        found = list(_member_rows(family, stated, place, member, means))
        rows += found
        names += [name for row in found for name in row.rests_on]
    return [*rows, _curve(body, family, stated, names, means)]


def _family_of(body: FamilyPart, question: Question, data: Dataset, groups: dict[str, Groups]) -> Family:
    over = body.over
    axis = None if over.requirement is None else requirement_of(over.requirement, data, groups)
    by_size = over.tests and axis is None
    if not (by_size or (isinstance(axis, Bounded) and not over.tests and not axis.is_continuous)):
        raise CertificateError("the certificate does not say what its problems bound")
    if over.depth and not (by_size and question.shape.own_leaves):
        raise CertificateError(f"the certificate bounds the depth of {question.shape}")
    loosest, tightest = (None if one is None else Fraction(one) for one in (over.loosest, over.tightest))
    if axis is None and (loosest, tightest) != (None, None):
        raise CertificateError("the certificate has a range of bounds, and moves no requirement")
    moved = axis if isinstance(axis, Bounded) else None
    family = Family(question, over.tests, over.depth, moved, (loosest, tightest))
    if moved is None and family.most_tests * (question.shape.depth if over.depth else 1) > MOST_PROBLEMS:
        raise CertificateError(f"the certificate has more than {MOST_PROBLEMS:,} problems")
    return family


def _place_of(family: Family, body: FamilyPart, member: NestedPart) -> Place:
    at, over = member.at, body.over
    bound = None if at.bound is None else Fraction(at.bound)
    ours = (
        (over.depth or at.depth is None)
        and (over.tests or at.tests is None)
        and (family.axis is not None or bound is None)
    )
    if not ours:
        raise CertificateError("the certificate has an answer to a problem that is not one of its own")
    return family.place(at.depth, at.tests, bound)


def _member_rows(
    proved: Family, stated: Family, place: Place, member: NestedPart, means: Means
) -> Iterator[CheckRow]:
    """What is not verified of an answer, and its status; what holds is entered in the families."""
    question, name = proved.at(place), proved.name(place)
    graph = None if member.model is None else DecisionGraph.from_json(member.model)
    rows = model_rows(member, question, graph)
    claims = claim_rows(member.claims, question, graph, means, proved.lower(place))
    status = status_row(member, rows, claims)
    for row in (*rows, *claims):
        if row.verdict is not Verdict.VERIFIED:
            yield replace(row, what=f"{name}: {row.what}")
    bounds = [(c, row) for c, row in zip(member.claims, claims, strict=True) if c.kind != "upper"]
    best = max(bounds, key=lambda one: Fraction(one[0].value or 0), default=None)
    shown = [] if best is None or best[1].verdict is not Verdict.VERIFIED else [best[1].detail]
    worth = [] if member.answer.objective is None else [f"objective {member.answer.objective}"]
    detail = "; ".join([*worth, status.detail, *shown])
    yield replace(status, what=name, detail=detail, proved_by="" if best is None else best[1].proved_by)
    if graph is not None and not any(row.verdict is Verdict.FALSE for row in rows):
        value = as_number(Fraction(member.answer.objective or 0))
        for family in (proved, stated):
            family.enter(graph, value)
    for claim, row in bounds:
        lower = IMPOSSIBLE if claim.value is None else Fraction(claim.value)
        if row.verdict is Verdict.VERIFIED:
            proved.prove(place, lower, row.proved_by)
        if row.verdict is not Verdict.FALSE:
            stated.prove(place, lower, claim.metadata.by)


def _curve(body: FamilyPart, proved: Family, stated: Family, names: list[str], means: Means) -> CheckRow:
    """Whether every optimum of the family follows from its members, where the certificate says so."""
    problems = [place for place, _ in stated.problems()]
    left = [place for place in problems if stated.is_open(place)]
    number = count_of(len(problems), "problem")
    if not body.complete:
        return holds("family", f"{len(left)} of {number} open; nothing else is claimed")
    if left:
        return false("family", f"not complete: {stated.name(left[0])} is open")
    if not proved.complete:
        return on_trust("family", f"the optima of {number} rest on what is not proved here", *names)
    if means.independent and not _steps_shown(proved):
        detail = f"the optima of {number} follow, if no model's measure lies between their bounds"
        return on_trust("family", detail, f"the steps of {proved.axis}")
    return holds("family", f"the optima of {number} follow")


def _steps_shown(family: Family) -> bool:
    """Whether the check's own statement of what is moved shows that no measure lies between the bounds."""
    axis, data = family.axis, family.question.data
    measures = [known.needs.bound for _, known in family.problems() if known is not None]
    return axis is None or all(
        value is not None and nothing_between(axis, value, axis.beyond(value, data), data) for value in measures
    )
