"""Certificates of size tables, curves and frontiers: honest ones pass, forged ones are not verified unless true."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import treeform as tf
from treeform.certify.certificate import sign
from treeform.errors import CertificateError
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.compare import exact, least, of_model
from treeform.testing.attack.models import Facts
from treeform.testing.attack.rules import Spec
from treeform.testing.attack.verbs import Asked, checked
from treeform.testing.differential.certificates import FORGERIES
from treeform.testing.mutate import mutations

Body = dict[str, Any]
Models = Sequence[tuple[Fraction, Facts]]
DEALINGS = ("honest", "independent", "forged", "mutated", "started")
MOST_MUTATIONS = 80


@dataclass(frozen=True)
class Truth:
    """All models of the widest problem, and what is bounded of them."""

    asked: Asked
    aim: Aim
    specs: Sequence[Spec]
    ranked: Models
    """Each with its value."""
    measure: Callable[[Facts], Fraction] | None = None
    """Of a model, where the bound of a requirement is moved."""
    lower: bool = False
    """Whether that is a bound from below."""

    def optimum(self, at: Body, models: Models | None = None) -> Fraction | None:
        """The least value of the models at a place."""
        inside = [(v, m) for v, m in (self.ranked if models is None else models) if self._holds(m, at["bound"])]
        tests, depth = (10**6 if at[key] is None else at[key] for key in ("tests", "depth"))
        return least(inside, tests, depth)

    def _holds(self, m: Facts, bound: str | None) -> bool:
        if bound is None or self.measure is None:
            return True
        value = self.measure(m)
        return value >= Fraction(bound) if self.lower else value <= Fraction(bound)

    def places(self, over: Body) -> list[Body]:
        """The problems of the whole family."""
        if self.measure is not None:
            values = {self.measure(m) for _, m in self.ranked}
            return [{"tests": None, "depth": None, "bound": b} for b in (None, *map(str, values))]
        shape = self.asked.world
        depths = range(1, shape.depth + 1) if over["depth"] else (None,)
        most = 2**shape.depth if shape.widths is None else sum(shape.widths)
        return [{"tests": t, "depth": d, "bound": None} for d in depths for t in range(most + 1)]

    def untrue(self, body: Body) -> list[str]:
        """What a certificate says falsely."""
        wrong, known = list[str](), list[tuple[Fraction, Facts]]()
        for member in body["members"]:
            optimum, objective = self.optimum(member["at"]), exact(member["answer"]["objective"])
            if member["answer"]["status"] == "optimal" and objective != optimum:
                wrong.append(f"{member['at']}: the optimum is {optimum} and not {objective}")
            for claim in member["claims"]:
                if claim["kind"] == "infeasible" and optimum is not None:
                    wrong.append(f"{member['at']}: {optimum} is possible")
                if claim["kind"] == "lower" and optimum is not None and Fraction(claim["value"]) > optimum:
                    wrong.append(f"{member['at']}: the optimum {optimum} is below the bound {claim['value']}")
            if member["model"] is not None:
                graph = tf.DecisionGraph.from_json(member["model"], validate="structure")
                found, m = of_model(self.asked.world, self.aim, self.specs, graph, objective)
                wrong += found
                if objective is not None:
                    known.append((objective, m))
                    wrong += [] if self.optimum(member["at"], known[-1:]) == objective else ["it is not of this place"]
        for place in self.places(body["over"]) if body["complete"] else ():
            if self.optimum(place) != self.optimum(place, known):
                wrong.append(f"{place}: called complete, and the optimum is {self.optimum(place)}")
        return wrong


def deal(asked: Asked, found: Any, truth: Truth, again: Callable[[Body], Any]) -> None:
    """Every second answer is certified; what its dealing does with the certificate.

    ``again`` asks the same with a start, and hardly any time.
    """
    if asked.rng.random() < 0.5:
        return
    try:
        body = json.loads(json.dumps(found.certificate()))
    except CertificateError as error:
        if "nothing to certify" not in error.what:
            raise
        asked.verdict.family = "nothing: nothing"
        return
    dealing = asked.rng.choice(DEALINGS)
    asked.say(*(f"its own certificate: {text}" for text in truth.untrue(body)))
    asked.verdict.family = f"{dealing}: {_DEALINGS[dealing](asked, body, truth, again)}"


def _honest(asked: Asked, body: Body, truth: Truth, again: Any, **more: Any) -> str:
    verdict, detail = checked(asked, body, **more)
    if verdict in ("false", "refused"):
        asked.say(f"an honest certificate of a family does not pass: {detail[-400:]}")
    return verdict


def _independent(asked: Asked, body: Body, truth: Truth, again: Any) -> str:
    return _honest(asked, body, truth, again, independent=True)


def _forged(asked: Asked, body: Body, truth: Truth, again: Any) -> str:
    rng, forged = asked.rng, copy.deepcopy(body)
    members = forged["members"]
    ways = [*FORGERIES, "dropped", "moved", "exchanged", "complete"]
    rng.shuffle(ways)
    for name in ways:
        one = rng.choice(members)
        if name in FORGERIES:
            single = {"data": forged["data"], "problem": forged["problem"], **one}
            changed = FORGERIES[name](single)
            forged["data"], forged["problem"] = single.pop("data"), single.pop("problem")
            one |= single
        elif name == "dropped" and len(members) > 1:
            members.remove(one)
            forged["complete"] = changed = True
        elif name == "moved":
            one["at"] = dict(rng.choice(truth.places(forged["over"])))
            changed = True
        elif name == "exchanged" and len(members) > 1:
            other = rng.choice([m for m in members if m is not one])
            one["at"], other["at"] = other["at"], one["at"]
            changed = True
        else:
            changed = name == "complete" and not forged["complete"]
            forged["complete"] = forged["complete"] or changed
        if changed:
            return _held_true(asked, sign(forged), truth, f"forged ({name})")
    return "nothing to forge"


def _mutated(asked: Asked, body: Body, truth: Truth, again: Any) -> str:
    part = asked.rng.choice(("over", "complete", *range(len(body["members"]))))
    if isinstance(part, str):
        made = list(mutations({part: body[part]}))
    else:
        made = list(islice(mutations(body["members"][part]), MOST_MUTATIONS * 6))
    made = [one for one in made if not one.is_metadata]
    if not made:
        return "nothing to mutate"
    one = asked.rng.choice(made)
    changed = {key: value for key, value in one.certificate.items() if key != "digest"}
    if isinstance(part, str):
        mutated = {**{key: value for key, value in body.items() if key != part}, **changed}
    else:
        mutated = {**body, "members": [changed if i == part else m for i, m in enumerate(body["members"])]}
    return _held_true(asked, sign(mutated), truth, f"mutated {part} ({one})")


def _held_true(asked: Asked, body: Body, truth: Truth, what: str) -> str:
    """Verified only if what it says is true."""
    verdict, detail = checked(asked, body)
    if verdict == "verified":
        for wrong in truth.untrue(body):
            asked.say(f"{what} and verified, though {wrong}; {detail[-300:]}")
    return verdict


def _started(asked: Asked, body: Body, truth: Truth, again: Callable[[Body], Any]) -> str:
    """The certificate as a start of the same question: nothing that was found or proved is lost."""
    found = again(body)
    second = json.loads(json.dumps(found.certificate()))
    asked.say(*(f"after a start: {text}" for text in truth.untrue(second)))
    if body["complete"] and not second["complete"]:
        asked.say("a complete certificate as a start gives an open answer")
    return "complete" if second["complete"] else "open"


_DEALINGS = {
    "honest": _honest, "independent": _independent, "forged": _forged, "mutated": _mutated, "started": _started,
}  # fmt: skip
