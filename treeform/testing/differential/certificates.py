"""Certificates of answers: an honest one has to pass, and a false one must not be called verified."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.certify.certificate import digest_of
from treeform.errors import TreeformError
from treeform.testing.differential.cases import Case
from treeform.testing.differential.world import World

Body = dict[str, Any]


def examine(case: Case, world: World, result: Any, body: Body) -> tuple[str, list[str]]:
    """What `tf.check` says of the certificate, or of a false copy of it; and what is wrong with that."""
    if case.road.after == "check":
        verdict, detail = _checked(body, world)
        if verdict == "false":
            return verdict, [f"an honest certificate does not pass: {detail}"]
        return verdict, []
    name, forged = _forge(random.Random(case.number), case, body)
    if forged is None:
        return "nothing to forge", []
    verdict, detail = _checked(forged, world)
    if verdict == "verified":
        return verdict, [f"a false certificate ({name}) is verified: {detail}"]
    return f"{verdict}: {name}", []


def _checked(body: Body, world: World) -> tuple[str, str]:
    """The verdict, and the rows as text."""
    options: dict[str, Any] = {"time_limit": 20.0}
    try:
        report = tf.check(body, world.frame, world.labels, world.weights, **options)
    except TreeformError as error:
        return "false", f"{type(error).__name__}: {error.what}"
    verdict = getattr(report, "verdict", None)
    if verdict is None:  # before there were verdicts: everything re-checked is as good as verified
        rows = [row.ok for row in report.rows]
        verdict = "false" if False in rows else "on trust" if None in rows else "verified"
    return str(verdict), str(report)


def _forge(rng: random.Random, case: Case, body: Body) -> tuple[str, Body | None]:
    """A copy that says something false and is signed again."""
    names = list(FORGERIES)
    rng.shuffle(names)
    for name in names:
        forged = copy.deepcopy(body)
        if FORGERIES[name](forged):
            forged["digest"] = digest_of(forged)
            return name, forged
    return "", None


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
    body["claims"].append(
        {"kind": "lower", "value": value, "by": "contree", "seconds": 0.1, "relaxation": [], "recheck": None}
    )
    return True


def _infeasible(body: Body) -> bool:
    """No model, called infeasible, though there is one."""
    if body["model"] is None:
        return False
    body["model"] = None
    body["answer"] = {"status": "infeasible", "limit": None, "objective": None, "bound": None}
    body["claims"] = [
        {
            "kind": "infeasible",
            "value": None,
            "by": "contree",
            "seconds": 0.1,
            "relaxation": [],
            "recheck": None,
        }
    ]
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
