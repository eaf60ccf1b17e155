"""Better models from neighbourhoods: parts add up, candidates are admissible, and the solver starts there."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.engines import ConTree, PathSearch, TotalsSearch
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import _order, _others, _Search, improve, nodes_below, rows_of, task_of
from treeform.testing import all_models, brute_force
from treeform.utils.budget import Budget


class FewColumns(tf.Requirement):
    """A requirement of one's own, which no engine knows: at most k columns."""

    name: ClassVar[str] = "few_columns_near"
    needs = frozenset({"feature"})
    demands_tests = False

    def __init__(self, k: int) -> None:
        self.k = k

    def build(self, model, ports) -> None:
        used = model.bool("used", ports.n_features)
        model.add(ports.feature <= used)
        model.add(used.sum() <= self.k)

    def violation(self, graph, data) -> int:
        return max(0, len(graph.features_used()) - self.k)


def asked(seed: int, *requirements: tf.Requirement, n: int = 30, depth: int = 2) -> Question:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 4)).astype(float)
    y = ((X[:, 0] > 0) & (X[:, 1] > 1) | (X[:, 2] + X[:, 3] > 3)).astype(int) ^ (rng.random(n) < 0.1)
    data = tf.Dataset.from_user(X, y, rng.integers(1, 4, n))
    return Question(data, tf.Tree(depth), Objective.of("error"), tuple(r.bind(data) for r in requirements))


@pytest.mark.parametrize("seed", range(4))
def test_the_totals_of_a_part_and_of_the_rest_are_those_of_the_whole(seed: int) -> None:
    parity = tf.StatisticalParity(groups=[0, 1, 2] * 10, difference=0.1, positive=1)
    question = asked(seed, parity, tf.MaxNodes(3))
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None
    totals, data = relaxation.task.totals, question.data
    assert totals is not None
    graph = next(g for g in all_models(data, tf.Tree(2), rng=np.random.default_rng(seed)) if g.n_nodes == 3)
    for node in range(1, len(graph.feature)):
        here = graph.route(data.X)[:, node]
        inside = nodes_below(graph, node)
        rest = _others(totals, graph, data, here, inside)
        part = rows_of(data, here)
        own = totals.per_sample[here][np.arange(part.n_samples), graph.predict_codes(part.X)]
        sums = (own * part.weights[:, None]).sum(axis=0)
        assert [a + int(b) for a, b in zip(rest, sums, strict=True)] == totals.values(graph, data)
        task = task_of(relaxation.task, here, 1, 2, rest)
        assert task.totals is not None
        for row, whole in zip(task.totals.rows, totals.rows, strict=True):
            shift = sum(c * v for c, v in zip(whole.coef, rest, strict=True))
            assert (row.hi, row.lo) == tuple(None if b is None else b - shift for b in (whole.hi, whole.lo))


@pytest.mark.parametrize("seed", range(3))
def test_a_subtree_under_the_totals_of_the_rest_keeps_the_whole_admissible(seed: int) -> None:
    parity = tf.StatisticalParity(groups=[0, 1] * 15, difference=0.15, positive=1)
    question = asked(seed, parity)
    ledger = Ledger(question, Budget(None))
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None
    models = all_models(question.data, tf.Tree(2), rng=np.random.default_rng(seed))
    start = next(
        g for g in models if g.n_nodes > 1 and question.requirements[0].violation(g, question.data) == 0
    )
    assert ledger.submit(start, "start").ok
    search = _Search(TotalsSearch(), relaxation, ledger, Budget(None))
    graph = ledger.graph
    assert graph is not None
    for node in _order(graph, 2):
        found = search._below(graph, node, 2)
        if found is not None:
            assert question.requirements[0].violation(found, question.data) == 0
            assert question.objective.evaluate(found, question.data) <= question.objective.evaluate(
                graph, question.data
            )


def test_models_get_better_and_never_worse_than_the_optimum() -> None:
    better = 0
    for seed in range(2):
        question = asked(seed, FewColumns(2), n=20)
        ledger = Ledger(question, Budget(None))
        for label in (0, 1):
            ledger.submit(DecisionGraph.leaf(label, question.data), "constant model")
        before = ledger.upper
        relaxation = relax(question, ConTree())
        assert relaxation is not None
        assert before is not None
        improve(ConTree(), relaxation, ledger, Budget(None))
        best = brute_force(question.data, question.shape, "error", [FewColumns(2)])
        assert best is not None
        assert ledger.graph is not None
        assert FewColumns(2).violation(ledger.graph, question.data) == 0
        assert best[0] * question.scale <= ledger.upper <= before
        better += ledger.upper < before
    assert better == 2


def test_the_solver_starts_from_them_and_they_stop_with_the_budget() -> None:
    question = asked(0, FewColumns(1), n=40)
    problem = tf.Problem(question.data, None, shape=tf.Tree(2))
    problem += FewColumns(1)
    result = problem.solve("cp-sat")
    named = {claim.by for claim in result.claims if claim.kind == "upper"}
    assert "contree, less depth" in named
    assert str(result.status) == "optimal"
    spent = Budget(1.0)
    spent.interrupt()
    ledger = Ledger(question, spent)
    ledger.submit(DecisionGraph.leaf(0, question.data), "constant model")
    relaxation = relax(question, ConTree())
    assert relaxation is not None
    improve(ConTree(), relaxation, ledger, spent)
    assert len(ledger.claims) == 1


def test_the_upper_part_that_is_given_stays_above_every_neighbourhood() -> None:
    """Its rule reads where the points of the whole table go: below it subtrees are searched, at it they are not."""
    X = np.array([[2, 1], [2, 1], [3, 1], [1, 1], [3, 1], [1, 2], [2, 2]], dtype=float)
    y = [0, 0, 1, 1, 0, 1, 0]
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=[3, 3, 3, 1, 3, 2, 1])
    upper = problem.solve("contree").graph
    given = tf.Problem(X, y, shape=tf.Tree(1)).solve("contree").graph
    assert upper is not None and given is not None
    problem += tf.Fix(given)
    problem = problem.minimize(tf.Error() + tf.MinSupport("1/3").soft(1))
    result = problem.solve()
    expected = brute_force(problem.data, problem.shape, problem.objective, problem.requirements)
    assert expected is not None
    assert result.objective == expected[0] and not any(result.violations.values())


def test_rules_on_paths_go_on_below_a_node() -> None:
    """A column that was tested above may not be tested again in the subtree that replaces the old one."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (40, 3)).astype(float)
    y = (X[:, 0] % 2).astype(int)  # the best subtree tests x0 again
    data = tf.Dataset.from_user(X, y)
    rule = tf.OncePerPath().bind(data)
    question = Question(data, tf.Tree(2), Objective.of("error"), (rule,))
    engine = PathSearch()
    relaxation = relax(question, engine)
    assert relaxation is not None and relaxation.task.paths
    ledger = Ledger(question, Budget(None))
    graph = tf.DecisionGraph.from_nested(("x0", 1.0, ("x1", 1.0, 0, 1), ("x1", 1.0, 1, 0)), data)
    ledger.submit(graph, "given")
    search = _Search(engine, relaxation, ledger, Budget(None))
    better = search._below(graph, int(graph.left[0]), 1)
    assert better is not None and rule.violation(better, data) == 0
