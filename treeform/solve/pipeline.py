"""The order of a solve: one tuple of stages, over one node of claims.

Every solve goes through it: trees and diagrams, classes and values, the parts of an objective that is no sum, and
smaller shapes on the way to a larger one. Which stages a question has, who works in them and what each leaves out is
said by `treeform.Problem.explain`; which of them ran, by ``result.plan``. To add one: a file with a function
``run(node, budget)`` that enters claims in ``node.ledger``, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable

from treeform.shape import Diagram, Tree
from treeform.solve import schedule
from treeform.solve.node import Node, Stage, applicable, run_stages
from treeform.solve.result import PlannedStage
from treeform.solve.stage import (
    by_solver,
    deep_trees,
    engine_search,
    given_models,
    leaf_values,
    steps,
    unrolled_trees,
)
from treeform.utils.budget import Limit

Condition = Callable[[Node], bool]
TREES, DIAGRAMS = (Tree,), (Diagram,)


def search(node: Node) -> None:
    """Work on a question until it is answered, or its time is over."""
    run_stages(node, PIPELINE)


def planned(node: Node) -> tuple[PlannedStage, ...]:
    """The stages that a plan has, who works in each, and what it leaves out; nothing runs."""
    return tuple(
        PlannedStage(stage.name, *(stage.by(node) or ("", ()))) for stage in applicable(node, PIPELINE)
    )


def with_engine(applies: Condition) -> Condition:
    """Where an engine answers the question alone."""
    return lambda node: node.plan.engine is not None and applies(node)


def with_searcher(applies: Condition) -> Condition:
    """Where an engine answers all of it or a part."""
    return lambda node: node.plan.searcher is not None and applies(node)


def with_warm_engine(applies: Condition) -> Condition:
    """Where an engine answers a part of it, before a solver or alone."""
    return lambda node: node.plan.warm_engine is not None and applies(node)


# fmt: off
PIPELINE: tuple[Stage[Node], ...] = (
    Stage(
        "constant models", given_models.constant_models, needed=True, at_once=True,
        applies=lambda node: not begins_with_model(node),
        ready=lambda node: node.ledger.graph is None,
    ),
    Stage("quick bounds", given_models.quick_bounds, needed=True, at_once=True),
    Stage(
        "given models and bounds", given_models.given, needed=True, at_once=True,
        applies=lambda node: bool(node.plan.start or node.options.models or node.options.bounds),
    ),
    Stage(
        "first parts of the objective", steps.first_parts(search),
        shapes=TREES, applies=with_searcher(steps.begins_with_parts),
        ready=lambda node: node.budget.remaining is not None, by=steps.by_parts,
    ),
    Stage(
        "what is paid for", steps.paid_for(search), share=steps.share_of_paid_for,
        shapes=TREES, applies=with_searcher(steps.is_paid_for),
        ready=lambda node: node.budget.remaining is not None, by=steps.by_demanded,
    ),
    Stage(
        "parts of the objective", steps.in_parts(search), needed=True, at_once=True, last=True,
        applies=lambda node: node.plan.in_parts, by=steps.by_parts,
    ),
    Stage(
        "depth by depth", steps.depths, needed=True, at_once=True, last=True,
        applies=lambda node: node.plan.engine is None and node.question.objective.is_depth, by=steps.by_parts,
    ),
    Stage(
        "deep trees before diagrams", unrolled_trees.deep_trees, share=schedule.TREES_BEFORE_DIAGRAMS,
        shapes=DIAGRAMS, applies=with_engine(unrolled_trees.begins_with_trees), by=unrolled_trees.by_deep_trees,
    ),
    Stage(
        "search for diagrams, at first", unrolled_trees.tried_first, share=schedule.BEFORE_TREES,
        shapes=DIAGRAMS, applies=with_engine(unrolled_trees.is_large), by=engine_search.by_engine,
    ),
    Stage(
        "trees that bound diagrams", unrolled_trees.bound_by_trees, share=schedule.UNROLLED_TREES,
        shapes=DIAGRAMS, applies=with_engine(unrolled_trees.is_large), by=unrolled_trees.by_trees,
    ),
    Stage(
        "first deep trees", deep_trees.first_deep_trees, share=engine_search.share_of_first_trees,
        applies=with_searcher(engine_search.begins_with_deep_trees), by=deep_trees.by_deep_trees,
    ),
    Stage(
        "less depth first", engine_search.less_depth,
        shapes=TREES, applies=with_engine(engine_search.begins_with_less_depth),
        ready=lambda node: node.budget.remaining is not None, by=engine_search.by_engine,
    ),
    Stage(
        "exact search", engine_search.exact_search, share=engine_search.its_share, needed=True,
        applies=lambda node: node.plan.engine is not None, by=engine_search.by_engine,
    ),
    Stage(
        "trees without requirements", engine_search.bound_without_rows, share=schedule.TREES_WITHOUT_ROWS,
        applies=with_engine(engine_search.is_bounded_without_rows),
        ready=lambda node: node.limit is Limit.TIME, by=unrolled_trees.by_trees,
    ),
    Stage(
        "longer search for deep trees", deep_trees.longer_search,
        applies=with_engine(engine_search.is_proved_beside),
        ready=lambda node: node.limit is Limit.TIME, by=deep_trees.by_deep_trees,
    ),
    Stage(
        "constant models after all", given_models.constant_models, needed=True, at_once=True,
        applies=lambda node: begins_with_model(node),
        ready=lambda node: node.ledger.graph is None and not node.ledger.impossible,
    ),
    Stage(
        "first models", by_solver.first_models, share=schedule.FIRST_MODELS, at_once=True,
        applies=by_solver.has_first_models, by=by_solver.by_formulation,
    ),
    Stage(
        "trees for diagrams", unrolled_trees.first_trees, share=schedule.WARM_START, shapes=DIAGRAMS,
        applies=with_warm_engine(unrolled_trees.is_diagram_with_rest), by=unrolled_trees.by_first_trees,
    ),
    Stage(
        "relaxed search", engine_search.relaxed_search, share=engine_search.its_time, at_once=True,
        applies=with_warm_engine(engine_search.starts_a_solver), by=engine_search.by_warm_engine,
    ),
    Stage(
        "deep trees for a solver", deep_trees.longer_search, share=engine_search.share_of_deep_trees,
        applies=with_warm_engine(engine_search.is_proved_beside),
        ready=lambda node: node.budget.remaining is not None,  # or else the solver goes on to the optimum
        by=deep_trees.by_deep_trees,
    ),
    Stage(
        "values of leaves", leaf_values.fitted_values,
        applies=with_searcher(engine_search.asks_for_values),
        ready=lambda node: node.relaxed is not None, by=leaf_values.by_engine,
    ),
    Stage(
        "Lagrangian bound", engine_search.lagrangian_bound,
        applies=with_warm_engine(engine_search.drops_rows), ready=lambda node: node.relaxed is not None,
        by=engine_search.by_warm_engine,
    ),
    Stage(
        "search within the gap", engine_search.within_gap, share=schedule.WITHIN_GAP,
        shapes=DIAGRAMS, applies=with_warm_engine(engine_search.drops_rows),
        ready=lambda node: node.priced is not None, by=engine_search.by_warm_engine,
    ),
    Stage(
        "search over tests", engine_search.over_tests, share=engine_search.share_over_tests,
        applies=with_warm_engine(engine_search.has_search_over_tests), by=engine_search.by_search_over_tests,
    ),
    Stage(
        "neighbourhoods", engine_search.neighbourhoods, share=schedule.NEIGHBOURHOODS,
        shapes=TREES, applies=with_warm_engine(engine_search.has_neighbourhoods), by=engine_search.by_warm_engine,
    ),
    Stage("smaller shapes", steps.smaller(search), needed=True, applies=steps.takes_smaller_shapes, by=steps.by_parts),
    Stage(
        "solver", by_solver.solver, needed=True,
        applies=lambda node: node.plan.is_stated, skipped=by_solver.not_started, by=by_solver.by_solver,
    ),
    Stage(
        "neighbourhoods after the solver", engine_search.neighbourhoods,
        shapes=TREES, applies=with_warm_engine(engine_search.has_neighbourhoods), ready=by_solver.solver_gave_up,
        by=engine_search.by_warm_engine,
    ),
)
# fmt: on
"""What is done for an answer, in this order."""


def begins_with_model(node: Node) -> bool:
    """Whether the engine has a model within milliseconds, so that none without a test is needed before."""
    return node.plan.engine is not None and node.plan.engine.begins_with_model
