"""Multivariate splits: the formulations against enumeration, and tests in the user's units."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from layered_reference import random_data
from test_odd import agree

import treeform as tf
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.odd import ODD, MultivariateSplits, PaperODD, SymmetryBreaking, UnivariateSplits
from treeform.formulations.odd.separate import Cube, widest
from treeform.formulations.odd.starts import grown
from treeform.language.objective import Objective
from treeform.shape import MARGIN
from treeform.solve import misfit
from treeform.testing import brute_force

SOLVERS = {"highs": tf.HiGHS, "scip": lambda: tf.MathOpt("scip")}


def sample(seed: int) -> Dataset:
    return random_data(seed, n=6, n_classes=2 + seed % 2)


@cache
def optimum(seed: int, price: Fraction) -> Fraction:
    """The least errors plus ``price`` per test of trees of depth 2 with hyperplanes, by enumeration."""
    data = sample(seed)
    cube, weights = Cube.of(data), data.points.weights.tolist()
    n = data.points.n_points

    @cache
    def parts(group: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        out = []
        for rest in product((False, True), repeat=len(group) - 1):
            left = np.array([True, *rest])
            if not left.all() and widest(cube.unit[list(group)], left)[1] >= float(MARGIN):
                members = np.array(group)
                out.append((tuple(members[left].tolist()), tuple(members[~left].tolist())))
        return out

    @cache
    def best(group: tuple[int, ...], depth: int) -> Fraction:
        totals = [sum(weights[p][c] for p in group) for c in range(data.n_classes)]
        value = Fraction(sum(totals) - max(totals))
        if depth:
            both = (best(one, depth - 1) + best(other, depth - 1) + price for one, other in parts(group))
            value = min([value, *both])
        return value

    return best(tuple(range(n)), 2)


@pytest.mark.parametrize("formulation", [ODD(), PaperODD()], ids=["ours", "paper"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.drawn
def test_hyperplanes_against_enumeration(seed: int, solver: str, formulation: ODD) -> None:
    data = sample(seed)
    shape = tf.Tree(2, "multivariate") if seed else tf.Diagram(1, 2, splits="multivariate")
    price = Fraction(1, 2)
    problem = tf.Problem(data, None, shape=shape).minimize(tf.Error() + price * tf.Nodes())
    result = problem.solve(SOLVERS[solver](), formulation=formulation)
    # With two layers a diagram can do no more than a tree.
    assert result.objective == optimum(seed, price)
    assert str(result.status) == "optimal"
    assert misfit(result.graph, shape, data) is None


def test_hint_is_a_point_of_the_model() -> None:
    data = random_data(5, n=8, n_classes=3)
    for shape in (tf.Tree(2, "multivariate"), tf.Diagram(1, 2, 2, splits="multivariate")):
        problem = tf.Problem(data, None, shape=shape)
        graph = problem.solve().graph
        for formulation in (ODD(), PaperODD()):
            compiled = formulation.compile(data, shape, problem.objective)
            hint = formulation.encode(compiled, graph)
            if hint is not None:  # the paper's offsets may not reach a hyperplane
                assert not any(compiled.model.check(hint).values())
                assert formulation.decode(compiled, hint).n_nodes == graph.simplified(data).n_nodes
    assert hint is not None


def test_first_models_of_a_small_table_come_to_an_end() -> None:
    found = list(grown(sample(1), tf.Tree(2, "multivariate")))
    assert 0 < len(found) < 50  # a thousand rounds would give one or more each
    assert len({graph.to_text() for graph in found}) == len(found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_papers_own_univariate_splits(seed: int) -> None:
    data = random_data(seed, n=7, n_classes=2 + seed % 2)
    shape = tf.Tree(2) if seed else tf.Diagram(1, 2)
    agree(data, shape, tf.Error() + Fraction(1, 3) * tf.Nodes(), [tf.Stability(3)], formulation=PaperODD())


def test_components_can_be_exchanged() -> None:
    shape = tf.Tree(2, "multivariate")
    data, goal = random_data(1, n=7), tf.Error() + tf.Nodes()
    own = ODD().replace(UnivariateSplits, MultivariateSplits(indicators=False))
    names = [block.name for block in own.compile(data, shape, goal).model.blocks]
    assert any("(13)" in name for name in names)
    wide = ODD().replace(UnivariateSplits, MultivariateSplits(epsilon=1e-3))
    with pytest.raises(SpecError, match="states another one"):
        wide.compile(data, shape, goal)
    less = (ODD() - SymmetryBreaking).compile(data, shape, goal).model
    assert not any("(11)" in block.name for block in less.blocks)


def test_requirements_hold_with_hyperplanes() -> None:
    data = random_data(3, n=8)
    problem = tf.Problem(data, None, shape=tf.Tree(2, "multivariate"))
    problem += [tf.MinSupport(2), tf.Stability(3), tf.MaxNodes(2)]
    result = problem.solve()
    assert str(result.status) == "optimal"
    assert not any(result.violations.values())


def test_units_of_the_user_and_few_digits() -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.uniform(20, 80, 40), rng.uniform(1e5, 9e5, 40)]).round(1)
    y = (X[:, 0] / 60 + X[:, 1] / 8e5 > 1.3).astype(int)
    result = tf.Problem(X, y, shape="tree:1:multivariate").solve()
    assert result.errors == 0
    weights = result.graph.forms[0].weights
    assert len(weights) == 2
    assert max(len(repr(w)) for w in weights) <= 9
    assert tf.check(result.certificate(), X, y).ok


def test_narrow_separation_is_no_model() -> None:
    X = np.array([[0.0, 0.0], [0.5, 0.2], [0.500001, 0.2], [1.0, 1.0]])
    data = Dataset.from_user(X, [0, 0, 1, 1])
    shape = tf.Tree(1, "multivariate")
    graph = tf.DecisionGraph.from_nested((0, 0.5000005, 0, 1), data)
    assert "margin" in misfit(graph, shape, data)
    assert misfit(graph, tf.Tree(1), data) is None
    result = tf.Problem(data, None, shape=shape).solve()
    assert (result.objective, str(result.status)) == (1, "optimal")
    with pytest.raises(SpecError, match="range apart"):
        tf.Problem(data, None, shape=tf.Tree(1)).solve(tf.HiGHS(), formulation=PaperODD())


def test_who_cannot_state_hyperplanes_says_so() -> None:
    problem = tf.Problem(random_data(1), None, shape="tree:2:multivariate")
    with pytest.raises(SpecError, match="multivariate"):
        problem.solve(tf.ConTree())
    with pytest.raises(SpecError, match="multivariate"):
        problem.solve(tf.SAT(), formulation="sat-depth")


NEEDS = [tf.FeatureBudget(1), tf.Monotone("x0")]


@cache
def enumerated(seed: int, number: int) -> Fraction:
    """The optimum on a stump with hyperplanes under one of `NEEDS`."""
    found = brute_force(random_data(seed, n=5), STUMP, PRICED, [NEEDS[number]])
    assert found is not None
    return found[0]


STUMP = tf.Tree(1, "multivariate")
PRICED = tf.Error() + Fraction(1, 3) * tf.Nodes()


@pytest.mark.parametrize("number", range(len(NEEDS)), ids=lambda number: str(NEEDS[number]))
@pytest.mark.parametrize("formulation", [ODD(), PaperODD()], ids=["ours", "paper"])
def test_requirements_on_columns_against_enumeration(number: int, formulation: ODD) -> None:
    for seed in (0, 1):
        problem = tf.Problem(random_data(seed, n=5), None, shape=STUMP).minimize(PRICED)
        problem += NEEDS[number]
        result = problem.solve("highs", formulation=formulation)
        assert (result.objective, str(result.status)) == (enumerated(seed, number), "optimal")
        assert not any(result.violations.values())


class ReadsAll(tf.Requirement):
    """Every column is read by some test."""

    needs = frozenset({"feature"})

    def build(self, model, ports) -> None:
        model.add(ports.feature.sum(axis=0) >= 1)

    def violation(self, graph, data) -> int:
        return data.n_features - len(graph.features_used())


class AtLeastTwo(tf.Requirement):
    """At least two nodes are in use."""

    needs = frozenset({"active"})

    def build(self, model, ports) -> None:
        model.add(ports.active.sum() >= 2)

    def violation(self, graph, data) -> int:
        return max(0, 2 - graph.n_nodes)


@pytest.mark.parametrize("indicators", [True, False])
def test_starts_with_pass_throughs_satisfy_the_rows(indicators: bool) -> None:
    """Where a requirement asks for tests, a pass-through sends all points to its left, below its hyperplane."""
    for seed, formulation in product(range(3), (ODD(), ODD() - SymmetryBreaking)):
        formulation.indicators = indicators
        data, shape = random_data(seed, n=8), tf.Diagram(1, 1, 2, splits="multivariate")
        middle = float(np.unique(data.X[:, 0])[0])
        graph = tf.DecisionGraph.build(
            [
                {"pass": 1},
                {"feature": 0, "threshold": middle, "left": 2, "right": 3},
                {"label": 0},
                {"label": 1},
            ],
            data,
        )
        compiled = formulation.compile(data, shape, Objective.of(tf.Error()), [AtLeastTwo()])
        x = formulation.encode(compiled, graph)
        assert x is not None
        assert not np.isnan(x).any()
        assert not any(compiled.model.check(x).values()), compiled.model.check(x)
        assert np.array_equal(
            formulation.decode(compiled, x).predict_codes(data.X), graph.predict_codes(data.X)
        )


def test_nothing_can_make_a_hyperplane_read_a_column() -> None:
    problem = tf.Problem(random_data(1), None, shape="tree:2:multivariate")
    problem += ReadsAll()
    graph = tf.DecisionGraph.build({0: {"weights": {0: 1.0, 1: 2.0}, "threshold": 1.5, "left": 1, "right": 2},
                                    1: {"label": 0}, 2: {"label": 1}}, problem.data)  # fmt: skip
    with pytest.raises(SpecError, match="cannot state reads_all over hyperplanes"):
        problem.solve("highs", formulation="odd", warm_start=graph)


@pytest.mark.parametrize("values", [[-1.7e308, 0.0, 1.0, 1.7e308], [1e-320, 2e-320, 3e-320, 4e-320]])
def test_ranges_that_cannot_be_scaled(values) -> None:
    X = np.column_stack([values, [0.0, 1.0, 2.0, 3.0]])
    for shape, formulation in ((tf.Tree(2), PaperODD()), (tf.Tree(2, "multivariate"), ODD())):
        with pytest.raises(SpecError, match="'x0' range over"):
            tf.Problem(X, [0, 1, 0, 1], shape=shape).solve("highs", formulation=formulation)
    assert tf.Problem(X, [0, 1, 0, 1], shape=tf.Tree(2)).solve("highs", formulation=ODD()).objective == 0


def test_a_model_just_within_the_margin_is_not_refuted() -> None:
    # The sides of x0 are 0.98 of the margin apart: admissible, so the bound may not be above it.
    X = np.array([[0.0, 0.0], [0.5, 0.2], [0.5 + 0.98e-4, 0.2], [1.0, 1.0]])
    data = Dataset.from_user(X, [0, 0, 1, 1])
    for shape in (tf.Tree(1, "multivariate"), tf.Tree(2, "multivariate")):
        graph = tf.DecisionGraph.from_nested((0, 0.50004, 0, 1), data)
        assert misfit(graph, shape, data) is None
        result = tf.Problem(data, None, shape=shape).solve("highs", warm_start=graph)
        assert (result.objective, str(result.status)) == (0, "optimal")
        alone = tf.Problem(data, None, shape=shape).solve("highs", warm_start=None)
        assert alone.objective == 0
