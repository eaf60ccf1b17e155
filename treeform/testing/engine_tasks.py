"""What engines are asked, held against the requirements of a question: the conditions of a task, model by model.

A task joins the statements of several requirements. Where nothing is dropped, a model meets its conditions exactly
where every `violation` is 0; else a model that satisfies all requirements meets them still.
"""

from __future__ import annotations

from collections.abc import Iterator

from treeform.engines import (
    DL85,
    ContinuousTotals,
    ConTree,
    DiagramSearch,
    Engine,
    PathSearch,
    RegressionSearch,
    TotalsSearch,
    TreeTask,
)
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.language.losses import leaf_loss
from treeform.language.question import Question, allowed_errors
from treeform.shape import Limits, Tree
from treeform.testing.derivations import on_paths, within


def engines() -> list[Engine]:
    """One of each kind of task."""
    return [TotalsSearch(), ContinuousTotals(), PathSearch(), ConTree(), DL85(), DiagramSearch()]


def meets(task: TreeTask, graph: DecisionGraph, question: Question) -> bool | None:
    """Whether a model meets the conditions of a task; None where the task says nothing of such a model."""
    data = question.data
    if task.paths and (graph.passes.any() or not isinstance(question.shape, Tree)):
        return None
    if task.min_support > 1 and graph.passes.any():
        return None  # engines make no test with an empty side where sides have a least weight
    limits = Limits(task.min_support, task.min_flow, task.max_nodes, None, task.max_features, None)
    most = allowed_errors(question)
    return (
        graph.depth <= task.depth
        and within(limits, graph, data)
        and (most is None or within(Limits(max_errors=most), graph, data))
        and (task.totals is None or task.totals.excess(graph, data) == 0)
        and (task.meetings is None or task.meetings.excess(graph, data) == 0)
        and (task.features is None or any(graph.features_used() <= one for one in task.features))
        and all(on_paths(rule, graph, data) for rule in task.paths)
    )


def task_disagreements(question: Question, graph: DecisionGraph) -> Iterator[str]:
    """The engines whose task does not agree with the requirements on a model."""
    if leaf_loss(question.objective) is not None:
        yield from _of_values(question, graph)
        return
    lacking = [one.violation(graph, question.data) for one in question.requirements]
    for engine in engines():
        relaxation = relax(question, engine)
        met = None if relaxation is None else meets(relaxation.task, graph, question)
        if met is None or relaxation is None:
            continue
        if met and any(lacking) and relaxation.exact:
            yield f"{engine.name} allows it, and violations are {lacking}"
        if not met and not any(lacking):
            yield f"{engine.name} forbids it, and violations are {lacking}"


def _of_values(question: Question, graph: DecisionGraph) -> Iterator[str]:
    part = relax(question, RegressionSearch())
    assert part is not None
    task, data = part.loss_task, question.data
    assert task.columns is not None
    limits = Limits(task.min_support, task.min_flow, task.max_nodes, None, task.max_features, None)
    met = (
        graph.depth <= task.depth
        and within(limits, graph, data)
        and graph.features_used() <= set(task.columns.tolist())
    )
    lacking = [one.violation(graph, data) for one in part.part.requirements]
    if met == any(lacking):
        yield f"the regression search {'allows' if met else 'forbids'} it, and violations are {lacking}"
