"""The bound of a diagram by the best tree of its depth."""

import numpy as np

import treeform as tf
from treeform.engines import DiagramSearch, diagram_core
from treeform.solve.choice import choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import planned
from treeform.solve.result import SolveOptions
from treeform.solve.stage import unrolled_trees
from treeform.utils.budget import Budget


def _table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (rng.integers(8, 40), 3)).astype(float)
    return X, rng.integers(0, 2 + seed % 2, len(X))


def _drawn(seed: int) -> tf.Problem:
    X, y = _table(seed)
    widths = [(1, 1), (1, 2), (1, 2, 1), (1, 1, 2)][seed % 4]
    return tf.Problem(X, y, shape=tf.Diagram(*widths)).minimize(tf.Error() + seed % 3 * tf.Nodes())


def _without_the_first_turn(monkeypatch) -> None:
    run = unrolled_trees.run_engine

    def only_trees(engine, *rest):
        return None if isinstance(engine, DiagramSearch) else run(engine, *rest)

    monkeypatch.setattr(unrolled_trees, "run_engine", only_trees)
    monkeypatch.setattr(unrolled_trees, "LARGE", 0)


def test_no_diagram_is_below_the_bound_of_the_trees(monkeypatch):
    optima = [_drawn(seed).solve(tf.DiagramSearch()).objective for seed in range(24)]
    _without_the_first_turn(monkeypatch)
    tight = 0
    for seed, optimum in enumerate(optima):
        question = _drawn(seed).question
        ledger = Ledger(question, Budget(None))
        unrolled_trees.bound_by_trees(Node(ledger, choose(question, SolveOptions())), Budget(None))
        lower = question.to_units(ledger.lower)
        assert lower <= optimum
        tight += lower == optimum
        if ledger.graph is not None:
            assert question.to_units(ledger.upper) >= optimum
        assert _drawn(seed).solve().objective == optimum
    assert tight > 0


def test_the_bound_of_the_trees_is_checked_with_the_certificate(monkeypatch):
    _without_the_first_turn(monkeypatch)
    result = _drawn(5).solve()
    assert any(claim.by == "contree" and "widths" in " ".join(claim.relaxation) for claim in result.claims)
    assert tf.check(result.certificate(), *_table(5)).ok


def test_small_tables_and_deep_diagrams_go_without():
    for shape in (tf.Diagram(1, 2), tf.Diagram(1, 2, 2, 2, 2), tf.Tree(2)):
        problem = tf.Problem(np.arange(12.0)[:, None], np.arange(12) % 2, shape=shape).minimize(tf.Error())
        question = problem.question
        node = Node(Ledger(question, Budget(None)), choose(question, SolveOptions()))
        assert not any("bound diagrams" in stage.name for stage in planned(node))


def test_trees_come_before_diagrams_of_tables_without_room_for_all_tests(monkeypatch):
    """They fit the widths or are pruned to them: all are better than the constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > rng.normal(size=300) / 4).astype(int)
    for widths in ((1, 2), (1, 2, 3), (1, 2, 3, 4, 5)):
        problem = tf.Problem(X, y, shape=tf.Diagram(*widths))
        with monkeypatch.context() as patched:
            patched.setattr(diagram_core, "USUAL_MEMORY", 2000)
            ledger = Ledger(problem.question, Budget(None))
            node = Node(ledger, choose(problem.question, SolveOptions()))
            names = [stage.name for stage in planned(node)]
            assert "deep trees before diagrams" in names and not any("bound diagrams" in name for name in names)
            unrolled_trees.deep_trees(node, Budget(2))
        assert ledger.graph is not None and ledger.graph.depth == len(widths)
        assert ledger.upper < min(sum(y), sum(1 - y))


def test_first_trees_come_before_many_tests_are_listed_as_sets(monkeypatch):
    """They are pruned to the widths, and the search for diagrams still proves the best one."""
    monkeypatch.setattr(unrolled_trees, "MANY_SETS", 4)  # the tables have five tests in each column
    better = 0
    for seed in range(4):
        of, optimum = _drawn(seed), _drawn(seed).solve(tf.DiagramSearch()).objective
        ledger = Ledger(of.question, Budget(None))
        node = Node(ledger, choose(of.question, SolveOptions()))
        assert [stage.name for stage in planned(node)].count("deep trees before diagrams") == 1
        unrolled_trees.deep_trees(node, Budget(None))
        assert ledger.graph is not None and ledger.graph.depth <= of.question.shape.depth
        assert optimum <= of.question.to_units(ledger.upper)
        constant = of.question.data.total_weight - max(np.bincount(of.question.data.y))
        better += of.question.to_units(ledger.upper) < constant
        assert of.solve().objective == optimum
    assert better > 0
