"""The matrix of cells: every requirement on every way to solve, against brute force or refused with a reason.

A *way* is a native engine, or a formulation on a solver. A *cell* is a requirement on a way. It *works* when every
tiny random problem has the optimum of brute force; otherwise it is *refused*, and the error says why and what to use.
Whatever is neither, a wrong optimum or an answer without a proof, raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from treeform.catalogue.solvers import engine_names, formulation_names
from treeform.errors import DataError, PortError, RouteError, SolverNotAvailable, SpecError, TreeformError
from treeform.graph import DecisionGraph
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.requirements import MaxErrors
from treeform.shape import Diagram, Shape, Tree
from treeform.solve import SolveOptions
from treeform.solve import solve as solve_question
from treeform.testing.brute import brute_force
from treeform.testing.cases import GROUP, Case, draw_cases
from treeform.testing.conformance import PATIENCE, SECONDS, fault
from treeform.testing.samples import ABSTAINING, SAMPLES

SOLVERS = ("highs", "cp-sat", "cadical195", "mathopt:scip", "rc2", "pyomo:glpk", "pyomo:cbc")
"""One solver of each kind: mixed-integer ones, constraint programming, satisfiability and its weighted form."""
SHAPES: tuple[Shape, ...] = (Tree(2), Diagram(1, 2), Tree(1))
GOALS: dict[str, tuple[str, tuple[Requirement, ...]]] = {"sat-size": ("nodes", (MaxErrors(0),))}
"""What a formulation of one purpose minimises, and under what; the others minimise what a case says."""
NO_CELLS = ("deep-tree-search", "regression-search")
"""Engines that prove nothing by design, or whose problems have no classes."""


@dataclass(frozen=True)
class Way:
    """A native engine (no formulation), or a formulation on a solver."""

    solver: str
    formulation: str | None = None

    def __str__(self) -> str:
        return self.solver if self.formulation is None else f"{self.formulation} on {self.solver}"


@dataclass(frozen=True)
class Cell:
    """What became of a requirement on a way."""

    requirement: str
    way: Way
    cases: int
    """Problems whose optimum is that of brute force; 0 where the requirement is refused."""
    reason: str = ""
    instead: str = ""
    """Why it is refused, and what to use; empty where it works. Where both are given, it works for some objectives or
    tables, and is refused for others."""

    @property
    def works(self) -> bool:
        """Whether it is verified."""
        return self.cases > 0


def ways(solvers: Sequence[str] = SOLVERS, of_values: bool = False) -> list[Way]:
    """Every native engine, and every formulation on every solver; of regression, those that know values."""
    if of_values:
        return [Way("regression-search"), *(Way(solver, "odd") for solver in solvers)]
    engines = [Way(name) for name in engine_names() if name not in NO_CELLS]
    return engines + [Way(solver, name) for name in formulation_names() for solver in solvers]


def drawn(count: int, seed: int = 0, solvers: Sequence[str] = SOLVERS) -> list[tuple[Requirement, Way]]:
    """Some cells: each requirement and each way at least once, the others by lot.

    Parameters
    ----------
    count : int
        Of cells, or as many more as it takes to have each requirement and each way.
    seed : int
    solvers : sequence of str
    """
    rng = np.random.default_rng(seed)
    every = [(requirement, way) for requirement in SAMPLES for way in ways(solvers)]
    out: list[tuple[Requirement, Way]] = []
    seen: set[Any] = set()
    order = [every[i] for i in rng.permutation(len(every))]
    for requirement, way in order:  # first those that show something new
        if str(requirement) not in seen or way not in seen:
            out.append((requirement, way))
            seen |= {str(requirement), way}
    out += [cell for cell in order if cell not in out][: max(0, count - len(out))]
    return out


def judge(
    requirement: Requirement,
    way: Way,
    cases: int = 3,
    seed: int = 0,
    of_values: bool = False,
    *,
    seconds: float | None = SECONDS,
    shapes: Sequence[Shape] | None = None,
) -> Cell:
    """Solve tiny random problems in one way, and compare with brute force.

    Parameters
    ----------
    requirement : Requirement
        As for `check_requirement`.
    way : Way
    cases : int
        Problems with an answer to compare.
    seed : int
    of_values : bool
        Problems of regression, under absolute errors.
    seconds : float, optional
        Of wall time for each problem; None where the caller limits the process.
    shapes : sequence of Shape, optional
        Those that the way takes, where they are known: `shapes_of`.

    Raises
    ------
    AssertionError
        If an optimum is wrong or unproved, with code that reproduces it; or if no problem fits.
    """
    done = 0
    refusal: TreeformError | None = None
    if shapes is None:
        shapes = SHAPES if of_values else shapes_of(way)
    for case, bound, question in _questions(requirement, way, cases, seed, shapes, of_values):
        try:
            result = solve_question(question, SolveOptions(way.solver, way.formulation, None, seconds))
        except SolverNotAvailable as error:
            return Cell(str(requirement), way, 0, _line(error.what, error.cause), _line(error.fix))
        except (SpecError, PortError, RouteError) as error:
            refusal = error
            continue
        wrong = fault(result, _expected(case, question))
        if wrong:
            raise AssertionError(f"{requirement} on {way}: {wrong}\n{case.code(*bound)}")
        if way.formulation is not None and result.formulation is None:
            continue  # proved by simple bounds before the solver was started
        done += 1
        if done == cases:
            return Cell(str(requirement), way, done)
    if done == 0 and refusal is None:
        raise AssertionError(f"{requirement} on {way}: no problem could be drawn")
    if refusal is None:
        return Cell(str(requirement), way, done)
    return Cell(str(requirement), way, done, _line(refusal.what, refusal.cause), _line(refusal.fix))


def _questions(
    requirement: Requirement, way: Way, cases: int, seed: int, shapes: Sequence[Shape], of_values: bool
) -> Iterator[tuple[Case, list[Requirement], Question]]:
    """Problems on which the requirement can be stated."""
    goal, with_it = GOALS.get(way.formulation or "", (None, ()))
    abstain = isinstance(requirement, ABSTAINING)
    for case in draw_cases(PATIENCE * max(3, cases), seed, tuple(shapes), of_values, abstain):
        try:
            bound = [r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in (*with_it, requirement)]
        except (SpecError, DataError):
            continue
        objective = case.goal if goal is None else Objective.parse(goal)
        yield case, bound, Question(case.data, case.shape, objective, tuple(bound))


_KNOWN: dict[str, tuple[Fraction, DecisionGraph] | None] = {}


def _expected(case: Case, question: Question) -> tuple[Fraction, DecisionGraph] | None:
    """The optimum by brute force; the ways of a requirement are given the same problems, which are enumerated once."""
    key = f"{question.objective}\n{case.code(*question.requirements)}"
    if key not in _KNOWN:
        found = brute_force(question.data, question.shape, question.objective, question.requirements)
        _KNOWN[key] = found
    return _KNOWN[key]


@cache
def shapes_of(way: Way) -> tuple[Shape, ...]:
    """The shapes that a way can solve without requirements."""
    return tuple(shape for shape in SHAPES if _solves(way, shape)) or SHAPES


def _solves(way: Way, shape: Shape) -> bool:
    goal, with_it = GOALS.get(way.formulation or "", ("error", ()))
    for case in draw_cases(PATIENCE, 0, (shape,)):
        try:
            plain = tuple(r.bind(case.data) for r in with_it)
        except SpecError:
            continue
        try:
            question = Question(case.data, shape, Objective.parse(goal), plain)
            solve_question(question, SolveOptions(way.solver, way.formulation, None, SECONDS))
        except TreeformError:
            return False
        return True
    return False


def _line(*parts: str | None) -> str:
    return ": ".join(" ".join(part.split()) for part in parts if part)
