"""What tests of AND/OR graphs under rules share: cases, priced graphs, and what is expected of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import treeform as tf
from treeform.certify.left_out import Reach
from treeform.engines.and_or_graph import Priced
from treeform.engines.relaxation import Relaxation
from treeform.language.question import Question
from treeform.solve import SolveOptions, Status, solve
from treeform.solve.columns_on_demand import priced_part
from treeform.testing import brute_force
from treeform.testing.cases import GROUP, Case, draw_cases
from treeform.utils.budget import Budget

Cases = list[tuple[Case, Question]]


def of_both_classes(seed: int, trees: tuple[tf.Tree, ...]) -> Iterator[Case]:
    """Drawn cases in which both classes of the rules are there."""
    return (case for case in draw_cases(2000, seed, trees) if {0, 1} <= set(case.data.classes))


def under_rules(
    drawn: Iterable[Case], number: int, rules_of: Callable[[Case], list[tf.Requirement]]
) -> Cases:
    """The first cases that have rules, every other one under parity, too."""
    out: Cases = []
    for case in drawn:
        rules = rules_of(case)
        if not rules:
            continue
        if len(out) % 2:
            rules.append(tf.StatisticalParity(groups=GROUP, difference="0.2", positive=0))
        bound = tuple(r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in rules)
        out.append((case, Question(case.data, case.shape, case.goal, bound)))
        if len(out) == number:
            break
    return out


def priced(
    cases: Cases, graph_of: Callable[[Question], Any]
) -> Iterator[tuple[Case, Question, Relaxation, Any, Priced]]:
    """The graph of each case and its prices, but of those that these show to be infeasible."""
    for case, question in cases:
        part, trees = priced_part(question), graph_of(question)
        assert part is not None
        found = trees.relax()
        assert found is not None
        if not found.infeasible:
            yield case, question, part, trees, found


def counts_agree(
    count: Callable[..., tuple[int, int]], case: Case, task: Any, trees: Any, at: Priced, reach: int
) -> int:
    """The nodes of a graph, which a count of its own finds, too."""
    graph = trees.up_to(at.lower + reach)
    assert graph is not None
    asked = Reach(at.lower + reach, at.multipliers, at.unit, True, trees.path_levels)
    assert (graph.n_nodes, graph.n_alternatives) == count(case.data, task, asked, Budget()), case.code()
    return int(graph.n_nodes)


def optimum_agrees(case: Case, question: Question, solver: str) -> Status:
    """The status of a solve, which proves what brute force finds."""
    expected = brute_force(case.data, case.shape, case.goal, question.requirements)
    result = solve(question, SolveOptions(solver, "hypergraph-flow", None, 60.0))
    stated = (Status.INFEASIBLE, None) if expected is None else (Status.OPTIMAL, expected[0])
    assert (result.status, result.objective) == stated, case.code(*question.requirements)
    return result.status
