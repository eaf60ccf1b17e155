"""One attack: a question over a world, a verb, who is asked, how the table is handed over, and what ends the search."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treeform.testing.attack import hands
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.rules import Spec
from treeform.testing.attack.world import BUNDLE, World

VERBS = {
    "solve": 38, "certificate": 16, "judge": 9, "size_table": 6, "pareto": 4, "frontier": 6, "conflict": 5, "prices": 4,
    "near_optimal": 4, "estimator": 4, "own rows": 1.5, "report": 0.8, "sweep": 0.8,
}  # fmt: skip
ENGINES = (
    ("contree", 3), ("dl85", 2), ("cadl85", 1), ("blossom", 1), ("totals-search", 3), ("continuous-totals", 3),
    ("path-search", 2), ("diagram-search", 3), ("regression-search", 2),
)  # fmt: skip
SOLVERS = (
    ("highs", "odd"), ("cp-sat", "odd"), ("mathopt:scip", "odd"), ("cadical195", "odd"), ("rc2", "odd"),
    ("highs", "flow-oct"), ("cp-sat", "benders-oct"), ("highs", "odd-paper"), ("cp-sat", "sat-depth"),
    ("cadical195", "sat-depth"), ("cadical195", "sat-size"), ("scip", "odd"),
)  # fmt: skip
SCANS = ("auto", "avx512", "avx2", "portable", "plain")
PATHS = ("auto", "avx512", "avx2", "plain")
SIMD = {
    "contree": SCANS, "continuous-totals": SCANS, "dl85": PATHS, "totals-search": PATHS, "diagram-search": PATHS,
    "regression-search": PATHS,
}  # fmt: skip
LIMITS = ("none", "jump", "ctrl-c", "real")
DEALINGS = ("honest", "independent", "forged", "mutated", "exchanged", "other data", "other order")


@dataclass(frozen=True)
class Case:
    """One attack; all of it follows from its number."""

    number: int
    verb: str
    """One of `VERBS`."""
    aim: Aim
    specs: tuple[Spec, ...]
    solver: str | None = None
    formulation: str | None = None
    hand: str = "lists"
    """One of `hands.HANDS`."""
    limit: str = "none"
    """One of `LIMITS`."""
    at: float = 0
    """The reading of the clock at which it strikes; seconds of a real limit."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What one verb needs."""

    @property
    def who(self) -> str:
        """Who is asked."""
        name = "chosen" if self.solver is None else self.solver.partition(":simd=")[0]
        return name if self.formulation is None else f"{self.formulation} on {name}"

    @property
    def simd(self) -> str:
        """The vector path that is asked for; empty where none is."""
        return "" if self.solver is None else self.solver.partition(":simd=")[2]


def draw_case(seed: int, number: int, world: World) -> Case:
    """Case ``number``, of the world ``number // BUNDLE``."""
    rng = random.Random(f"{seed}/case/{number}")
    verb = rng.choices(list(VERBS), list(VERBS.values()))[0]
    aim = rng.choice(world.aims)
    count = rng.choices((0, 1, 2, 3), (20, 45, 28, 7))[0]
    if verb in ("conflict", "prices", "frontier") and count < 2:
        count += 1
    specs = list(rng.sample(world.pool, min(count, len(world.pool))))
    bare = not any(n not in ("nodes", "leaves", "depth") for n in aim.names)
    if bare and rng.random() < 0.85 and not world.of_values:
        specs = [s for s in specs if s["kind"] != "max_errors"]
        specs.append({"kind": "max_errors", "amount": rng.choice((0, 1, 2)), "share": False})
    solver, formulation = _who(rng, world, verb)
    limit = rng.choices(LIMITS, (66, 22, 7, 5))[0]
    if verb in ("judge", "report", "estimator", "sweep", "own rows", "certificate") and limit != "none":
        limit = "none" if rng.random() < 0.7 or verb in ("judge", "report", "sweep") else limit
    at = float(int(2 ** rng.uniform(0, 8))) if limit in ("jump", "ctrl-c") else rng.choice((0.001, 0.01, 0.1))
    hand = rng.choices(hands.HANDS, (34, 12, 14, 14, 8, 6, 12))[0]
    if verb in ("report", "own rows"):
        hand = "lists"
    return Case(
        number, verb, aim, tuple(specs), solver, formulation, hand, limit, at, _more(rng, verb, world)
    )


def _who(rng: random.Random, world: World, verb: str) -> tuple[str | None, str | None]:
    if verb in ("judge", "report", "sweep") or rng.random() < 0.5:
        return None, None
    if verb == "own rows" or rng.random() < 0.06:
        solver, formulation = rng.choice(SOLVERS[:1] if verb == "own rows" else SOLVERS)
        return solver, formulation
    names = [e for e in ENGINES if (e[0] == "regression-search") == world.of_values]
    if world.of_values and rng.random() < 0.1:
        names = list(ENGINES)
    engine = rng.choices([n for n, _ in names], [w for _, w in names])[0]
    if engine in SIMD and rng.random() < 0.8:
        engine += f":simd={rng.choice(SIMD[engine])}"
    return engine, None


def _more(rng: random.Random, verb: str, world: World) -> dict[str, Any]:
    if verb == "certificate":
        return {"dealing": rng.choices(DEALINGS, (20, 12, 20, 20, 14, 12, 8))[0]}
    if verb == "judge":
        return {"model": rng.randrange(len(world.models))}
    if verb == "size_table":
        return {"prices": rng.choice((None, None, ("1/3",), ("1", "0")))}
    if verb == "near_optimal":
        return {"within": rng.choice(("0", "0.1", "0.5", "1"))}
    if verb == "own rows":
        return {"row": rng.choice(("restricts", "strengthens")), "start": rng.choice(("auto", None))}
    return {}


__all__ = ["BUNDLE", "Case", "draw_case"]
