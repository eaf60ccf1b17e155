"""Runs a case and compares every statement of the answer with the reference."""

from __future__ import annotations

import json
import os
import signal
import time
import traceback
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.errors import ContradictionError, SolverFailed, TreeformError
from treeform.testing.differential import certificates, questions
from treeform.testing.differential.cases import Bundle, Case
from treeform.testing.differential.judge import judge
from treeform.testing.differential.questions import Answer, Goal
from treeform.testing.differential.reference import Outcome
from treeform.testing.differential.world import World

Number = Fraction | int


@dataclass
class Verdict:
    """What came of a case."""

    status: str = ""
    """Of the answer, or "refused", "raised"."""
    wrong: list[str] = field(default_factory=list)
    """What disagrees with the reference; empty when all is well."""
    refusal: str | None = None
    """The text of the error that treeform raised on purpose."""
    seconds: float = 0.0
    checked: str | None = None
    """What `tf.check` answered, where it was asked."""


def run(case: Case, world: World) -> Verdict:
    """Run a case; nothing is raised but KeyboardInterrupt outside of the run itself."""
    verdict = Verdict()
    started = time.perf_counter()
    truth = world.bundle.answer(case.goal, case.requirements)
    try:
        _VERBS[case.way.verb](case, world, truth, verdict)
    except ContradictionError as error:
        verdict.status = "raised"
        verdict.wrong.append(f"contradiction: {error}")
    except tf.errors.Infeasible as error:
        verdict.status = "infeasible"
        verdict.refusal = f"Infeasible: {error.what}"
        if truth.ranked:
            verdict.wrong.append(f"infeasible, and {truth.optimum} is possible: {error.what}")
    except SolverFailed as error:
        verdict.status = "raised"
        verdict.wrong.append(f"solver failed: {error}")
    except TreeformError as error:
        verdict.status = "refused"
        verdict.refusal = f"{type(error).__name__}: {error.what}" + (
            f" ({error.cause})" if error.cause else ""
        )
    except KeyboardInterrupt:
        if not case.way.interrupt:
            raise
        verdict.status = "interrupted late"
    except Exception as error:
        verdict.status = "raised"
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict.wrong.append(
            f"{type(error).__name__}: {error} at {where.filename.rpartition('/')[2]}:{where.name}"
        )
    verdict.seconds = time.perf_counter() - started
    return verdict


# -- solve ---------------------------------------------------------------------------------------------------


def _warm(case: Case, world: World) -> Any:
    if isinstance(case.way.warm, dict):
        return tf.DecisionGraph.build(case.way.warm["nodes"], world.data)
    return case.way.warm


def _solve(case: Case, world: World, truth: Answer, verdict: Verdict) -> None:
    way = case.way
    problem = world.problem(case)
    options: dict[str, Any] = {"warm_start": _warm(case, world), "time_limit": way.limit}
    if way.formulation is not None:
        options["formulation"] = way.formulation
    pressed: list[bool] = []

    def press(progress: Any) -> None:
        if not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    if way.interrupt:
        options["on_progress"] = press
    result = problem.solve(way.solver, **options)
    verdict.status = str(result.status)
    verdict.wrong += compare(case, world.bundle, truth, result)
    if way.after is not None and not verdict.wrong:
        body = json.loads(json.dumps(result.certificate()))
        verdict.checked, wrong = certificates.examine(case, world, result, body)
        verdict.wrong += wrong


def compare(case: Case, bundle: Bundle, truth: Answer, result: Any) -> list[str]:
    """What of a result disagrees with the truth."""
    wrong: list[str] = []
    optimum = truth.optimum
    status, objective, bound = str(result.status), _exact(result.objective), _exact(result.bound)
    if result.graph is not None:
        wrong += compare_model(case, bundle, case.goal, result.graph, objective)
        if any(result.violations.values()):
            wrong.append(f"violations {result.violations} of a model that is returned")
        if result.errors != _errors(bundle, result.graph):
            wrong.append(f"{result.errors} errors are stated")
    if status == "optimal" and objective != optimum:
        wrong.append(f"optimal at {objective}, and the optimum is {optimum}")
    if status == "infeasible" and optimum is not None:
        wrong.append(f"infeasible, and the optimum is {optimum}")
    if status == "feasible" and (objective is None or optimum is None or objective < optimum):
        wrong.append(f"a model worth {objective}, and the optimum is {optimum}")
    if bound is not None and optimum is not None and bound > optimum:
        wrong.append(f"the bound {bound} is above the optimum {optimum}")
    if status != implied(result):
        wrong.append(f"status {status}, and the claims say {implied(result)}")
    for claim in result.claims:
        if claim.kind == "lower" and optimum is not None and claim.value > optimum:
            wrong.append(f"claim of {claim.by}: nothing is below {claim.value}, and the optimum is {optimum}")
        if claim.kind == "infeasible" and optimum is not None:
            wrong.append(f"claim of {claim.by}: infeasible, and the optimum is {optimum}")
    if case.way.exact and status not in ("optimal", "infeasible"):
        wrong.append(f"{status} without a limit")
    if status in ("feasible", "unknown") and result.limit is None:
        wrong.append(f"{status} without a reason")
    return wrong


def implied(result: Any) -> str:
    """The status that the claims of a result imply."""
    uppers = [claim.value for claim in result.claims if claim.kind == "upper"]
    lowers = [claim.value for claim in result.claims if claim.kind == "lower"]
    impossible = any(claim.kind == "infeasible" for claim in result.claims)
    if uppers:
        met = bool(lowers) and max(lowers) >= min(uppers)
        return "optimal" if met or impossible else "feasible"
    return "infeasible" if impossible else "unknown"


def compare_model(case: Case, bundle: Bundle, goal: Goal, graph: Any, value: Number | None) -> list[str]:
    """What is wrong with a model that was returned with a value."""
    judged = judge(graph, bundle.reference)
    wrong = []
    if judged.misfit is not None:
        wrong.append(f"the model does not fit {case.shape.text}: {judged.misfit}")
    own_value = goal.value(judged.outcome, bundle.reference)
    if own_value != value:
        wrong.append(f"the model's value is {own_value}, and {value} is stated")
    for spec in case.requirements:
        if not questions.holds(spec, judged.outcome, bundle.reference):
            wrong.append(f"the model violates {dict(spec)}")
    if not wrong and _seen(judged.outcome, bundle) not in bundle.reference.outcomes:
        wrong.append("the reference has no such model (one of the two judges is wrong)")
    return wrong


def _seen(outcome: Outcome, bundle: Bundle) -> Outcome:
    """An outcome cut down to what the reference follows."""
    follow = bundle.reference.tracked
    return outcome._replace(
        depth=outcome.depth if follow.depth else 0,
        side=outcome.side if follow.side else 0,
        flow=outcome.flow if follow.flow else 0,
        columns=outcome.columns if follow.columns else 0,
    )


def _errors(bundle: Bundle, graph: Any) -> int:
    """Rows of positive weight that are misclassified."""
    table = bundle.table
    predicted = judge(graph, bundle.reference).outcome.predicted
    n = len(table.points)
    return sum(
        not predicted >> table.classes.index(table.labels[i]) * n + table.point_of[i] & 1 for i in table.kept
    )


def _exact(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


# -- tables over sizes, and curves ----------------------------------------------------------------------------


def _sizes(case: Case, world: World, truth: Answer, verdict: Verdict) -> None:
    way, more = case.way, case.way.more
    problem = world.problem(case)
    options: dict[str, Any] = {"warm_start": _warm(case, world), "time_limit": way.limit}
    for key in ("prices", "alphas"):
        if key in more:
            options[key] = [Fraction(text) for text in more[key]]
    if way.formulation is not None:
        options["formulation"] = way.formulation
    if "start" in more:
        groups = world.groups
        if more["start"] == "other groups" and groups is not None:
            groups = groups[1:] + groups[:1]
        options["start"] = world.problem(case, groups).size_table()
    table = problem.size_table(way.solver, **options)
    goal = Goal(case.goal.error, case.goal.matrix)  # prices on tests come afterwards
    truth = world.bundle.answer(goal, case.requirements)
    done = all(_proved(row) for row in table.rows)
    verdict.status = "proved" if done else "open"
    for row in table.rows:
        best = truth.least(row.tests)
        lower, upper = _exact(row.lower), _exact(row.upper)
        if row.lower is None and best is not None:
            verdict.wrong.append(f"no model of {row.tests} tests, and {best} is possible")
        if lower is not None and best is not None and lower > best:
            verdict.wrong.append(f"{row.tests} tests: bound {lower} by {row.by}, and {best} is possible")
        if row.graph is not None:
            if upper is None or best is None or upper < best:
                verdict.wrong.append(f"{row.tests} tests: a model worth {upper}, and {best} is the least")
            verdict.wrong += compare_model(case, world.bundle, goal, row.graph, upper)
            if row.graph.n_nodes > row.tests:
                verdict.wrong.append(f"{row.graph.n_nodes} tests in the row of {row.tests}")
    asked = "prices" in more or "alphas" in more
    if way.limit is None and not done and not asked and table.limit is None:
        verdict.wrong.append("rows stay open without a reason")
    for text in more.get("prices", ("1/3",)):
        price = Fraction(text)
        at = table.at(price)
        best = truth.least(10**6, price)
        objective, bound = _exact(at.objective), _exact(at.bound)
        if at.proved and objective != best:
            verdict.wrong.append(f"price {price}: proved {objective}, and {best} is the least")
        if bound is not None and best is not None and bound > best:
            verdict.wrong.append(f"price {price}: bound {bound} above {best}")
        if objective is not None and (best is None or objective < best):
            verdict.wrong.append(f"price {price}: a model worth {objective}, and {best} is the least")
        if (
            "prices" in more
            and way.limit is None
            and not at.proved
            and best is not None
            and table.limit is None
        ):
            verdict.wrong.append(f"price {price} was asked for and stays open without a reason")


def _proved(row: Any) -> bool:
    return bool(row.lower is None or row.lower == row.upper)


def _pareto(case: Case, world: World, truth: Answer, verdict: Verdict) -> None:
    curve = world.problem(case).pareto(case.way.solver, time_limit=case.way.limit)
    goal = Goal(case.goal.error, case.goal.matrix)
    truth = world.bundle.answer(goal, case.requirements)
    verdict.status = "proved" if curve.proved else "open"
    points = {(p.depth, p.tests, Fraction(p.value)) for p in curve.points}
    for p in curve.points:
        verdict.wrong += compare_model(case, world.bundle, goal, p.graph, Fraction(p.value))
        best = truth.least(p.tests, most_depth=p.depth)
        if best is None or Fraction(p.value) < best or (p.proved and Fraction(p.value) != best):
            verdict.wrong.append(
                f"point {p.depth, p.tests, p.value}, proved {p.proved}, and {best} is the least"
            )
    if curve.proved and points != (front := _front(truth)):
        verdict.wrong.append(f"the curve {sorted(points)} is called proved, and it is {sorted(front)}")
    if not curve.proved and case.way.limit is None and case.way.solver is None:
        verdict.wrong.append("the curve stays open without a limit")


def _front(truth: Answer) -> set[tuple[int, int, Fraction]]:
    """What no other model beats in depth, tests and value."""
    keys = {(outcome.depth, outcome.tests, value) for value, outcome in truth.ranked}
    return {
        k for k in keys if not any(o != k and o[0] <= k[0] and o[1] <= k[1] and o[2] <= k[2] for o in keys)
    }


_VERBS = {"solve": _solve, "sizes": _sizes, "pareto": _pareto}
