"""ContinuousTotals against enumeration, against the search over tests, and at its limits."""

from __future__ import annotations

import numpy as np
import pytest
from totals_samples import RATES, AtMostApproved, NoMeeting, TestPrice

import treeform as tf
from treeform.data import Dataset
from treeform.engines import EngineRun, TreeTask
from treeform.engines.continuous_totals import NO_TREE, PARTS, RULES
from treeform.engines.native_call import cost_of_admissible_tree
from treeform.engines.relaxation import relax
from treeform.errors import SpecError
from treeform.utils.budget import Budget


def draw_rates(rng, group, positive):
    amount = [
        {"difference": rng.choice(["0", "0.05", "0.2"])},
        {"ratio": rng.choice(["0.8", "1", "1/3"])},
    ][int(rng.integers(0, 2))]
    return RATES[int(rng.integers(0, 4))](groups=group, positive=positive, **amount)


def draw_meeting(rng, problem, positive):
    data = problem.data
    feature = int(rng.integers(0, data.n_features))
    if rng.random() < 0.5:
        return NoMeeting(feature, rng.random(data.n_samples) < 0.5)
    direction = ("increasing", "decreasing")[int(rng.integers(0, 2))]
    return tf.Monotone(data.columns[feature].source, direction, positive)


def draw(seed, rows=(4, 11)):
    """A tiny problem with one to three requirements of any kind that the search supports; ties, weights, odd groups."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(*rows)), int(rng.integers(2, 4)) if seed % 4 == 0 else 2
    scale = [1.0, 1e-7, 1e9][seed % 3]
    X = rng.integers(0, int(rng.integers(2, n + 2)), size=(n, int(rng.integers(1, 4)))) * scale
    y = np.arange(n) % classes
    rng.shuffle(y)
    group = [rng.integers(0, 2, n), rng.integers(0, 3, n), (y == 0).astype(int), np.zeros(n, int)][seed % 4]
    group[:2] = (0, 1)
    weights = [None, rng.integers(1, 6, n), np.round(rng.random(n) * 3 + 0.1, 1)][int(rng.integers(0, 3))]
    problem = tf.Problem(X, y, shape=tf.Tree(int(rng.integers(1, 4 if n < 6 else 3))), sample_weight=weights)
    cost = tf.Cost(rng.integers(0, 5, (classes, classes)))
    objectives = [tf.Error(), tf.Error() + tf.Nodes() / 2, 2 * tf.Error() + tf.Leaves() / 3, cost]
    problem.minimize(objectives[int(rng.integers(0, 4))])
    positive = int(rng.integers(0, classes))
    for _ in range(int(rng.integers(1, 4))):
        least = int(rng.integers(0, 7))
        problem += [
            draw_rates(rng, group, positive),
            tf.FeatureBudget(int(rng.integers(0, 3))),
            AtMostApproved(least + int(rng.integers(0, 4)), least),
            tf.MinSupport(int(rng.integers(1, 4))),
            [tf.MaxNodes(int(rng.integers(0, 3))), tf.Stability(int(rng.integers(1, 5)))][seed % 2],
            draw_meeting(rng, problem, positive),
        ][int(rng.integers(0, 6))]
    return problem


def outcomes(data, task, rows, depth):
    """(columns, marks, cost, tests, totals) of all admissible trees on the rows, every threshold tried; each once."""
    weights, cost = data.weights[list(rows)], task.cost_of_samples(data)[list(rows)]
    marks = np.zeros_like(cost) if task.meetings is None else task.meetings.masks[list(rows)]
    clashes = (
        [] if task.meetings is None else [(clash.feature, *clash.masks) for clash in task.meetings.clashes]
    )
    load, found = int(weights.sum()), set()
    if load >= task.min_support:
        for c in range(data.n_classes):
            totals = weights @ task.totals.per_sample[list(rows), c] if task.totals else ()
            carried = int(np.bitwise_or.reduce(marks[:, c]))
            found.add((frozenset(), carried, int(weights @ cost[:, c]), 0, *map(int, totals)))
    if depth == 0 or load < task.min_flow:
        return found
    for f in range(data.n_features):
        values = data.X[list(rows), f]
        for threshold in np.unique(values)[:-1]:
            left = outcomes(data, task, tuple(i for i in rows if data.X[i, f] <= threshold), depth - 1)
            right = outcomes(data, task, tuple(i for i in rows if data.X[i, f] > threshold), depth - 1)
            for a in left:
                for b in right:
                    if any(g == f and a[1] & low and b[1] & high for g, low, high in clashes):
                        continue
                    cost_of, tests, *rest = (p + q for p, q in zip(a[2:], b[2:], strict=True))
                    here = (a[0] | b[0] | {f}, a[1] | b[1])
                    found.add((*here, cost_of + task.node_penalty, tests + 1, *rest))
    return found


def least_cost(data, task):
    """The cost of the best tree by enumeration, or None."""
    rows = task.totals.rows if task.totals else ()
    best = None
    for columns, _, cost, tests, *totals in outcomes(data, task, tuple(range(data.n_samples)), task.depth):
        if task.max_nodes is not None and tests > task.max_nodes:
            continue
        if task.max_features is not None and len(columns) > task.max_features:
            continue
        values = [sum(c * t for c, t in zip(row.coef, totals, strict=True)) for row in rows]
        sides = [
            (row.lo is None or v >= row.lo) and (row.hi is None or v <= row.hi)
            for row, v in zip(rows, values, strict=True)
        ]
        if all(sides) and (best is None or cost < best):
            best = cost
    return best


def check_against_enumeration(seed, engine):
    problem = draw(seed)
    relaxation = relax(problem.question, engine)
    assert relaxation.exact, seed
    wanted = least_cost(problem.data, relaxation.task)
    answer = engine.run(problem.data, relaxation.task, EngineRun())
    assert answer.proved, seed
    if wanted is None:
        assert answer.graph is None and answer.lower == NO_TREE, seed
    else:
        assert answer.upper == answer.lower == wanted, seed
        assert cost_of_admissible_tree(answer.graph, problem.data, relaxation.task) == wanted, seed
        for supported in (relaxation.task.totals, relaxation.task.meetings):
            assert supported is None or supported.excess(answer.graph, problem.data) == 0, seed
    return wanted is not None


@pytest.mark.parametrize("flow", [9, 1000])
def test_no_test_where_a_test_needs_more_rows_than_there_are(flow):
    """Roots of trees that were met, with fewer rows than that, are none of the answer's."""
    data = Dataset.from_user(np.array([[0, 1, 2, 3, 4, 5, 6, 7], [3, 1, 0, 2, 1, 3, 2, 0]]).T, [0, 1, 1, 0, 1, 0, 0, 1])
    answer = tf.ContinuousTotals().run(data, TreeTask(depth=2, min_flow=flow), EngineRun())
    assert answer.upper == answer.lower == 4 and len(answer.graph.feature) == 1


@pytest.mark.parametrize("block", range(4))
def test_the_search_finds_what_enumeration_finds(block, draw):
    settled = set()
    for seed in draw(range(block * 100, block * 100 + 100), 60):
        rng = np.random.default_rng(seed)
        parts = tuple(part for part in PARTS if rng.random() < 0.8)
        settled.add(
            check_against_enumeration(
                seed, tf.ContinuousTotals(parts=parts, simd=("auto", "plain")[seed % 2], threads=1 + seed % 2)
            )
        )
    assert settled == {True, False}


def continuous(seed, rows, columns=3, depth=2, difference="0.05", ties=None):
    """A question with columns of as many values as rows, in which parity costs something."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, columns)) if ties is None else rng.integers(0, ties, (rows, columns)) / 7
    group = (X[:, 0] + 0.3 * rng.random(rows) > 0.6 * X[:, 0].max()).astype(int)
    y = ((X[:, 0] + X[:, 1] > X.mean() * 2) ^ (rng.random(rows) < 0.15)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=group, difference=difference, positive=1)
    return problem


def run(problem, engine, **circumstances):
    relaxation = relax(problem.question, engine)
    assert relaxation.exact
    return engine.run(problem.data, relaxation.task, EngineRun(**circumstances))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_agrees_with_the_search_over_tests(depth):
    for seed in range(4):
        problem = continuous(seed, 150, ties=30, depth=depth, difference=["0.05", "0.01"][seed % 2])
        free = run(tf.Problem(problem.data.X, problem.data.y, shape=tf.Tree(depth)), tf.ConTree())
        own, other = run(problem, tf.ContinuousTotals()), run(problem, tf.TotalsSearch())
        assert own.proved and other.proved and own.upper == other.upper >= free.upper


def test_the_bound_of_the_multipliers_is_told_before_anything_is_listed():
    problem = continuous(0, 400)
    free = run(tf.Problem(problem.data.X, problem.data.y, shape=tf.Tree(2)), tf.ConTree())
    bounds = []
    answer = run(
        problem, tf.ContinuousTotals(), on_incumbent=lambda seconds, upper, lower, graph: bounds.append(lower)
    )
    assert bounds == sorted(bounds) and answer.proved
    assert any(free.upper <= lower < answer.upper for lower in bounds)


def test_a_deep_search_has_a_bound_before_its_multipliers_are_placed():
    seen = []
    problem = continuous(3, 150, ties=12, depth=4, difference="0.02")
    answer = run(
        problem,
        tf.ContinuousTotals(),
        on_incumbent=lambda seconds, upper, lower, graph: seen.append((upper, lower)),
    )
    early = [lower for upper, lower in seen if lower > 0 and upper > answer.upper]
    assert answer.proved and early and early[0] <= answer.upper / 2 + 1


def test_the_answer_does_not_depend_on_the_number_of_threads():
    for seed, depth in ((0, 2), (1, 3), (2, 3), (3, 4)):
        problem = continuous(seed, 150, ties=None if seed < 2 else 12, depth=depth, difference="0.02")
        if seed == 2:
            problem += tf.Monotone(problem.data.columns[1].source, "decreasing", 1)
        one = run(problem, tf.ContinuousTotals())
        for threads in (2, 5):
            other = run(problem, tf.ContinuousTotals(threads=threads))
            assert (other.upper, other.lower, other.proved) == (one.upper, one.lower, one.proved)
            assert other.graph == one.graph and other.witness == one.witness
            own = ("nodes", "scans")  # every worker scans the whole table once a pass
            assert all(other.counters[name] == one.counters[name] for name in one.counters if name not in own)


def test_several_threads_stop_with_a_true_bound():
    problem = continuous(11, 1500, depth=4)
    free = run(tf.Problem(problem.data.X, problem.data.y, shape=tf.Tree(2)), tf.ConTree())
    answer = run(problem, tf.ContinuousTotals(threads=3), budget=Budget(0.3))
    assert not answer.proved and answer.reason == "time"
    assert answer.lower <= answer.upper and free.proved


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_it_agrees_with_the_search_over_tests_on_monotone_columns(direction):
    for seed in range(4):
        problem = continuous(seed, 150, ties=25, depth=2 + seed // 3)
        names = [column.source for column in problem.data.columns]
        problem += [tf.Monotone(names[seed % 2], direction, 1), tf.Monotone(names[2], direction, 1)]
        own, other = run(problem, tf.ContinuousTotals()), run(problem, tf.TotalsSearch())
        assert own.proved and other.proved and own.upper == other.upper
        assert all(one.violation(own.graph, problem.data) == 0 for one in problem.question.requirements)


def test_a_monotone_column_is_proved_and_checked_by_itself():
    problem = continuous(6, 300)
    problem += tf.Monotone(problem.data.columns[0].source, "decreasing", 1)
    result = problem.solve()
    assert result.solver == "continuous-totals" and result.status is tf.Status.OPTIMAL
    group = problem.question.requirements[0].groups
    report = tf.check(result.certificate(), problem.data.X, problem.data.y, sensitive_features=group)
    assert report.ok and "proved again" in str(report)


def test_every_part_can_be_left_out_and_changes_no_answer():
    problem = continuous(7, 60)
    wanted = run(problem, tf.ContinuousTotals()).upper
    for part in PARTS:
        engine = tf.ContinuousTotals(parts=tuple(p for p in PARTS if p != part))
        answer = run(problem, engine)
        assert answer.proved and answer.upper == wanted, part
    few = run(problem, tf.ContinuousTotals(parts=RULES))
    many = run(problem, tf.ContinuousTotals(parts=()))
    assert few.upper == many.upper == wanted and few.counters["splits"] < many.counters["splits"]


def test_the_parts_do_something():
    problem = continuous(3, 150, depth=3)
    usual = run(problem, tf.ContinuousTotals())
    blunt = run(problem, tf.ContinuousTotals(parts=tuple(p for p in PARTS if p != "multipliers")))
    assert usual.upper == blunt.upper and usual.counters["alive"] * 5 < blunt.counters["alive"]
    assert usual.counters["pruned_shrinking"] > 0 < usual.counters["pruned_subinterval"]
    assert {"prices", "fronts", "kept", "largest_front", "pairs", "guesses", "walks"} <= set(usual.counters)


def test_a_stopped_search_has_a_true_bound_and_an_admissible_tree():
    problem = continuous(1, 3000, columns=5, depth=3, difference="0.02")
    seen = []
    stopped = run(
        problem, tf.ContinuousTotals(), budget=Budget(0.3), on_incumbent=lambda *news: seen.append(news)
    )
    assert not stopped.proved and stopped.reason == "time" and stopped.lower <= stopped.upper
    assert all(lower <= upper for _, upper, lower, _ in seen) and seen[-1][1] >= stopped.upper
    asked = iter([False] * 2 + [True] * 1000)
    assert (
        run(problem, tf.ContinuousTotals(), budget=Budget().until(lambda: next(asked))).reason
        == "interrupted"
    )

    def interrupt():
        raise KeyboardInterrupt

    assert run(problem, tf.ContinuousTotals(), budget=Budget().until(interrupt)).reason == "interrupted"


def test_a_start_and_an_upper_bound_are_honoured():
    problem = continuous(5, 300)
    best = run(problem, tf.ContinuousTotals())
    again = run(problem, tf.ContinuousTotals(), start=best.graph)
    assert again.proved and again.upper == best.upper
    nothing = run(problem, tf.ContinuousTotals(), upper=best.upper)
    assert nothing.proved and nothing.graph is None and nothing.lower >= best.upper
    assert run(problem, tf.ContinuousTotals(), upper=best.upper + 1).upper == best.upper


def test_rows_that_no_tree_satisfies_are_named():
    rng = np.random.default_rng(2)
    X, y = rng.random((80, 2)), np.arange(80) % 2
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += [
        tf.StatisticalParity(groups=(X[:, 0] > 0.5).astype(int), difference=0.9),
        AtMostApproved(100, 90),
    ]
    answer = run(problem, tf.ContinuousTotals())
    assert answer.proved and answer.lower == NO_TREE and answer.witness["unit"] == 0
    assert answer.rows_used == (False, True)
    assert problem.solve().status is tf.Status.INFEASIBLE


@pytest.mark.parametrize("more", [None, tf.FeatureBudget(1), tf.MaxNodes(1), tf.MinSupport(60)], ids=str)
def test_multipliers_on_the_rows_alone_certify_that_no_tree_satisfies_them(more):
    rng = np.random.default_rng(1)
    X = rng.random((150, 3))
    y = ((X[:, 0] > 0.5) ^ (rng.random(150) < 0.3)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += [tf.MinRecall("0.95", 1), tf.MinSpecificity("0.95", 1), *([] if more is None else [more])]
    result = problem.solve(tf.ContinuousTotals())
    witness = next(claim.recheck["witness"] for claim in result.claims if claim.kind == "infeasible")
    assert result.status is tf.Status.INFEASIBLE and witness["unit"] == 0 and any(witness["multipliers"])
    report = tf.check(result.certificate(), X, y)
    assert report.ok and "proved again by the search by prices: there is no admissible model" in str(report)


def test_a_budget_of_columns_is_kept_with_a_start_a_bound_and_a_limit():
    problem = continuous(3, 200, columns=5)
    problem += tf.FeatureBudget(1)
    best, seen = run(problem, tf.ContinuousTotals()), []
    again = run(
        problem, tf.ContinuousTotals(), start=best.graph, on_incumbent=lambda *news: seen.append(news)
    )
    assert best.proved and len({f for f in best.graph.feature if f >= 0}) == 1
    assert again.proved and again.upper == best.upper == seen[0][1] and best.counters["column_sets"] > 2
    nothing = run(problem, tf.ContinuousTotals(), upper=best.upper)
    assert nothing.proved and nothing.graph is None and nothing.lower >= best.upper
    stopped = run(problem, tf.ContinuousTotals(), budget=Budget().share(0.0))
    assert stopped.reason == "time" and stopped.lower <= best.upper


def test_a_start_that_costs_nothing_is_the_answer():
    problem = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1))
    data, task = problem.data, TreeTask(depth=1, max_features=0)
    constant = tf.ContinuousTotals().run(data, task, EngineRun())
    assert constant.proved and constant.upper == 1 and constant.graph.n_nodes == 0
    again = tf.ContinuousTotals().run(data, task, EngineRun(start=constant.graph))
    assert again.proved and again.upper == again.lower == 1
    nothing = tf.ContinuousTotals().run(data, task, EngineRun(upper=0))
    assert nothing.proved and nothing.graph is None


def test_the_certificate_of_a_tree_within_a_budget_is_checked():
    problem = continuous(3, 30, columns=3)
    problem += tf.FeatureBudget(1)
    result = problem.solve(tf.ContinuousTotals())
    group = problem.question.requirements[0].groups
    report = tf.check(result.certificate(), problem.data.X, problem.data.y, sensitive_features=group)
    assert result.status is tf.Status.OPTIMAL and report.ok


@pytest.mark.parametrize("groups", ["empty", "identical", "label"])
def test_odd_groups(groups):
    rng = np.random.default_rng(4)
    X = rng.random((24, 2))
    y = (X[:, 0] > 0.4).astype(int)
    group = {
        "empty": np.where(y == 1, 0, rng.integers(0, 2, 24)),
        "identical": rng.integers(0, 2, 24),
        "label": y,
    }[groups]
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += tf.EqualOpportunity(groups=group, difference="0.1", positive=1)
    for _ in range(2):
        problem += tf.StatisticalParity(groups=group.copy(), ratio="0.9", positive=1)
    answer = run(problem, tf.ContinuousTotals())
    assert answer.proved and answer.upper == least_cost(
        problem.data, relax(problem.question, tf.ContinuousTotals()).task
    )


@pytest.mark.parametrize("weight", [1, 2**22, 2**48])
def test_large_weights_are_exact(weight):
    small = continuous(8, 20).data
    weights = np.full(20, weight) + np.arange(20) % 2
    problem = tf.Problem(small.X, small.y, shape=tf.Tree(2), sample_weight=weights)
    problem += AtMostApproved(8 * weight + 2, 3 * weight)
    task = relax(problem.question, tf.ContinuousTotals()).task
    answer = tf.ContinuousTotals().run(problem.data, task, EngineRun())
    assert answer.proved and answer.upper == least_cost(problem.data, task)


@pytest.mark.parametrize("dearest", [2**30, 2**54, 2**59])
def test_large_costs_are_exact_or_refused(dearest):
    data = continuous(8, 20).data
    task = TreeTask(
        depth=2, cost=np.array([[1, dearest], [dearest - 3, 2]]), totals=AtMostApproved(8, 3).totals(data)
    )
    if dearest == 2**59:
        with pytest.raises(SpecError, match="2\\*\\*60"):
            tf.ContinuousTotals().run(data, task, EngineRun())
    else:
        answer = tf.ContinuousTotals().run(data, task, EngineRun())
        assert answer.proved and answer.upper == least_cost(data, task)


def test_more_active_rows_than_solutions_carry_end_the_search_with_a_true_bound():
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 2)), np.arange(30) % 2
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    for k in range(9):
        problem += tf.StatisticalParity(groups=rng.integers(0, 3, 30), difference=f"0.{k + 1}", positive=1)
    answer = run(problem, tf.ContinuousTotals(parts=tuple(part for part in PARTS if part != "lazy")))
    assert not answer.proved and answer.reason == "memory" and "16 linear constraints" in answer.notes[0]
    usual = run(problem, tf.ContinuousTotals())
    assert usual.proved and answer.lower <= usual.upper


def test_what_it_does_not_take_is_refused_with_the_reason():
    problem = continuous(0, 40)
    priced = tf.Problem(problem.data.X, problem.data.y, shape=tf.Tree(2))
    priced += TestPrice(1)
    with pytest.raises(SpecError, match="cannot support test_price"):
        priced.solve(tf.ContinuousTotals())
    with pytest.raises(SpecError, match="depth 9"):
        tf.ContinuousTotals().run(problem.data, TreeTask(depth=10), EngineRun())
    with pytest.raises(SpecError, match="diagrams"):
        tf.ContinuousTotals().run(problem.data, TreeTask(depth=2, widths=(1, 2)), EngineRun())
    for setting in ({"parts": "cuts"}, {"memory_limit": 0}, {"threads": 0}, {"simd": "fast"}):
        with pytest.raises(SpecError):
            tf.ContinuousTotals(**setting)


def test_it_is_chosen_by_itself_and_its_certificate_is_checked():
    problem = continuous(6, 300)
    result = problem.solve()
    assert result.solver == "continuous-totals" and result.status is tf.Status.OPTIMAL
    assert any("intervals of thresholds" in note for note in result.notes)
    group = problem.question.requirements[0].groups
    report = tf.check(result.certificate(), problem.data.X, problem.data.y, sensitive_features=group)
    assert report.ok and "proved again by the search by prices" in str(report)


@pytest.mark.slow
def test_thousands_of_drawn_problems():
    for seed in range(1000, 6000):
        check_against_enumeration(seed, tf.ContinuousTotals())
