"""Proving bounds again by native engines, on tasks that are made from the problem alone.

A certificate may name the engine that made a claim, and multipliers. It never names a task or a setting: the engines
here have their usual ones, under which they are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from treeform.certify.diagrams import cheapest_diagram
from treeform.certify.prices import cheapest
from treeform.certify.schema import Multiplier
from treeform.engines import (
    CADL85,
    DL85,
    Blossom,
    ContinuousTotals,
    ConTree,
    DiagramSearch,
    Engine,
    EngineRun,
    PathSearch,
    RegressionSearch,
    TotalsSearch,
    continuous_totals,
)
from treeform.engines.relaxation import relax
from treeform.errors import CertificateError
from treeform.graph import DecisionGraph
from treeform.language.objective import Depth, Objective
from treeform.language.question import Question
from treeform.language.totals import of_prediction_rows
from treeform.shape import UNIVARIATE, Diagram, Tree
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.depth import DepthEngine
from treeform.solve.engines import run_engine
from treeform.solve.lagrangian import Lagrangian, rows_of, tighten
from treeform.solve.leaf_values import value_run
from treeform.solve.ledger import Ledger
from treeform.solve.router import engine_beyond, usual_engine
from treeform.solve.simple_bounds import ceiling

BY_PRICES = "the search by prices"
FEW_TESTS = 300
"""Tests up to which the search over binary tests is the second opinion on trees."""
FEW_FOR_TOTALS = 1000
"""Tests up to which the search for totals over tests is tried; the one over intervals of thresholds beyond."""
SIMPLE_TOTALS = TotalsSearch(parts=("multipliers",))
"""Without lazy rows, guesses, similarity and dominance: the parts of the search that are hardest to get right."""
SIMPLE_PATHS = PathSearch(pairs=False)
SIMPLE_CONTINUOUS = ContinuousTotals(
    parts=("multipliers", "lazy", "rough", "dominance", *continuous_totals.RULES)
)
"""Without guesses, shallower depths and first models; it needs ConTree's rules to end at all."""
FAMILIES = {
    engine.name: engine.family
    for engine in (ConTree, DL85, CADL85, Blossom, DiagramSearch, TotalsSearch, ContinuousTotals)
}
"""Engines that share code are of one family."""


@dataclass(frozen=True)
class Bound:
    """What a prover found.

    Attributes
    ----------
    by : str
    lower : Fraction or None
        No admissible model is below, in the user's units; None: there is no admissible model.
    best : Fraction or None
        The value of the best admissible model that it found.
    finished : bool
        Whether it came to its end.
    """

    by: str
    lower: Fraction | None
    best: Fraction | None
    finished: bool

    def shows(self, value: Fraction | None) -> bool:
        """Whether nothing is below ``value``; None: that there is nothing at all."""
        return self.lower is None or (value is not None and self.lower >= value)

    def refutes(self, value: Fraction | None) -> bool:
        """Whether an admissible model is below ``value``; None: whether there is one."""
        return self.best is not None and (value is None or self.best < value)


def provers(question: Question, maker: object) -> list[Engine]:
    """The engines that can prove a bound of the question again; first one without code of the claiming engine."""
    if question.objective.is_regression:
        return [RegressionSearch()]
    if question.shape.splits != UNIVARIATE:
        return []
    tree = ConTree()
    if not isinstance(question.shape, Tree):
        return [tree, DiagramSearch()]
    engines: list[Engine] = [tree]
    if question.data.n_tests <= FEW_TESTS:
        engines.append(DL85())
    if FAMILIES.get(str(maker)) == tree.family:
        engines.reverse()
    # Linear constraints over sums and rules on paths are more than the other engines support.
    special = _for_totals(question, tree, maker)
    return [*_for_paths(question), *special, *engines, *_over_many_tests(question)]


def _for_paths(question: Question) -> list[Engine]:
    """The search under rules on paths, where it supports more: first test by test, then with its counts of pairs."""
    engine = None if is_least_depth(question.objective) else usual_engine(question)
    return [SIMPLE_PATHS, engine] if isinstance(engine, PathSearch) else []


def _for_totals(question: Question, plain: Engine, maker: object) -> list[Engine]:
    """The search for totals, where it supports more of the question than the plain engines and takes its table.

    First with little more than its enumeration, then with everything that makes it fast; on few tests, and where the
    other one made the claim, that one without its shortcuts.
    """
    few = question.data.n_tests <= FEW_FOR_TOTALS
    engine: Engine = TotalsSearch() if few else ContinuousTotals()
    simple: Engine = SIMPLE_TOTALS if few else SIMPLE_CONTINUOUS
    other = relax(question, plain)
    if is_least_depth(question.objective) or other is None or other.exact:
        return []
    relaxation = relax(question, engine)
    if relaxation is None or len(relaxation.dropped) >= len(other.dropped):
        return []
    if engine.unsupported(question.data, relaxation.task) is not None:
        return []
    return [simple, SIMPLE_CONTINUOUS if few and maker == SIMPLE_CONTINUOUS.name else engine]


def _over_many_tests(question: Question) -> list[Engine]:
    """The search over all tests that supports all of a question, on a table that it is not chosen for."""
    few = question.data.n_tests <= PathSearch.few_tests
    engine = None if few or is_least_depth(question.objective) else engine_beyond(question)
    if engine is None:
        return []
    return [SIMPLE_TOTALS if isinstance(engine, TotalsSearch) else SIMPLE_PATHS, engine]


def name_of(engine: Engine) -> str:
    """The engine's name, with what is left out of it."""
    if engine is SIMPLE_TOTALS:
        return f"{engine.name} with multipliers only"
    if engine is SIMPLE_PATHS:
        return f"{engine.name} test by test"
    return f"{engine.name} without its shortcuts" if engine is SIMPLE_CONTINUOUS else engine.name


def by_engines(
    question: Question,
    value: Fraction | None,
    maker: object,
    budget: Budget,
    graph: DecisionGraph | None = None,
) -> Iterator[Bound]:
    """The bounds of the engines, one after the other; the caller stops when one suffices.

    Parameters
    ----------
    question : Question
    value : Fraction or None
        The bound that is claimed, in the user's units; None: that there is no admissible model.
    maker : object
        The name of the engine that claims it, as far as it is known.
    budget : Budget
    graph : DecisionGraph, optional
        A known model: engines search for better ones only.
    """
    if question.shape.splits != UNIVARIATE:
        yield from _over_hyperplanes(question, budget)
    engines = provers(question, maker)
    for index, engine in enumerate(engines):
        part = _part(budget, last=index + 1 == len(engines))
        proved = _by_engine(engine, question, value, part, graph)
        if proved is not None:
            yield proved


def _over_hyperplanes(question: Question, budget: Budget) -> Iterator[Bound]:
    """A model with tests of one column is one with hyperplanes, where its margins are wide enough: it may refute."""
    shape = question.shape
    single = Tree(shape.depth) if isinstance(shape, Tree) else Diagram(*shape.widths)
    engine: Engine = ConTree() if isinstance(shape, Tree) else DiagramSearch()
    relaxation = None
    if not is_least_depth(question.objective):
        relaxation = relax(question.with_(shape=single), engine)
    if relaxation is None:
        return
    part, ledger = _part(budget, last=False), Ledger(question, budget)
    run = EngineRun(
        time_limit=part.remaining,
        stop=part.stop,
        on_incumbent=lambda _, __, ___, graph: None if graph is None else _offer(ledger, graph),
    )
    outcome = engine.answer(question.data, relaxation.task, run)
    if outcome.graph is not None:
        ledger.submit(outcome.graph, engine.name)
    best = None if ledger.upper is None else question.to_units(ledger.upper)
    yield Bound(f"{engine.name} over single columns", Fraction(0), best, False)


def _offer(ledger: Ledger, graph: DecisionGraph) -> None:
    ledger.submit(graph, "an engine over single columns")


def _by_engine(
    engine: Engine, question: Question, value: Fraction | None, budget: Budget, graph: DecisionGraph | None
) -> Bound | None:
    if is_least_depth(question.objective):
        return _by_depth(engine, question, value, budget)
    relaxation = relax(question, engine)
    if relaxation is None:
        return None
    ledger = _Target(question, budget)
    ledger.target = None if value is None else value * question.scale
    if graph is not None:
        ledger.submit(graph, "the certificate")
    rule = value_run(question, engine, ledger, budget)
    outcome = run_engine(
        engine, relaxation, ledger, budget if rule is None else schedule.WITHOUT_VALUES.of(budget)
    )
    if rule is not None and not ledger.stop():
        rule.run(outcome)
    if not ledger.closed and not isinstance(engine, TotalsSearch | ContinuousTotals):
        tighten(question, engine, relaxation, outcome, ledger, budget)
    return _bound(name_of(engine), ledger, not budget.stop())


class _Target(Ledger):
    """A ledger that is closed once its lower bound reaches a target, or a model is below it."""

    target: Fraction | None = None

    @property
    def closed(self) -> bool:
        if self.target is None:
            return super().closed or self.upper is not None
        reached = self.lower is not None and self.lower >= self.target
        return super().closed or reached or (self.upper is not None and self.upper < self.target)


def _bound(by: str, ledger: Ledger, finished: bool) -> Bound:
    best = None if ledger.upper is None else ledger.question.to_units(ledger.upper)
    if ledger.impossible:
        return Bound(by, None, best, True)
    lower = Fraction(0) if ledger.lower is None else ledger.question.to_units(ledger.lower)
    return Bound(by, lower, best, finished)


def by_prices(
    question: Question, value: Fraction | None, hint: object, stop: Callable[[], bool]
) -> Bound | None:
    """What listing all trees near the least price shows (`treeform.certify.prices`); None where it does not apply.

    Parameters
    ----------
    question : Question
    value : Fraction or None
        The bound that is claimed; None: that there is no admissible model.
    hint : object
        Multipliers, as the certificate holds them with the claim; anything else is ignored.
    stop : callable

    Raises
    ------
    OutOfReach, Stopped
    """
    if isinstance(question.shape, Diagram):
        return _diagrams_by_prices(question, value, hint, stop)
    relaxation = None if is_least_depth(question.objective) else relax(question, TotalsSearch())
    if relaxation is None or relaxation.task.totals is None or not isinstance(question.shape, Tree):
        return None
    if relaxation.task.features is not None:
        return None  # it lists trees over all features
    target = math.floor(ceiling(question)) + 1 if value is None else math.ceil(value * question.scale)
    most = relaxation.upper(target - 1)
    least = cheapest(question.data, relaxation.task, most, *multipliers_of(hint), stop)
    if least.least is None:
        return Bound(BY_PRICES, None if target > ceiling(question) else question.to_units(target), None, True)
    lower = question.to_units(relaxation.lower(least.least))
    if beyond(question, lower):  # a limit on the objective itself is no row of the list: nothing keeps it
        return Bound(BY_PRICES, None, None, True)
    attained = relaxation.exact and least.complete
    return Bound(BY_PRICES, lower, lower if attained else None, True)


def _diagrams_by_prices(
    question: Question, value: Fraction | None, hint: object, stop: Callable[[], bool]
) -> Bound | None:
    """The same for diagrams under rows over predictions (`treeform.certify.diagrams`)."""
    relaxation = relax(question, DiagramSearch())
    if relaxation is None or question.shape.splits != UNIVARIATE or not relaxation.factor > 0:
        return None
    rows = rows_of(question, relaxation.dropped)
    totals = of_prediction_rows([(row.coef, row.rhs) for row in rows], "rows")
    if totals is None or relaxation.task.features is not None:
        return None
    target = math.floor(ceiling(question)) + 1 if value is None else math.ceil(value * question.scale)
    task = replace(relaxation.task, totals=totals)
    most = relaxation.upper(target - 1)
    least = cheapest_diagram(question.data, task, most, *multipliers_of(hint), stop)
    if least.least is None:
        return Bound(BY_PRICES, None if target > ceiling(question) else question.to_units(target), None, True)
    return Bound(BY_PRICES, question.to_units(relaxation.lower(least.least)), None, True)


def multipliers_of(hint: object) -> tuple[list[int], int]:
    """Multipliers and their unit, from the entry of a claim in a certificate; unit 0 prices the rows alone."""
    stored = hint if isinstance(hint, dict) else {}
    numbers, unit = stored.get("multipliers"), stored.get("unit")
    if not isinstance(numbers, list) or type(unit) is not int or unit < 0:
        return [], 1
    return (list(numbers), unit) if all(type(one) is int for one in [*numbers, unit]) else ([], 1)


def is_least_depth(objective: Objective) -> bool:
    """Whether the depth is what is minimised."""
    return len(objective.terms) == 1 and isinstance(objective.terms[0][1], Depth)


def depth_below(question: Question, value: Fraction | None) -> int:
    """The depth that has to be refuted for the least depth to be ``value``; None: for there to be no model.

    Raises
    ------
    CertificateError
        If the shape is no tree.
    """
    if not isinstance(question.shape, Tree):
        raise CertificateError("a least depth is that of trees, and the shape is none")
    if value is None:
        return question.shape.depth
    return min(question.shape.depth, math.ceil(value / question.objective.terms[0][0]) - 1)


def at_depth(question: Question, depth: int) -> Question:
    """Is there an admissible tree of this depth? Splits and requirements are those of the question."""
    return question.with_(shape=Tree(depth, question.shape.splits), objective=Objective(()))


def _by_depth(engine: Engine, question: Question, value: Fraction | None, budget: Budget) -> Bound | None:
    depth = depth_below(question, value)
    if depth < 1:  # constant models are judged before
        return None
    ledger = Ledger(at_depth(question, depth), budget)
    search = DepthEngine(engine, budget, alone=True)
    search.try_depth(ledger)
    each = question.objective.terms[0][0]
    if ledger.impossible:
        lower = None if depth >= question.shape.depth else each * (depth + 1)
        return Bound(engine.name, lower, None, True)
    best = None if ledger.graph is None else each * ledger.graph.depth
    return Bound(engine.name, Fraction(0), best, not search.gave_up)


def by_multipliers(
    question: Question, multipliers: Sequence[Multiplier], maker: object, budget: Budget
) -> Bound:
    """The Lagrangian bound at stated multipliers; see `treeform.solve.lagrangian`.

    Raises
    ------
    CertificateError
        If the multipliers are not one for each row of requirements of the problem, or negative, or too large.
    """
    point = [Fraction(one.value) for one in multipliers]
    if not point or min(point) < 0:
        raise CertificateError("the multipliers do not fit the requirements")
    engines = [
        engine
        for engine in provers(question, maker)
        if not isinstance(engine, TotalsSearch | ContinuousTotals)
    ]
    duals = [dual for engine in engines if (dual := _dual(question, engine, multipliers)) is not None]
    if not duals:
        raise CertificateError("the multipliers do not fit the requirements")
    if not all(dual.within_range(point) for dual in duals):
        raise CertificateError("the multipliers are too large for exact arithmetic")
    # An engine that leaves out more of the problem proves less, so the strongest of all counts.
    bounds: list[Bound] = []
    for index, dual in enumerate(duals):
        part = _part(budget, last=index + 1 == len(duals))
        bounds.append(_at_multipliers(question, dual, tuple(point), part))
        if bounds[-1].lower is None or bounds[-1].lower == bounds[-1].best:
            break
    return replace(max(bounds, key=_strength), finished=all(bound.finished for bound in bounds))


def _dual(question: Question, engine: Engine, multipliers: Sequence[Multiplier]) -> Lagrangian | None:
    """What the engine minimises once the rows of the multipliers have a price; None where these are other rows."""
    relaxation = relax(question, engine)
    if relaxation is None:
        return None
    priced = {one.requirement for one in multipliers}
    rows = rows_of(question, tuple(label for label in relaxation.dropped if label in priced))
    fits = [row.label for row in rows] == [one.requirement for one in multipliers]
    return Lagrangian(question, engine, relaxation, rows) if fits else None


def _at_multipliers(
    question: Question, dual: Lagrangian, point: tuple[Fraction, ...], budget: Budget
) -> Bound:
    bound, graph, proved = dual.solve(point, budget)
    ledger = Ledger(question, budget)
    if graph is not None:
        ledger.submit(graph, dual.engine.name)
    best = None if ledger.upper is None else question.to_units(ledger.upper)
    lower = question.to_units(math.ceil(bound))
    by = f"{dual.engine.name} with multipliers"
    return Bound(by, None if beyond(question, lower) else lower, best, proved)


def _strength(bound: Bound) -> tuple[bool, Fraction]:
    return bound.lower is None, bound.lower or Fraction(0)


def beyond(question: Question, lower: Fraction) -> bool:
    """Whether a lower bound is above what any admissible model costs, so that there is none."""
    return lower > question.to_units(ceiling(question))


def _part(budget: Budget, *, last: bool) -> Budget:
    """The time of one of several provers."""
    return budget if last else schedule.FIRST_PROVER.of(budget)
