"""What judges a model, compared with the driver's own judge on drawn models. Quick: for mutation testing."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import treeform as tf
from treeform.errors import DataError
from treeform.graph import DecisionGraph, evaluate, normalised, routing
from treeform.solve.verification import judge_candidate, misfit, verify
from treeform.testing.differential import Bundle, World, draw_bundle
from treeform.testing.differential.cases import Case
from treeform.testing.differential.judge import judge
from treeform.testing.differential.models import draw_model
from treeform.testing.differential.own import AtLeastTests
from treeform.testing.differential.questions import Goal, holds, tracked
from treeform.testing.differential.reference import Reference
from treeform.testing.differential.shapes import Shape
from treeform.testing.differential.table import Table
from treeform.testing.differential.ways import Way

BUNDLES, MODELS = range(48), 5
FORMS = ({0: 1.0, 1: 1.0}, {0: 1.0, 1: -1.0}, {0: -2.0}, {0: -1.0, 1: 0.5})


@cache
def bundles():
    return [draw_bundle(77, number) for number in BUNDLES]


def reference_of(bundle: Bundle) -> Reference:
    """Over all requirements of the pool; outcomes are not enumerated."""
    follow = tracked(bundle.table, bundle.requirements, depth=True)
    shape = bundle.shape
    return Reference(bundle.table, shape.widths, shape.depth, shape.hyperplanes, follow)


@cache
def drawn():
    """(bundle, world, question, graph): models of all kinds under all requirements of the pool."""
    out = []
    for number, bundle in enumerate(bundles()):
        world, rng = World(bundle), random.Random(number)
        case = Case(bundle.table, bundle.shape, bundle.goals[-1], bundle.requirements, Way())
        try:
            question = world.problem(case).question
        except tf.errors.Infeasible:
            question = world.problem(replace(case, requirements=())).question
            bundle = replace(bundle, requirements=())
        for _ in range(MODELS):
            nodes = draw_model(rng, bundle.table, bundle.shape.depth, bundle.shape.widths)
            if bundle.shape.hyperplanes and world.data.n_features > 1:
                for node in nodes:
                    if "feature" in node and rng.random() < 0.7:
                        del node["feature"]
                        node |= {"weights": rng.choice(FORMS), "threshold": rng.choice((-1.0, 0.0, 0.5, 1.0))}
            out.append((bundle, world, question, DecisionGraph.build(nodes, world.data)))
    return out


def classes_predicted(bundle: Bundle, graph: DecisionGraph) -> list[int]:
    """Of the kept rows, by the driver's own routing."""
    table = bundle.table
    predicted = judge(graph, reference_of(bundle)).outcome.predicted
    n = len(table.points)
    return [
        next(k for k in range(len(table.classes)) if predicted >> k * n + table.point_of[i] & 1)
        for i in table.kept
    ]


def test_evaluation_counts_what_is_predicted():
    for bundle, world, _, graph in drawn():
        table, data = bundle.table, world.data
        guess = classes_predicted(bundle, graph)
        truth = [table.classes.index(table.labels[i]) for i in table.kept]
        wrong = [a != b for a, b in zip(guess, truth, strict=True)]
        weight = [table.weight(i) for i in table.kept]
        assert evaluate.predictions(graph, data).tolist() == guess == graph.predict_codes(data.X).tolist()
        assert evaluate.predictions(graph, data).dtype == np.int64
        assert evaluate.errors(graph, data) == sum(wrong)
        lost = sum((w for w, bad in zip(weight, wrong, strict=True) if bad), Fraction(0))
        assert evaluate.weighted_errors(graph, data) * data.weight_unit == lost
        k = len(table.classes)
        counted = [[0] * k for _ in range(k)]
        weighed = [[Fraction(0)] * k for _ in range(k)]
        for a, b, w in zip(truth, guess, weight, strict=True):
            counted[a][b] += 1
            weighed[a][b] += w
        assert evaluate.confusion(graph, data).tolist() == counted
        table_of_weights = evaluate.confusion(graph, data, weighted=True) * data.weight_unit
        assert table_of_weights.tolist() == weighed
        assert evaluate.confusion(graph, data).dtype == np.int64


def test_members_and_support_follow_the_visits():
    for _, world, _, graph in drawn():
        data = world.data
        visits = graph.route(data.X)
        members = evaluate.members(graph, data)
        assert len(members) == len(graph.feature)
        for node, rows in enumerate(members):
            assert rows.tolist() == np.flatnonzero(visits[:, node]).tolist()
            assert rows.dtype == np.int64
        by_weight = [int(data.weights[rows].sum()) for rows in members]
        assert evaluate.support(graph, data).tolist() == by_weight
        assert evaluate.support(graph, data, weighted=True).tolist() == by_weight
        assert evaluate.support(graph, data, weighted=False).tolist() == [len(rows) for rows in members]
        assert evaluate.support(graph, data).dtype == np.int64


def test_evaluation_refuses_other_data():
    bundle = Bundle(XOR, Shape(2), (), (Goal(),))
    data = World(bundle).data
    graph = DecisionGraph.leaf(0, data)
    other = tf.Dataset.from_user(np.array([[0.0], [1.0]]), [0, 1])
    with pytest.raises(DataError, match=r"^the model and the data have different features") as caught:
        evaluate.members(graph, other)
    assert caught.value.cause == "2 in the model, 1 in the data, or other names"
    assert caught.value.fix == "use the data that the model was fitted on, or graph.predict for new tables"
    renamed = tf.Dataset.from_user(World(bundle).frame, ["x", "y", "y", "x"])
    with pytest.raises(DataError, match=r"^the model and the data have different classes") as caught:
        evaluate.predictions(graph, renamed)
    assert caught.value.cause == "['0', '1'] in the model, ['x', 'y'] in the data"
    assert caught.value.fix == "use data with the same labels"


def own_leaves(bundle: Bundle) -> bool:
    return bundle.shape.widths is None


def test_the_normal_form_is_normal_and_predicts_the_same():
    for bundle, world, _, graph in drawn():
        form = normalised(graph, world.data, own_leaves=own_leaves(bundle))
        before, after = judge(graph, reference_of(bundle)), judge(form, reference_of(bundle))
        assert after.normal, f"{form!r}\n{form}"
        assert after.outcome == before.outcome
        assert (after.misfit is None) == (before.misfit is None)
        assert normalised(form, world.data, own_leaves=own_leaves(bundle)) == form
        assert form.n_nodes == after.outcome.tests
        assert form.depth == after.outcome.depth


def test_admissible_models_are_those_of_the_definition():
    fits = 0
    for bundle, world, question, graph in drawn():
        form = normalised(graph, world.data, own_leaves=own_leaves(bundle))
        expected = judge(form, reference_of(bundle)).misfit
        found = misfit(form, question.shape, world.data)
        assert (found is None) == (expected is None), (found, expected, form.to_text())
        fits += found is None
        assert verify(question, form).misfit == found
    assert len(drawn()) // 4 < fits < len(drawn())  # both kinds are there


def test_candidates_are_accepted_exactly_when_a_form_of_theirs_is_admissible():
    accepted = 0
    for bundle, world, question, graph in drawn():
        reference = reference_of(bundle)
        forms = [judge(graph, reference), judge(graph.simplified(world.data), reference)]
        good = [
            f
            for f in forms
            if f.misfit is None and all(holds(s, f.outcome, reference) for s in bundle.requirements)
        ]
        kept, judged = judge_candidate(question, graph)
        assert judged.ok == bool(good), (graph.to_text(), bundle.requirements, judged)
        accepted += judged.ok
        own = judge(kept, reference)
        assert own.normal
        assert Fraction(judged.value, question.scale) == bundle.goals[-1].value(own.outcome, reference)
        assert verify(question, kept) == judged
        for spec, violation in zip(bundle.requirements, judged.violations.values(), strict=True):
            assert (violation == 0) == holds(spec, own.outcome, reference), spec
            assert violation >= 0
        assert list(judged.violations) == list(question.labels)
        if good:
            least = min(bundle.goals[-1].value(f.outcome, reference) for f in good)
            assert Fraction(judged.value, question.scale) == least
    assert accepted > 20


XOR = Table({"a": (0, 0, 1, 1), "b": (0, 1, 0, 1)}, (0, 1, 1, 0))
LEAVES = [{"label": 0}, {"label": 1}]


def xor_graph(nodes) -> tuple[DecisionGraph, tf.Dataset]:
    data = World(Bundle(XOR, Shape(2), (), (Goal(),))).data
    return DecisionGraph.build(nodes, data), data


def test_sentences_of_misfits():
    two = [
        {"feature": 0, "threshold": 0.5, "left": 1, "right": 2},
        {"feature": 1, "threshold": 0.5, "left": 3, "right": 4},
        {"feature": 1, "threshold": 0.5, "left": 4, "right": 3},
        *LEAVES,
    ]
    graph, data = xor_graph(two)
    assert misfit(graph, tf.Tree(2), data) is None
    assert misfit(graph, tf.Tree(1), data) == "depth 2 exceeds 1"
    assert misfit(graph, tf.Diagram(1, 2), data) is None
    assert misfit(graph, tf.Diagram(1, 2, 1), data) is None
    assert misfit(graph, tf.Diagram(1, 1), data) == "layer 1 has 2 tests and the skeleton allows 1"
    chain, _ = xor_graph(
        [
            {"feature": 0, "threshold": 0.5, "left": 1, "right": 2},
            {"feature": 1, "threshold": 0.5, "left": 2, "right": 3},
            {"feature": 1, "threshold": 0.5, "left": 4, "right": 3},
            *LEAVES,
        ]
    )
    assert misfit(chain, tf.Diagram(1, 2, 2), data) == "test 2 is reached at two depths, so it has no layer"
    assert misfit(chain, tf.Tree(3), data) == "two branches share test 2, so it is not a tree"
    leaf = DecisionGraph.leaf(1, data)
    for shape in (tf.Tree(1), tf.Diagram(1), tf.Tree(1, "multivariate")):
        assert misfit(leaf, shape, data) is None
    both, _ = xor_graph([{"feature": 0, "threshold": 0.5, "left": 1, "right": 2}, LEAVES[0], LEAVES[0]])
    assert misfit(both, tf.Tree(1), data) is None
    assert (
        misfit(both, tf.Diagram(1), data)
        == "both arcs of test 0 lead to one node, and it is not a pass-through"
    )
    away, _ = xor_graph([{"feature": 0, "threshold": 9.0, "left": 1, "right": 2}, *LEAVES])
    assert (
        misfit(away, tf.Tree(1), data) == "all samples leave test 0 by one side, and it is not a pass-through"
    )
    assert misfit(away, tf.Tree(1)) is None
    away, _ = xor_graph([{"feature": 0, "threshold": -9.0, "left": 1, "right": 2}, *LEAVES])
    assert (
        misfit(away, tf.Diagram(1), data)
        == "all samples leave test 0 by one side, and it is not a pass-through"
    )


def test_pass_throughs_and_forms_in_univariate_shapes():
    graph, data = xor_graph([{"pass": 1}, {"feature": 0, "threshold": 0.5, "left": 2, "right": 3}, *LEAVES])
    assert misfit(graph, tf.Tree(2), data) is None
    assert misfit(graph, tf.Diagram(1, 1), data) is None
    assert misfit(graph, tf.Tree(1), data) == "depth 2 exceeds 1"
    form, _ = xor_graph([{"weights": {0: 1.0, 1: 1.0}, "threshold": 0.5, "left": 1, "right": 2}, *LEAVES])
    sentence = "it tests weighted sums of features, and the shape asks for univariate tests"
    assert misfit(form, tf.Tree(1), data) == sentence
    assert misfit(form, tf.Diagram(1), data) == sentence
    assert misfit(form, tf.Tree(1, "multivariate"), data) is None


@pytest.mark.parametrize(("gap", "wide"), [(9.0e-5, False), (9.6e-5, False), (9.8e-5, True), (2e-4, True)])
@pytest.mark.parametrize("multivariate", [False, True])
def test_margins_are_measured_over_the_ranges_of_the_data(gap, wide, multivariate):
    X = np.array([[0.0, 0.0], [0.5, 3.0], [0.5 + gap, 0.0], [1.0, 3.0]])
    data = tf.Dataset.from_user(X, [0, 0, 1, 1])
    test = (
        {"weights": {0: 2.0, 1: 0.0}, "threshold": 2 * 0.5}
        if multivariate
        else {"feature": 0, "threshold": 0.5}
    )
    graph = DecisionGraph.build([{**test, "left": 1, "right": 2}, *LEAVES], data)
    found = misfit(graph, tf.Tree(1, "multivariate"), data)
    assert (found is None) == wide
    if not wide:
        assert "the sides of test 0 are" in found and "apart, less than the margin 0.0001" in found
        assert f"{gap:.2g}" in found
    if not multivariate:
        assert misfit(graph, tf.Tree(1), data) is None  # margins are of hyperplanes only


def test_margins_count_at_the_samples_that_reach_the_test():
    # Over all samples the second test has no margin, over those that reach it a wide one.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.00001], [1.0, 0.5]])
    data = tf.Dataset.from_user(X, [0, 1, 0, 0])
    second = {"feature": 1, "threshold": 0.000005, "left": 2, "right": 3}
    first = {"feature": 0, "threshold": 0.5, "left": 1, "right": 2}
    graph = DecisionGraph.build([first, second, *LEAVES], data)
    assert misfit(graph, tf.Tree(2, "multivariate"), data) is None
    turned = DecisionGraph.build(
        [{**second, "left": 2, "right": 1}, {**first, "left": 2, "right": 3}, *LEAVES], data
    )
    assert "test 0" in misfit(turned, tf.Tree(2, "multivariate"), data)


def test_a_scale_that_leaves_a_fraction_is_a_bug():
    data = World(Bundle(XOR, Shape(2), (), (Goal(),))).data
    halves = replace(drawn()[0][2], data=data, objective=tf.Error() * Fraction(1, 2), requirements=())
    halves.__dict__["scale"] = 1
    one_wrong = [
        {"feature": 0, "threshold": 0.5, "left": 1, "right": 2},
        {"feature": 1, "threshold": 0.5, "left": 2, "right": 3},
    ]
    graph = DecisionGraph.build([*one_wrong, *LEAVES], data)
    assert evaluate.errors(graph, data) == 1
    with pytest.raises(AssertionError, match=r"^objective scale 1 leaves 1/2: Objective.scale is wrong$"):
        verify(halves, graph)


def question(shape, *requirements, goal="error"):
    problem = tf.Problem(World(Bundle(XOR, Shape(2), (), (Goal(),))).data, None, shape=shape)
    problem.minimize(goal)
    problem += list(requirements)
    return problem.question


def test_verification_looks_at_the_samples():
    away, _ = xor_graph([{"feature": 0, "threshold": 9.0, "left": 1, "right": 2}, *LEAVES])
    assert not verify(question(tf.Tree(1)), away).ok
    kept, judged = judge_candidate(question(tf.Tree(1)), away)
    assert judged.ok and kept.n_nodes == 0


def test_tests_are_kept_where_the_layers_need_them():
    nodes = [
        {"pass": 1},
        {"feature": 0, "threshold": 0.5, "left": 2, "right": 3},
        {"feature": 1, "threshold": 0.5, "left": 4, "right": 5},
        {"feature": 1, "threshold": 0.5, "left": 5, "right": 4},
        *LEAVES,
    ]
    graph, _ = xor_graph(nodes)
    narrow = question("diagram:1,1,2", goal="error + 1/10*nodes")
    kept, judged = judge_candidate(narrow, graph)
    assert judged.ok and kept.n_nodes == 4 and Fraction(judged.value, narrow.scale) == Fraction(2, 5)
    wide = question("diagram:1,2,2", goal="error + 1/10*nodes")
    kept, judged = judge_candidate(wide, graph)
    assert judged.ok and kept.n_nodes == 3
    # The side of a pass-through is empty.
    _, judged = judge_candidate(question("diagram:1,1,2", tf.MinSupport(1)), graph)
    assert not judged.ok


def test_trees_keep_tests_with_two_leaves_of_one_class_where_tests_are_asked_for():
    graph, data = xor_graph([{"feature": 0, "threshold": 0.5, "left": 1, "right": 2}, LEAVES[0], LEAVES[0]])
    asked = question("tree:2", AtLeastTests(1), tf.MinSupport(2))
    kept, judged = judge_candidate(asked, graph)
    assert judged.ok and kept.n_nodes == 1 and not kept.tests()[0].passes
    kept, judged = judge_candidate(question("diagram:1", AtLeastTests(1)), graph)
    assert judged.ok and kept.n_nodes == 1 and kept.tests()[0].passes
    assert not judge_candidate(question("diagram:1", AtLeastTests(1), tf.MinSupport(1)), graph)[1].ok
    assert normalised(graph, data).tests()[0].passes  # one terminal per class, if nothing else is asked for


def test_shared_tests_on_the_first_feature_are_seen():
    nodes = [
        {"feature": 1, "threshold": 0.5, "left": 1, "right": 1},
        {"feature": 0, "threshold": 0.5, "left": 2, "right": 3},
        *LEAVES,
    ]
    graph, _ = xor_graph(nodes)
    assert misfit(graph, tf.Tree(2)) == "two branches share test 1, so it is not a tree"


def test_margins_of_data_that_do_not_begin_at_zero():
    X = np.array([[5.0, -9.0], [5.5, -8.0], [5.50012, -9.0], [6.0, -6.0]])
    data = tf.Dataset.from_user(X, [0, 0, 1, 1])
    narrow = {"feature": 0, "threshold": 5.50005, "left": 1, "right": 2}
    graph = DecisionGraph.build([narrow, *LEAVES], data)
    assert misfit(graph, tf.Tree(1, "multivariate"), data) is None
    X[2, 0] = 5.50008
    data = tf.Dataset.from_user(X, [0, 0, 1, 1])
    for nodes in ([narrow, *LEAVES], [{"pass": 1}, {**narrow, "left": 2, "right": 3}, *LEAVES]):
        graph = DecisionGraph.build(nodes, data)
        assert "less than the margin" in misfit(graph, tf.Tree(2, "multivariate"), data)


def test_counts_and_sides_by_node():
    for bundle, world, _, graph in drawn():
        data = world.data
        members = evaluate.members(graph, data)
        counted = [
            [
                int(data.weights[rows][data.y[rows] == k].sum()) * data.weight_unit
                for k in range(data.n_classes)
            ]
            for rows in members
        ]
        assert graph.counts.tolist() == counted, bundle
        left = routing.goes_left(graph, data.X)
        assert left.shape == (data.n_samples, len(graph.feature))
        matrix = graph.tested(data.X)
        for node, feature in enumerate(graph.feature.tolist()):
            expected = (
                matrix[:, feature] <= graph.threshold[node]
                if feature >= 0
                else np.zeros(data.n_samples, bool)
            )
            assert left[:, node].tolist() == expected.tolist()


def test_nodes_that_no_arc_leads_to_have_no_members():
    data = World(Bundle(XOR, Shape(2), (), (Goal(),))).data
    nan = np.nan
    graph = DecisionGraph.from_arrays(
        [0, 1, -1, -1], [0.5, 0.5, nan, nan], [2, 2, -1, -1], [3, 3, -1, -1], [-1, -1, 0, 1], data
    )
    assert [rows.tolist() for rows in evaluate.members(graph, data)] == [[0, 1, 2, 3], [], [0, 1], [2, 3]]
    assert misfit(graph, tf.Tree(2), data) == "no arc leads to test 1"
    assert evaluate.support(graph, data).tolist() == [4, 0, 2, 2]
    with_leaf = normalised(DecisionGraph.leaf(1, data), data)
    assert with_leaf.label.tolist() == [1] and with_leaf.counts.tolist() == [[2, 2]]
