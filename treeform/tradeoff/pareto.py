"""The Pareto curve depth x tests x errors: no model on it is at least as good in all three and better in one.

One ladder over numbers of tests (`treeform.tradeoff.climb`) for each depth; bounds of a greater depth hold for the
smaller ones, and models of a smaller depth are models of the greater ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from treeform.catalogue.solvers import find_solver
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.options import USUAL, SolveOptions
from treeform.solve.result import Number, Progress
from treeform.tradeoff.climb import climb_sizes
from treeform.tradeoff.sizes import Ladder, Rung


@dataclass(frozen=True)
class ParetoPoint:
    """A model that no other one beats.

    Attributes
    ----------
    depth, tests : int
    value : int or Fraction
        The objective, such as the number of errors.
    graph : DecisionGraph
    proved : bool
        Whether nothing with this depth and as many tests has a smaller value.
    """

    depth: int
    tests: int
    value: Number
    graph: DecisionGraph
    proved: bool


@dataclass(frozen=True)
class Pareto:
    """The curve, and the ladders that it is read off.

    Attributes
    ----------
    points : tuple of ParetoPoint
        By depth, then tests.
    ladders : dict of int to Ladder
        By depth; those up to the first that the time did not suffice for.
    seconds : float
    depth : int
        The greatest depth asked for.
    """

    question: Question
    points: tuple[ParetoPoint, ...]
    ladders: dict[int, Ladder]
    seconds: float
    depth: int

    @property
    def proved(self) -> bool:
        """Whether the curve is complete and every model on it the best."""
        return len(self.ladders) == self.depth and all(ladder.proved for ladder in self.ladders.values())

    def __str__(self) -> str:
        name = str(self.question.objective)
        lines = [f"{'depth':>5}  {'tests':>5}  {name:>10}"]
        for p in self.points:
            lines.append(
                f"{p.depth:>5}  {p.tests:>5}  {float(p.value):>10.6g}{'' if p.proved else '  (open)'}"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The curve as plain values; numbers exact, as text."""
        return {
            "objective": str(self.question.objective),
            "requirements": list(self.question.labels),
            "digest": self.question.data.digest,
            "seconds": round(self.seconds, 3),
            "points": [
                {
                    "depth": p.depth,
                    "tests": p.tests,
                    "value": str(Fraction(p.value)),
                    "proved": p.proved,
                    "model": p.graph.to_json(),
                }
                for p in self.points
            ],
        }


def curve(
    question: Question,
    options: SolveOptions = USUAL,
) -> Pareto:
    """Fill the curve; see `treeform.Problem.pareto`."""
    if not isinstance(question.shape, Tree):
        raise SpecError(
            f"there is no curve over depths for {question.shape}",
            cause="its depths are those of trees",
            fix="use shape=tf.Tree(depth=k), where k is the largest depth",
        )
    if options.solver is not None and options.formulation is None and _only_clauses(options.solver):
        options = replace(options, formulation="sat-depth")
    budget = Budget(options.time_limit)
    ladders: dict[int, Ladder] = {}
    for depth in range(1, question.shape.depth + 1):
        # What is left is shared among the depths that are left.
        share = schedule.equal_part(budget.remaining, question.shape.depth - depth + 1)
        ladders[depth] = climb_sizes(
            question.with_(shape=Tree(depth, question.shape.splits)),
            replace(options, time_limit=share, on_progress=_watched(options.on_progress, depth, budget)),
        )
        if budget.stop() or str(ladders[depth].limit) == "interrupted":
            break
    asked = ladders[min(ladders)].question
    return Pareto(asked, _points(ladders), ladders, budget.seconds, question.shape.depth)


def _watched(
    tell: Callable[[Progress], None] | None, depth: int, budget: Budget
) -> Callable[[Progress], None] | None:
    """What shows the work on one depth, in the time of the whole curve."""
    if tell is None:
        return None
    return lambda p: tell(Progress(budget.seconds, p.upper, p.lower, f"depth {depth}: {p.phase}"))


def _only_clauses(solver: Any) -> bool:
    found = find_solver(solver)
    forms = getattr(getattr(found, "capabilities", None), "forms", None)
    return forms is not None and all(form.kind.name != "LINEAR" for form in forms)


def _points(ladders: dict[int, Ladder]) -> tuple[ParetoPoint, ...]:
    """What no other model dominates, of all models on all ladders."""
    found: dict[tuple[int, int, Number], ParetoPoint] = {}
    for ladder in ladders.values():
        for rung in ladder.rungs:
            if rung.graph is None or rung.upper is None:
                continue
            key = (rung.graph.depth, rung.graph.n_nodes, rung.upper)
            found.setdefault(
                key, ParetoPoint(*key, rung.graph, proved=_proved(ladders, key[0], key[1], rung.upper))
            )
    keys = sorted(found)
    best = [
        k for k in keys if not any(o != k and all(a <= b for a, b in zip(o, k, strict=True)) for o in keys)
    ]
    return tuple(found[k] for k in best)


def _proved(ladders: dict[int, Ladder], depth: int, tests: int, value: Number) -> bool:
    """Whether some ladder of this depth or a greater one says that so few tests do no better."""

    def says(rung: Rung) -> bool:
        return rung.tests == tests and rung.lower is not None and rung.lower >= value

    return any(says(rung) for at, ladder in ladders.items() if at >= max(1, depth) for rung in ladder.rungs)
