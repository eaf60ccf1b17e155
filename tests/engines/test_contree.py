"""ConTree against brute force: the optimum, the bound, and every limit and cost it claims to understand."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from drawing import Draw
from timing import Timed

from treeform import _core
from treeform.catalogue.solvers import engine_names, find_engine
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.graph import DecisionGraph, evaluate
from treeform.utils.budget import Budget

NOTHING = 10**18
RULES = ["neighbourhood", "shrinking", "subinterval", "features"]
SCALES = [1.0, 1e-7, 1e-300, 5e-324, 1e9, -1.0]


def brute_force(x: Any, y: Any, w: Any, cost: Any, depth: int, tests: int, support: int, penalty: int) -> int:
    """The least cost over all trees, by recursion over sets of rows; NOTHING when no tree is admissible."""

    @cache
    def best(rows: tuple[int, ...], depth: int, tests: int) -> int:
        index = np.array(rows)
        if w[index].sum() < support:
            return NOTHING
        value = min(int((w[index] * cost[y[index], a]).sum()) for a in range(len(cost)))
        if depth == 0 or tests == 0:
            return value
        for feature in range(x.shape[1]):
            for threshold in np.unique(x[index, feature])[:-1]:
                below = x[index, feature] <= threshold
                left, right = tuple(index[below]), tuple(index[~below])
                for share in range(tests):
                    value = min(
                        value,
                        penalty + best(left, depth - 1, share) + best(right, depth - 1, tests - 1 - share),
                    )
        return value

    return best(tuple(range(len(y))), depth, tests)


def walk(tree: dict[str, Any], x: Any, y: Any, w: Any, cost: Any, support: int, penalty: int) -> int:
    """The cost of the engine's tree; thresholds must lie between neighbouring values of the rows there."""
    node = np.zeros(len(y), dtype=int)
    total = 0
    for v, feature in enumerate(tree["feature"]):
        here = node == v
        assert here.any()
        if feature < 0:
            assert w[here].sum() >= support
            total += int((w[here] * cost[y[here], tree["label"][v]]).sum())
            continue
        column, low, high = x[:, feature], tree["low"][v], tree["high"][v]
        below = here & (column <= low)
        assert low == column[below].max()
        assert high == column[here & ~below].min() > low
        total += penalty
        node[below], node[here & ~below] = tree["left"][v], tree["right"][v]
    return total


def problem(seed: int) -> tuple[Any, ...]:
    """A tiny random problem with ties, duplicates and a random choice of limits."""
    pick, rng = random.Random(seed), np.random.default_rng(seed)
    depth = pick.choice([1, 2, 2, 3, 3, 4])
    n, features, classes = (
        pick.randint(2, 14 if depth < 3 else 10),
        pick.randint(1, 3),
        pick.choice([2, 2, 3, 4, 6]),
    )
    if depth == 4:
        n, features = min(n, 8), min(features, 2)
    x = rng.integers(0, pick.choice([2, 4, 30]), (n, features)) * pick.choice(SCALES)
    y = rng.integers(0, classes, n).astype(np.int32)
    w = (
        rng.integers(1, pick.choice([2, 4, 50, 40000]), n)
        if pick.random() < 0.5
        else np.ones(n, dtype=np.int64)
    )
    cost = (
        rng.integers(0, 7, (classes, classes)) if pick.random() < 0.4 else 1 - np.eye(classes, dtype=np.int64)
    )
    limits = {
        "max_nodes": pick.choice([2**60, 2**60, 1, 2, 3, 4, 5, 6]),
        "min_support": pick.choice([0, 0, 0, 1, 2, 3, 5]),
        "node_penalty": pick.choice([0, 0, 0, 1, 2, 3]),
    }
    prune = RULES if pick.random() < 0.6 else [rule for rule in RULES if pick.random() < 0.5]
    return depth, x + 0.0, y, w, cost, limits, prune, pick


def several_classes(seed: int) -> tuple[Any, Any, int]:
    """More rows, of three classes or more, at depth two, and the price of a test."""
    rng = np.random.default_rng(seed)
    n, features, classes = (int(rng.integers(*ends)) for ends in ((12, 24), (2, 4), (3, 9)))
    x = rng.integers(0, int(rng.integers(3, 12)), (n, features)).astype(float)
    y = rng.integers(0, classes, n).astype(np.int32)
    y[:classes] = range(classes)
    return x, y, int(rng.integers(0, 2))


def solve(x: Any, y: Any, w: Any, cost: Any, depth: int, **more: Any) -> dict[str, Any]:
    """Call the native engine directly."""
    asked = {
        "max_nodes": 2**60, "min_support": 0, "node_penalty": 0, "upper": None, "gap": 0, "prune": RULES,
        "improve": True, "prove": True, "seed": 0, "work_limit": 0, "ask": None, "callers": 1, "ahead": 32,
        "threads": 1, "simd": "auto", "memory_limit": 0, "time_limit": np.inf, "poll": None,
    } | more  # fmt: skip
    return _core.contree(x, y, w, cost, classes=len(cost), depth=depth, **asked)


@pytest.mark.parametrize("seed", [105, 139, 147, 151, 1, 2])
def test_of_several_classes_no_pair_is_left_out(seed: int) -> None:
    """The bound of pairs of classes that were not scanned: too high, it is one of subproblems that recur."""
    x, y, price = several_classes(seed)
    cost, w = 1 - np.eye(int(y.max()) + 1, dtype=np.int64), np.ones(len(y), dtype=np.int64)
    found = solve(x, y, None, cost, 2, node_penalty=price)["tree"]
    assert found["cost"] == brute_force(x, y, w, cost, 2, 3, 0, price)


@pytest.mark.parametrize("block", range(20))
def test_brute_force(block: int, draw: Draw) -> None:
    for seed in draw(range(60 * block, 60 * block + 60), 30):
        depth, x, y, w, cost, limits, prune, pick = problem(seed)
        tests = min(limits["max_nodes"], 2**depth - 1)
        best = brute_force(x, y, w, cost, depth, tests, limits["min_support"], limits["node_penalty"])
        upper = best + pick.randint(0, 2) if best < NOTHING and pick.random() < 0.2 else None
        weights = None if (w == 1).all() else w
        matrix = None if (cost == 1 - np.eye(len(cost))).all() else cost
        found = _core.contree(
            x, y, weights, matrix, classes=len(cost), depth=depth, **limits, upper=upper, gap=0, prune=prune,
            threads=pick.choice([1, 2, 3]), simd="auto", memory_limit=0, time_limit=np.inf, poll=None,
            improve=pick.random() < 0.7, prove=True, seed=0, work_limit=0, ask=None, callers=1, ahead=32,
        )  # fmt: skip
        assert found["complete"], seed
        if best == NOTHING or (upper is not None and best >= upper):
            assert found["tree"] is None, seed
            continue
        assert found["tree"]["cost"] == found["lower"] == best, seed
        value = walk(found["tree"], x, y, w, cost, limits["min_support"], limits["node_penalty"])
        assert value == best, seed
        assert (found["tree"]["feature"] >= 0).sum() <= tests, seed


@pytest.mark.parametrize("block", range(10))
def test_minimum_support(block: int, draw: Draw) -> None:
    """Supports that bind, on more rows than above: whole intervals of thresholds are settled at once."""
    for seed in draw(range(40 * block, 40 * block + 40), 20):
        depth, x, y, w, cost, limits, prune, pick = problem(10_000 + seed)
        if depth == 2:
            rng = np.random.default_rng(seed)
            x = rng.integers(0, 30, (22, 2)) + 0.0
            y, w = rng.integers(0, len(cost), 22).astype(np.int32), rng.integers(1, 4, 22)
        if pick.random() < 0.5:
            w = np.ones(len(y), dtype=np.int64)
        support = pick.randint(1, max(1, int(w.sum()) // pick.choice([2, 3, 4, 8])))
        limits |= {"min_support": support, "node_penalty": pick.choice([0, 0, 1])}
        tests = min(limits["max_nodes"], 2**depth - 1)
        best = brute_force(x, y, w, cost, depth, tests, support, limits["node_penalty"])
        weights = None if (w == 1).all() else w
        found = solve(x, y, weights, cost, depth, **limits, prune=prune, threads=pick.choice([1, 2]))
        assert found["complete"], seed
        if best == NOTHING:
            assert found["tree"] is None, seed
            continue
        assert found["tree"]["cost"] == found["lower"] == best, seed
        assert walk(found["tree"], x, y, w, cost, support, limits["node_penalty"]) == best, seed


def test_many_classes_at_a_price() -> None:
    """A class that saves no more than a test costs pays for none: no feature is looked at where all of them are so."""
    rng = np.random.default_rng(0)
    x, y = rng.random((200, 4)), np.repeat(np.arange(10), 20).astype(np.int32)
    cost = 1 - np.eye(10, dtype=np.int64)
    dear = solve(x, y, None, cost, 4, node_penalty=20)
    assert dear["tree"]["cost"] == dear["lower"] == 180
    assert dear["counters"]["scans"] == 0
    x[:, 0] = y  # a test for every class but one pays where it saves all of it
    cheap = solve(x, y, None, cost, 4, node_penalty=19)
    assert cheap["tree"]["cost"] == cheap["lower"] == 9 * 19
    assert cheap["counters"]["scans"] > 0


@pytest.mark.parametrize("block", range(4))
def test_prices_that_few_classes_pay_for(block: int, draw: Draw) -> None:
    """Against brute force, at prices of a tenth to a third of all rows."""
    for seed in draw(range(20_000 + 40 * block, 20_040 + 40 * block), 15):
        depth, x, y, w, cost, limits, prune, pick = problem(seed)
        limits |= {"node_penalty": max(1, int(w.sum()) // pick.choice([3, 5, 10]))}
        tests = min(limits["max_nodes"], 2**depth - 1)
        best = brute_force(x, y, w, cost, depth, tests, limits["min_support"], limits["node_penalty"])
        found = solve(x, y, w, cost, depth, **limits, prune=prune)
        assert found["complete"], seed
        if best == NOTHING:
            assert found["tree"] is None, seed
        else:
            assert found["tree"]["cost"] == found["lower"] == best, seed


def random_table(n: int, features: int, classes: int, values: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, values, (n, features)).astype(np.float64)
    signal = (x[:, 0] * 3 + x[:, 1 % features] > 2 * values).astype(np.int64) + (x[:, -1] > values / 2)
    y = np.where(rng.random(n) < 0.2, rng.integers(0, classes, n), signal % classes)
    return x, y.astype(np.int32)


PATHS = [path for path in ("plain", "portable", "avx2", "avx512") if _core.simd_available(path)]


@pytest.mark.parametrize("n", [31, 32, 33, 64, 700, 5000])
@pytest.mark.parametrize("classes", [2, 3, 9, 40])
def test_instruction_sets_agree(n: int, classes: int) -> None:
    for values in (3, 40, 10**6):
        x, y = random_table(n, 4, classes, values, n + classes)
        answers = [solve(x, y, None, 1 - np.eye(classes, dtype=np.int64), 2, simd=path) for path in PATHS]
        assert len({answer["tree"]["cost"] for answer in answers}) == 1
        for field in ("feature", "low", "high", "label"):
            assert all((answer["tree"][field] == answers[0]["tree"][field]).all() for answer in answers)
        assert all(answer["counters"] == answers[0]["counters"] for answer in answers)


@pytest.mark.parametrize("n", [4064, 4100, 9000])
@pytest.mark.parametrize("weight", [1, 31, 32])
@pytest.mark.parametrize("classes", [2, 17, 255])
def test_sums_in_bytes_reach_their_ends(n: int, weight: int, classes: int) -> None:
    """Long runs of one class and weight drive a block's sums to 127 and -127; ties leave whole blocks without a cut."""
    x = np.stack([np.arange(n) // 700, np.arange(n)[::-1] % 4001], axis=1).astype(np.float64)
    y = ((np.arange(n) // 1500) * (classes // 2) % classes).astype(np.int32)
    y[n // 2] = classes - 1
    weights = np.where(np.arange(n) % 900 < 880, weight, 1).astype(np.int64)
    cost = 1 - np.eye(classes, dtype=np.int64)
    for support in (0, n * weight // 9):
        answers = [solve(x, y, weights, cost, 2, simd=path, min_support=support) for path in PATHS]
        assert len({answer["tree"]["cost"] for answer in answers}) == 1
        assert all(answer["counters"] == answers[0]["counters"] for answer in answers)


@pytest.mark.parametrize("n", [200, 3000])
def test_widths_agree(n: int) -> None:
    """The same problem in units that force 16, 32 and 64 bits."""
    x, y = random_table(n, 3, 3, 60, 1)
    cost = 1 - np.eye(3, dtype=np.int64)
    first = solve(x, y, None, cost, 3)
    assert first["width"] == "narrow"
    for factor, width in ((40000, "wide"), (10**12, "huge")):
        other = solve(x, y, np.full(n, factor), cost, 3)
        assert other["width"] == width
        assert other["tree"]["cost"] == factor * first["tree"]["cost"]


@pytest.mark.parametrize("seed", range(12))
def test_threads_give_the_same_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = random_table(int(rng.integers(50, 500)), 5, 3, int(rng.integers(3, 80)), seed)
    cost = 1 - np.eye(3, dtype=np.int64)
    one = solve(x, y, None, cost, 3)
    for threads in (2, 3):
        other = solve(x, y, None, cost, 3, threads=threads)
        assert other["lower"] == one["lower"] == one["tree"]["cost"]
        assert other["counters"] == one["counters"]  # the same work, in the same order
        for field in ("feature", "low", "high", "label"):
            assert (other["tree"][field] == one["tree"][field]).all()


def test_many_rows_and_many_classes() -> None:
    x, y = random_table(70_000, 2, 300, 500, 3)
    medium = solve(x, y, None, 1 - np.eye(300, dtype=np.int64), 2)
    assert medium["width"] == "medium"
    x = x + np.linspace(0, 0.5, len(x))[:, None]  # more than 65,535 distinct values
    assert solve(x, y, None, 1 - np.eye(300, dtype=np.int64), 1)["width"] == "wide"


@pytest.mark.parametrize("shift", [lambda x: x * 1e-9, lambda x: x + 1e9, lambda x: x * 5e-324, lambda x: -x])
def test_any_scale(shift: Any) -> None:
    x, y = random_table(300, 3, 2, 200, 5)
    cost = 1 - np.eye(2, dtype=np.int64)
    assert solve(shift(x), y, None, cost, 3)["tree"]["cost"] == solve(x, y, None, cost, 3)["tree"]["cost"]


def test_adjacent_floats() -> None:
    low = 0.1
    high = np.nextafter(low, 1)
    x = np.array([[low], [high]] * 5)
    data = Dataset.from_user(x, [0, 1] * 5)
    outcome = ConTree().run(data, TreeTask(depth=1), EngineRun())
    assert outcome.upper == 0
    assert low <= outcome.graph.threshold[0] < high


def test_engine_outcome() -> None:
    x, y = random_table(400, 4, 3, 50, 11)
    data = Dataset.from_user(x, y)
    seen: list[tuple[float, int, int]] = []

    def watch(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        seen.append((seconds, upper, lower))
        if graph is not None:
            assert evaluate.weighted_errors(graph, data) == upper

    outcome = ConTree().run(data, TreeTask(depth=3), EngineRun(on_incumbent=watch))
    assert outcome.proved
    assert outcome.reason is None
    assert outcome.lower == outcome.upper == evaluate.weighted_errors(outcome.graph, data)
    assert [upper for _, upper, _ in seen] == sorted((upper for _, upper, _ in seen), reverse=True)
    assert seen[-1][1] == outcome.upper
    assert all(lower <= outcome.upper for _, _, lower in seen)
    assert outcome.counters["splits"] > 0
    again = ConTree().run(data, TreeTask(depth=3), EngineRun(start=outcome.graph))
    assert again.proved
    assert again.graph == outcome.graph
    below = ConTree().run(data, TreeTask(depth=3), EngineRun(upper=outcome.upper))
    assert below.graph is None
    assert below.proved
    assert below.lower >= outcome.upper


def test_prefers_fewer_tests() -> None:
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    data = Dataset.from_user(x, [0, 0, 1, 1] * 3)
    graph = ConTree().run(data, TreeTask(depth=4), EngineRun()).graph
    assert graph.n_nodes == 1


@pytest.mark.parametrize("seed", range(30))
def test_fewest_tests(seed: int) -> None:
    """Compared with brute force over all trees, in costs that count a test as a fraction of an error."""
    depth, x, y, w, cost, limits, _, _ = problem(seed)
    y, cost = np.unique(y, return_inverse=True)[1], cost[: len(np.unique(y)), : len(np.unique(y))]
    if len(cost) < 2:
        return
    data = Dataset.from_user(x, y, w)
    w = data.weights
    task = TreeTask(depth, cost=cost, min_support=limits["min_support"], max_nodes=limits["max_nodes"])
    plain = ConTree().run(data, task, EngineRun())
    found = ConTree(fewest_tests=True).run(data, task, EngineRun())
    assert (found.upper, found.lower, found.proved) == (plain.upper, plain.lower, plain.proved)
    if plain.graph is None:
        return
    tests = min(limits["max_nodes"], 2**depth - 1)
    best = brute_force(data.X, data.y, w, 16 * cost, depth, tests, limits["min_support"], 1)
    assert found.counters["fewest_tests"] == 1
    assert 16 * found.upper + found.graph.n_nodes == best
    stopped = ConTree(fewest_tests=True, max_gap=10**6).run(data, task, EngineRun())
    assert stopped.counters["fewest_tests"] == 0 or stopped.proved


def test_stops(timed: Timed) -> None:
    x, y = random_table(4000, 12, 2, 4000, 2)
    y = np.random.default_rng(0).integers(0, 2, len(y))
    data = Dataset.from_user(x, y)
    outcome = ConTree().run(data, TreeTask(depth=5), EngineRun(Budget(0.3)))
    assert outcome.reason == "time"
    timed(outcome.seconds, 2.0)
    assert 0 <= outcome.lower <= outcome.upper == evaluate.weighted_errors(outcome.graph, data)
    assert not outcome.proved
    asked = iter([False, False] + [True] * 10_000)  # how often it is asked until it has stopped depends on time
    outcome = ConTree().run(data, TreeTask(depth=5), EngineRun(Budget().until(lambda: next(asked))))
    assert outcome.reason == "interrupted"

    def interrupt() -> bool:
        raise KeyboardInterrupt

    outcome = ConTree().run(data, TreeTask(depth=5), EngineRun(Budget().until(interrupt)))
    assert outcome.reason == "interrupted"
    assert outcome.graph is not None

    def fail() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ConTree().run(data, TreeTask(depth=5), EngineRun(Budget().until(fail)))


def test_memory_limit() -> None:
    x, y = random_table(3000, 6, 2, 3000, 2)
    data = Dataset.from_user(x, y)
    outcome = ConTree(memory_limit=10_000).run(data, TreeTask(depth=3), EngineRun())
    assert outcome.reason == "memory"
    assert outcome.upper == evaluate.weighted_errors(outcome.graph, data)
    assert not outcome.proved
    assert ConTree(memory_limit=2**28).run(data, TreeTask(depth=2), EngineRun()).proved


@pytest.mark.parametrize("threads", [1, 3])
def test_little_memory_suffices(threads: int) -> None:
    """Workers leave and scratch is given back before a solve is stopped; the tree stays the same."""
    x, y = random_table(3000, 6, 2, 3000, 2)
    data = Dataset.from_user(x, y)
    free = ConTree(threads=threads).run(data, TreeTask(depth=3), EngineRun())
    tight = ConTree(threads=threads, memory_limit=4 * data.X.nbytes)
    outcome = tight.run(data, TreeTask(depth=3), EngineRun())
    assert outcome.proved
    assert outcome.graph == free.graph
    assert outcome.counters == free.counters


@pytest.mark.parametrize("gap", [0, 1, 5, 0.01, 0.1])
def test_gap(gap: float) -> None:
    x, y = random_table(300, 3, 3, 100, 7)
    data = Dataset.from_user(x, y)
    best = ConTree().run(data, TreeTask(depth=3), EngineRun()).upper
    near = ConTree(max_gap=gap).run(data, TreeTask(depth=3), EngineRun())
    allowed = gap if isinstance(gap, int) else int(gap * 300)
    assert near.lower <= best <= near.upper <= near.lower + allowed
    assert near.reason is None


def test_upper_bound_may_tighten() -> None:
    x, y = random_table(2000, 6, 2, 500, 4)
    data = Dataset.from_user(x, y)
    outcome = ConTree().run(data, TreeTask(depth=3), EngineRun(upper=lambda: 10**6))
    assert outcome.proved


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": 0}, {"threads": 1.5}, {"max_gap": -1}, {"max_gap": 1.5}, {"max_gap": "a"},
        {"memory_limit": 0}, {"parts": ("magic",)}, {"parts": 3}, {"simd": "mmx"}, {"fewest_tests": 2},
    ],
)  # fmt: skip
def test_bad_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        ConTree(**settings)


def test_is_a_value() -> None:
    assert ConTree() == find_engine("contree")
    assert ConTree(threads=2) != ConTree()
    assert hash(ConTree()) == hash(ConTree())
    assert "contree" in engine_names()
    with pytest.raises(SpecError):
        find_engine("oak")


def test_costs_beyond_64_bits() -> None:
    data = Dataset.from_user(np.array([[0.0], [1.0]]), [0, 1], [2**40, 2**40 + 1])
    with pytest.raises(SpecError, match="64-bit"):
        ConTree().run(data, TreeTask(depth=1, cost=np.array([[0, 2**30], [2**30, 0]])), EngineRun())
