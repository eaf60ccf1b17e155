"""The facts of a report, gathered once; text, Markdown, JSON and HTML show the same facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treeform import __version__
from treeform.data import Dataset
from treeform.data.columns import columns_in_words
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.language.question import Question
from treeform.report.about import NOTHING, About
from treeform.report.alternatives import Alternatives, alternatives
from treeform.report.claims import ClaimFact, claims_of_certificate, claims_of_result
from treeform.report.crossing import Crossing
from treeform.report.curves import Curve, curves
from treeform.report.fairness import GroupTable, attributes_of
from treeform.report.figures import gap_text, number_of, target_text
from treeform.report.guarantee import Guarantee, guarantee_of
from treeform.report.judged import RequirementFact
from treeform.report.model_facts import HeldOut, accuracy, of_graph
from treeform.report.nested import Nested
from treeform.report.plot import trace_svg
from treeform.report.proxies import Proxy
from treeform.report.residuals import ResidualTable
from treeform.shape import Tree
from treeform.solve import Limit, SolveResult, Status
from treeform.solve.result import Number, relative_gap
from treeform.solve.stage.given_models import floor_bound
from treeform.solve.verification import misfit as misfit_of
from treeform.tradeoff.frontier import Frontier
from treeform.tradeoff.near_optimal import NearOptimal
from treeform.tradeoff.prices import Prices
from treeform.utils.text import count_of, value_text


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything in a report. What is not known is None or empty."""

    headline: str
    verdict: str
    status: str | None
    limit: str | None
    about: About
    problem: tuple[tuple[str, str], ...]
    outcome: tuple[tuple[str, str], ...]
    model_size: str | None = None
    svg: str | None = None
    wide: bool = False
    """Whether the drawing is too wide to print."""
    outline: str = ""
    rules: tuple[str, ...] = ()
    rows: str
    classes: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...] = ()
    held_out: tuple[tuple[str, str], ...] = ()
    later: str = ""
    """What its rows are called: held-out, unless all are equal to rows of training."""
    held_out_confusion: tuple[tuple[int, ...], ...] = ()
    requirements: tuple[RequirementFact, ...] = ()
    groups: tuple[GroupTable, ...] = ()
    proxies: tuple[Proxy, ...] = ()
    guarantee: Guarantee
    trace: str | None
    claims: tuple[ClaimFact, ...]
    notes: tuple[str, ...]
    digests: tuple[tuple[str, str], ...]
    explore: dict[str, Any] | None = None
    """What the page's script shows of each node."""
    ask: dict[str, Any] | None = None
    """The form of the page, and the model as its script follows it."""
    prices: tuple[tuple[str, str, str], ...] = ()
    """Each requirement, the objective without it, and its price."""
    crossings: tuple[Crossing, ...] = ()
    """Parities that hold of each attribute alone and not of the attributes crossed."""
    curves: tuple[Curve, ...] = ()
    """The best objective against the bound of a requirement."""
    nested: Nested | None = None
    """All problems of the certificate, where it has several."""
    alternatives: Alternatives | None = None
    """What near-optimal models have in common."""
    residuals: tuple[ResidualTable, ...] = ()
    """Of a regression model, by leaf and by group."""
    columns: tuple[tuple[str, ...], ...] = ()
    """How every column of the table was taken: the head and a row for each; see `Dataset.summary`."""
    version: str = __version__


VERDICTS = {
    "optimal": "Proved: no model of this shape that satisfies the requirements has a lower objective.",
    "feasible": "The model satisfies every requirement; whether a better one exists is not settled{between}.",
    "infeasible": "Proved: no model of this shape satisfies the requirements.",
    "unknown": "The search ended with neither a model nor a proof.",
}
NOT_SETTLED = "Whether a better model exists is not settled{between}."
"""Where nothing is required."""


def check_answer(result: object) -> None:
    """Raise SpecError if `result` is not the answer of a solve."""
    if not isinstance(result, SolveResult) or result.question is None:
        raise SpecError(
            f"a report cannot be made of {type(result).__name__}",
            cause="it is about the answer of a solve: the question, the model and the proofs",
            fix="pass problem.solve(), the result_ of an estimator, or the best of near-optimal models",
        )


def of_result(
    result: SolveResult,
    *,
    certificate: Mapping[str, Any] | None = None,
    source: str | None = None,
    prices: Prices | None = None,
    frontiers: Sequence[Frontier] = (),
    crossed: Sequence[Crossing] | None = None,
    near_optimal: NearOptimal | None = None,
    about: About = NOTHING,
    held_out: HeldOut | None = None,
    columns: bool = True,
) -> Facts:
    """The facts of a solve.

    Parameters
    ----------
    columns : bool
        Whether to tell how each column was taken, which `render_text` does not show.
    crossed : sequence of Crossing, optional
        From `treeform.report.price_crossings`; left out, without what joint parity would cost.
    certificate, source, prices, frontiers, near_optimal, about, held_out
        As in `treeform.report.html`; no curve is found here.
    """
    check_answer(result)
    assert result.question is not None
    solver = result.solver + (f", {result.formulation} formulation" if result.formulation else "")
    limit = None if result.limit is None else _stopped(str(result.limit), result.solver)
    outcome = _outcome(result.status, result.objective, result.bound, result.gap, solver, result.seconds)
    if limit is not None:
        outcome.insert(1, ("stopped by", limit))
    facts = _facts(
        result.question,
        result.graph,
        status=result.status,
        limit=limit,
        outcome=outcome,
        trace=trace_svg(result.trace, result.seconds),
        claims=claims_of_result(result, result.question.to_units(floor_bound(result.question))),
        notes=result.notes,
        certificate=certificate,
        source=source,
        rows_of="training",
        about=about,
        held_out=held_out,
        columns=columns,
    )
    rows = () if prices is None else prices.rows
    words = {fact.label: fact.words for fact in facts.requirements}
    shown = tuple(
        (words.get(row.requirement, row.requirement), value_text(row.without.objective), str(row))
        for row in rows
    )
    facts = replace(
        facts, prices=shown, curves=curves(frontiers, result), alternatives=alternatives(near_optimal)
    )
    return facts if crossed is None else replace(facts, crossings=tuple(crossed))


def of_model(
    graph: DecisionGraph,
    question: Question,
    *,
    certificate: Mapping[str, Any] | None = None,
    source: str | None = None,
    about: About = NOTHING,
    held_out: HeldOut | None = None,
    rows_of: str | None = None,
    equal_rows: int | None = None,
) -> Facts:
    """The facts of a model on data, with the entries of its certificate if there is one.

    ``rows_of`` says which rows the question has: "training" (usual with a certificate), "held-out", or "given" (usual
    without one: these may be other rows than those it was fitted on). Everything is counted on them. ``equal_rows``
    are how many of them are equal to rows of training, where that is known.
    """
    outcome: list[tuple[str, str]] = []
    claims: tuple[ClaimFact, ...] = ()
    status = None
    limit = None
    rows_of = rows_of or ("given" if certificate is None else "training")
    if certificate is not None:
        answer = certificate["answer"]
        run = certificate["metadata"]
        status, limit = None if answer["status"] == "judged" else Status(answer["status"]), run["limit"]
        if limit is not None:
            limit = _stopped(limit, str(run.get("solver")))
        objective, bound = (number_of(answer[key]) for key in ("objective", "bound"))
        solver = ", ".join(filter(None, [run["solver"], run["formulation"]]))
        if status is None:
            outcome = [("status", "judged: the model was given"), ("objective", value_text(objective))]
        else:
            outcome = _outcome(status, objective, bound, relative_gap(objective, bound), solver, run["seconds"])
        # What rows that agree on every feature cost anyway is counted on the rows of training only.
        floor = question.to_units(floor_bound(question)) if rows_of == "training" else None
        claims = claims_of_certificate(certificate, floor)
    if equal_rows and rows_of != "training":
        among = f"{equal_rows} of {count_of(question.data.n_samples, 'row')}"
        outcome.insert(0, ("equal to rows of training", among))
    if rows_of != "training" and certificate is not None and graph.counts.any() and not graph.is_regression:
        wrong, total = _recorded_errors(graph)
        outcome.insert(
            0, ("training errors", f"{value_text(wrong)} of {value_text(total)}, as the model records them")
        )
    return _facts(
        question,
        graph,
        status=status,
        limit=limit,
        outcome=outcome,
        trace=None,
        claims=claims,
        notes=question.data.notes,
        certificate=certificate,
        source=source,
        rows_of=rows_of,
        about=about,
        held_out=held_out,
    )


def _outcome(
    status: Status, objective: Number | None, bound: Number | None, gap: float | None, solver: str, seconds: float
) -> list[tuple[str, str]]:
    return [
        ("status", str(status)),
        ("objective", value_text(objective)),
        ("proved bound", "no model" if status is Status.INFEASIBLE else value_text(bound)),
        ("gap", gap_text(gap)),
        ("solver", solver),
        ("time", f"{seconds:.2f} s"),
    ]


def _recorded_errors(graph: DecisionGraph) -> tuple[Any, Any]:
    """Weight that the leaves misclassify, and all of it, by the counts that the model carries."""
    leaves = [node for node in range(len(graph.feature)) if graph.feature[node] < 0]
    right = sum(graph.counts[node, graph.label[node]] for node in leaves)
    total = sum(graph.counts[node].sum() for node in leaves)
    return (total - right).item(), total.item()


def _rows_counted(count: int, rows_of: str) -> str:
    """ "1000 training rows", "these 1000 rows"."""
    return f"these {count} rows" if rows_of == "given" else f"{count} {_ROWS[rows_of].removeprefix('the ')}"


_ROWS = {"training": "the training rows", "held-out": "the held-out rows", "given": "these rows"}


def _facts(
    question: Question,
    graph: DecisionGraph | None,
    *,
    status: Status | None,
    limit: str | None,
    outcome: list[tuple[str, str]],
    trace: str | None,
    claims: tuple[ClaimFact, ...],
    notes: tuple[str, ...],
    certificate: Mapping[str, Any] | None,
    source: str | None,
    rows_of: str,
    about: About,
    held_out: HeldOut | None,
    columns: bool = True,
) -> Facts:
    data = question.data
    is_tree = isinstance(question.shape, Tree) and (graph is None or graph.is_tree)
    what = "decision tree" if is_tree else "decision diagram"
    digests = [("data", data.digest)]
    if certificate is not None:
        digests.append(("certificate", str(certificate["digest"])))
    attributes = attributes_of(question, about.sensitive)
    model: dict[str, Any] = {}
    counted, misfit = "", None
    if graph is not None:
        # On other rows than those of a judgement, a test may well send all rows one way.
        is_judged = certificate is not None and status is None
        misfit = misfit_of(graph, question.shape, data if is_judged else None)
        digests.append(("model", str(graph.to_json()["digest"])))
        outcome = [*accuracy(graph, question, rows_of), *outcome]
        model = of_graph(graph, question, rows_of, attributes, held_out)
        counted = (
            ""
            if graph.is_regression
            else f"{errors(graph, data)} of {_rows_counted(data.n_samples, rows_of)}"
        )
    judged = model.get("requirements", ())
    guarantee = guarantee_of(
        question,
        status=status,
        counted=counted,
        judged=judged,
        rows_of=_ROWS[rows_of],
        claims=claims,
        compared=bool(attributes),
        held_out=model.get("later") == "the held-out rows" or rows_of == "held-out",
    )
    return Facts(
        headline=f"A {what} for {data.target}" if data.target else f"A {what}",
        verdict=_verdict(status, judged, misfit, _ROWS[rows_of], dict(outcome)),
        status=None if status is None else str(status),
        limit=limit,
        about=about,
        problem=_problem(question, source),
        outcome=tuple(outcome),
        columns=_columns(data, about) if columns else (),
        rows=_ROWS[rows_of],
        classes=() if data.quantity is not None else tuple(map(str, data.classes)),
        guarantee=guarantee,
        trace=trace,
        claims=claims,
        notes=notes,
        digests=tuple(digests),
        **model,
    )


def _verdict(
    status: Status | None,
    requirements: Sequence[RequirementFact],
    misfit: str | None,
    rows: str,
    outcome: Mapping[str, str],
) -> str:
    """The first sentences: what is violated on these rows comes before everything else."""
    violated = [fact for fact in requirements if fact.violation]
    first = f"The model does not have the shape that is asked for: {misfit}. " if misfit else ""
    if violated:
        listed = "; ".join(f"{fact.label} ({fact.found})" for fact in violated)
        count = f"{len(violated)} of {count_of(len(requirements), 'requirement')}"
        first += f"The model VIOLATES {count} on {rows}: {listed}. "
    if status is not None:
        verdict = VERDICTS[str(status)] if requirements or status is not Status.FEASIBLE else NOT_SETTLED
        if status is Status.FEASIBLE:
            bound, objective = outcome["proved bound"], outcome["objective"]
            known = bound != value_text(None)
            between = f": the best objective is between {bound} and {objective}" if known else ""
            verdict = verdict.format(between=between)
        return f"{first}Of its training: {verdict}" if first else verdict
    open_ones = any(fact.violation is None for fact in requirements)
    kept = "it satisfies every requirement on them. " if requirements and not (first or open_ones) else ""
    begin = f"A model, judged on {rows}{': ' + kept if kept else '. '}"
    return f"{first or begin}Nothing is claimed of other models."


def _stopped(limit: str, solver: str) -> str:
    """What ended the search, for people."""
    return f"{solver}, by itself and without a proof" if limit == str(Limit.SOLVER) else limit


def _problem(question: Question, source: str | None) -> tuple[tuple[str, str], ...]:
    data = question.data
    rows = [("data", source)] if source else []
    rows += [
        ("samples", f"{data.n_samples} ({data.points.n_points} distinct)"),
        ("features", columns_in_words(data.columns)),
        target_text(data),
    ]
    if (data.weights != 1).any():
        rows.append(("total weight", value_text(data.total_weight * data.weight_unit)))
    if data.exclude:
        rows.append(("never tested", ", ".join(data.exclude)))
    rows += [("shape", str(question.shape)), ("minimise", str(question.objective) or "nothing")]
    rows += [("subject to", label) for label in question.labels]
    return tuple(rows)


def _columns(data: Dataset, about: About) -> tuple[tuple[str, ...], ...]:
    """The data dictionary: how each column was taken, and what its owner says of it."""
    summary = data.summary().reset_index().astype(str)
    if about.columns:
        summary.insert(1, "meaning", [about.columns.get(name, "") for name in summary["column"]])
    return (tuple(summary.columns), *map(tuple, summary.itertuples(index=False, name=None)))
