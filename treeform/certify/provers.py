"""Proving bounds again by native engines, on tasks that are made from the problem alone.

A certificate may name the engine that made a claim, and multipliers. It never names a task or a setting: the engines
here have their usual ones, under which they are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from treeform.backends import Backend
from treeform.certify.diagrams import cheapest_diagram
from treeform.certify.prices import cheapest
from treeform.certify.schema import Multiplier
from treeform.engines import (
    CADL85,
    DL85,
    Blossom,
    ConTree,
    DiagramSearch,
    Engine,
    EngineRun,
    RegressionSearch,
    TreeTask,
)
from treeform.engines.relaxation import Relaxation, predicts_alike, relax
from treeform.engines.totals import OfPrices
from treeform.errors import CertificateError
from treeform.graph import DecisionGraph
from treeform.language.numbers import is_whole
from treeform.language.objective import Objective
from treeform.language.question import Question, ceiling
from treeform.language.totals import of_prediction_rows
from treeform.solve import schedule
from treeform.solve.depth import try_depth
from treeform.solve.engines import ENGINES, candidates, run_engine
from treeform.solve.lagrangian import dual_of, rows_of, tighten
from treeform.solve.ledger import Ledger
from treeform.solve.stage.leaf_values import value_run
from treeform.utils.budget import Budget

BY_PRICES = "the search by prices"
PLAIN: tuple[type[Engine], ...] = (ConTree, DL85, DiagramSearch, RegressionSearch)
"""For costs or losses under bounds on sizes. The first one is asked about diagrams, too: they unroll to trees."""
_MAKERS: tuple[type[Engine], ...] = (*ENGINES, CADL85, Blossom)
FAMILIES = {kind.name: kind.family for kind in _MAKERS}
"""Engines that share code are of one family."""


@dataclass(frozen=True)
class Means:
    """How claims are proved again."""

    time_limit: float | None = None
    """Seconds of work for each claim."""
    proofs: Path | None = None
    """The folder of proofs."""
    drat_trim: bool = False
    """Whether drat-trim verifies them."""
    independent: bool = False
    """Whether engines do not count."""
    confirm: Backend | None = None
    """Another solver to solve again with."""


@dataclass(frozen=True)
class Bound:
    """What a prover found."""

    by: str
    lower: Fraction | None
    """No admissible model is below, in the user's units; None: there is no admissible model."""
    best: Fraction | None
    """The value of the best admissible model that it found."""
    finished: bool
    """Whether it came to its end."""

    def shows(self, value: Fraction | None) -> bool:
        """Whether nothing is below ``value``; None: that there is nothing at all."""
        return self.lower is None or (value is not None and self.lower >= value)

    def refutes(self, value: Fraction | None) -> bool:
        """Whether an admissible model is below ``value``; None: whether there is one."""
        return self.best is not None and (value is None or self.best < value)


def provers(question: Question, maker: object) -> list[Engine]:
    """The engines that can prove a bound of the question again; first one without code of the claiming engine."""
    plain = [
        kind()
        for kind in PLAIN
        if predicts_alike(question, kind())
        and (kind.searches(question.shape) or kind is PLAIN[0])
        and kind.proves(question.data)
    ]
    if FAMILIES.get(str(maker)) == plain[0].family:
        plain.reverse()
    special, late = _stronger(question, maker)
    if _leaves_out(maker):
        return [*plain, *special, *late]
    return [*special, *plain, *late]


def _leaves_out(maker: object) -> bool:
    """Whether the claim is that of an engine which leaves out what stronger ones support: it shows it again itself."""
    return any(maker == kind.name for kind in PLAIN)


def _stronger(question: Question, maker: object) -> tuple[list[Engine], list[Engine]]:
    """The engines that support more of a question than the plain ones, each first in its `plain` form.

    One for each part of the question; where it has a rival that made the claim, that one in plain form. In the second
    list are those for larger tables than a check usually asks them about, if they support all of the question.
    """
    known = None if is_least_depth(question.objective) else relax(question, PLAIN[0]())
    if known is None or known.exact or not question.shape.own_leaves:
        return [], []
    more = [
        (engine, part)
        for engine, part in candidates(question, any_size=True)
        if len(part.dropped) < len(known.dropped) and not isinstance(engine, PLAIN)
    ]
    parts: dict[tuple[str, ...], list[Engine]] = {}
    for engine, part in more:
        if engine.proves(question.data):
            parts.setdefault(part.dropped, []).append(engine)
    special: list[Engine] = []
    for first, *rivals in parts.values():
        made = [rival.plain() for rival in rivals if rival.name == maker]
        special += [first.plain(), *(made or [first])]
    late = [engine for engine, part in more if part.exact and not engine.proves(question.data)][:1]
    return special, [one for engine in late for one in (engine.plain(), engine)]


def name_of(engine: Engine) -> str:
    """The engine's name, with what is left out of it."""
    return (
        f"{engine.name} {engine.plain_title}"
        if engine.plain_title and engine == engine.plain()
        else engine.name
    )


def by_engines(
    question: Question,
    value: Fraction | None,
    maker: object,
    budget: Budget,
    graph: DecisionGraph | None = None,
) -> Iterator[Bound]:
    """The bounds of the engines, one after the other; the caller stops when one suffices.

    ``value`` is the bound that is claimed, in the user's units; None: that there is no admissible model. ``maker`` is
    the name of the engine that claims it, as far as it is known. Of a known model, engines search for better ones only.
    """
    if not question.shape.reads_columns:
        yield from _over_hyperplanes(question, budget)
    engines = provers(question, maker)
    for index, engine in enumerate(engines):
        own = engine.name == maker and _leaves_out(maker)
        share = schedule.OWN_PROVER if own else schedule.FIRST_PROVER
        part = budget if index + 1 == len(engines) else share.of(budget)
        proved = _by_engine(engine, question, value, part, graph)
        if proved is not None:
            yield proved


def _over_hyperplanes(question: Question, budget: Budget) -> Iterator[Bound]:
    """A model with tests of one column is one with hyperplanes, where its margins are wide enough: it may refute."""
    single = question.with_(shape=question.shape.of_columns())
    able = [kind() for kind in PLAIN if kind.searches(single.shape)]
    relaxation = None if is_least_depth(question.objective) else relax(single, able[0])
    if relaxation is None:
        return
    engine = able[0]
    part, ledger = _part(budget, last=False), Ledger(question, budget)
    run = EngineRun(
        part, on_incumbent=lambda _, __, ___, graph: None if graph is None else _offer(ledger, graph)
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
    if value is not None:
        ledger.target = value * question.scale
        ledger.most = math.ceil(ledger.target) - 1
    if graph is not None:
        ledger.submit(graph, "the certificate")
    if ledger.is_open:
        engine = engine.for_bound()
    rule = value_run(question, engine, ledger, budget)
    outcome = run_engine(
        engine, relaxation, ledger, budget if rule is None else schedule.WITHOUT_VALUES.of(budget)
    )
    if rule is not None and not ledger.stop():
        rule.run(outcome)
    if not ledger.closed and engine.prices_rows:
        tighten(question, engine, relaxation, outcome, ledger, budget)
    return _bound(name_of(engine), ledger, not budget.stop())


class _Target(Ledger):
    """A ledger that is closed once its lower bound reaches a target, or a model is below it."""

    target: Fraction | None = None

    @property
    def is_open(self) -> bool:
        """Whether the target is below the best model: it is a bound, and better models do not matter."""
        return self.target is not None and self.upper is not None and self.target < self.upper

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


def by_prices(question: Question, value: Fraction | None, hint: object, budget: Budget) -> Bound | None:
    """What listing all trees near the least price shows (`treeform.certify.prices`); None where it does not apply.

    ``value`` is as in `by_engines`. ``hint``: multipliers, as the certificate holds them with the claim; anything else
    is ignored. Raises OutOfReach or Stopped.
    """
    is_tree = question.shape.own_leaves
    part = _tree_with_rows(question) if is_tree else _diagram_with_rows(question)
    if part is None:
        return None
    relaxation, task = part
    target = math.floor(ceiling(question)) + 1 if value is None else math.ceil(value * question.scale)
    least = (cheapest if is_tree else cheapest_diagram)(
        question.data, task, relaxation.upper(target - 1), *multipliers_of(hint), budget
    )
    if least.least is None:
        return Bound(BY_PRICES, None if target > ceiling(question) else question.to_units(target), None, True)
    lower = question.to_units(relaxation.lower(least.least))
    if beyond(question, lower):  # a limit on the objective itself is no row of the list: nothing keeps it
        return Bound(BY_PRICES, None, None, True)
    attained = is_tree and relaxation.exact and least.complete
    return Bound(BY_PRICES, lower, lower if attained else None, True)


def _tree_with_rows(question: Question) -> tuple[Relaxation, TreeTask] | None:
    """The part that `cheapest` takes, with rows or rules on paths."""
    relaxation = None if is_least_depth(question.objective) else relax(question, OfPrices())
    if relaxation is None or (relaxation.task.totals is None and not relaxation.task.paths):
        return None
    return relaxation, relaxation.task


def _diagram_with_rows(question: Question) -> tuple[Relaxation, TreeTask] | None:
    """The same for diagrams under rows over predictions (`treeform.certify.diagrams`)."""
    relaxation = relax(question, DiagramSearch())
    if relaxation is None or not relaxation.factor > 0:
        return None
    rows = rows_of(question, relaxation.dropped)
    totals = of_prediction_rows([(row.coef, row.rhs) for row in rows], "rows")
    if totals is None or relaxation.task.features is not None:
        return None
    return relaxation, replace(relaxation.task, totals=totals)


def multipliers_of(hint: object) -> tuple[list[int], int]:
    """Multipliers and their unit, from the entry of a claim in a certificate; unit 0 prices the rows alone."""
    stored = hint if isinstance(hint, dict) else {}
    numbers, unit = stored.get("multipliers"), stored.get("unit")
    if not isinstance(numbers, list) or not is_whole(unit) or unit < 0:
        return [], 1
    return (list(numbers), unit) if all(map(is_whole, numbers)) else ([], 1)


def is_least_depth(objective: Objective) -> bool:
    """Whether the depth is what is minimised."""
    return len(objective.terms) == 1 and objective.terms[0][1].is_depth


def depth_below(question: Question, value: Fraction | None) -> int:
    """The depth that has to be refuted for the least depth to be ``value``; None: for there to be no model."""
    if value is None:
        return question.shape.depth
    return min(question.shape.depth, math.ceil(value / question.objective.terms[0][0]) - 1)


def at_depth(question: Question, depth: int) -> Question:
    """Is there an admissible tree of this depth? Splits and requirements are those of the question."""
    return question.with_(shape=question.shape.at_depth(depth), objective=Objective(()))


def _by_depth(engine: Engine, question: Question, value: Fraction | None, budget: Budget) -> Bound | None:
    depth = depth_below(question, value)
    if depth < 1:  # constant models are judged before
        return None
    ledger = Ledger(at_depth(question, depth), budget)
    gave_up = try_depth(engine, ledger, budget)
    each = question.objective.terms[0][0]
    if ledger.impossible:
        lower = None if depth >= question.shape.depth else each * (depth + 1)
        return Bound(engine.name, lower, None, True)
    best = None if ledger.graph is None else each * ledger.graph.depth
    return Bound(engine.name, Fraction(0), best, not gave_up)


def by_multipliers(
    question: Question, multipliers: Sequence[Multiplier], maker: object, budget: Budget
) -> Bound:
    """The Lagrangian bound at stated multipliers; see `treeform.solve.lagrangian`.

    Raises CertificateError if the multipliers are not one for each row of requirements of the problem, or negative,
    or too large.
    """
    point = [Fraction(one.value) for one in multipliers]
    if not point or min(point) < 0:
        raise CertificateError("the multipliers do not fit the requirements")
    engines = [engine for engine in provers(question, maker) if engine.prices_rows]
    rows = [one.requirement for one in multipliers]
    duals = [dual for engine in engines if (dual := dual_of(question, engine, rows)) is not None]
    if not duals:
        raise CertificateError("the multipliers do not fit the requirements")
    if not all(dual.within_range(point) for dual in duals):
        raise CertificateError("the multipliers are too large for exact arithmetic")
    # An engine that leaves out more of the problem proves less, so the strongest of all counts.
    bounds: list[Bound] = []
    for index, dual in enumerate(duals):
        part = _part(budget, last=index + 1 == len(duals))
        bound, graph, proved = dual.solve(tuple(point), part)
        ledger = Ledger(question, part)
        if graph is not None:
            ledger.submit(graph, dual.engine.name)
        best = None if ledger.upper is None else question.to_units(ledger.upper)
        lower = question.to_units(math.ceil(bound))
        by = f"{dual.engine.name} with multipliers"
        bounds.append(Bound(by, None if beyond(question, lower) else lower, best, proved))
        if bounds[-1].lower is None or bounds[-1].lower == bounds[-1].best:
            break
    return replace(max(bounds, key=_strength), finished=all(bound.finished for bound in bounds))


def _strength(bound: Bound) -> tuple[bool, Fraction]:
    return bound.lower is None, bound.lower or Fraction(0)


def beyond(question: Question, lower: Fraction) -> bool:
    """Whether a lower bound is above what any admissible model costs, so that there is none."""
    return lower > question.to_units(ceiling(question))


def _part(budget: Budget, *, last: bool) -> Budget:
    """The time of one of several provers."""
    return budget if last else schedule.FIRST_PROVER.of(budget)
