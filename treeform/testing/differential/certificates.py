"""Certificates of answers: an honest one has to pass, and a false one must not be called verified."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from typing import Any

import treeform as tf
from treeform.certify.certificate import sign
from treeform.errors import TreeformError
from treeform.testing.differential.cases import Case
from treeform.testing.differential.judge import judge
from treeform.testing.differential.questions import holds
from treeform.testing.differential.terms import OF_GROUPS
from treeform.testing.differential.world import World
from treeform.testing.mutate import mutations

Body = dict[str, Any]


def examine(case: Case, world: World, result: Any, body: Body) -> tuple[str, list[str]]:
    """What `tf.check` says of the certificate, or of a changed copy of it; and what is wrong with that."""
    if case.way.after == "check":
        verdict, detail = _checked(body, world, case)
        if verdict == "false":
            return verdict, [f"an honest certificate does not pass: {detail}"]
        return verdict, []
    rng = random.Random(case.number)
    if rng.random() < 0.5:
        return _examine_forged(rng, case, world, body)
    return _examine_mutated(rng, case, world, body)


def _examine_forged(rng: random.Random, case: Case, world: World, body: Body) -> tuple[str, list[str]]:
    """A copy that says something false must not be verified."""
    name, forged = _forge(rng, body)
    if forged is None:
        return "nothing to forge", []
    verdict, detail = _checked(forged, world, case)
    if verdict == "verified":
        return verdict, [f"a false certificate ({name}) is verified: {detail}"]
    return f"{verdict}: {name}", []


def _examine_mutated(rng: random.Random, case: Case, world: World, body: Body) -> tuple[str, list[str]]:
    """A copy with one field changed must be true where it is verified; the part of the file is drawn first."""
    part = rng.choice([key for key in body if key != "digest"])
    index = rng.randrange(80)
    changed = list(islice(mutations({part: body[part]}), index + 1))
    if not changed:
        return "nothing to mutate", []
    mutation = changed[-1]
    mutated = sign(
        {
            key: value
            for key, value in {**body, **mutation.certificate}.items()
            if part in mutation.certificate or key != part
        }
    )
    verdict, detail = _checked(mutated, world, case)
    if verdict != "verified" or mutation.is_metadata or part == "problem":
        return f"{verdict}: mutated {part}", []
    answer, optimum = mutated["answer"], world.bundle.answer(case.goal, case.requirements).optimum
    wrong = []
    if answer["status"] == "optimal" and Fraction(answer["objective"]) != optimum:
        wrong.append(f"optimal at {answer['objective']}, and the optimum is {optimum}")
    if answer["status"] == "infeasible" and optimum is not None:
        wrong.append(f"infeasible, and the optimum is {optimum}")
    if mutated["model"] is not None:
        graph = tf.DecisionGraph.from_json(mutated["model"], validate="structure")
        judged = judge(graph, world.bundle.reference)
        value = case.goal.value(judged.outcome, world.bundle.reference)
        if judged.misfit is not None or value != Fraction(answer["objective"]):
            wrong.append(f"a model worth {value} ({judged.misfit}) for {answer['objective']}")
        if not all(holds(spec, judged.outcome, world.bundle.reference) for spec in case.requirements):
            wrong.append("a model that violates a requirement")
    return f"verified: mutated {part}", [
        f"a mutated certificate ({mutation}) is verified: {w}; {detail}" for w in wrong
    ]


def _checked(body: Body, world: World, case: Case) -> tuple[str, str]:
    """The verdict, and the rows as text."""
    term = case.goal.term
    arrays = term is not None and term.name in OF_GROUPS and term.of is None
    arrays = arrays or any(spec.get("groups") == "array" for spec in case.requirements)
    try:
        report = tf.check(
            body,
            world.frame,
            world.labels,
            world.weights,
            sensitive_features=world.groups if arrays else None,
            time_limit=20.0,
        )
    except TreeformError as error:
        return "false", f"{type(error).__name__}: {error.what} ({error.cause})"
    return str(report.verdict), str(report)


def _forge(rng: random.Random, body: Body) -> tuple[str, Body | None]:
    """A copy that says something false and is signed again."""
    names = list(FORGERIES)
    rng.shuffle(names)
    for name in names:
        forged = copy.deepcopy(body)
        if FORGERIES[name](forged):
            return name, sign(forged)
    return "", None


def _claim(kind: str, value: str | None) -> Body:
    """A claim on the word of an engine, without a route to its proof."""
    word = {"by": "contree", "seconds": 0.1, "relaxation": [], "details": {}}
    return {"kind": kind, "value": value, "route": None, "metadata": word}


def _better_value(body: Body) -> bool:
    """The objective and all claims one lower than they are."""
    if body["answer"]["objective"] is None:
        return False
    body["answer"]["objective"] = str(Fraction(body["answer"]["objective"]) - 1)
    for claim in body["claims"]:
        if claim["value"] is not None:
            claim["value"] = str(Fraction(claim["value"]) - 1)
    return True


def _proof_from_nothing(body: Body) -> bool:
    """A model that is merely feasible called optimal, by a lower claim of its own value."""
    if body["answer"]["status"] != "feasible":
        return False
    value = body["answer"]["objective"]
    if body["answer"]["bound"] == value:
        return False
    body["answer"] |= {"status": "optimal", "bound": value, "limit": None}
    body["claims"].append(_claim("lower", value))
    return True


def _infeasible(body: Body) -> bool:
    """No model, called infeasible, though there is one."""
    if body["model"] is None:
        return False
    body["model"] = None
    body["answer"] = {"status": "infeasible", "limit": None, "objective": None, "bound": None}
    body["claims"] = [_claim("infeasible", None)]
    return True


def _worse_bound(body: Body) -> bool:
    """Every lower claim one higher than it is."""
    lowers = [claim for claim in body["claims"] if claim["kind"] == "lower" and claim["value"] is not None]
    if not lowers or body["answer"]["status"] != "feasible":
        return False
    for claim in lowers:
        claim["value"] = str(Fraction(claim["value"]) + 10**6)
    body["answer"]["bound"] = str(max(Fraction(claim["value"]) for claim in lowers))
    return True


def _other_samples(body: Body) -> bool:
    body["data"]["n_samples"] += 1
    return True


FORGERIES: dict[str, Callable[[Body], bool]] = {
    "a better value": _better_value,
    "optimal from nothing": _proof_from_nothing,
    "infeasible with a model at hand": _infeasible,
    "a bound beyond the optimum": _worse_bound,
    "another number of samples": _other_samples,
}
