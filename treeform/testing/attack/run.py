"""Runs attacks by their numbers: each is a line of JSON, and a run goes on where it stopped."""

from __future__ import annotations

import json
import random
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import treeform as tf
from treeform.errors import ContradictionError, SolverFailed, TreeformError
from treeform.testing.attack import certificates, deep, hands, large, slices, values, verbs
from treeform.testing.attack.case import Case, draw_case
from treeform.testing.attack.tradeoffs import TRADEOFFS
from treeform.testing.attack.verbs import Asked, Verdict
from treeform.testing.attack.world import BUNDLE, World, draw_world

Record = dict[str, Any]
LARGE, DEEP = 100, 9
"""Every so many attacks one is on a large table, or on deeper trees."""
VERBS: dict[str, Callable[[Asked], Any]] = {
    "solve": verbs.solve, "judge": verbs.judge, "estimator": verbs.estimator, "sweep": verbs.sweep,
    "own rows": verbs.own_rows, "certificate": certificates.certificate, "report": certificates.report, **TRADEOFFS,
}  # fmt: skip


def attack(case: Case, world: World, seed: int = 0) -> Verdict:
    """Run one attack; nothing is raised but what ends the process."""
    verdict = Verdict()
    asked = Asked(case, world, random.Random(f"{seed}/run/{case.number}"), verdict)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            VERBS[case.verb](asked)
        if case.hand in hands.REFUSED and case.verb != "report" and not verdict.status.startswith("no"):
            verdict.wrong[:] = ["Series whose labels are not those of the table are taken by position"]
    except ContradictionError as error:
        verdict.status = "raised"
        asked.say(f"contradiction: {error}")
    except tf.errors.Infeasible as error:
        verdict.status, verdict.refusal = "infeasible", error.what
        if case.hand not in hands.REFUSED and not _never(asked):
            asked.say(f"{error.what}, and {world.optimum(case.aim, case.specs)} is possible")
    except SolverFailed as error:
        verdict.status = "raised"
        asked.say(f"solver failed: {error}")
    except TreeformError as error:
        verdict.status, verdict.refusal = "refused", f"{type(error).__name__}: {error.what}"
    except values.TooMany:
        verdict.status = "not listed"
    except KeyboardInterrupt:
        if case.limit != "ctrl-c":
            raise
        verdict.status = "interrupted outside of a search"
    except Exception as error:
        verdict.status = "raised"
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.name}"
        asked.say(f"{type(error).__name__}: {error} at {place}")
    return verdict


def _never(asked: Asked) -> bool:
    """Whether no model satisfies some of the requirements that were about to be stated."""
    case = asked.case
    if case.verb in ("certificate", "frontier", "conflict") and case.specs:
        return any(not asked.world.ranked(case.aim, [s]) for s in [*case.specs, *asked.world.pool])
    return not asked.world.ranked(case.aim, case.specs)


def record_of(case: Case, world: World, seed: int) -> Record:
    """One attack as a line: where it was in each table of coverage, and what was wrong."""
    started = time.process_time()
    verdict = attack(case, world, seed)
    record: Record = {
        "case": case.number, "seed": seed, "verb": case.verb, "who": case.who, "simd": case.simd,
        "shape": world.shape, "data": world.data_kind, "weights": world.weight_kind, "hand": case.hand,
        "aim": list(case.aim.names), "rules": [s["kind"] for s in case.specs], "limit": case.limit,
        "phase": verdict.phase, "status": verdict.status, "by": verdict.by,
        "ms": round(1000 * (time.process_time() - started), 1),
    }  # fmt: skip
    paid = [t["of"] for t in case.aim.terms if t["term"] == "soft"]
    some = [f"{s['kind']}: {slices.way(s)}" for s in (*case.specs, *paid) if slices.way(s)]
    record |= {"slices": some} if some else {}
    soft = [one["kind"] for one in paid]
    record |= {"soft": soft} if soft else {}
    record |= {"refusal": verdict.refusal} if verdict.refusal else {}
    record |= {"dealing": case.more["dealing"]} if "dealing" in case.more else {}
    record |= {"family": verdict.family} if verdict.family else {}
    record |= {"wrong": verdict.wrong[:3]} if verdict.wrong else {}
    return record


def _guarded(ask: Callable[[], Verdict]) -> Verdict:
    """A verdict, whatever is raised."""
    verdict = Verdict()
    try:
        return ask()
    except ContradictionError as error:
        verdict.status, verdict.wrong = "raised", [f"contradiction: {error}"]
    except tf.errors.SpecError as error:
        verdict.status, verdict.refusal = "refused", f"{type(error).__name__}: {error.what}"
    except KeyboardInterrupt:
        verdict.status = "interrupted outside of a search"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.name}"
        verdict.status, verdict.wrong = "raised", [f"{type(error).__name__}: {error} at {place}"]
    return verdict


def _aside(number: int, seed: int) -> Record | None:
    """Deeper trees and larger tables, every so often."""
    rng = random.Random(f"{seed}/aside/{number}")
    started = time.process_time()
    record: Record = {"case": number, "seed": seed}
    if number % LARGE == LARGE - 1:
        q = large.draw(rng)
        verdict = _guarded(lambda: large.attack(q))
        record |= {"verb": f"large {q['verb']}", "limit": "ctrl-c" if q["press"] else "real", "large": q}
    elif number % DEEP == DEEP - 1:
        q = deep.draw(rng)
        verdict = _guarded(lambda: deep.attack(q))
        record |= {
            "verb": "deep",
            "who": q["engine"],
            "simd": q["simd"],
            "depth": q["depth"],
            "limit": "none",
        }
    else:
        return None
    record |= {"status": verdict.status, "phase": verdict.phase}
    record |= {"ms": round(1000 * (time.process_time() - started), 1)}
    record |= {"refusal": verdict.refusal} if verdict.refusal else {}
    return record | ({"wrong": verdict.wrong[:3]} if verdict.wrong else {})


def records(numbers: Iterable[int], seed: int = 0) -> Iterator[Record]:
    """The records of attacks, in the order of their numbers."""
    world, at = None, -1
    for number in numbers:
        aside = _aside(number, seed)
        if aside is not None:
            yield aside
            continue
        if number // BUNDLE != at:
            at = number // BUNDLE
            world = draw_world(seed, at)
        assert world is not None
        yield record_of(draw_case(seed, number, world), world, seed)


def read_records(path: Path) -> dict[int, Record]:
    """What a file holds; a line that was cut off is left out."""
    found: dict[int, Record] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        found[one["case"]] = one
    return found
