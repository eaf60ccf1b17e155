"""Deep trees of objectives that pay for what a model lacks: the order of their parts, and all of it demanded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paid_for import BUDGET, SUPPORT, parity, problem

import treeform as tf
from treeform.certify.certificate import sign
from treeform.certify.verdicts import Verdict
from treeform.language.question import Question
from treeform.objectives.soft import demanded
from treeform.solve import schedule
from treeform.solve.choice import choose
from treeform.solve.driver import _searched
from treeform.solve.in_parts import CaseByCase, parts_of_claim, search_in_parts
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.part_ledger import InnerLedger
from treeform.solve.pipeline import planned, search
from treeform.solve.result import USUAL
from treeform.solve.stage.deep_trees import longer_search
from treeform.solve.stage.engine_search import its_share
from treeform.solve.stage.given_models import constants
from treeform.solve.stage.steps import first_parts, in_parts, paid_for, share_of_paid_for
from treeform.utils.budget import Budget


def searched(of: Question, ledger: Ledger, graph: tf.DecisionGraph | None = None) -> list[tuple[Any, float]]:
    """The requirements and the seconds of each part; the first one finds a model."""
    parts: list[tuple[Any, float]] = []

    def search(one: Question, claims: Ledger) -> None:
        if graph is not None and not parts:
            claims.submit(graph, "a test")
        assert claims.budget.limit is not None
        parts.append((one.requirements, claims.budget.limit))

    search_in_parts(of, ledger, search)
    return parts


def test_the_first_part_lacks_nothing_and_has_half_of_the_time() -> None:
    of = problem(parity()).question
    first, unpaid, *others = searched(of, Ledger(of, Budget(1000.0)))
    assert [one.name for one in first[0]] == ["statistical_parity"]
    assert 490 < first[1] <= 500
    assert unpaid[0] == ()
    assert len(others) == 2 and all(one.name == "largest_excess" for rules, _ in others for one in rules)


def test_after_it_trees_may_lack_what_they_like_and_a_better_one_is_the_answer() -> None:
    of = problem(parity()).question
    graph = tf.DecisionGraph.from_nested((0, 0.0, (1, 0.0, 1, 0), (1, 0.0, 0, 1)), of.data)
    ledger = Ledger(of, Budget(1000.0))
    constants(of, ledger)
    before = ledger.upper
    steps: list[tuple[str, float]] = []

    def search(one: Question, claims: Ledger) -> None:
        assert claims.budget.limit is not None
        if not one.requirements:
            assert str(one.objective) == "error"
            claims.submit(graph, "a test")
        steps.append((",".join(rule.name for rule in one.requirements), claims.budget.limit))

    search_in_parts(of, ledger, search)
    assert steps[1][0] == "" and 480 < steps[1][1] <= 490  # the first part took no time here
    assert ledger.graph == graph and ledger.upper is not None and before is not None and ledger.upper < before


@pytest.mark.parametrize(("seconds", "depth"), [(None, 5), (1000.0, 3)])
def test_without_a_limit_and_where_parts_are_proved_soon_there_are_parts_alone(
    seconds: float | None, depth: int
) -> None:
    of = problem(parity()).question
    of = of.with_(shape=of.shape.at_depth(depth))
    asked: list[int] = []
    search_in_parts(of, Ledger(of, Budget(seconds)), lambda one, _: asked.append(len(one.requirements)))
    assert asked == [1, 1, 1]


def test_a_part_that_had_too_little_time_has_what_the_others_left() -> None:
    of = problem(parity()).question
    ledger = Ledger(of, Budget(1000.0))
    constants(of, ledger)
    parts: list[tuple[str, float]] = []

    def search(one: Question, claims: Ledger) -> tf.Limit | None:
        assert claims.most is not None and claims.budget.limit is not None
        if not one.requirements:
            return None  # trees that may lack what they like
        parts.append((one.requirements[0].name, claims.budget.limit))
        if len(parts) == 1:
            return tf.Limit.TIME
        claims.prove_lower(claims.most + 1, "a test")
        return None

    search_in_parts(of, ledger, search)
    assert [name for name, _ in parts] == [
        "statistical_parity",
        "largest_excess",
        "largest_excess",
        "statistical_parity",
    ]
    assert parts[-1][1] > 900 and ledger.closed


class Parts:
    """In place of all stages: parts in order, with whether they are for a proof alone; some of them are answered."""

    def __init__(self, *answered: bool) -> None:
        self.answered = list(answered)
        self.asked: list[tuple[str, bool]] = []
        self.seconds: list[float | None] = []

    def __call__(self, step: Node) -> None:
        if not step.question.requirements:
            return  # trees that may lack what they like
        self.asked.append((step.title.split()[1], step.brief))
        self.seconds.append(step.ledger.budget.limit)
        claims = step.ledger
        if self.answered.pop(0):
            assert claims.most is not None
            claims.prove_lower(claims.most + 1, "a test")
        else:
            step.limit = tf.Limit.TIME


def begun(of: Question) -> Node:
    """With a model without a test."""
    node = Node(Ledger(of, Budget(1000.0)), choose(of, USUAL))
    constants(of, node.ledger)
    return node


def test_parts_are_tried_for_as_long_as_each_is_answered_and_answers_are_kept() -> None:
    node, stages = begun(problem(parity()).question), Parts(True, False, True, True)
    assert first_parts(stages)(node, node.budget) is tf.Limit.TIME
    assert stages.asked == [("3", True), ("1", True)]
    assert share_of_paid_for(node) == schedule.PAID_FOR
    in_parts(stages)(node, node.budget)
    assert stages.asked[2:] == [("1", False), ("2", False)] and node.closed


@pytest.mark.parametrize(
    ("few_tests", "rows", "depth", "share"),
    [(True, 400, 5, 0.6), (False, 400, 5, 0.04), (False, 400, 4, 0.1), (False, 300, 4, 0.6)],
)
def test_parts_have_most_of_the_time_where_they_are_often_answered(
    few_tests: bool, rows: int, depth: int, share: float
) -> None:
    """Six columns of 300 rows are 1,794 tests, of 400 rows 2,394."""
    of = problem(parity(rows), rows=rows, few_tests=few_tests).question
    node, stages = begun(of.with_(shape=of.shape.at_depth(depth))), Parts(False)
    first_parts(stages)(node, node.budget)
    assert stages.seconds == pytest.approx([1000 * share], rel=0.1)


class FirstUnpaid(Parts):
    """Of the question without what is paid for it proves so much below the best model, in its scaled units."""

    def __init__(self, below: int) -> None:
        super().__init__(False)
        self.below = below

    def __call__(self, step: Node) -> None:
        if step.title == "unpaid":
            assert step.ledger.upper is not None
            step.ledger.prove_lower(step.ledger.upper - self.below, "a test")
        super().__call__(step)


def test_what_is_proved_without_what_is_paid_for_is_a_bound() -> None:
    of = problem(parity(), few_tests=True).question
    node, stages = begun(of), FirstUnpaid(20)
    first_parts(stages)(node, node.budget)
    assert node.ledger.upper is not None and node.ledger.lower is not None
    assert of.to_units(node.ledger.upper) - of.to_units(node.ledger.lower) == 20
    claim = next(one for one in node.ledger.claims if one.kind == "lower")
    value = of.to_units(node.ledger.lower)
    parts = parts_of_claim(of, value, claim.recheck or {})
    assert parts is not None and [part.target for part in parts] == [value]
    assert not parts[0].question.requirements and str(parts[0].question.objective) == "error"


@pytest.mark.parametrize(("below", "asked", "share"), [(0, [], 0), (1, [("3", True)], 1), (20, [("3", True)], 0.6)])
def test_parts_have_all_of_the_time_where_that_bound_leaves_no_much_better_model(
    below: int, asked: list[tuple[str, bool]], share: float
) -> None:
    node, stages = begun(problem(parity(), few_tests=True).question), FirstUnpaid(below)
    first_parts(stages)(node, node.budget)
    assert stages.asked == asked and node.closed == (below == 0)
    assert stages.seconds == pytest.approx([1000 * share] if asked else [], rel=0.1)


def test_a_bound_of_what_is_not_paid_for_is_proved_again() -> None:
    groups = np.arange(400) % 2
    asked = problem(tf.StatisticalParity(groups=groups, difference="0.9", positive=1), few_tests=True)
    result = asked.solve(time_limit=1000)
    certificate = result.certificate()
    assert result.status is tf.Status.OPTIMAL and '"unpaid": true' in json.dumps(certificate)
    data = asked.question.data
    report = tf.check(certificate, data.X, data.classes[data.y], sensitive_features=groups)
    assert report.ok and report.verdict is Verdict.VERIFIED


def test_a_true_bound_that_says_it_is_of_what_is_not_paid_for_is_not_called_false() -> None:
    column = np.random.default_rng(0).integers(0, 2, 60)
    paid = tf.StatisticalParity(groups=column, difference="0.1", positive=1).soft(60)
    asked = tf.Problem(column[:, None], column, shape=tf.Tree(2)).minimize(tf.Error() + paid)
    result = asked.solve()
    assert result.status is tf.Status.OPTIMAL and result.objective > 0
    certificate = json.loads(json.dumps(result.certificate()))
    for claim in certificate["claims"]:
        if claim["kind"] == "lower":
            claim["metadata"]["details"] = {"unpaid": True}
    report = tf.check(sign(certificate), column[:, None], column, sensitive_features=column)
    assert Verdict.FALSE not in {row.verdict for row in report.rows} and report.verdict is not Verdict.VERIFIED


def test_trees_have_all_of_the_time_where_the_first_part_is_not_answered() -> None:
    node, stages = begun(problem(parity()).question), Parts(False)
    first_parts(stages)(node, node.budget)
    assert stages.asked == [("3", True)]
    assert share_of_paid_for(node) is None


def test_a_part_that_is_tried_has_all_of_its_time_for_the_proof() -> None:
    of = demanded(problem(parity()).question)
    assert of is not None
    node = Node(Ledger(of, Budget(60.0)), choose(of, USUAL))
    assert its_share(node) is not None
    assert its_share(replace(node, brief=True)) is None


def test_what_is_proved_of_all_of_it_demanded_answers_that_part() -> None:
    of = problem(parity()).question
    of = of.with_(shape=of.shape.at_depth(3))
    node, stages = begun(of), Parts(True, True)

    def proves(step: Node) -> None:
        if step.title == "all of it demanded":
            constants(step.question, step.ledger)
            step.ledger.prove_lower(step.ledger.upper, "a test")

    assert "first parts of the objective" not in [stage.name for stage in planned(node)]
    paid_for(proves)(node, node.budget)
    node.parts.search = lambda part, claims: stages(Node(claims, node.plan, title=claims.title))
    node.parts.run()
    assert [number for number, _ in stages.asked] == ["1", "2"] and node.closed


def test_what_is_proved_of_more_than_a_part_demands_answers_no_part() -> None:
    """A support is paid for in each part, so its models may have less than where a support is demanded."""
    of = problem(parity(), SUPPORT).question
    whole, ledger = demanded(of), Ledger(of, Budget(1000.0))
    assert whole is not None
    parts, claims = CaseByCase(of, ledger, lambda *_: None), InnerLedger(whole, ledger)
    constants(whole, claims)
    assert claims.upper is not None
    claims.prove_lower(claims.upper, "a test")
    parts.take(claims)
    assert claims.closed and not parts.has_answers


def test_the_note_on_parts_repeats_no_codes_of_groups() -> None:
    (note,) = [note for note in choose(problem(parity()).question, USUAL).notes if "in parts" in note]
    assert len(note) < 100


def test_columns_are_paid_for_at_first_and_then_tests_read_fewer_than_the_model_in_hand() -> None:
    of = problem(BUDGET).question
    graph = tf.DecisionGraph.from_nested((0, 0.0, (1, 0.0, 1, 0), (2, 0.0, 0, 1)), of.data)
    parts = searched(of, Ledger(of, Budget(1000.0)), graph)
    assert parts[0][0] == () and 490 < parts[0][1] <= 500
    most = [rules[0].at_most for rules, _ in parts[1:]]
    assert most[:2] == [2, 1] and sorted(most) == list(range(1, 6))


@pytest.mark.parametrize(("price", "is_searched"), [(1000, False), (5, True)])
def test_a_price_on_each_test_is_no_help_where_one_costs_more_than_the_best_model(
    price: int, is_searched: bool
) -> None:
    of = problem(tf.MaxNodes(3), price=price).question
    ledger = Ledger(of, Budget(1000.0))
    constants(of, ledger)
    titles: list[str] = []
    search_in_parts(of, ledger, lambda _, claims: titles.append(claims.title))  # type: ignore[attr-defined]
    assert any(title.startswith("price") for title in titles) == is_searched
    assert any(title.startswith("part") for title in titles)


def test_a_part_has_its_usual_engine_unless_one_was_named() -> None:
    of = problem(BUDGET).question
    asked = choose(of, USUAL)
    assert asked.engine is not None and asked.engine.name == "continuous-totals"
    for solver, name in ((None, "contree"), (tf.ContinuousTotals(), "continuous-totals")):
        first: list[str] = []

        def search(step: Node, first: list[str] = first) -> None:
            assert step.plan.engine is not None
            first.append(step.plan.engine.name)

        options = replace(USUAL, solver=solver)
        node = Node(Ledger(of, Budget()), choose(of, options), options)
        in_parts(search)(node, node.budget)
        assert first[0] == name and first[-1] == "continuous-totals"


@pytest.mark.parametrize("is_sum", [False, True])
def test_before_a_solver_trees_are_searched_that_lack_little(is_sum: bool) -> None:
    of = problem(*([SUPPORT] if is_sum else [parity(), SUPPORT])).question
    assert of.objective.is_sum == is_sum
    ledger = Ledger(of, Budget(60.0))
    node = Node(ledger, choose(of, USUAL))
    names = [stage.name for stage in planned(node)]
    assert names.index("what is paid for") < names.index("relaxed search") < names.index("solver")
    constants(of, ledger)
    alone = ledger.upper
    assert alone is not None

    def found() -> bool:
        return ledger.upper is not None and ledger.upper < 0.8 * alone

    paid_for(search)(node, Budget().until(found))
    assert found() and ledger.graph is not None and ledger.graph.depth > 2 and ledger.lower is None


class Search:
    """In place of all stages: the searches in order, each of which finds the graphs of its title, one each time."""

    def __init__(self, node: Node, **graphs: list[tf.DecisionGraph]) -> None:
        self.node, self.graphs, self.steps = node, graphs, []
        self.over: list[bool] = []
        """Whether each has to stop with what it found."""
        paid_for(self)(node, node.budget)

    def __call__(self, step: Node) -> None:
        self.steps.append(step)
        step.note("a note of the search")
        if found := self.graphs.get(step.title.split()[0]):
            step.ledger.submit(found.pop(0), "a test")
        self.over.append(step.budget.stop())


def test_what_is_paid_for_is_demanded_of_the_engine_that_supports_it_and_of_no_solver() -> None:
    of = problem(SUPPORT).question
    node = Node(Ledger(of, Budget(60.0)), choose(of, USUAL))
    assert node.plan.engine is None
    unpaid, step, last = Search(node).steps
    assert last is unpaid and unpaid.question.requirements == () and str(unpaid.question.objective) == "error"
    assert step.plan.engine is not None and step.plan.engine.name == "contree"
    assert not step.plan.is_stated
    assert [one.name for one in step.question.requirements] == ["min_support"]
    assert str(step.question.objective) == "error"
    assert node.ledger.notes == ["a note of the search"]


def supported(of: Question) -> tuple[tf.DecisionGraph, tf.DecisionGraph, tf.DecisionGraph]:
    """Trees in order of what they cost; the first one has a leaf of fewer rows than are demanded."""
    stumps = [tf.DecisionGraph.from_nested((0, t, 0, 1), of.data) for t in np.linspace(-2.0, 2.0, 41)]
    stumps.sort(key=lambda graph: of.objective.evaluate(graph, of.data))
    few = next(one for one in stumps if SUPPORT.violation(one, of.data))
    enough = [one for one in stumps if not SUPPORT.violation(one, of.data)]
    return few, enough[0], enough[-1]


class Over:
    """In place of a share: a part of the time that is over at once."""

    @staticmethod
    def of(budget: Budget) -> Budget:
        part = budget.share(None)
        part.interrupt()
        return part


@pytest.mark.parametrize("is_cheaper", [False, True])
def test_the_search_with_all_demanded_goes_on_unless_a_trial_without_has_a_cheaper_model(
    is_cheaper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "TRIAL", Over)
    of = problem(SUPPORT).question
    node = Node(Ledger(of, Budget(60.0)), choose(of, USUAL))
    few, good, bad = supported(of)
    without, all_of_it = (few, bad) if is_cheaper else (bad, good)
    made = Search(node, unpaid=[without, without], all=[all_of_it])
    assert [step.title for step in made.steps] == ["unpaid", "all of it demanded", "unpaid"]
    assert made.over[1] == is_cheaper
    assert node.ledger.graph == (few if is_cheaper else good)


@pytest.mark.parametrize(
    ("is_short", "support", "price", "is_over"),
    [
        (True, 20, 5, False),  # a tree that pays nothing
        (True, 150, "1/1000", False),  # next to nothing
        (True, 150, "1/10", True),
        (False, 150, "1/10", False),
        (False, 150, 5, True),  # more than without a test
    ],
)
def test_a_trial_without_what_is_paid_goes_on_while_its_best_tree_pays_little_and_not_for_dearer_ones(
    is_short: bool, support: int, price: Any, is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_short:
        monkeypatch.setattr(schedule, "TRIAL", Over)
    of = problem(tf.MinSupport(support), price=price).question
    node = begun(of)
    graph = tf.DecisionGraph.from_nested((0, 0.0, (1, 0.0, 1, 0), (1, 0.0, 0, 1)), of.data)
    made = Search(node, unpaid=[graph, graph])
    assert made.steps[0].title == "unpaid" and made.over[0] == is_over


@pytest.mark.parametrize("is_of_all", [False, True])
def test_nothing_is_searched_for_once_the_best_model_is_proved_to_be_the_best(is_of_all: bool) -> None:
    of = problem(SUPPORT).question
    node = Node(Ledger(of, Budget(60.0)), choose(of, USUAL))
    _, good, _ = supported(of)

    class Proving(Search):
        def __call__(self, step: Node) -> None:
            super().__call__(step)
            claims = node.ledger if is_of_all else step.ledger
            assert claims.upper is not None
            claims.prove_lower(claims.upper, "a test")

    assert [step.title for step in Proving(node, unpaid=[good]).steps] == ["unpaid"]


def test_the_search_before_a_solver_counts_what_it_does() -> None:
    of = problem(SUPPORT).question
    ledger = Ledger(of, Budget(60.0))
    node = Node(ledger, choose(of, USUAL))
    longer_search(node, Budget().until(lambda: ledger.graph is not None))
    assert ledger.did["trees"] >= ledger.did["searches"] > 0
    (note,) = _searched(ledger)
    assert note.startswith("improvement search under requirements: ")


def test_nothing_is_demanded_where_nothing_is_paid_for() -> None:
    assert demanded(problem().question) is None
