"""One optimum on every way where models with pass-throughs, two arcs to one node, or shared leaves take part."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from diagram_samples import LATE, LEAVES, NARROW, XOR, A, B, handed_on_late, xor_below

import treeform as tf
from treeform.graph import DecisionGraph
from treeform.solve import verify
from treeform.testing import brute_force


@pytest.mark.parametrize(
    ("solver", "formulation"),
    [(None, None), (tf.DiagramSearch(), None), ("cp-sat", "odd"), ("highs", "odd"), ("highs", "odd-paper")],
)
@pytest.mark.parametrize(
    ("objective", "optimum"), [("error", 0), ("error + 1/10*nodes", Fraction(2, 5)), ("error + 1/2*nodes", 2)]
)
def test_every_road_has_the_optimum_with_a_pass_through(
    solver: Any, formulation: str | None, objective: str, optimum: Any
) -> None:
    assert brute_force(XOR, NARROW, objective)[0] == optimum
    for start in ("auto", xor_below({"pass": "a"})):
        problem = tf.Problem(XOR, None, shape=NARROW)
        problem.minimize(objective)
        result = problem.solve(solver, formulation=formulation, warm_start=start)
        assert (str(result.status), result.objective) == ("optimal", optimum)
        assert verify(problem.question, result.graph).ok


@pytest.mark.parametrize("solver", [tf.DiagramSearch(), "cp-sat", "highs"])
def test_warm_starts_with_two_arcs_to_one_node_are_refused(solver: Any) -> None:
    assert brute_force(LATE, tf.Diagram(1, 2, 1), "error", [tf.MinSupport(2)])[0] == 1
    for start in (handed_on_late(), None):
        problem = tf.Problem(LATE, None, shape=tf.Diagram(1, 2, 1))
        problem.minimize("error")
        problem += tf.MinSupport(2)
        result = problem.solve(solver, warm_start=start)
        assert (str(result.status), result.objective) == ("optimal", 1)


@pytest.mark.parametrize("solver", ["cadical195", "cp-sat"])
def test_warm_starts_with_shared_leaves_cost_as_much_as_with_their_own(solver: str) -> None:
    nodes = {"root": {**A, "left": "b0", "right": "b1"}, **LEAVES}
    nodes["b0"] = {**B, "left": "no", "right": "yes"}
    nodes["b1"] = {**B, "left": "yes", "right": "no"}
    for start in (DecisionGraph.build(nodes, XOR), None):
        problem = tf.Problem(XOR, None, shape=tf.Tree(2))
        problem.minimize("error + 1/5*leaves")
        result = problem.solve(solver, formulation="sat-depth", warm_start=start)
        assert (str(result.status), result.objective) == ("optimal", Fraction(4, 5))
