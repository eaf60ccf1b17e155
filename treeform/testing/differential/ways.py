"""Ways to an answer: which solver is asked, with which start, within which limit, and what is asked of the answer then.

Native engines take one to three milliseconds on such tables, solvers twenty to a hundred, solvers in processes of
their own a second: ways are drawn with this in mind, so that a hundred thousand cases take about an hour.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treeform.testing.differential import rates
from treeform.testing.differential.terms import OF_GROUPS

if TYPE_CHECKING:
    from treeform.testing.differential.questions import Goal, Spec
    from treeform.testing.differential.shapes import Shape
    from treeform.testing.differential.table import Table

TREE_ENGINES = (
    ("contree", 8),
    ("dl85", 6),
    ("cadl85", 5),
    ("blossom", 5),
    ("diagram-search", 5),
    ("totals-search", 9),
    ("continuous-totals", 6),
)
DIAGRAM_ENGINES = (("diagram-search", 40),)
HYPERPLANE_SOLVERS = (("highs", 10), ("mathopt:scip", 4), ("cp-sat", 0.2))
SETTINGS = {
    "contree": ("", "", "", "fewest_tests=true", "parts=none", "parts=neighbourhood", "simd=plain"),
    "dl85": ("", "", "exact_depth=2", "parts=none", "parts=cache+similarity"),
    "cadl85": ("",),
    "blossom": ("",),
    "totals-search": ("", "", "", "parts=none", "parts=multipliers", "parts=lazy+steps", "simd=plain"),
    "continuous-totals": ("", "", "", "parts=neighbourhood+shrinking", "simd=plain"),
    "diagram-search": ("", "", "", "parts=none", "parts=trees", "parts=transpositions"),
}
OVER_TOTALS = {
    "max_nodes",
    "min_support",
    "stability",
    "parity",
    "feature_budget",
    "max_errors",
    *rates.KINDS,
}
HONOURED = {
    "contree": {"max_nodes", "min_support"},
    "dl85": {"max_nodes", "min_support"},
    "cadl85": {"max_nodes", "min_support"},
    "blossom": {"min_support"},
    "totals-search": {*OVER_TOTALS, "monotone"},
    "continuous-totals": {*OVER_TOTALS, "monotone"},
    "diagram-search": {"max_nodes", "min_support", "stability"},
}
SAT_SOLVERS = (
    "cadical195",
    "glucose42",
    "minicard",
    "cadical153",
    "glucose4",
    "maplechrono",
    "minisat22",
    "gluecard4",
)
ODD_SOLVERS = (
    ("cp-sat", 30),
    ("highs", 4),
    ("cadical195", 9),
    ("glucose42", 9),
    ("minicard", 6),
    ("mathopt:scip", 2.5),
    ("rc2", 0.5),
    ("pyomo:appsi_highs", 0.1),
)
PAPER_SOLVERS = (("highs", 10), ("mathopt:scip", 10), ("pyomo:appsi_highs", 0.2))
DEPTH_SOLVERS = (
    *((name, 8) for name in SAT_SOLVERS),
    ("cp-sat", 20),
    ("highs", 2),
    ("mathopt:scip", 3),
    ("rc2", 1),
    ("lingeling", 0.5),
    ("kissat404", 0.5),
)
SIZES_SOLVERS = (
    (None, None, 10),
    ("diagram-search", None, 6),
    ("cp-sat", None, 2),
    ("highs", None, 0.5),
    ("highs", "odd-paper", 0.5),
    ("cp-sat", "odd", 2),
)
SEVERAL_SOLVES = 20.0
"""Seconds for an objective that takes several solves of a formulation: paper-odd on SCIP may take minutes for each."""
LIMITS = (0.002, 0.01, 0.02, 0.05, 0.1, 0.5)


@dataclass(frozen=True)
class Way:
    """One way to an answer.

    Attributes
    ----------
    verb : {"solve", "sizes", "pareto"}
    solver, formulation : str or None
    warm : str, dict or None
        "auto", None, the name of an engine, or ``{"nodes": [...]}`` with a model.
    limit : float or None
        Seconds.
    interrupt : bool
        Whether Ctrl-C is pressed at the first sign of progress.
    after : str or None
        "check" to certify and check the answer, or the name of a mutation to be caught.
    more : dict
        Of a size table: prices, alphas, and whether it starts from an earlier one.
    """

    verb: str = "solve"
    solver: str | None = None
    formulation: str | None = None
    warm: Any = "auto"
    limit: float | None = None
    interrupt: bool = False
    after: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Short, for reports."""
        if self.verb != "solve":
            what = [self.verb, self.solver or "default"]
        else:
            what = [self.solver or "default"]
        what += [self.formulation] if self.formulation else []
        if isinstance(self.warm, dict):
            what.append("model in hand")
        elif self.warm != "auto":
            what.append(f"start {self.warm}")
        what += ["limit"] if self.limit is not None else []
        what += ["interrupt"] if self.interrupt else []
        what += [self.after] if self.after else []
        what += sorted(self.more)
        return ", ".join(what)

    @property
    def exact(self) -> bool:
        """Whether nothing but a proof may end the run."""
        return self.limit is None and not self.interrupt


DrawModel = Callable[[random.Random, "Table", int, "tuple[int, ...] | None"], list[dict[str, Any]]]


def draw_way(
    rng: random.Random,
    table: Table,
    shape: Shape,
    goal: Goal,
    requirements: Sequence[Spec],
    draw_model: DrawModel,
) -> Way:
    """A way that fits the question, most of the time."""
    kinds = {spec["kind"] for spec in requirements}
    verb = rng.choices(("solve", "sizes", "pareto"), (96, 3, 1 if shape.widths is None else 0))[0]
    if goal.term is not None:
        verb = "solve"
    if verb == "sizes":
        return _sizes(rng, shape, draw_model, table)
    if verb == "pareto":
        solver = rng.choices((None, "cp-sat", "highs", "cadical195"), (10, 2, 1, 1))[0]
        return Way("pareto", solver, limit=2.0 if shape.hyperplanes else _limit(rng, 0.1))
    solver, formulation = _who(rng, shape, goal, kinds)
    warm: Any = rng.choices(("auto", None, "engine", "model"), (45, 22, 10, 23))[0]
    if warm == "engine":
        warm = _engine(rng, shape)
    elif warm == "model":
        warm = {"nodes": draw_model(rng, table, shape.depth, shape.widths)}
    limit = _limit(rng, 0.15)
    if shape.hyperplanes and limit is None and rng.random() < 0.9:
        limit = 2.0  # first models take a tenth of it, and five seconds without a limit
    if goal.term is not None and formulation is not None and limit is None:
        limit = SEVERAL_SOLVES
    slow = solver is not None and ("pyomo" in solver or solver in ("rc2", "lingeling", "kissat404"))
    interrupt = not slow and rng.random() < 0.02
    after = None
    if rng.random() < 0.12 and not kinds & {"at_least_tests", "few_positive", "apart"}:
        after = rng.choices(("check", "mutate"), (1, 1))[0]
    return Way("solve", solver, formulation, warm, limit, interrupt, after)


def _limit(rng: random.Random, often: float) -> float | None:
    return rng.choice(LIMITS) if rng.random() < often else None


def _engine(rng: random.Random, shape: Shape, kinds: set[str] | None = None) -> str | None:
    """A native engine that supports these requirements, with some setting; None where there is none."""
    table = DIAGRAM_ENGINES if shape.widths is not None else TREE_ENGINES
    able = [(name, often) for name, often in table if kinds is None or kinds <= HONOURED[name]]
    if not able:
        return None
    name = rng.choices([a for a, _ in able], [b for _, b in able])[0]
    setting = rng.choice(SETTINGS.get(name, ("",)))
    return f"{name}:{setting}" if setting else name


def _who(rng: random.Random, shape: Shape, goal: Goal, kinds: set[str]) -> tuple[str | None, str | None]:
    """Solver and formulation."""
    # A bound on the errors is supported where they are the objective.
    left = kinds - ({"max_errors"} if goal.text == "error" else set())
    if (
        goal.term is not None and goal.term.name in OF_GROUPS
    ):  # costs of samples, and linear constraints over sums
        left = {*left, "parity"}
    plain = not shape.hyperplanes and goal.depth == "0"
    if plain and rng.random() < 0.94 and (engine := _engine(rng, shape, left)) is not None:
        return (None if rng.random() < 0.15 else engine), None
    if rng.random() < 0.02:  # what an engine cannot support it has to refuse
        return _engine(rng, shape), None
    if rng.random() < 0.25:
        return None, None
    ways: list[tuple[str, tuple[tuple[str, float], ...], float]] = [
        ("odd", ODD_SOLVERS, 10),
        ("odd-paper", PAPER_SOLVERS, 1),
    ]
    if shape.hyperplanes:
        ways = [("odd", HYPERPLANE_SOLVERS, 10), ("odd-paper", PAPER_SOLVERS, 2)]
    elif shape.widths is None:
        ways.append(("sat-depth", DEPTH_SOLVERS, 14))
        if goal.error == "0" and goal.matrix is None and goal.term is None:
            ways.append(("sat-size", DEPTH_SOLVERS, 14))
        if goal.depth != "0":
            ways = ways[2:]
    formulation, solvers, _ = rng.choices(ways, [w[2] for w in ways])[0]
    names, often = zip(*solvers, strict=True)
    return rng.choices(names, often)[0], formulation


def _sizes(rng: random.Random, shape: Shape, draw_model: DrawModel, table: Table) -> Way:
    if shape.hyperplanes:
        solver, formulation = rng.choice((("highs", "odd"), (None, None)))
    else:
        solver, formulation, _ = rng.choices(SIZES_SOLVERS, [often for *_, often in SIZES_SOLVERS])[0]
    more: dict[str, Any] = {}
    kind = rng.random()
    if kind < 0.25:
        more["prices"] = rng.sample(("0", "1/10", "1/2", "1", "2"), rng.randint(1, 2))
    elif kind < 0.4:
        more["alphas"] = rng.sample(("0", "1/10", "1/2", "1"), rng.randint(1, 2))
    if rng.random() < 0.12:
        more["start"] = rng.choice(("same", "other groups"))
    warm: Any = rng.choices(("auto", None, "model"), (8, 1, 2))[0]
    if warm == "model":
        warm = {"nodes": draw_model(rng, table, shape.depth, shape.widths)}
    limit = 2.0 if shape.hyperplanes else _limit(rng, 0.15)
    return Way("sizes", solver, formulation, warm, limit, more=more)
