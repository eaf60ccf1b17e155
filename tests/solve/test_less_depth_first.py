"""Where leaves need many rows, or are few, deep trees begin with those of less depth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import treeform as tf
from treeform.engines.relaxation import Relaxation
from treeform.solve import schedule
from treeform.solve.choice import choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import planned
from treeform.solve.result import USUAL
from treeform.solve.stage import engine_search
from treeform.solve.stage.engine_search import less_depth
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget, Share


def node(
    depth: int, support: int, is_binary: bool = False, more: Sequence[tf.Requirement] = ()
) -> Node:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 6)) if is_binary else rng.normal(size=(300, 6))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 0.5) ^ (rng.random(300) < 0.1)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += [tf.MinSupport(support), *more]
    return Node(Ledger(problem.question, Budget(60.0)), choose(problem.question, USUAL))


@pytest.mark.parametrize(("depth", "support", "begins"), [(6, 20, True), (5, 2, True), (4, 20, False), (6, 1, False)])
def test_which_trees_do(depth: int, support: int, begins: bool) -> None:
    assert ("less depth first" in [stage.name for stage in planned(node(depth, support))]) == begins


@pytest.mark.parametrize(
    ("more", "depth", "least"),
    [
        ([tf.MaxLeaves(10)], 6, 4),  # ten leaves have room at depth four
        ([tf.MaxLeaves(17)], 8, 5),
        ([tf.MinSupport(20)], 8, 4),  # 300 samples are fifteen leaves
        ([tf.MinSupport(10)], 8, 5),
        ([tf.MinSupport(2)], 6, 5),  # one level less
        ([tf.MaxLeaves(64)], 6, None),
    ],
)
def test_how_deep_they_are(
    more: list[tf.Requirement], depth: int, least: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, depths = node(depth, 1, more=more), []
    assert ("less depth first" in [stage.name for stage in planned(made)]) == (least is not None)
    monkeypatch.setattr(engine_search, "run_engine", lambda _, part, *__: depths.append(part.task.depth))
    less_depth(made, Budget())
    assert depths == [depth - 1 if least is None else least]


@pytest.mark.parametrize(
    ("depth", "is_binary", "begins"), [(8, True, True), (6, True, True), (5, True, False), (6, False, False)]
)
def test_proofs_of_few_tests_under_what_deep_trees_do_not_know_begin_at_depth_five(
    depth: int, is_binary: bool, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths: list[int] = []
    made = node(depth, 1, is_binary, [tf.MaxTestsPerPath(["x0", "x1"], 1)])
    names = [stage.name for stage in planned(made)]
    assert ("less depth first" in names) == begins and ("exact search" in names) == is_binary
    if begins:
        monkeypatch.setattr(engine_search, "run_engine", lambda _, part, *__: depths.append(part.task.depth))
        less_depth(made, Budget())
        assert depths == [5]


@pytest.mark.parametrize(
    ("is_binary", "more", "depth", "seconds"),
    [
        (True, [tf.MaxLeaves(10)], 8, {4: 10.0, 5: 10.0, 6: 70.0, 7: 70.0}),
        (True, [tf.MinSupport(3)], 8, {6: 10.0, 7: 70.0}),  # 100 leaves have room at depth seven
        (True, [tf.MinSupport(2)], 7, {6: 10.0}),  # 150 leaves have no room there
        (False, [tf.MaxLeaves(10)], 8, {4: 10.0}),
    ],
)
def test_each_greater_depth_follows_on_few_tests(
    is_binary: bool,
    more: list[tf.Requirement],
    depth: int,
    seconds: dict[int, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts: dict[int, float | None] = {}
    known: list[object] = []

    def run(_: object, part: Relaxation, ledger: Ledger, budget: Budget) -> None:
        parts[part.task.depth] = budget.limit
        known.append(ledger.upper)
        constants(ledger.question, ledger)

    monkeypatch.setattr(schedule, "LESS_DEPTH_OF_ALL_LEAVES", Share(0.7, unlimited=70.0))
    monkeypatch.setattr(engine_search, "run_engine", run)
    made = node(depth, 1, is_binary, more)
    less_depth(made, Budget())
    assert parts == seconds
    assert known == [None, *[made.ledger.upper] * (len(parts) - 1)]  # each begins with the model of the one before


@pytest.mark.parametrize(("depth", "depths"), [(5, [4]), (6, [4]), (7, [4, 5])])
def test_no_depth_comes_between_a_proof_and_two_levels_more(
    depth: int, depths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def prove(_: object, part: Relaxation, ledger: Ledger, __: Budget) -> None:
        seen.append(part.task.depth)
        ledger.prove_infeasible("a proof")

    monkeypatch.setattr(engine_search, "run_engine", prove)
    less_depth(node(depth, 1, True, [tf.MaxLeaves(10)]), Budget())
    assert seen == depths


@pytest.mark.parametrize("is_binary", [False, True])
def test_the_tree_of_less_depth_is_a_model_and_its_bound_is_none(is_binary: bool) -> None:
    made = node(5, 40, is_binary)
    ledger = made.ledger
    constants(made.question, ledger)
    alone, before = ledger.upper, ledger.lower
    less_depth(made, Budget())
    best = tf.Problem(made.question.data.X, made.question.data.y, shape=tf.Tree(4))
    best += tf.MinSupport(40)
    assert alone is not None and ledger.upper == best.solve().errors < alone
    assert ledger.lower == before and ledger.graph is not None and ledger.graph.depth <= 4
