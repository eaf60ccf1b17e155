"""What native engines find and prove: the whole question, or what is left of it without some requirements."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from treeform.engines import ConTree, DeepTreeSearch, DiagramSearch
from treeform.engines.contree import ProofOfTrees
from treeform.engines.relaxation import Relaxation, relax
from treeform.errors import SolverFailed, broke_down
from treeform.graph import DecisionGraph, structure
from treeform.language.question import Question
from treeform.requirements import Fix
from treeform.solve import schedule
from treeform.solve.engines import FEW_TESTS, engine_beyond, run_engine, value_part
from treeform.solve.in_parts import search_in_parts
from treeform.solve.lagrangian import Lagrangian, rows_of, tighten
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve
from treeform.solve.node import Node, Relaxed, Worker
from treeform.solve.stage.unrolled_trees import submit_fitting_trees
from treeform.utils.budget import Budget, Limit, Share, limit_of

NEAR = 2
"""Levels that trees may have more than proved ones and be proved soon, so that no depth between comes first."""
COUNTED_DEPTH = 2
"""Trees of this depth are counted from all pairs of tests at once."""
PROVED_DEPTH = 5
"""Up to which a proof beside the search for deep trees has their best models soon, where tests are few."""
BOUNDED_DEPTH = 5
"""From which on ConTree has a bound of hard rows long before a proof (``native/contree/hard_bound.hpp``)."""


def exact_search(node: Node, budget: Budget) -> Limit | None:
    """Run the plan's engine to the end of its time; where a model is known, its breakdown is a note."""
    engine, ledger = node.plan.engine, node.ledger
    assert engine is not None
    relaxation = relax(node.question, engine)
    if (
        relaxation is None
    ):  # a part whose prices leave the engine's integers; other parts may settle the whole
        ledger.notes.append(
            f"{engine.name} did not search {node.question.objective}: it leaves exact arithmetic"
        )
        return Limit.SOLVER
    distribution = node.plan.distribution
    worker = engine if distribution is None else distribution.of(engine)
    ledger.set_phase(engine.name)
    try:
        outcome = run_engine(worker, relaxation, ledger, without_values(node, budget))
    except (SolverFailed, MemoryError) as error:
        if not ledger.has_model:
            raise
        ledger.note(f"{engine.name} {broke_down(error)}")
        return budget.reason or limit_of(error)
    node.relaxed = Relaxed(engine, relaxation, outcome, budget)
    return budget.reason or {"memory": Limit.MEMORY, "late": Limit.TIME}.get(outcome.reason or "")


def asks_for_values(node: Node) -> bool:
    """Whether something is required of the values of leaves, and an engine searches the trees without it."""
    engine = node.plan.searcher
    return (
        engine is not None
        and node.question.restriction is None
        and value_part(node.question, engine) is not None
    )


def without_values(node: Node, budget: Budget) -> Budget:
    """The part of the time of a search before values are fitted to its trees."""
    return schedule.WITHOUT_VALUES.of(budget) if asks_for_values(node) else budget


def by_engine(node: Node) -> Worker | None:
    """Who answers the question alone."""
    return None if node.plan.engine is None else (node.plan.engine.name, ())


def its_share(node: Node) -> Share | None:
    """All of the time, but for deep trees, which have another search beside the proof."""
    if node.brief or not is_proved_beside(node):
        return None
    if not has_many_tests(node):  # the proof finds good trees at once
        begins_less_deep = begins_with_less_depth(node)
        return schedule.PROOF_AFTER_LESS_DEPTH if begins_less_deep else schedule.PROOF_OF_FEW_TESTS
    return schedule.PROOF_OF_DEPTH_FOUR if node.question.shape.depth == 4 else schedule.PROOF_OF_DEEPER_TREES


def is_proved_beside(node: Node) -> bool:
    """Whether the plan's engine proves, or a solver does, and another search finds deep trees for it."""
    return node.question.shape.depth >= schedule.LEAST_DEPTH and _has_another_search(node)


def is_deep_among_many_tests(node: Node) -> bool:
    """Whether a limited run seldom proves anything."""
    return node.question.shape.depth > schedule.LEAST_DEPTH and has_many_tests(node)


def is_bounded_without_rows(node: Node) -> bool:
    """Whether a search for deep trees under totals seldom has a bound before its end, and one without totals has."""
    if node.question.shape.depth < BOUNDED_DEPTH or not is_proved_beside(node):
        return False
    trees = relax(node.question, ConTree())
    return trees is not None and not trees.exact


def bound_without_rows(node: Node, budget: Budget) -> None:
    """The best tree without what ConTree leaves out is a bound for all trees."""
    engine = ProofOfTrees()
    trees = relax(node.question, engine)
    assert trees is not None
    node.ledger.set_phase(f"trees: {engine.name}")
    run_engine(engine, trees, node.ledger, budget)


def begins_with_deep_trees(node: Node) -> bool:
    """Whether that search comes first, so that there is a good tree soon."""
    depth = node.question.shape.depth
    if not has_many_tests(node) or depth == 1:
        return False
    is_soon = depth >= schedule.LEAST_DEPTH or DeepTreeSearch.comes_first(node.question.data)
    if not is_soon and depth == schedule.LEAST_DEPTH - 1:  # under totals the proof has no tree for long
        trees = relax(node.question, ConTree())
        is_soon = trees is not None and not trees.exact
    return is_soon and _has_another_search(node)


def share_of_first_trees(node: Node) -> Share:
    """Of the time for that search, before the proof."""
    is_deep = node.question.shape.depth >= schedule.LEAST_DEPTH
    return schedule.FIRST_DEEP_TREES if is_deep else schedule.FIRST_SHALLOW_TREES


def share_of_deep_trees(node: Node) -> Share:
    """More where no solver follows, or proves anything."""
    if is_deep_among_many_tests(node):
        return schedule.DEEP_TREES_AMONG_MANY_TESTS
    return schedule.DEEP_TREES_FOR_SOLVER if node.plan.backend is not None else schedule.DEEP_TREES_ALONE


def _has_another_search(node: Node) -> bool:
    question = node.question
    if node.plan.distribution is not None or not DeepTreeSearch.searches(question.shape):
        return False
    if node.plan.engine is None and not has_neighbourhoods(node):
        return False
    relaxation = relax(question, DeepTreeSearch())
    return relaxation is not None and not relaxation.exact  # else the engine's own search may be this one


def begins_with_less_depth(node: Node) -> bool:
    """Whether leaves need many rows, or are few, so that the best tree of less depth is hard to beat.

    Or a proof of this depth begins with worse trees: that under requirements over tests, on a table of few tests.
    """
    engine = node.plan.engine
    assert engine is not None
    if node.plan.distribution is not None or node.question.shape.depth <= schedule.LEAST_DEPTH:
        return False
    relaxation = relax(node.question, engine)
    if relaxation is None or relaxation.task.totals is not None:
        return False
    if relaxation.task.min_support > 1 or depth_of_leaves(relaxation) < node.question.shape.depth:
        return True
    return node.question.shape.depth > PROVED_DEPTH and _is_proved_among_few_tests(node)


def _is_proved_among_few_tests(node: Node) -> bool:
    return not has_many_tests(node) and is_proved_beside(node)


def depth_of_leaves(relaxation: Relaxation) -> int:
    """The least depth at which a tree can have all the leaves that there may be."""
    task = relaxation.task
    leaves = relaxation.part.data.total_weight // max(task.min_support, 1)
    if task.max_nodes is not None:
        leaves = min(leaves, task.max_nodes + 1)
    return max(leaves - 1, 0).bit_length()


def less_depth(node: Node, budget: Budget) -> None:
    """The engine on the same question for a model: one level less deep, or as deep as all leaves need or it proves.

    Where nothing else searches a table of few tests, it begins a level above that, and goes on at each greater depth
    from the best tree of the one before.
    """
    engine, shape, graph = node.plan.engine, node.question.shape, None
    assert engine is not None
    whole = relax(node.question, engine)
    assert whole is not None
    room, is_alone = depth_of_leaves(whole), not (has_many_tests(node) or is_proved_beside(node))
    least = min(shape.depth - 1, max(schedule.LEAST_DEPTH, room - 1 if is_alone else room))
    if _is_proved_among_few_tests(node):
        least = min(least, PROVED_DEPTH)
    for depth in range(least, shape.depth if is_alone else least + 1):
        less = node.question.with_(shape=shape.at_depth(depth))
        is_enough = is_alone and depth > PROVED_DEPTH and depth >= room
        part = (schedule.LESS_DEPTH_OF_ALL_LEAVES if is_enough else schedule.LESS_DEPTH).of(budget)
        claims, relaxation = Ledger(less, part), relax(less, engine)
        claims.runners, claims.outer = node.ledger.runners, node.ledger
        if graph is not None:
            claims.submit(graph, "less depth")
        if relaxation is not None:
            run_engine(engine, relaxation, claims, part)
        graph = claims.graph
        if graph is not None:
            node.ledger.submit(graph, f"{engine.name}, {less.shape}")
        if claims.closed and depth + NEAR >= shape.depth:
            return


def has_many_tests(node: Node) -> bool:
    """Whether the proof on this table has no good trees soon."""
    return node.question.data.has_more_tests_than(FEW_TESTS)


def starts_a_solver(node: Node) -> bool:
    """Whether an engine gives bound and models for what a solver, or nothing, goes on with."""
    return not node.question.objective.is_sum or node.warm_part is not None


def its_time(node: Node) -> Share:
    """More where no solver follows, and less where deep trees are searched for instead."""
    if is_deep_among_many_tests(node) and is_proved_beside(node):
        return schedule.TREES_WITHOUT_ROWS
    return schedule.WARM_START if node.plan.backend is not None else schedule.ENGINE_ALONE


def by_warm_engine(node: Node) -> Worker | None:
    """The engine, and what it leaves out."""
    engine = node.plan.warm_engine
    relaxation = None if engine is None else relax(node.question, engine)
    return None if engine is None else (engine.name, () if relaxation is None else relaxation.dropped)


def relaxed_search(node: Node, budget: Budget) -> None:
    """The best model without what the engine leaves out: its value is a bound."""
    question, engine, ledger = node.question, node.plan.warm_engine, node.ledger
    assert engine is not None
    ledger.set_phase(f"warm start: {engine.name}")
    relaxation = node.warm_part
    if relaxation is None:
        _in_parts(node, budget)
        return
    own = without_values(node, budget)
    node.relaxed = Relaxed(engine, relaxation, run_engine(engine, relaxation, ledger, own), budget)
    if relaxation.task.widths is None and not ledger.stop():
        submit_fitting_trees(question, engine, relaxation, ledger, own)


def _in_parts(node: Node, budget: Budget) -> None:
    """Where the solver is given the whole of an objective that is no sum: of each of its parts."""
    engine = node.plan.warm_engine
    assert engine is not None

    def search(one: Question, claims: Ledger) -> Limit | None:
        relaxation = relax(one, engine)
        if relaxation is not None:
            claims.set_phase(f"warm start: {engine.name}")
            run_engine(engine, relaxation, claims, budget)
        return None

    search_in_parts(node.question, node.ledger, search)


def drops_rows(node: Node) -> bool:
    """Whether the engine leaves requirements out that can be priced into its costs."""
    relaxation = node.warm_part
    return (
        relaxation is not None and relaxation.takes_costs and bool(rows_of(node.question, relaxation.dropped))
    )


def lagrangian_bound(node: Node, budget: Budget) -> None:
    """Multipliers of what was left out, in what is left of the relaxed search's time."""
    found = node.relaxed
    assert found is not None
    node.priced = tighten(
        node.question, found.engine, found.relaxation, found.outcome, node.ledger, found.budget
    )


def within_gap(node: Node, budget: Budget) -> None:
    """All diagrams whose reduced cost is within the gap of the Lagrangian bound."""
    assert node.priced is not None
    search_within_gap(node.question, *node.priced, node.ledger, budget)


def has_search_over_tests(node: Node) -> bool:
    """Whether an engine supports all of the question, and was not chosen for the size of the table."""
    engine, warm = engine_beyond(node.question), node.plan.warm_engine
    return engine is not None and (warm is None or engine.name != warm.name)


def over_tests(node: Node, budget: Budget) -> None:
    """Models, and often the proof, from a native search that was not chosen for the size of the table."""
    engine = engine_beyond(node.question)
    relaxation = None if engine is None else relax(node.question, engine)
    assert engine is not None and relaxation is not None
    node.ledger.set_phase(f"search over tests: {engine.name}")
    run_engine(engine, relaxation, node.ledger, budget)


def by_search_over_tests(node: Node) -> Worker | None:
    """Who searches over all tests."""
    engine = engine_beyond(node.question)
    return None if engine is None else (engine.name, ())


def share_over_tests(node: Node) -> Share:
    """Most of the time where pairs of tests are counted at once: in two layers below the upper part that is given."""
    given = [_least_deep_leaf(r.graph) for r in node.question.requirements if isinstance(r, Fix)]
    counted = len(node.question.shape.widths) - max(given, default=0) <= COUNTED_DEPTH
    return schedule.COUNTED_PAIRS if counted else schedule.SEARCH_OVER_TESTS


def _least_deep_leaf(graph: DecisionGraph) -> int:
    return int(structure.levels(graph.feature, graph.left, graph.right)[graph.feature < 0].min())


def has_neighbourhoods(node: Node) -> bool:
    """Whether trees of an engine that leaves requirements out can be made better by it, part by part."""
    if node.brief and node.question.shape.depth >= schedule.LEAST_DEPTH:
        return False
    relaxation = node.warm_part
    return relaxation is not None and not relaxation.exact and relaxation.takes_costs


def neighbourhoods(node: Node, budget: Budget) -> None:
    """Better models than those of an engine that does not support all requirements."""
    engine = node.plan.warm_engine
    relaxation = None if engine is None else relax(node.question, engine)
    assert engine is not None and relaxation is not None
    node.ledger.set_phase(f"neighbourhoods: {engine.name}")
    improve(engine, relaxation, node.ledger, budget)


BY = "diagram-search with totals"


def search_within_gap(
    question: Question, dual: Lagrangian, point: list[Fraction], ledger: Ledger, budget: Budget
) -> None:
    """Raise the lower bound, guess by guess, until it meets a model or the time is over.

    ``dual``: of `DiagramSearch`. Every requirement that it leaves out has rows. ``point``: a multiplier for each row.
    """
    task = dual.relaxation.task
    if task.node_penalty or task.min_support or task.min_flow or dual.ignored:
        return
    cheapest_below = dual.priced_diagrams(point)
    if cheapest_below is None or not dual.relaxation.factor > 0:
        return
    relaxation = dual.relaxation
    ledger.set_phase(BY)
    step = 1
    while not (ledger.stop() or budget.stop()):
        low = relaxation.at_least(math.ceil(ledger.lower or 0))
        guess = low + step
        if ledger.cutoff is not None:
            guess = min(guess, relaxation.upper(ledger.cutoff))
        cost, graph, complete = cheapest_below(guess, budget=budget.until(lambda: ledger.closed))
        if graph is not None:
            ledger.submit(graph, BY)
        if not complete:
            return
        proved = relaxation.lower(guess if cost is None else cost)
        ledger.prove_lower(proved, BY, recheck=_recheck(point))
        if cost is not None:
            return
        step *= 2


def _recheck(point: list[Fraction]) -> dict[str, Any]:
    """The witness of the bound: the multipliers of the rows, and the price of a unit of cost beside them."""
    unit = math.lcm(*(m.denominator for m in point))
    witness = {"multipliers": [int(m * unit) for m in point], "unit": unit}
    return {"kind": "engine", "engine": DiagramSearch.name, "witness": witness}
