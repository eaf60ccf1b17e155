"""Lagrangian bounds against enumeration. Quick: for mutation testing."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from bound_samples import ALL, AtMost, Scripted, favoured, leaf, question

import treeform as tf
from treeform.engines import ConTree, EngineOutcome, EngineRun
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.solve import lagrangian
from treeform.solve.lagrangian import Lagrangian, Line, Row, rows_of, tighten
from treeform.solve.ledger import Ledger
from treeform.utils.budget import Budget

# -- Lagrangian bounds ---------------------------------------------------------------------------------------------


def test_rows_are_reduced_and_named():
    rule = AtMost([favoured(1, 2, times=6), favoured(0, 3)])
    q = question("error", rule, tf.MaxNodes(2))
    assert rows_of(q, ()) == [] and rows_of(q, ("max_nodes:2",)) == []
    rows = rows_of(q, ("at_most_in_bounds",))
    assert [(row.label, row.rhs) for row in rows] == [("at_most_in_bounds", 2), ("at_most_in_bounds", 3)]
    assert rows[0].coef.tolist() == [[0, 1]] * 6
    zero = rows_of(question("error", AtMost([(np.zeros((6, 2)), 0)])), ("at_most_in_bounds",))
    assert zero[0].rhs == 0 and not zero[0].coef.any()


def test_slack_is_weighted():
    q = question("error", weights=[1, 2, 3, 4, 5, 6])
    row = Row("x", favoured(1, 4)[0] * 2, 10)
    assert row.slack(leaf(q, 1), q.data) == 2 * 21 - 10
    assert row.slack(leaf(q, 0), q.data) == -10
    huge = Row("x", favoured(1, 4)[0] * 2**60, 7)
    assert huge.slack(leaf(q, 1), q.data) == 21 * 2**60 - 7  # no overflow


def dual_of(q, engine=None):
    engine = engine or ConTree()
    r = relax(q, engine)
    return Lagrangian(q, engine, r, rows_of(q, r.dropped)), r


def least(q, dual, multipliers):
    """L by going through all trees of depth 1 and 2."""
    data, best = q.data, None
    tests = [(f, t) for f in range(data.n_features) for t in data.ranks.thresholds(f).tolist()]

    def under(mask, depth):
        """Triples (prediction by row, tests) as lists."""
        out = [(dict.fromkeys(mask, k), 0) for k in range(data.n_classes)]
        if depth:
            for f, t in tests:
                low = [i for i in mask if data.X[i, f] <= t]
                high = [i for i in mask if data.X[i, f] > t]
                if low and high:
                    out += [
                        ({**a, **b}, m + n + 1)
                        for a, m in under(low, depth - 1)
                        for b, n in under(high, depth - 1)
                    ]
        return out

    for guess, n_tests in under(range(data.n_samples), q.shape.depth):
        value = Fraction(0)
        for w, term in q.objective.terms:
            if str(term) in ("nodes", "leaves"):
                value += w * (n_tests + (str(term) == "leaves"))
                continue
            for i, k in guess.items():
                price = int(k != data.y[i]) if str(term) == "error" else term.entry(data, int(data.y[i]), k)
                value += w * price * int(data.weights[i]) * data.weight_unit
        value *= q.scale
        for m, row in zip(multipliers, dual.rows, strict=True):
            total = sum(int(row.coef[i, k]) * int(data.weights[i]) for i, k in guess.items())
            value += dual.relaxation.factor * m * (total - row.rhs)
        best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize(
    "goal", ["error", "2*error + 4*nodes", "cost[0 1/2; 3 0] + 1/4*nodes", "1/2*error + 2*leaves"]
)
@pytest.mark.parametrize("weights", [None, [1, 2, 1, 1, 3, 1]])
def test_bounds_are_those_of_the_priced_problem(goal, weights):
    q = question(goal, AtMost([favoured(1, 2), favoured(0, 3)]), shape="tree:1", weights=weights)
    dual, _ = dual_of(q)
    assert dual.ignored == ()
    for multipliers in (
        (0, 0),
        (1, 0),
        (Fraction(1, 2), Fraction(1, 3)),
        (Fraction(7, 4), Fraction(0)),
        (5, 2),
    ):
        point = tuple(map(Fraction, multipliers))
        bound, graph, proved = dual.solve(point, Budget(None))
        assert proved and bound == least(q, dual, point)
        assert graph is not None and list(graph.classes) == list(q.data.classes)
        assert (graph.counts == replace(graph).with_counts(q.data).counts).all()
        assert dual.within_range(list(point))


def test_parity_at_depth_two():
    q = question("error", tf.StatisticalParity(difference=0, positive=1))
    dual, _ = dual_of(q)
    assert len(dual.rows) == 2
    for point in ((Fraction(1, 8), Fraction(0)), (Fraction(0), Fraction(3, 16))):
        bound, _, proved = dual.solve(point, Budget(None))
        assert proved and bound == least(q, dual, point)


def test_what_is_priced_is_not_ignored():
    q = question("error", AtMost([favoured(1, 2)]), tf.Monotone("x0"))
    dual, r = dual_of(q)
    assert len(r.dropped) == 2 and dual.ignored == ("monotone:x0,increasing,positive=1",)


def test_engines_are_asked_for_kinds_of_samples():
    q = question("error + nodes", AtMost([favoured(1, 2)]), tf.MaxNodes(2), weights=[1, 2, 1, 1, 3, 1])
    engine = Scripted(ALL, [EngineOutcome(None, None, 5, False)])
    dual, _ = dual_of(q, engine)
    bound, graph, proved = dual.solve((Fraction(3, 2),), Budget(9.0))
    assert (graph, proved) == (None, False)
    data, task, run = engine.asked[0]
    # Kinds are (class, coefficients): the two classes. Prices are doubled; 3/2 more for predicting class 1.
    assert data.n_classes == 2 and task.node_penalty == 2 and task.max_nodes == 2
    assert task.cost[data.y].tolist() == [[0, 1] if label else [0, 5] for label in q.data.y]
    assert (
        0 < run.budget.remaining <= 9.0
        and run.upper is None
        and run.start is None
        and run.on_incumbent is None
    )
    # A sample of class 1 costs 2 when predicted 0 and 3 when predicted 1: 2 are paid anyway.
    paid = 2 * int(q.data.class_weights[1])
    assert bound == Fraction(5 + paid, 2) - Fraction(3, 2) * 2


def test_multipliers_stay_in_range():
    dual, _ = dual_of(question("error", AtMost([favoured(1, 2)])))
    # The dearest prediction costs 1 + m, plus one for what is forbidden, for six samples: below 2**58.
    most = 2**58 // 6
    assert dual.within_range([Fraction(most - 3)])
    assert not dual.within_range([Fraction(most)])
    weighted, _ = dual_of(question("error", AtMost([favoured(1, 2)]), weights=[1, 3, 2, 2, 2, 2]))
    assert weighted.within_range([Fraction(most // 2 - 3)]) and not weighted.within_range(
        [Fraction(most - 3)]
    )


def tightened(q, engine=None, limit=None, plain=None):
    engine = engine or ConTree()
    r = relax(q, engine)
    ledger = Ledger(q, Budget(limit))
    plain = plain or ConTree().run(q.data, r.task, EngineRun())
    tighten(q, engine, r, plain, ledger, Budget(limit))
    return ledger


def test_bounds_rise_to_the_optimum_of_a_row():
    q = question("error", AtMost([favoured(1, 2)]))
    ledger = tightened(q)
    # Four samples are of class 1: at least two of them are predicted 0.
    assert ledger.lower == 2 and ledger.upper == 2
    claim = next(c for c in ledger.claims if c.kind == "lower")
    assert claim.by == "contree, Lagrangian" and claim.relaxation == ()
    assert claim.recheck["kind"] == "lagrangian" and claim.recheck["engine"] == "contree"
    (row,) = claim.recheck["multipliers"]
    assert row["requirement"] == "at_most_in_bounds" and Fraction(row["value"]) > 0
    assert ledger.phase == "Lagrangian bound: contree, at_most_in_bounds"


def test_bounds_of_several_rows_and_of_drawn_ones_hold():
    rng = random.Random(5)
    for _ in range(12):
        rows = [
            (np.array([[rng.randint(-2, 2) for _ in range(2)] for _ in range(6)]), rng.randint(-1, 3))
            for _ in range(2)
        ]
        q = question("error", AtMost(rows), shape="tree:1")
        ledger = tightened(q)
        best = min((v for v in values_of(q)), default=None)
        if best is None:
            assert ledger.upper is None
            continue
        assert not ledger.impossible
        assert ledger.lower is None or ledger.lower <= best
        assert ledger.upper is None or ledger.upper >= best


def values_of(q):
    data = q.data
    graphs = [leaf(q, 0), leaf(q, 1)]
    for f in range(data.n_features):
        for t in data.ranks.thresholds(f).tolist():
            for labels in ((0, 1), (1, 0)):
                test = {"feature": f, "threshold": t, "left": 1, "right": 2}
                graphs.append(DecisionGraph.build([test, *({"label": k} for k in labels)], data))
    rule = q.requirements[0]
    return [int(q.objective.evaluate(g, data) * q.scale) for g in graphs if rule.violation(g, data) == 0]


def test_a_row_that_no_model_satisfies_is_refuted():
    q = question("error", AtMost([favoured(1, -1)]), tf.Monotone("x0"))
    ledger = tightened(q)
    assert ledger.impossible and ledger.upper is None
    claim = ledger.claims[-1]
    assert (claim.kind, claim.by) == ("infeasible", "contree, Lagrangian")
    assert claim.relaxation == ("monotone:x0,increasing,positive=1",)
    assert claim.recheck["kind"] == "lagrangian" and len(claim.recheck["multipliers"]) == 1


def test_nothing_is_done_without_rows_a_proof_or_costs():
    q = question("error", AtMost([favoured(1, 2)]))
    good = ConTree().run(q.data, relax(q, ConTree()).task, EngineRun())
    for engine, plain, asked in (
        (Scripted(ALL), replace(good, proved=False), q),
        (Scripted(ALL), replace(good, graph=None), q),
        (Scripted(ALL - {"cost"}), good, q),
        (Scripted(ALL), good, question("error", tf.MaxNodes(1))),
    ):
        ledger = tightened(asked, engine, plain=plain)
        assert ledger.claims == [] and engine.asked == [] and ledger.phase == ""


def test_a_step_that_is_not_proved_ends_the_ascent_without_a_claim():
    q = question("error", AtMost([favoured(1, 2)]))
    good = ConTree().run(q.data, relax(q, ConTree()).task, EngineRun())

    def not_proved(data, task, run):
        return replace(ConTree().run(data, task, run), proved=False)

    engine = Scripted(ALL, [not_proved] * 9)
    ledger = tightened(q, engine, plain=good)
    assert len(engine.asked) == 1 and ledger.lower is None
    assert ledger.upper is not None  # its model is a candidate all the same
    nothing = Scripted(ALL, [EngineOutcome(None, None, 9, True)] * 9)
    ledger = tightened(q, nothing, plain=good)
    assert len(nothing.asked) == 1 and ledger.claims == []


def test_rows_that_hold_anyway_are_not_priced():
    q = question("error", AtMost([favoured(1, 6)]))
    engine = Scripted(ALL)
    ledger = tightened(q, engine, plain=ConTree().run(q.data, relax(q, ConTree()).task, EngineRun()))
    assert engine.asked == [] and ledger.claims == []


def test_the_meeting_point_of_two_lines():
    low, high = Line(Fraction(0), Fraction(1), 4), Line(Fraction(2), Fraction(3), -2)
    # 1 + 4 m = 3 - 2 (m - 2): m = 1
    assert lagrangian._meet(low, high, Fraction(1), Fraction(1, 8)) == 1
    # 1 + 2 m = 3 - (m - 2): m = 4/3, rounded to eighths
    assert lagrangian._meet(low, high, Fraction(1, 2), Fraction(1, 8)) == Fraction(11, 8)
    moved = Line(Fraction(1, 2), Fraction(3), 4)
    # 3 + 4 (m - 1/2) = 3 - 2 (m - 2): m = 1
    assert lagrangian._meet(moved, high, Fraction(1), Fraction(1, 8)) == 1


def test_no_model_is_above_the_ceiling():
    assert lagrangian.ceiling(question("error")) == 6
    assert lagrangian.ceiling(question("1/2*error + 3*nodes")) == 2 * (3 + 3 * 3)  # three tests
    # Each sample at its dearest: two of class 0 at 4, four of class 1 at 1, the last of them with half the weight.
    assert lagrangian.ceiling(question("cost[0 4; 1 0]", weights=[1, 1, 1, 1, 1, 0.5])) == 2 * (8 + 3.5)
    assert lagrangian.ceiling(question("error + leaves")) == 6 + 4


def test_large_weights_and_fine_multipliers_are_exact():
    q = question("error", AtMost([favoured(1, 2**21)]), shape="tree:1", weights=[2**20 + i for i in range(6)])
    dual, _ = dual_of(q)
    point = (Fraction(10**10 + 1, 10**10 + 7),)
    bound, _, proved = dual.solve(point, Budget(None))
    assert proved and bound == least(q, dual, point)


def test_classes_that_stand_for_kinds_of_samples_are_never_cheap():
    coef = np.array([[0, k] for k in range(6)])  # six kinds of samples, two classes; two of them cost the same
    q = question("error", AtMost([(coef, 3)]))
    engine = Scripted(ALL, [EngineOutcome(None, None, 0, False)])
    dual, _ = dual_of(q, engine)
    dual.solve((Fraction(1, 2),), Budget(None))
    cost = engine.asked[0][1].cost
    assert cost.shape == (5, 5) and cost.dtype == np.int64 and cost.min() == 0
    assert cost[:, 2:].min() > cost[:, :2].max()


@pytest.mark.parametrize(
    "goal", ["error", "2*error + 1/2*leaves", "cost[0 100; 100 0]", "cost[0 1/8; 7 0] + error"]
)
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_the_best_bound_of_one_row_is_reached(goal, most):
    """At depth 1 the bound meets the optimum here, whatever the size of the prices."""
    q = question(goal, AtMost([favoured(1, most)]), shape="tree:1")
    ledger = tightened(q)
    values = values_of(q)
    assert not ledger.impossible and (ledger.upper is None or ledger.upper >= min(values))
    assert ledger.lower is None or ledger.lower <= min(values)
    for claim in ledger.claims:
        if claim.kind == "lower":
            assert all(Fraction(one["value"]) >= 0 for one in claim.recheck["multipliers"])
            dual, _ = dual_of(q)
            point = tuple(Fraction(one["value"]) for one in claim.recheck["multipliers"])
            bound, _, _ = dual.solve(point, Budget(None))
            assert claim.value * q.scale == math.ceil(bound)
        else:
            assert claim.by.startswith("contree, Lagrangian")
    if most == 0:
        assert ledger.lower == min(values)


def test_a_bound_at_the_ceiling_is_no_proof_of_infeasibility():
    q = question("cost[2 1; 2 1]", AtMost([favoured(1, 0)]))  # everybody has to be predicted the dear class
    ledger = tightened(q)
    assert lagrangian.ceiling(q) == 12 and ledger.upper == 12 and not ledger.impossible


def test_prices_beyond_64_bits_end_the_ascent():
    coef, rhs = favoured(1, 2)
    coef = coef.copy()
    coef[0, 1] = 2**56 + 1
    q = question("error", AtMost([(coef * 2, rhs * 2 + 1)]))
    ledger = tightened(q)  # nothing is proved, and nothing is raised
    assert ledger.lower is None and not ledger.impossible


def test_an_answered_question_ends_the_ascent():
    q = question("error", AtMost([favoured(1, 2)]))
    good = ConTree().run(q.data, relax(q, ConTree()).task, EngineRun())
    engine = Scripted(ALL, [ConTree().run] * 60)
    ledger = tightened(q, engine, plain=good)
    assert ledger.closed and len(engine.asked) <= 3


def test_rows_whose_side_has_no_common_divisor():
    rows = rows_of(question("error", AtMost([(favoured(1, 0, times=6)[0], 9)])), ("at_most_in_bounds",))
    assert rows[0].rhs == 3 and rows[0].coef.max() == 2
