"""Under a minimum support, or what the search does not know, trees of less depth are searched for as well."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from test_deep_trees_under_totals import question

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.engines.relaxation import relax
from treeform.solve import engines
from treeform.solve.engines import submit_repaired
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve_low_subtrees
from treeform.solve.part_ledger import InnerLedger
from treeform.solve.stage.deep_trees import DOUBLINGS, FIRST_WORK, DeepTrees
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget


@pytest.mark.parametrize(
    ("depth", "more", "smaller"),
    [
        (5, (tf.MinSupport(15),), True),
        (4, (tf.MinSupport(15),), False),
        (5, (tf.Monotone("x0"),), True),
        (5, (), False),
    ],
    ids=["depth five", "depth four", "a requirement over tests", "neither"],
)
def test_where_less_depth_is_searched(depth: int, more: tuple[Any, ...], smaller: bool) -> None:
    of = question(200, 3, depth, *more)
    search = DeepTrees(of, Ledger(of, Budget()))
    search._step(ContinuousTotals(), Budget())
    graph, less = search.ledger.graph, search._less
    assert graph is not None and search.ledger.judged is not None and search.ledger.judged.ok
    assert (less is not None) == smaller
    if less is not None:
        assert less.ledger.graph is not None and less.ledger.graph.depth < depth
        assert less.ledger.upper is not None and search.ledger.upper is not None
        assert search.ledger.upper <= less.ledger.upper


def test_nothing_is_searched_at_less_depth_once_the_answer_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    of = question(200, 3, 5, tf.MinSupport(15))
    search = DeepTrees(of, Ledger(of, Budget()))
    less = search._less
    assert less is not None
    steps: list[int | None] = []

    def closing(_: object, part: Budget) -> None:
        assert not part.stop()  # it has no model yet
        less._seconds += 1
        steps.append(less._turns)
        search.ledger.prove_infeasible("a proof beside it")

    monkeypatch.setattr(less, "_step", closing)
    monkeypatch.setattr(search, "_searched", lambda *_: None)
    search._seconds, search._first, less._first = 100.0, iter(()), iter(())
    search._step(ContinuousTotals(), Budget())
    assert steps == [0]


@pytest.mark.parametrize("moves", [0, 3])
def test_searches_that_end_with_their_first_trees_have_more_work(
    moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = DeepTrees(of := question(200, 3, 5), Ledger(of, Budget()))
    works: list[int] = []

    def searched(prices: object, work: int, *_: object) -> None:
        works.append(work)
        search.moves += moves

    monkeypatch.setattr(search, "_searched", searched)
    search.prices, search._first = [Fraction(1)] * len(search.prices), iter(())
    for _ in range(3):
        search._step(ContinuousTotals(), Budget(1.0))
    assert works == [FIRST_WORK << (0 if moves else DOUBLINGS * turn) for turn in range(3)]


def test_trees_of_less_depth_have_half_as_long_once_there_is_a_model() -> None:
    search = DeepTrees(of := question(200, 3, 5, tf.MinSupport(15)), Ledger(of, Budget()))
    less = search._less
    assert less is not None
    search._seconds = 1e-6
    part = search._part_of(less, Budget())
    assert not part.stop()
    less.first(Budget())
    assert less.ledger.graph is not None and part.stop()


@pytest.mark.parametrize(("own", "other", "seconds"), [(50, 50, 8.0), (50, 40, 1.5)])
def test_a_step_at_less_depth_has_what_that_search_lacks_of_its_share(
    own: int, other: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = DeepTrees(of := question(200, 3, 5, tf.MinSupport(15)), Ledger(of, Budget()))
    less, shares = search._less, []
    assert less is not None
    less.ledger.upper, search.ledger.upper, less._seconds, search._seconds = own, other, 1.0, 3.0
    budget = Budget()
    monkeypatch.setattr(budget, "share", lambda part: shares.append(part) or Budget())
    search._part_of(less, budget)
    assert shares == [seconds]


def test_a_tree_of_less_depth_becomes_as_deep_as_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    of = question(40, 3, 5, tf.MinSupport(4), difference="0.9")
    search = DeepTrees(of, Ledger(of, Budget()))
    stump = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(1)).solve().graph
    submit_repaired(search.ledger, stump, "a stump", Budget())
    before = search.ledger.upper
    monkeypatch.setattr(search, "_searched", lambda *_: None)
    monkeypatch.setattr(search, "_less", None)
    search._first, search._seconds = iter(()), 100.0
    search._step(ContinuousTotals(), Budget())
    assert before is not None and search.ledger.upper is not None and search.ledger.upper < before
    assert search.ledger.graph is not None and search.ledger.graph.depth > 2


def test_low_subtrees_of_a_shallow_tree_are_no_higher_than_small_ones() -> None:
    """With all the depth that is left below a stump they were searches for nearly the whole tree."""
    of = question(40, 3, 5, tf.MinSupport(4), difference="0.9")
    ledger, engine = Ledger(of, Budget()), Mock()
    submit_repaired(ledger, tf.Problem(of.data.X, of.data.y, shape=tf.Tree(1)).solve().graph, "a stump", Budget())
    relaxation = relax(of, ContinuousTotals())
    assert relaxation is not None
    engine.run.return_value.graph = None
    improve_low_subtrees(engine, relaxation, ledger, Budget(), set())
    assert [call.args[1].depth for call in engine.run.call_args_list] == [2, 3]


@pytest.mark.parametrize(("depth", "chain"), [(4, [4]), (5, [5, 4]), (6, [6, 5, 4]), (8, [8, 6, 5, 4])])
def test_depths_go_down_by_halves_to_four(depth: int, chain: list[int]) -> None:
    search = DeepTrees(of := question(200, 3, depth, tf.MinSupport(15)), Ledger(of, Budget()))
    assert [one.question.shape.depth for one in search._by_depth()] == chain


def test_the_least_depth_begins_and_the_whole_one_has_a_tree_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    search = DeepTrees(of := question(200, 3, 6, tf.MinSupport(15)), Ledger(of, Budget()))
    begun: list[int] = []
    whole = Budget()

    def begin(one: DeepTrees, part: Budget, budget: Budget, steps: int) -> None:
        begun.append(one.question.shape.depth)
        assert budget is whole and steps == 1
        part.interrupt()

    monkeypatch.setattr(DeepTrees, "_begin", begin)
    search.first(whole.share(60.0), whole)
    assert begun == [4, 6]


@pytest.mark.parametrize(("less", "best", "times"), [(50, 50, 1 / 3), (51, 50, 1), (60, 50, 4), (None, 50, 4)])
def test_less_depth_has_most_of_the_time_while_it_has_the_best_tree(
    less: int | None, best: int, times: float
) -> None:
    search = DeepTrees(of := question(200, 3, 5, tf.MinSupport(15)), Ledger(of, Budget()))
    assert search._less is not None
    search._less.ledger.upper, search.ledger.upper = less, best
    assert search._share_of(search._less) == times


def test_columns_that_less_depth_leaves_out_are_left_out() -> None:
    search = DeepTrees(of := question(200, 3, 5, tf.FeatureBudget(1)), Ledger(of, Budget()))
    search.first(Budget())
    assert search._less is not None and search._less._left_out
    assert search._less._left_out <= search._left_out


def test_other_labels_are_tried_for_tests_at_fault_only_where_there_is_no_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = question(200, 3, 3, tf.FeatureBudget(1)).with_(requirements=(tf.FeatureBudget(1),))
    tree = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(3)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    ledger, asked = Ledger(of, Budget()), []
    monkeypatch.setattr(engines, "relabel", lambda *_, **__: asked.append(ledger.graph))
    engines.submit_repaired(ledger, tree, "a search", Budget())
    constants(of, ledger)
    inner = InnerLedger(of, ledger)  # it has no model of its own
    for one in (ledger, inner):
        engines.submit_repaired(one, tree, "a search", Budget())
    assert asked == [None] and ledger.graph is not None and inner.graph is None


def test_once_other_columns_are_at_fault_those_of_the_tree_alone_are_left() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    problem = tf.Problem(X, (X.sum(axis=1) + X[:, 0] * X[:, 1] > 0).astype(int), shape=tf.Tree(4))
    problem += tf.FeatureBudget(1)
    search = DeepTrees(problem.question, Ledger(problem.question, Budget()))
    search._leave_out(frozenset({0}))
    search.first(Budget())
    assert len(search._left_out) == 7
