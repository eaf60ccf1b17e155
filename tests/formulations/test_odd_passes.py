"""Pass-throughs in the formulations: the same optima as enumeration, in every formulation and solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import Draw
from layered_reference import optimum
from test_odd import solve

import treeform as tf
from treeform.data import Dataset
from treeform.formulations.odd import ODD, PaperODD, SymmetryBreaking
from treeform.formulations.odd.skeleton import Skeleton
from treeform.formulations.odd.topology import Design
from treeform.graph import normalised
from treeform.language.objective import Objective
from treeform.solve import misfit
from treeform.testing import brute_force

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]
SHAPES = [(1, 1, 2), (1, 1, 2, 2), (1, 2, 1), (1, 2, 2), (1, 2, 1, 2)]


def table(seed: int) -> Dataset:
    """All rows over two or three binary columns, labelled by a parity or at random, some of them twice."""
    rng = np.random.default_rng(seed)
    F = 2 + seed % 2
    X = np.array([[i >> j & 1 for j in range(F)] for i in range(2**F)], dtype=float)
    y = (X @ rng.integers(0, 2, F)).astype(int) % 2 if seed % 4 < 2 else rng.integers(0, 2, len(X))
    y[0] = 1 - y[-1]
    return Dataset.from_user(X, y, rng.integers(1, 4, len(X)) / 2 if seed % 3 else None)


@pytest.mark.parametrize(
    ("formulation", "solver"),
    [
        (None, None),
        ("odd", "cp-sat"),
        ("odd", "highs"),
        ("odd", "scip"),
        ("odd-paper", "highs"),
        ("odd-paper", "scip"),
    ],
)
def test_exclusive_or_behind_a_narrow_layer(formulation: str | None, solver: str | None) -> None:
    problem = tf.Problem(np.array(XOR, dtype=float), [0, 1, 1, 0], shape=tf.Diagram(1, 1, 2))
    result = problem.solve(solver, formulation=formulation, warm_start=None if formulation else "auto")
    assert (result.objective, result.bound, str(result.status)) == (0, 0, "optimal")
    assert result.graph.n_nodes == 4
    again = problem.solve(solver, formulation=formulation, warm_start=result.graph)
    assert (again.objective, str(again.status)) == (0, "optimal")


@pytest.mark.parametrize(
    ("formulation", "backend"),
    [
        (ODD(), "cpsat"),
        (ODD(), "highs"),
        (ODD(symmetry="in_degree", disaggregate=False), "cpsat"),
        (ODD(lambdas=True) - SymmetryBreaking, "cpsat"),
    ],
    ids=["cp-sat", "highs", "in-degrees", "no symmetry breaking"],
)
def test_optima_and_hints_against_enumeration(formulation: ODD, backend: str, draw: Draw) -> None:
    hinted = 0
    for seed in (1, *draw([0, *range(2, 20)], 5)):  # the optimum of 1 has a pass-through
        data, widths = table(seed), SHAPES[seed % len(SHAPES)]
        price = Fraction(seed % 3, 10)
        goal = tf.Error() / data.weight_unit + price * tf.Nodes()
        expected = optimum(data, widths, price)
        compiled = formulation.compile(data, tf.Diagram(*widths), goal)
        found = solve(compiled, formulation, backend)
        assert found is not None
        graph, x = found
        assert goal.evaluate(graph, data) == expected
        assert compiled.objective_expr.value(x) == pytest.approx(float(compiled.scale * expected))
        assert misfit(normalised(graph, data), tf.Diagram(*widths), data) is None
        hint = formulation.encode(compiled, graph)
        if hint is not None:
            assert not any(compiled.model.check(hint).values())
            hinted += bool(formulation.decode(compiled, hint).passes.any())
    assert hinted


REQUIREMENTS = [tf.Stability(2), tf.MaxNodes(3), tf.FeatureBudget(1), tf.Monotone("x0")]
PAIRS = [(ODD(), "cpsat"), (PaperODD(), "highs")]


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
@pytest.mark.parametrize(("formulation", "backend"), PAIRS, ids=["ours", "paper"])
def test_requirements_against_enumeration(
    requirement: tf.Requirement, formulation: ODD, backend: str
) -> None:
    for seed in (0, 2, 4):
        data, shape = table(seed), tf.Diagram(1, 1, 2)
        goal = tf.Error() + Fraction(1, 10) * tf.Nodes()
        bound = [requirement.bind(data)]
        expected = brute_force(data, shape, goal, bound)
        assert expected is not None
        compiled = formulation.compile(data, shape, goal, bound)
        found = solve(compiled, formulation, backend)
        assert found is not None
        assert goal.evaluate(found[0], data) == expected[0]
        hint = formulation.encode(compiled, expected[1])
        assert hint is not None
        if not np.isnan(hint).any():  # columns of a requirement are its own
            assert not any(compiled.model.check(hint).values())


def test_where_a_pass_through_can_gain() -> None:
    def gaining(*widths: int) -> list[int]:
        return Skeleton(widths, is_tree=False).gaining.tolist()

    assert Skeleton((1, 2, 4), is_tree=True).gaining.tolist() == []
    assert gaining(1, 2) == []
    assert gaining(1, 1, 2) == [0, 1]
    assert gaining(1, 2, 2) == [1, 2]  # without a pass-through at the root all layers move up
    assert gaining(1, 2, 2, 4) == [0, 1, 2, 3, 4]


def test_minimum_support_rules_them_out() -> None:
    data = Dataset.from_user(np.array(XOR, dtype=float), [0, 1, 1, 0])
    shape = tf.Diagram(1, 1, 2)
    compiled = ODD().compile(data, shape, Objective.of(tf.Error()), [tf.MinSupport(1)])
    assert len(compiled.shared.get(Design).passing) == 0
    problem = tf.Problem(data, None, shape=shape)
    problem += tf.MinSupport(1)
    result = problem.solve("cp-sat", formulation="odd", warm_start=None)
    assert (result.objective, str(result.status)) == (1, "optimal")
    assert misfit(result.graph, shape, data) is None


@pytest.mark.parametrize("seed", [4, 5])
def test_left_is_lower_where_the_paper_turns_hyperplanes_around(seed: int) -> None:
    # With a weight below 0 the left side of the model was the upper side of the test.
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (8, 2)).astype(float), rng.integers(0, 2, 8)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += tf.Monotone("x0")
    expected = brute_force(problem.data, problem.shape, "error", [tf.Monotone("x0")])
    result = problem.solve("highs", formulation=PaperODD(), warm_start=None)
    assert expected is not None
    assert (result.objective, str(result.status)) == (expected[0], "optimal")
