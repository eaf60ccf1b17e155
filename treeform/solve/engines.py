"""Who is asked, and the claims of engines: they solve a question, or give bounds and warm starts.

The engine that leaves out the least of a question is asked, and among equals the first of the list. Engines declare
what they support (`treeform.engines.Engine`): parts of a problem by ``understands``, shapes, and sizes of tables.
No engine is named here; their order is that of the table in `treeform.utils.extensions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pkgutil import resolve_name
from typing import Any

from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.losses import leaf_loss
from treeform.language.missing_tests import with_missing_tests
from treeform.language.question import Question, ceiling
from treeform.language.values import ValueRule
from treeform.shape import Shape
from treeform.solve.ledger import Ledger
from treeform.solve.repair import narrowed, relabel
from treeform.solve.verification import Verified
from treeform.utils.budget import Budget
from treeform.utils.extensions import BUILT_IN
from treeform.utils.extensions import ENGINES as ENGINE_NAMES


def chosen_by_default() -> tuple[type[Engine], ...]:
    """The engines of treeform that are chosen by default, in the order of preference."""
    kinds: Iterator[type[Engine]] = map(resolve_name, BUILT_IN[ENGINE_NAMES].values())
    return tuple(kind for kind in kinds if not kind.by_name_only)


ENGINES = chosen_by_default()

FEW_TESTS = 500
"""Distinct tests up to which a proof is expected soon."""


def value_part(question: Question, engine: Engine) -> tuple[Relaxation, ValueRule] | None:
    """What an engine supports with the values required, or None where nothing is required of values.

    The part's ``dropped`` are the requirements that neither of them supports.
    """
    part = None if leaf_loss(question.objective) is None else relax(question, engine)
    if part is None or part.exact or not question.shape.own_leaves:
        return None
    rules, unmet = [], []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        if label in part.dropped:
            rule = requirement.value_rule(question.data)
            if rule is None:
                unmet.append(label)
            else:
                rules.append(rule)
    if not rules:
        return None
    return replace(part, dropped=tuple(unmet)), ValueRule.all_of(rules)


def goes_on_by_solvers(question: Question, engine: Engine) -> bool:
    """Whether a solver can state the values required, and goes on where the search under them has not ended."""
    values = value_part(question, engine)
    if values is None or question.objective.is_squared:
        return False
    return values[1].whole or not values[1].rows


def lowered(question: Question, engine: Engine) -> Relaxation | None:
    """What the engine, and the search for values of leaves after it, support of a question; None: nothing of use."""
    values = value_part(question, engine)
    return relax(question, engine) if values is None else values[0]


def candidates(
    question: Question, shape: Shape | None = None, any_size: bool = False
) -> Iterator[tuple[Engine, Relaxation]]:
    """Engines that take the table, with what each supports of the question.

    ``shape``: engines for this one count: a diagram unrolls to a tree. By default those for the question's own.
    ``any_size``: whether engines count that are chosen on fewer tests only.
    """
    for kind in ENGINES:
        if not kind.searches(shape or question.shape) or not kind.suits(question.data):
            continue
        if not (any_size or kind.is_chosen_for(question.data)):
            continue
        engine = kind()
        part = lowered(question, engine)
        if part is not None and engine.unsupported(question.data, part.task) is None:
            yield engine, part


def usual_engine(question: Question, shape: Shape | None = None) -> Engine | None:
    """The engine that leaves out the least; None where none searches such models, or such an objective.

    ``shape``: among the engines for this one; by default for the question's own.
    """
    best: tuple[Engine, Relaxation] | None = None
    for engine, part in candidates(question, shape):
        if best is None or len(part.dropped) < len(best[1].dropped):
            best = engine, part
        if part.exact:
            break
    return None if best is None else best[0]


def engine_beyond(question: Question) -> Engine | None:
    """An engine that supports all of a question, and is chosen on tables of fewer tests only."""
    limited = (pair for pair in candidates(question, any_size=True) if pair[0].few_tests is not None)
    return next((engine for engine, part in limited if part.exact), None)


def why_not(question: Question) -> list[str]:
    """That an engine would support all of the problem and was left out for the size of the table."""
    engine = engine_beyond(question)
    if engine is None or engine.is_chosen_for(question.data):
        return []
    return [
        f"{engine.name} supports all of the problem, but has only a part of the time: the table has "
        f"{question.data.n_tests} tests, more than {engine.few_tests}; solver={engine.code()} gives it all"
    ]


NOTHING_FITS = "the proof that nothing fits"
MOST_ROWS = 6
"""Rows that a note names."""


def run_engine(engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget) -> EngineOutcome:
    """Run the engine on its part of the question and enter its claims in the ledger."""

    most, start = ceiling(ledger.question), ledger.graph
    last: tuple[DecisionGraph, Fraction] | None = None
    if relaxation.exact and start is not None and ledger.upper is not None:
        last = start, Fraction(ledger.upper)  # a model that an engine returns unchanged was judged before

    def submit(graph: DecisionGraph) -> None:
        nonlocal last
        if relaxation.exact:
            # Judged alone: a better model from elsewhere would contradict a proof that this one is the best.
            last = graph, Fraction(ledger.submit(graph, engine.name).value)
        else:
            submit_repaired(ledger, graph, engine.name, budget)

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if graph is not None and (last is None or graph is not last[0]):
            submit(graph)
        value = relaxation.claim(lower)
        if value <= most:  # beyond, there is no model: that is said at the end, with the rows that show it
            ledger.prove_lower(value, engine.name, relaxation.dropped)

    # With nothing left out, the incumbent bounds the search; otherwise the engine's own optimum is the bound.
    upper = None
    cutoff = ledger.cutoff
    if relaxation.exact and cutoff is not None:
        upper = relaxation.upper(cutoff) + 1
    run = EngineRun(budget.until(lambda: ledger.closed), upper=upper, start=start, on_incumbent=on_incumbent)
    ledger.runners.append(engine.name)
    outcome = engine.answer(ledger.question.data, relaxation.task, run)
    ledger.notes += outcome.notes
    if outcome.graph is not None:
        if last is None or outcome.graph != last[0]:  # it is mostly the last one
            submit(outcome.graph)
        if last is not None and last[1] == ledger.upper and ledger.graph not in (start, outcome.graph):
            # As good as what was shown on the way, which depends on time and workers.
            ledger.replace(outcome.graph)
    if outcome.nothing:
        ledger.prove_infeasible(engine.name, relaxation.dropped, recheck_of(engine))
        return outcome
    lower, without = relaxation.claim(outcome.lower), relaxation.dropped
    if (
        outcome.proved and outcome.graph is not None and outcome.upper is None
    ):  # which is left to be evaluated here
        lower = relaxation.value(outcome.graph) if last is None else last[1]
    if lower > most:
        used = outcome.rows_used
        without += tuple(name for name in relaxation.idle(used) if name in ledger.question.labels)
        ledger.notes += _refuting(relaxation.taking_part(used))
    ledger.prove_lower(
        lower,
        engine.name,
        without,
        recheck_of(engine)
        | ({} if outcome.witness is None else {"witness": outcome.witness})
        | outcome.details,
        outcome.counters,
    )
    return outcome


def _refuting(rows: list[tuple[str, str]]) -> list[str]:
    """A note on the rows that a proof of infeasibility used: those with a multiplier, and those found violated."""
    if not rows:
        return []
    described = [f"{label} ({what})" for label, what in rows[:MOST_ROWS]]
    more = f" and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return [f"{NOTHING_FITS} rests on the rows: {'; '.join(described)}{more}"]


def submit_repaired(ledger: Ledger, graph: DecisionGraph, by: str, budget: Budget) -> None:
    """Submit a tree; where it violates a requirement that the engine does not know, submit it with other leaves.

    They are relabelled at the least cost that satisfies all requirements. A tree for a diagram is pruned to its widths,
    and one that lacks tests has them.
    """
    graph = with_missing_tests(ledger.question, narrowed(graph, ledger.question), budget)
    judged = ledger.submit(graph, by)
    if judged.ok or (ledger.has_model and _has_tests_at_fault(ledger.question, judged)):
        return
    repaired = relabel(ledger.question, graph, budget, better_than=ledger.graph)
    if repaired is not None:
        ledger.submit(repaired, f"{by}, leaves relabelled")


TEST_PORTS = frozenset({"feature", "branch", "reaches", "active"})
"""What says of a model which tests it has, and not what it predicts."""


def _has_tests_at_fault(question: Question, judged: Verified) -> bool:
    """Whether it violates a requirement over tests, which other labels seldom help."""
    return any(
        judged.violations.get(label) and one.needs and TEST_PORTS.issuperset(one.needs)
        for label, one in zip(question.labels, question.requirements, strict=True)
    )


def recheck_of(engine: Engine) -> dict[str, Any]:
    """How a check can prove the engine's bound again: it makes the task from the problem, and chooses the settings."""
    return {"kind": "engine", "engine": engine.name}
