"""Claims, their merging, and the simple bounds. Quick: for mutation testing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import treeform as tf
from treeform.errors import ContradictionError
from treeform.graph import DecisionGraph
from treeform.language.question import allowed_errors, ceiling
from treeform.solve import Limit, Status
from treeform.solve.choice import choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.result import Claim, SolveOptions, relative_gap
from treeform.solve.stage.given_models import (
    MANY_VALUES,
    bound_with,
    classes_bound,
    constant_models,
    floor_bound,
    most_tests,
    out_of_reach,
    quick_bounds,
)
from treeform.utils.budget import Budget

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = [0, 1, 1, 0]
LEAVES = [{"label": 0}, {"label": 1}]


def question(goal="error", *requirements, y=XOR, shape="tree:2", weights=None, rows=X):
    problem = tf.Problem(rows, y, shape=shape, sample_weight=weights)
    problem.minimize(goal)
    problem += list(requirements)
    return problem.question


def stump(q, feature=0, labels=(0, 1)):
    test = {"feature": feature, "threshold": 0.5, "left": 1, "right": 2}
    return DecisionGraph.build([test, *({"label": k} for k in labels)], q.data)


def best(q):
    second = {"feature": 1, "threshold": 0.5}
    nodes = [
        {"feature": 0, "threshold": 0.5, "left": 1, "right": 2},
        {**second, "left": 3, "right": 4},
        {**second, "left": 4, "right": 3},
        *LEAVES,
    ]
    return DecisionGraph.build(nodes, q.data)


def ledger(q=None, progress=None, limit=None):
    return Ledger(question() if q is None else q, Budget(limit), progress)


# -- models ---------------------------------------------------------------------------------------------------


def test_only_better_models_are_kept():
    seen = []
    q = question("1/2*error + 1/4*nodes")
    book = ledger(q, seen.append)
    assert (book.graph, book.upper, book.lower, book.claims, book.status) == (
        None,
        None,
        None,
        [],
        Status.UNKNOWN,
    )
    assert book.notes == book.runners == [] and book.impossible is False
    assert book.phase == "" and not book.closed and not book.impossible and book.cutoff is None
    first = book.submit(DecisionGraph.leaf(0, q.data), "a leaf")
    assert first.ok and first.value == book.upper == 4 == book.cutoff  # two errors: 1, in quarters
    assert book.status is Status.FEASIBLE
    book.submit(DecisionGraph.leaf(1, q.data), "another")  # as good, so the first one stays
    assert book.graph.label.tolist() == [0]
    worse = stump(q)
    assert book.submit(worse, "a stump").value == 5
    assert [c.by for c in book.claims] == ["a leaf"]
    book.submit(best(q), "a tree")
    assert book.upper == 3 and book.graph.n_nodes == 3
    assert [(c.kind, c.value, c.by, c.relaxation, c.recheck) for c in book.claims] == [
        ("upper", Fraction(1), "a leaf", (), None),
        ("upper", Fraction(3, 4), "a tree", (), None),
    ]
    assert [entry[1:] for entry in book.trace] == [(1, None), (Fraction(3, 4), None)]
    assert [(p.upper, p.lower) for p in seen] == [(1, None), (Fraction(3, 4), None)]
    assert all(0 <= entry[0] <= book.budget.seconds for entry in book.trace)
    assert all(0 <= p.seconds <= book.budget.seconds and p.phase == "" for p in seen)


def test_models_that_are_not_admissible_are_not_kept():
    book = ledger(question("error", tf.MaxNodes(0)))
    judged = book.submit(best(book.question), "a tree")
    assert not judged.ok and book.graph is None and book.upper is None and book.claims == []


def test_a_model_of_equal_value_may_take_the_place():
    q = question("error", tf.MaxNodes(3))
    book = ledger(q)
    book.replace(stump(q))
    assert book.graph is None
    book.submit(DecisionGraph.leaf(0, q.data), "a leaf")
    book.replace(DecisionGraph.leaf(1, q.data))
    assert book.graph.label.tolist() == [1] and book.upper == 2
    book.replace(best(q))  # another value
    assert book.graph.label.tolist() == [1]
    strict = ledger(question("nodes", tf.MaxErrors(2)))
    strict.submit(DecisionGraph.leaf(0, strict.question.data), "a leaf")
    strict.replace(best(strict.question))
    assert strict.graph.n_nodes == 0


# -- bounds ---------------------------------------------------------------------------------------------------


def test_bounds_rise_only():
    q = question("1/2*error")
    book = ledger(q)
    book.prove_lower(1, "a", ("this",), {"kind": "x"}, {"nodes": 3})
    claim = book.claims[0]
    assert (claim.kind, claim.value, claim.by) == ("lower", Fraction(1, 2), "a")
    assert (claim.relaxation, claim.recheck, claim.counters) == (("this",), {"kind": "x"}, {"nodes": 3})
    assert 0 <= claim.seconds <= book.budget.seconds
    book.prove_lower(0, "b", recheck={"kind": "y"})
    book.prove_lower(1, "c")
    assert book.lower == 1 and len(book.claims) == 1
    book.prove_lower(1, "d", recheck={"kind": "y"})  # the same bound with a way to prove it again
    book.prove_lower(2, "e")
    assert [(c.by, c.value, c.counters) for c in book.claims[1:]] == [
        ("d", Fraction(1, 2), {}),
        ("e", Fraction(1), {}),
    ]
    assert book.lower == 2 and book.trace[-1][1:] == (None, 1)
    assert book.status is Status.UNKNOWN and not book.closed


def test_the_latest_claim_of_a_prover_stands_for_it():
    book = ledger(question("error"))
    for value, relaxation in ((0, ()), (1, ()), (2, ("x",))):
        book.prove_lower(value, "a", relaxation)
    assert [(c.value, c.relaxation) for c in book.claims] == [(1, ()), (2, ("x",))]
    assert len(book.trace) == 3


def test_a_bound_above_everything_is_a_proof_of_infeasibility():
    book = ledger(question("error"))  # four samples: no model costs more than 4
    book.prove_lower(4, "a")
    assert not book.impossible
    book.prove_lower(5, "b", ("x",), {"kind": "y"})
    assert book.impossible and book.closed and book.status is Status.INFEASIBLE and book.stop()
    claim = book.claims[-1]
    assert (claim.kind, claim.value, claim.by) == ("infeasible", None, "b")
    assert (claim.relaxation, claim.recheck) == (("x",), {"kind": "y"})
    book.prove_lower(6, "c")
    assert [c.kind for c in book.claims] == ["lower", "lower", "infeasible", "lower"]


@pytest.mark.parametrize(
    ("value", "lower"),
    [
        (1.0, 1),
        (1.0000009, 1),
        (1.1, 2),
        (1e-7, 0),
        (-0.5, 0),
        (2e7 + 5.0, 2 * 10**7 - 15),
        (1.5, 2),
        (0.9999, 1),
        (1.0000015, 2),
    ],
)
def test_floating_point_bounds_are_rounded_up_with_a_tolerance(value, lower):
    book = ledger(question("error", weights=[10**8] * 4))
    book.prove_lower_float(value, "a solver")
    assert book.lower == lower and book.claims[0].by == "a solver"


def test_bounds_that_are_no_numbers_are_none():
    book = ledger()
    for value in (math.inf, -math.inf, math.nan):
        book.prove_lower_float(value, "a solver")
    assert book.lower is None and book.claims == []


def test_status_and_closing():
    q = question("error")
    book = ledger(q)
    book.submit(DecisionGraph.leaf(0, q.data), "a leaf")
    book.prove_lower(1, "a")
    assert not book.closed and not book.stop() and book.status is Status.FEASIBLE
    book.prove_lower(2, "a")
    assert book.closed and book.stop() and book.status is Status.OPTIMAL
    other = ledger(q)
    other.prove_infeasible("a", ("x",), {"kind": "y"})
    assert other.closed and other.status is Status.INFEASIBLE and other.upper is None
    claim = other.claims[0]
    assert (claim.kind, claim.value, claim.by) == ("infeasible", None, "a")
    assert (claim.relaxation, claim.recheck, claim.counters) == (("x",), {"kind": "y"}, {})
    limited = ledger(q, limit=60)
    assert not limited.stop()
    limited.budget.interrupt()
    assert limited.stop() and not limited.closed and limited.budget.reason is Limit.INTERRUPTED


def test_phases_are_reported():
    seen = []
    book = ledger(question("1/2*error"), seen.append)
    book.set_phase("searching")
    book.prove_lower(1, "a")
    assert book.phase == "searching"
    assert [(p.phase, p.upper, p.lower) for p in seen] == [
        ("searching", None, None),
        ("searching", None, Fraction(1, 2)),
    ]


def test_claims_that_contradict_each_other_raise():
    q = question("error")
    book = ledger(q)
    book.submit(best(q), "a tree")
    with pytest.raises(
        ContradictionError, match=r"^two claims contradict each other, so no answer is given"
    ) as caught:
        book.prove_lower(1, "a liar")
    assert "no model is below 1, by a liar after" in caught.value.cause
    assert "; yet a model of value 0, by a tree after" in caught.value.cause
    assert caught.value.cause.endswith("s, and treeform re-evaluated that model exactly")
    assert caught.value.fix == (
        "report this with the data: a solver, a formulation or a requirement is wrong; "
        "solving with another solver shows which"
    )
    book = ledger(q)
    book.prove_lower(1, "a liar", ("x",))
    with pytest.raises(ContradictionError) as caught:
        book.submit(best(q), "a tree")
    assert "no model is below 1 (even without x), by a liar" in caught.value.cause
    book = ledger(q)
    book.submit(DecisionGraph.leaf(0, q.data), "a leaf")
    with pytest.raises(ContradictionError) as caught:
        book.prove_infeasible("a liar")
    assert "no model exists, by a liar" in caught.value.cause
    book = ledger(q)
    book.prove_infeasible("a liar")
    with pytest.raises(ContradictionError):
        book.submit(best(q), "a tree")


def test_claims_as_text():
    assert str(Claim("upper", Fraction(3, 2), "a", 0.5)) == "a model of value 3/2, by a after 0.50 s"
    assert str(Claim("lower", Fraction(2), "b", 1.0, ("x", "y"))) == (
        "no model is below 2 (even without x, y), by b after 1.00 s"
    )
    assert str(Claim("infeasible", None, "c", 2.0)) == "no model exists, by c after 2.00 s"


def test_gaps():
    assert relative_gap(None, 1) is relative_gap(1, None) is None
    assert relative_gap(4, 3) == 0.25
    assert relative_gap(3, 3) == relative_gap(2, 3) == 0.0
    assert relative_gap(Fraction(1, 2), Fraction(1, 4)) == 0.5
    assert relative_gap(0, -1) == math.inf


# -- bounds without search -------------------------------------------------------------------------------------

TWINS = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])


def test_identical_rows_share_a_prediction():
    y = [0, 1, 1, 0, 2]
    q = question("error", y=y, rows=TWINS)
    assert floor_bound(q) == 2
    weighted = question("1/2*error + nodes", y=y, rows=TWINS, weights=[0.5, 1, 1, 3, 2])
    # 1/2 * (0.5 + 2) = 1.25 units; the scale of halves of halves is 4.
    assert weighted.scale * Fraction(5, 4) == floor_bound(weighted)
    costs = question("cost[0 4 1; 1 0 1; 1 2 0]", y=y, rows=TWINS)
    # At 0: one of class 0 and two of 1: class 0 costs 2, class 1 4, class 2 3. At 1: one of 0, one of 2: 1, 6, 1.
    assert floor_bound(costs) == 3
    both = question("cost[0 4 1; 1 0 1; 1 2 0] + error", y=y, rows=TWINS)
    assert floor_bound(both) == 5
    assert floor_bound(question("nodes + error", y=y, rows=TWINS)) == 2  # whatever comes first


@pytest.mark.parametrize("seconds", [1e-9, None])
def test_equal_rows_of_a_large_table_are_found_where_there_is_time(seconds):
    n = MANY_VALUES // 20 + 1
    q = question(rows=np.arange(20 * n).reshape(n, 20) % 7.0, y=np.arange(n) % 2)
    book = ledger(q, limit=seconds)
    node = Node(book, choose(q, SolveOptions()))
    constant_models(node, book.budget)
    assert book.upper == n // 2
    quick_bounds(node, book.budget)
    assert ("points" in vars(q.data)) == (seconds is None)
    assert book.lower == (None if seconds else floor_bound(q))


def test_few_tests_lead_to_few_classes():
    rows, y = np.arange(7.0).reshape(-1, 1), [0, 0, 0, 1, 1, 2, 3]
    q = question("error", y=y, rows=rows, shape="tree:1")
    assert most_tests(q) == 1 and classes_bound(q) == 2
    assert out_of_reach(q) == "1 test leads to at most 2 of 4 classes: the others are always errors"
    assert [bound_with(q, m) for m in range(4)] == [4, 2, 1, 0]
    assert bound_with(q, 9) == 0
    priced = question("error + 3/2*nodes", y=y, rows=rows, shape="tree:2")
    assert [bound_with(priced, m) for m in range(4)] == [8, 7, 8, 9]
    assert classes_bound(priced) == 7
    assert out_of_reach(priced) is None
    limited = question("error", tf.MaxNodes(2), tf.MaxNodes(5), y=y, rows=rows, shape="tree:2")
    assert most_tests(limited) == 2 and classes_bound(limited) == 1
    assert out_of_reach(limited).startswith("2 tests lead to at most 3 of 4 classes")
    weighted = question("1/2*error", y=y, rows=rows, shape="tree:1", weights=[2, 2, 2, 2, 2, 1, 0.5])
    assert classes_bound(weighted) == weighted.scale * Fraction(3, 4)
    deep = question("error", y=XOR, shape="diagram:1,2")
    assert most_tests(deep) == 3 and classes_bound(deep) == 0
    # The bound by identical rows counts where it is the greater one.
    twins = question("error", y=[0, 1, 1, 0, 1], rows=TWINS, shape="tree:1")
    assert [bound_with(twins, m) for m in (0, 1)] == [2, 2]
    halves = question("1/2*error + 1/2*nodes", y=[0, 1, 1, 0, 1], rows=TWINS, shape="tree:1")
    assert halves.scale == 2 and [bound_with(halves, m) for m in (0, 1)] == [2, 3]


def test_ceilings():
    assert ceiling(question("error")) == 4
    assert ceiling(question("error", tf.MaxErrors(1))) == 1
    assert ceiling(question("error", tf.MaxErrors(3), tf.MaxErrors(2))) == 2
    assert ceiling(question("error + nodes", tf.MaxErrors(1))) == 4 + 3
    assert ceiling(question("error + 2*leaves")) == 4 + 2 * 4
    assert ceiling(question("depth")) == 2
    assert ceiling(question("1/2*error", weights=[1, 1, 1, 0.5])) == 7  # 1/2 * 3.5 in quarters
    assert ceiling(question("cost[1 3; 2 0]")) == 2 * 3 + 2 * 2
    assert (
        ceiling(question("cost[1 3; 2 0] + error")) == ceiling(question("error + cost[1 3; 2 0]")) == 10 + 4
    )
    assert ceiling(question("error + depth")) == 6
    assert ceiling(question("error", tf.MaxErrors(1), weights=[1, 1, 1, 0.5])) == 2
    assert ceiling(question("error", tf.MaxErrors(100))) == 4
    assert ceiling(question("error + nodes", shape="diagram:1,2,2")) == 4 + 5


def test_allowed_errors():
    assert allowed_errors(question("error", tf.MaxErrors(1))) == 1
    assert allowed_errors(question("2*error", tf.MaxErrors(2), tf.MaxErrors(1))) == 1
    assert allowed_errors(question("error")) is None
    assert allowed_errors(question("nodes", tf.MaxErrors(1))) is None
    assert allowed_errors(question("error + nodes", tf.MaxErrors(1))) is None
