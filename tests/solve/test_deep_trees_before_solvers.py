"""Deep trees under requirements that no engine supports on the table: they are searched before a solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.engines import DeepTreeSearch
from treeform.solve.choice import choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import planned
from treeform.solve.result import USUAL
from treeform.solve.stage.deep_trees import SAMPLES, DeepTrees, first_deep_trees, longer_search
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget


def problem(depth: int, *more: Any) -> tf.Problem:
    """More tests than engines for rules on paths are chosen for; the labels need columns x0 to x3."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] + X[:, 3] > 0.5) ^ (rng.random(400) < 0.05)).astype(int)
    made = tf.Problem(X, y, shape=tf.Tree(depth))
    made += list(more)
    return made


RULES = {
    "below": tf.Below("x0", above="x5"),
    "cost": tf.FeatureCost({f"x{i}": i + 1 for i in range(6)}, at_most=11, per_path=True),
    "thresholds": tf.MaxThresholds("x0", 1),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_deep_trees_are_searched_before_a_solver(rule: tf.Requirement) -> None:
    of = problem(5, rule).question
    ledger = Ledger(of, Budget(60.0))
    node = Node(ledger, choose(of, USUAL))
    names = [stage.name for stage in planned(node)]
    assert names.index("first deep trees") < names.index("relaxed search")
    assert names.index("deep trees for a solver") < names.index("solver")
    constants(of, ledger)
    alone = ledger.upper
    first_deep_trees(node, Budget())
    assert alone is not None and ledger.upper is not None and ledger.upper < 0.6 * alone
    assert ledger.graph is not None and ledger.graph.depth > 3
    assert ledger.judged is not None and ledger.judged.ok and ledger.lower is None
    before = ledger.upper
    longer_search(node, Budget().until(lambda: ledger.upper is not None and ledger.upper < before))
    assert ledger.upper < before


def test_shallow_trees_and_supported_requirements_have_no_such_search() -> None:
    for made in (problem(3, RULES["below"]), problem(5, tf.MinSupport(5)), problem(5, tf.Monotone("x0"))):
        names = [stage.name for stage in planned(Node(Ledger(made.question, Budget()), choose(made.question, USUAL)))]
        assert "deep trees for a solver" not in names




@pytest.mark.parametrize("rule", [tf.FeatureBudget(2), tf.MinRecall("0.7", positive=1)])
def test_a_proof_under_totals_at_depth_three_begins_with_trees_of_that_search(rule: tf.Requirement) -> None:
    for depth, is_first in ((2, False), (3, True)):
        names = [stage.name for stage in problem(depth, rule).explain().stages]
        assert ("first deep trees" in names) is is_first
    assert "first deep trees" not in [stage.name for stage in problem(3).explain().stages]


def test_shallow_trees_on_the_way_to_deep_ones_are_improved_part_by_part() -> None:
    for depth, is_improved in ((3, True), (4, False)):
        of = problem(depth, RULES["cost"]).question
        node = Node(Ledger(of, Budget(60.0)), choose(of, USUAL), brief=True)
        assert ("neighbourhoods" in [stage.name for stage in planned(node)]) == is_improved


def test_prices_are_found_on_some_samples_of_a_large_table_and_then_all_are_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (8 * SAMPLES, 4))
    y, group = (X[:, 0] + X[:, 1] > 8).astype(int), (X[:, 0] > 4) ^ (rng.random(8 * SAMPLES) < 0.2)
    made = tf.Problem(X, y, shape=tf.Tree(3))
    made += tf.StatisticalParity(groups=group.astype(int), difference="0.05", positive=1)
    read: list[int] = []
    answer = DeepTreeSearch.answer
    monkeypatch.setattr(
        DeepTreeSearch, "answer", lambda self, data, *more: read.append(data.n_samples) or answer(self, data, *more)
    )
    ledger = Ledger(made.question, Budget())
    DeepTrees(made.question, ledger).first(Budget())
    alone = read.index(8 * SAMPLES)
    assert alone > 3 and set(read[:alone]) == {SAMPLES} and set(read[alone:]) == {8 * SAMPLES}
    assert ledger.judged is not None and ledger.judged.ok and ledger.graph is not None and ledger.graph.depth > 1
