"""The facts of a report, gathered once; text and HTML show the same facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treeform import __version__
from treeform.data import Dataset
from treeform.graph.evaluate import confusion, errors
from treeform.language.question import Question
from treeform.report.curves import Curve, curves
from treeform.report.plot import trace_svg
from treeform.solve import Limit, SolveResult, Status
from treeform.solve.result import Number, relative_gap
from treeform.solve.simple_bounds import floor_bound

if TYPE_CHECKING:
    from treeform.graph import DecisionGraph
    from treeform.language.requirement import Requirement
    from treeform.tradeoff.frontier import Frontier
    from treeform.tradeoff.prices import Prices


@dataclass(frozen=True)
class Rate:
    """One group under a fairness requirement."""

    group: str
    weight: str
    favourable: str
    share: float


@dataclass(frozen=True)
class RequirementFact:
    """A requirement, whether the model satisfies it, and what was measured."""

    label: str
    violation: Number
    rates: tuple[Rate, ...] = ()
    measured: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is left of it."""
        return self.violation == 0


@dataclass(frozen=True)
class ClaimFact:
    """The claims, and the solvers and engines that proved them."""

    kind: str
    what: str
    value: str
    by: str
    seconds: float
    relaxation: tuple[str, ...]
    rechecked: str
    counters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything in a report. What is not known is None or empty."""

    headline: str
    verdict: str
    status: str | None
    limit: str | None
    problem: tuple[tuple[str, str], ...]
    outcome: tuple[tuple[str, str], ...]
    model_size: str | None
    svg: str | None
    rules: tuple[str, ...]
    rows: str
    classes: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    requirements: tuple[RequirementFact, ...]
    trace: str | None
    claims: tuple[ClaimFact, ...]
    notes: tuple[str, ...]
    digests: tuple[tuple[str, str], ...]
    prices: tuple[tuple[str, str, str], ...] = ()
    """Each requirement, the objective without it, and its price."""
    curves: tuple[Curve, ...] = ()
    """The best objective against the bound of a requirement."""
    columns: tuple[tuple[str, ...], ...] = ()
    """How every column of the table was taken: the head and a row for each; see `Dataset.summary`."""
    version: str = __version__


VERDICTS = {
    "optimal": "Proved: no model of this shape that satisfies the requirements has a lower objective.",
    "feasible": "The model satisfies every requirement; whether a better one exists is not settled.",
    "infeasible": "Proved: no model of this shape satisfies the requirements.",
    "unknown": "The search ended with neither a model nor a proof.",
}
_AGAIN = {
    "engine": "by solving again",
    "lagrangian": "by its multipliers",
    "proof": "by its proof on file",
    None: "no witness: as far as treeform check can solve it again",
}
KINDS = {"upper": "a model of value", "lower": "no model is below", "infeasible": "no model exists"}


def of_result(
    result: SolveResult,
    *,
    certificate: Mapping[str, Any] | None = None,
    source: str | None = None,
    prices: Prices | None = None,
    frontiers: Sequence[Frontier] = (),
) -> Facts:
    """The facts of a solve.

    Parameters
    ----------
    result : SolveResult
    certificate : dict, optional
        Its digest is quoted.
    source : str, optional
        Where the data came from, such as a file name.
    prices : Prices, optional
        What `treeform.Result.prices` found.
    frontiers : sequence of Frontier, optional
        Curves to show, such as `treeform.report.trace_curves` gives.
    """
    if result.question is None:
        raise ValueError("a report needs a result that knows its question")
    outcome = [
        ("status", str(result.status)),
        ("objective", value_text(result.objective)),
        ("proved bound", value_text(result.bound)),
        ("gap", gap_text(result.gap)),
    ]
    if result.limit is not None:
        outcome.insert(1, ("stopped by", _stopped(str(result.limit), result.solver)))
    solver = result.solver + (f", {result.formulation} formulation" if result.formulation else "")
    outcome += [("solver", solver), ("time", f"{result.seconds:.2f} s")]
    floor = result.question.to_units(floor_bound(result.question))
    claims = tuple(
        _claim(
            {
                "kind": claim.kind,
                "value": claim.value,
                "by": claim.by,
                "seconds": claim.seconds,
                "relaxation": claim.relaxation,
                "recheck": claim.recheck,
                "counters": claim.counters,
            },
            floor,
        )
        for claim in result.claims
    )
    facts = _facts(
        result.question,
        result.graph,
        status=result.status,
        limit=None if result.limit is None else _stopped(str(result.limit), result.solver),
        outcome=outcome,
        trace=trace_svg(result.trace, result.seconds),
        claims=claims,
        notes=result.notes,
        certificate=certificate,
        source=source,
        training=True,
    )
    rows = () if prices is None else prices.rows
    shown = tuple((row.requirement, value_text(row.without.objective), str(row)) for row in rows)
    return replace(facts, prices=shown, curves=curves(frontiers, result.question))


def of_model(
    graph: DecisionGraph,
    question: Question,
    *,
    certificate: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Facts:
    """The facts of a model on data, with the entries of its certificate if there is one.

    Without a certificate these may be other rows than those it was fitted on: everything is counted on them.
    """
    outcome: list[tuple[str, str]] = []
    claims: tuple[ClaimFact, ...] = ()
    status = None
    limit = None
    if certificate is not None:
        answer = certificate["answer"]
        run = certificate["metadata"]
        status, limit = Status(answer["status"]), run["limit"]
        if limit is not None:
            limit = _stopped(limit, str(run.get("solver")))
        objective, bound = (_number(answer[key]) for key in ("objective", "bound"))
        outcome = [
            ("status", answer["status"]),
            ("objective", value_text(objective)),
            ("proved bound", value_text(bound)),
            ("gap", gap_text(relative_gap(objective, bound))),
            ("solver", ", ".join(filter(None, [run["solver"], run["formulation"]]))),
            ("time", f"{run['seconds']:.2f} s"),
        ]
        floor = question.to_units(floor_bound(question))
        claims = tuple(
            _claim(
                {
                    **claim["metadata"],
                    "kind": claim["kind"],
                    "value": _number(claim["value"]),
                    "recheck": claim["route"] or _engine(claim["metadata"]),
                },
                floor,
            )
            for claim in certificate["claims"]
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
        training=certificate is not None,
    )


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
    training: bool,
) -> Facts:
    data = question.data
    what = "decision tree" if question.shape.to_json()["type"] == "tree" else "decision diagram"
    digests = [("data", data.digest)]
    if certificate is not None:
        digests.append(("certificate", str(certificate["digest"])))
    if graph is not None:
        digests.append(("model", str(graph.to_json()["digest"])))
        graph = graph.with_counts(data)
        outcome = [*_accuracy(graph, question, training), *outcome]
    return Facts(
        headline=f"A {what} for {data.target}" if data.target else f"A {what}",
        verdict=VERDICTS[str(status)] if status is not None else "A model, judged on these data.",
        status=None if status is None else str(status),
        limit=limit,
        problem=_problem(question, source),
        outcome=tuple(outcome),
        model_size=None if graph is None else size_text(graph),
        svg=None if graph is None else graph.to_svg(),
        rules=() if graph is None else tuple(graph.rules()),
        columns=_columns(data),
        rows="the training data" if training else "these rows",
        classes=tuple(map(str, data.classes)),
        confusion=() if graph is None else tuple(tuple(map(int, row)) for row in confusion(graph, data)),
        requirements=() if graph is None else requirement_facts(graph, question),
        trace=trace,
        claims=claims,
        notes=notes,
        digests=tuple(digests),
    )


def _stopped(limit: str, solver: str) -> str:
    """What ended the search, for people."""
    return f"{solver}, by itself and without a proof" if limit == str(Limit.SOLVER) else limit


def _problem(question: Question, source: str | None) -> tuple[tuple[str, str], ...]:
    data = question.data
    rows = [("data", source)] if source else []
    rows += [
        ("samples", f"{data.n_samples} ({data.points.n_points} distinct)"),
        ("features", f"{data.n_features} after encoding"),
        (
            "classes",
            ", ".join(f"{label} ({int((data.y == k).sum())})" for k, label in enumerate(data.classes)),
        ),
    ]
    if (data.weights != 1).any():
        rows.append(("total weight", value_text(data.total_weight * data.weight_unit)))
    if data.exclude:
        rows.append(("never tested", ", ".join(data.exclude)))
    rows += [("shape", str(question.shape)), ("minimise", str(question.objective) or "nothing")]
    rows += [("subject to", label) for label in question.labels]
    return tuple(rows)


def _columns(data: Dataset) -> tuple[tuple[str, ...], ...]:
    summary = data.summary().reset_index().astype(str)
    return (tuple(summary.columns), *map(tuple, summary.itertuples(index=False, name=None)))


def _accuracy(graph: DecisionGraph, question: Question, training: bool) -> list[tuple[str, str]]:
    data, word = question.data, "training " if training else ""
    wrong = int(errors(graph, data))
    share = (data.n_samples - wrong) / data.n_samples
    return [
        (f"{word}errors", f"{wrong} of {data.n_samples}{'' if training else ' rows given here'}"),
        (f"{word}accuracy", f"{100 * share:.2f} %"),
    ]


def requirement_facts(graph: DecisionGraph, question: Question) -> tuple[RequirementFact, ...]:
    """Each requirement judged on the model, with group rates where it has groups."""
    facts = []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        violation = requirement.violation(graph, question.data)
        rates = _rates(requirement, graph, question)
        facts.append(RequirementFact(label, violation, rates, _measured(rates)))
    return tuple(facts)


def _rates(requirement: Requirement, graph: DecisionGraph, question: Question) -> tuple[Rate, ...]:
    """Rates of a requirement that reports them: one row per group with weight, favourable weight and rate."""
    report = getattr(requirement, "report", None)
    if report is None:
        return ()
    return tuple(
        Rate(str(row.group), value_text(row.weight), value_text(row.favourable), float(row.rate))
        for row in report(graph, question.data)
    )


def _measured(rates: tuple[Rate, ...]) -> str:
    if not rates:
        return ""
    shares = [rate.share for rate in rates]
    low, high = min(shares), max(shares)
    ratio = "-" if high == 0 else f"{low / high:.3f}"
    each = ", ".join(f"{rate.group} {100 * rate.share:.1f} %" for rate in rates)
    return f"{each}; ratio {ratio}, difference {high - low:.3f}"


def _engine(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """An engine's claim has no witness: it is solved again."""
    return {"kind": "engine"} if "engine" in metadata["details"] else None


def _claim(claim: Mapping[str, Any], floor: Fraction) -> ClaimFact:
    """``floor`` is what rows that agree on every feature cost anyway: bounds up to it are a matter of counting."""
    kind, value = claim["kind"], claim["value"]
    if kind == "upper" or (value is not None and value <= floor):
        rechecked = "by counting"
    else:
        rechecked = _AGAIN[None if claim["recheck"] is None else claim["recheck"]["kind"]]
    return ClaimFact(
        kind=kind,
        what=KINDS[kind],
        value="" if value is None else value_text(value),
        by=claim["by"],
        seconds=float(claim["seconds"]),
        relaxation=tuple(claim["relaxation"]),
        rechecked=rechecked,
        counters=tuple(claim.get("counters", {}).items()),
    )


def size_text(graph: DecisionGraph) -> str:
    """``5 tests, 6 leaves, depth 3``."""
    tests = "1 test" if graph.n_nodes == 1 else f"{graph.n_nodes} tests"
    leaves = "1 leaf" if graph.n_leaves == 1 else f"{graph.n_leaves} leaves"
    return f"{tests}, {leaves}, depth {graph.depth}"


def value_text(value: Number | None) -> str:
    """A value for people: whole numbers exactly, others to six digits."""
    if value is None:
        return "-"
    value = Fraction(value)
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"


def gap_text(gap: float | None) -> str:
    """A relative gap as a percentage."""
    if gap is None:
        return "-"
    return "0 % (proved)" if gap == 0 else "unbounded" if gap == float("inf") else f"{100 * gap:.2f} %"


def _number(text: str | None) -> Number | None:
    return None if text is None else Fraction(text)
