"""Sums to which leaves add something by themselves, and rows of `build` that are such sums."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from graph_cases import Cases, counts_agree, optimum_agrees, priced, under_rules

import treeform as tf
from treeform.certify.left_out import count_alternatives
from treeform.certify.prices import cheapest
from treeform.engines import EngineRun
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.relaxation import relax
from treeform.language.question import Question
from treeform.language.stated_sums import stated_sums
from treeform.language.totals import Totals, joined
from treeform.solve import SolveOptions, Status, solve
from treeform.solve.columns_on_demand import priced_part
from treeform.testing import all_models, brute_force
from treeform.testing.cases import draw_cases
from treeform.utils.budget import Budget


class FewNodes(tf.Requirement):
    """A price for each leaf of class 1 and for each test, of at most so much together."""

    needs: ClassVar[frozenset[str]] = frozenset({"label", "active"})

    def __init__(self, k: int = 2, leaf: int = 1, test: int = 0) -> None:
        self.k, self.leaf, self.test = k, leaf, test

    def build(self, model: tf.Model, ports: Any) -> None:
        used = self.leaf * ports.label[:, 1].sum() + self.test * ports.active.sum()
        model.add(used <= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        leaves = int((graph.label[graph.feature < 0] == 1).sum())
        return max(0, self.leaf * leaves + self.test * sum(1 for _ in graph.tests()) - self.k)


class OtherRow(FewNodes):
    """A row of another form each."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.needs = frozenset(  # type: ignore[misc]
            {"label", "active", "feature", "predicted"}
        )

    def build(self, model: tf.Model, ports: Any) -> None:
        labels, predicted = ports.label[:, 1].sum(), ports.weights @ ports.predicted[:, 1]
        rows = {
            "both sides": [labels <= 2, labels >= 0],
            "first leaf": [ports.label[0, 1] <= 1],
            "leaves not used": [1 - ports.label.sum(axis=1) <= 1],
            "half": [0.5 * labels <= 1],
            "at least": [labels >= 1],
            "with predictions": [3 * labels + predicted <= 7],
            "for most predicted": [4 * predicted >= 3 * labels],
            "two rows": [labels <= 2, ports.feature[:, 0].sum() + labels <= 2.5],
            "first eight leaves": [ports.label[:8, 1].sum() <= 2],
            "first 300 leaves": [ports.label[:300, 1].sum() <= 2],
            "most leaves": [ports.label[:5000, 1].sum() <= 2],
            "rounded": [predicted + labels <= 0.29 * 100],
        }
        if self.form == "seventh leaf":  # fails over fewer leaves
            model.add(ports.label[6, 1] <= 0, self.form)
        for row in rows.get(self.form, []):
            model.add(row, self.form)
        if self.form == "first leaf":
            model.add(ports.label[:, 1].sum() <= model.bool("free") + 2)


def drawn(number: int, seed: int, depth: int = 2) -> Cases:
    def rules(case: Any) -> list[tf.Requirement]:
        rng = np.random.default_rng((seed, case.data.n_samples, int(case.data.X.sum())))
        return [FewNodes(*(int(v) for v in (rng.integers(-1, 4), rng.integers(1, 3), rng.integers(0, 2))))]

    return under_rules(draw_cases(8 * number, seed, (tf.Tree(depth),)), number, rules)


def test_totals_of_a_tree_count_its_leaves() -> None:
    for case, question in drawn(3, 2):
        rule = question.requirements[0]
        totals = stated_sums(rule, case.data, case.shape)
        assert totals is not None
        for tree in all_models(case.data, case.shape):
            if not tree.passes.any():  # a search has none of these
                assert totals.excess(tree, case.data) == rule.violation(tree, case.data)


class LeavesToo(tf.LinearRequirement):
    """Errors, and leaves of class 1."""

    def forms(self, rows: Any) -> Any:
        yield rows.errors() <= 3

    def totals(self, data: tf.Dataset) -> Totals:
        return replace(super().totals(data), per_leaf=np.array([[0], [1]]))


def test_sums_of_leaves_are_no_rows_over_predictions() -> None:
    """Bounds of the Lagrangian relaxation would leave the leaves out."""
    case = next(iter(draw_cases(1, 5, (tf.Tree(2),))))
    assert len(LeavesToo().totals(case.data).rows) == 1
    assert LeavesToo().prediction_rows(case.data) == []


def test_sums_are_joined_with_what_leaves_add() -> None:
    case, _ = drawn(1, 2)[0]
    one, other = (stated_sums(rule, case.data, case.shape) for rule in (FewNodes(2, 1, 1), FewNodes(3, 2)))
    assert one is not None
    assert other is not None
    both = joined([one, other])
    assert both is not None
    for tree in all_models(case.data, case.shape):
        assert both.values(tree, case.data) == [*one.values(tree, case.data), *other.values(tree, case.data)]
        assert both.excess(tree, case.data) == max(t.excess(tree, case.data) for t in (one, other))


@pytest.mark.parametrize(
    ("form", "recognised"),
    [
        ("both sides", False),
        ("first leaf", False),
        ("leaves not used", False),
        ("half", False),
        ("at least", False),
        ("with predictions", True),
        ("for most predicted", True),
        ("two rows", True),
        ("rounded", False),
        ("seventh leaf", False),
    ],
)
def test_which_rows_are_sums(form: str, recognised: bool) -> None:
    for case in draw_cases(4, 5, (tf.Tree(2),)):
        found = stated_sums(OtherRow(form), case.data, case.shape)
        assert (found is not None) is recognised
        if found is None or form != "two rows":
            continue
        assert [row.hi for row in found.rows] == [2, 2]
        assert found.per_leaf is not None
        assert found.per_test is not None
        assert found.per_leaf[1].tolist() == [1, 1]
        assert found.per_test[:, 0].tolist() == [0] * case.data.n_features
        assert found.per_test[:, 1].tolist() == [1, *[0] * (case.data.n_features - 1)]


def test_a_rule_on_some_of_the_leaves_is_no_sum() -> None:
    (case,) = draw_cases(1, 5, (tf.Tree(4),))
    assert stated_sums(OtherRow("first eight leaves"), case.data, case.shape) is None


@pytest.mark.parametrize(("depth", "form"), [(9, "first 300 leaves"), (13, "most leaves")])
def test_a_rule_on_hundreds_of_leaves_is_no_sum(depth: int, form: str) -> None:
    (case,) = draw_cases(1, 5, (tf.Tree(2),))
    assert stated_sums(OtherRow(form), case.data, tf.Tree(depth)) is None


@pytest.mark.parametrize(("depth", "recognised"), [(9, True), (12, True), (13, False)])
def test_a_rule_on_all_leaves_is_a_sum_unless_they_are_too_many(depth: int, recognised: bool) -> None:
    (case,) = draw_cases(1, 5, (tf.Tree(2),))
    found = stated_sums(OtherRow("two rows"), case.data, tf.Tree(depth))
    assert (found is not None) is recognised


def test_a_rule_on_one_of_many_nodes_is_left_to_a_solver() -> None:
    X = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]])
    y = np.array([0, 1, 1, 0])
    problem = tf.Problem(X, y, shape=tf.Tree(3)) + OtherRow("seventh leaf")
    assert priced_part(problem.question).dropped == problem.question.labels  # type: ignore[union-attr]


def optimum_of(case: Any, question: Question, solver: Any) -> Status:
    expected = brute_force(case.data, case.shape, case.goal, question.requirements)
    result = solve(question, SolveOptions(solver))
    stated = (Status.INFEASIBLE, None) if expected is None else (Status.OPTIMAL, expected[0])
    assert (result.status, result.objective) == stated, case.code(*question.requirements)
    return result.status


def test_the_search_for_totals_finds_what_enumeration_finds(nightly: bool) -> None:
    searches = [tf.TotalsSearch(), tf.TotalsSearch(parts=("multipliers",), simd="plain")]
    statuses = [
        optimum_of(case, question, searches[number % 2])
        for number, (case, question) in enumerate(drawn(300 if nightly else 24, 3))
    ]
    assert set(statuses) == {Status.OPTIMAL, Status.INFEASIBLE}


def test_solvers_prove_what_enumeration_finds(nightly: bool) -> None:
    for case, question in drawn(100 if nightly else 8, 4):
        part = priced_part(question)
        assert part is not None
        assert not part.dropped
        optimum_agrees(case, question, "highs")


def test_the_graph_is_that_of_a_search_of_its_own(nightly: bool) -> None:
    def graph_of(question: Question) -> GraphOfTrees:
        part = priced_part(question)
        assert part is not None
        return GraphOfTrees(question.data, part.task, "feature")

    counted = 0
    for case, _, part, trees, at in priced(drawn(120 if nightly else 12, 6), graph_of):
        for reach in (0, 2):
            counted += counts_agree(count_alternatives, case, part.task, trees, at, reach) > 1
    assert counted


Front = frozenset[tuple[int, int, int]]


def front_of(
    X: np.ndarray, y: np.ndarray, rows: frozenset[int], depth: int, known: dict[Any, Front]
) -> Front:
    """Errors, leaves of class 1, and tests of all trees on some rows, but of those that others make needless."""
    if (rows, depth) in known:
        return known[rows, depth]
    positive = sum(int(y[i]) for i in rows)
    found = {(positive, 0, 0), (len(rows) - positive, 1, 0)}
    for f in range(X.shape[1] if depth else 0):
        left = frozenset(i for i in rows if not X[i, f])
        if left and left != rows:
            low, high = (front_of(X, y, side, depth - 1, known) for side in (left, rows - left))
            found |= {(a + d, b + e, c + f + 1) for a, b, c in low for d, e, f in high}
    kept = {
        a for a in found if not any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in found)
    }
    known[rows, depth] = frozenset(kept)
    return known[rows, depth]


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_deeper_searches_find_what_fronts_of_all_trees_hold(depth: int, draw: Any) -> None:
    for seed in draw(range(30), 5):
        rng = np.random.default_rng((depth, seed))
        X, y = rng.integers(0, 2, (14, 5)), rng.integers(0, 2, 14)
        if len(set(y)) < 2:
            continue
        front = front_of(X, y, frozenset(range(14)), depth, {})
        for leaf, test, k in ((1, 0, 2), (1, 0, 3), (2, 1, 6), (0, 1, 5)):
            expected = min(a for a, b, c in front if leaf * b + test * c <= k)
            problem = tf.Problem(X, y, shape=tf.Tree(depth)) + FewNodes(k, leaf, test)
            result = problem.solve(tf.TotalsSearch())
            assert (result.status, result.errors) == (Status.OPTIMAL, expected), (seed, leaf, test, k)


def test_the_search_by_prices_proves_the_optimum_and_nothing_above_it() -> None:
    proved = 0
    for case, question in drawn(12, 9):
        part = relax(question, tf.TotalsSearch())
        assert part is not None
        outcome = tf.TotalsSearch().run(case.data, part.task, EngineRun())
        if outcome.upper is None or outcome.witness is None:
            continue
        hints = outcome.witness["multipliers"], outcome.witness["unit"], Budget()
        assert cheapest(case.data, part.task, outcome.upper, *hints).least is not None
        assert cheapest(case.data, part.task, outcome.upper - 1, *hints).least is None
        proved += 1
    assert proved
