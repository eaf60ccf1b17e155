"""How each verb is asked, and what its answer is held against."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.catalogue.solvers import find_formulation
from treeform.testing.attack import aims, clock, graphs, hands, rules
from treeform.testing.attack.case import Case
from treeform.testing.attack.compare import exact, of_result
from treeform.testing.attack.models import Facts
from treeform.testing.attack.world import World


@dataclass
class Verdict:
    """What came of an attack."""

    status: str = ""
    """Of the answer, or "refused", "raised"."""
    wrong: list[str] = field(default_factory=list)
    """What disagrees; empty when all is well."""
    phase: str = ""
    """Who read the clock when the limit ended, or Ctrl-C was pressed."""
    by: str = ""
    """Who answered."""
    refusal: str = ""
    """What treeform said when it refused."""
    family: str = ""
    """What was done with the certificate of several models, and what came of it."""


@dataclass
class Asked:
    """A case with everything that its verb needs."""

    case: Case
    world: World
    rng: random.Random
    verdict: Verdict
    handed: hands.Handed = field(init=False)

    def __post_init__(self) -> None:
        self.handed = hands.hand_over(self.world.plain, self.case.hand, self.world.of_values, self.rng)

    def problem(self, specs: Any = None, aim: Any = None) -> tf.Problem:
        """The problem as a user would state it."""
        world, case, handed = self.world, self.case, self.handed
        problem = tf.Problem(
            handed.X, handed.y, shape=world.shape, sample_weight=handed.sample_weight,
            exclude=world.plain.excluded, sensitive_features=handed.groups,
            abstain="open" if world.abstain else None,
        )  # fmt: skip
        if world.of_values:
            problem.minimize(aims.make(aim or case.aim, problem.data, handed.groups))
            problem += [self.made(s, problem) for s in (case.specs if specs is None else specs)]
            return problem
        problem += [self.made(s, problem) for s in (case.specs if specs is None else specs)]
        return problem.minimize(aims.make(aim or case.aim, problem.data, handed.groups))

    def made(self, spec: Any, problem: tf.Problem) -> Any:
        """A requirement of treeform."""
        return rules.make(spec, problem.data, self.handed.groups, self.handed.mask)

    @property
    def options(self) -> dict[str, Any]:
        """Solver, formulation and limit."""
        case = self.case
        out: dict[str, Any] = {}
        if case.formulation is not None:
            out["formulation"] = case.formulation
        if case.limit == "real":
            out["time_limit"] = case.at
        elif case.limit != "none":
            out["time_limit"] = clock.SECONDS
        return out

    @property
    def limited(self) -> Any:
        """Inside of this the clock strikes."""
        if self.case.limit in ("jump", "ctrl-c"):
            return clock.striking(int(self.case.at), self.case.limit == "ctrl-c")
        return nullcontext(clock.Readings())

    def run(self, ask: Callable[[], Any]) -> Any:
        """The answer of a call under the limit of the case."""
        with self.limited as seen:
            try:
                return ask()
            finally:
                self.verdict.phase = seen.phase

    @property
    def struck(self) -> bool:
        """Whether something ended, or could have ended, the search early."""
        return bool(self.verdict.phase) or self.case.limit == "real"

    @property
    def complete(self) -> bool:
        """Whether the answer has to be a proof: a native engine, or treeform's own choice, without an end."""
        return not self.struck and self.case.formulation is None

    def say(self, *wrong: str) -> None:
        self.verdict.wrong += wrong


def solve(asked: Asked) -> Any:
    """`Problem.solve`."""
    case, world, verdict = asked.case, asked.world, asked.verdict
    ranked = world.ranked(case.aim, case.specs)
    problem = asked.problem()
    result = asked.run(lambda: problem.solve(case.solver, **asked.options))
    verdict.status = str(result.status)
    verdict.by = str(result.solver)
    free = case.aim.of_values and bool({s["kind"] for s in case.specs} & {"mean_parity"})
    complete = asked.complete and not (case.solver and _partial(result)) and not free
    asked.say(*of_result(world, case.aim, case.specs, result, ranked, complete))
    return result


def _partial(result: Any) -> bool:
    """Whether a named engine ignores some of the problem, so that its bound may stay open."""
    return any(claim.relaxation for claim in result.claims)


def judge(asked: Asked) -> None:
    """`Problem.judge` of a listed model."""
    world, case = asked.world, asked.case
    if world.of_values:
        asked.verdict.status = "no model with values is listed"
        return
    m = world.models[case.more["model"]]
    problem = asked.problem()
    graph = graphs.build(m, world.plain, problem.data)
    judgement = problem.judge(graph)
    lacks = [rules.lacking(spec, m, world.plain) for spec in case.specs]
    asked.verdict.status = "violated" if any(lacks) else "satisfied"
    back, _, _ = graphs.read(judgement.graph, world.plain, world.widths is not None)
    if frozenset(back.nodes) == frozenset(m.nodes):
        if exact(judgement.objective) != case.aim.value(m, world.plain):
            asked.say(f"worth {judgement.objective}, and it is {case.aim.value(m, world.plain)}")
        for stated, lack, spec in zip(judgement.violations.values(), lacks, case.specs, strict=False):
            if (stated == 0) != (lack == 0):
                asked.say(f"lacks {lack} of {spec['kind']}, and {stated} is stated")
    elif judgement.ok and any(rules.lacking(spec, back, world.plain) for spec in case.specs):
        asked.say("a model that lacks something is called satisfied, in another form")
    if any(lacks) and not judgement.ok:
        text = str(judgement)
        if "VIOLATED" not in text:
            asked.say("a violated requirement is not shown")
    body = json.loads(json.dumps(judgement.certificate()))
    verdict, detail = checked(asked, body)
    if verdict == "false":
        asked.say(f"an honest judgement does not pass: {detail}")


def checked(asked: Asked, body: Any, handed: hands.Handed | None = None, **more: Any) -> tuple[str, str]:
    """The verdict of `treeform.check`, and its rows as text; "refused" where it is an error."""
    given = asked.handed if handed is None else handed
    named = _arrays(body, given)
    groups = {"sensitive_features": named} if named else {}
    y = None if isinstance(given.y, str) else given.y
    try:
        with asked.limited if more.pop("limited", False) else nullcontext():
            report = tf.check(body, given.X, y, given.sample_weight, time_limit=20.0, **groups, **more)
    except tf.errors.CertificateError as error:
        return "refused", f"{error.what} ({error.cause})"
    return str(report.verdict), str(report)


def _arrays(body: Any, given: hands.Handed) -> dict[str, Any]:
    """The arrays beside the table that a certificate names, of which one is a mask."""
    try:
        parts = [(part["name"], set(part["labels"]) <= {False, True}) for part in body["data"]["groups"]]
    except (KeyError, TypeError):  # it was mutated
        return {}
    return {name: given.mask if is_mask else given.groups for name, is_mask in parts}


def estimator(asked: Asked) -> None:
    """The estimators of scikit-learn's kind."""
    case, world = asked.case, asked.world
    if world.abstain or isinstance(asked.handed.y, str):
        asked.verdict.status = "not asked of this form"
        return
    problem = asked.problem()
    options: dict[str, Any] = {
        "objective": aims.make(case.aim, problem.data, asked.handed.groups),
        "requirements": [asked.made(s, problem) for s in case.specs],
        "exclude": list(world.plain.excluded), "solver": case.solver, "time_limit": None,
    }  # fmt: skip
    if world.of_values:
        options.pop("objective")
        kind = str(case.aim.terms[0]["term"])
        plain_aim = aims.Aim(case.aim.terms[:1])
        model: Any = tf.OptimalTreeRegressor(max_depth=world.depth, loss=kind, **options)
    elif world.widths is None:
        model, plain_aim = tf.OptimalTreeClassifier(max_depth=world.depth, **options), case.aim
    else:
        model, plain_aim = tf.OptimalDiagramClassifier(widths=world.widths, **options), case.aim
    ranked = world.ranked(plain_aim, case.specs)
    handed = asked.handed
    groups = {} if world.of_values else {"sensitive_features": handed.groups}
    model.fit(handed.X, handed.y, sample_weight=handed.sample_weight, **groups)
    asked.verdict.status = str(model.result_.status)
    asked.verdict.by = str(model.result_.solver)
    asked.say(*of_result(world, plain_aim, case.specs, model.result_, ranked, False))
    m, _, leaves = graphs.read(model.graph_, world.plain, world.widths is not None)
    told = list(model.predict(handed.X))
    for i in world.plain.kept:
        code = m.predicted[world.plain.point_of[i]]
        if world.of_values:
            if float(told[i]) != float(leaves[code]):
                asked.say(f"row {i} is predicted {told[i]}, and its leaf has {leaves[code]}")
        elif told[i] != world.plain.classes[code]:
            asked.say(f"row {i} is predicted {told[i]}")


def sweep(asked: Asked) -> None:
    """`treeform.sweep` over prices of a test, without folds."""
    case, world = asked.case, asked.world
    if "nodes" in case.aim.names or world.of_values:
        asked.verdict.status = "not asked of this objective"
        return
    problem = asked.problem()
    study = tf.sweep(problem, {"price": [0, 1]})
    asked.verdict.status = "complete" if study.complete else "open"
    for row in study.table.to_dict("records"):
        priced = aims.Aim((*case.aim.terms, {"term": "nodes", "price": str(row["price"])}))
        optimum = world.optimum(priced, case.specs)
        if row["status"] == "optimal" and Fraction(row["objective"]) != optimum:
            asked.say(f"price {row['price']}: optimal at {row['objective']}, and the optimum is {optimum}")
        if row["status"] == "infeasible" and optimum is not None:
            asked.say(f"infeasible, and {optimum} is possible")


def _has_idle_test(m: Facts) -> bool:
    """Whether a test stands above two leaves of one class.

    ODD has no point for some of these trees, and where a side passes through a node below it counts that, too.
    """
    for n in m.nodes:
        parts = (n.right, n.reached & ~n.right)
        ends = [{m.predicted[p] for p in range(len(m.predicted)) if part >> p & 1} for part in parts]
        if not any(k.layer == n.layer + 1 and k.reached in parts for k in m.nodes) and ends[0] == ends[1]:
            return True
    return False


def own_rows(asked: Asked) -> None:
    """A formulation with a component of the user's."""
    from treeform.testing.attack.own import RootReads, SomeTest

    case, world = asked.case, asked.world
    if world.of_values or world.widths is not None:
        asked.verdict.status = "not asked of this shape"
        return
    problem = asked.problem()
    column = graphs.key_of(problem.data.columns[0])
    feature = graphs.keys(world.plain).index(column)
    own = RootReads(0) if case.more["row"] == "restricts" else SomeTest()
    ranked = world.ranked(case.aim, case.specs)
    inside = ranked
    if case.more["row"] == "restricts":
        rooted = [(v, m) for v, m in ranked if m.nodes and m.nodes[0].feature == feature]
        inside = [(v, m) for v, m in rooted if not _has_idle_test(m)]
        if rooted and (not inside or rooted[0][0] < inside[0][0]):
            asked.verdict.status = (
                "not listed"  # whether ODD has a point for the best of them is not known here
            )
            return
    result = problem.solve(
        case.solver, formulation=find_formulation("odd") + own, warm_start=case.more["start"]
    )
    asked.verdict.status, asked.verdict.by = str(result.status), str(result.solver)
    asked.say(*of_result(world, case.aim, case.specs, result, inside, False))
    if result.graph is not None and case.more["row"] == "restricts":
        m, _, _ = graphs.read(result.graph, world.plain, False)
        if not m.nodes or m.nodes[0].feature != feature:
            asked.say("the model breaks a row of the formulation")
    if inside[:1] != ranked[:1] and ranked and str(result.status) in ("optimal", "infeasible"):
        told = " ".join(map(str, result.notes)) + str(result) + json.dumps(result.certificate())
        if type(own).__name__ not in told and ranked[0][0] != (inside[0][0] if inside else None):
            asked.say("an answer to another question, and neither notes nor certificate say so")
