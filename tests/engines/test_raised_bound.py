"""The bound of hard rows with which proofs of deep trees begin."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from drawing import Draw
from test_contree import solve

DEPTH = 5


def least_cost(x: Any, y: Any, w: Any, cost: Any, depth: int, price: int) -> int:
    """Of all trees over two columns of small whole numbers, by recursion over rectangles."""
    most = int(x.max()) + 1
    weight = np.zeros((most, most, len(cost)), dtype=np.int64)
    np.add.at(weight, (x[:, 0].astype(int), x[:, 1].astype(int), y), w)

    @cache
    def least(a: int, b: int, c: int, d: int, depth: int) -> int:
        value = int((weight[a:b, c:d].sum(axis=(0, 1)) @ cost).min())
        if depth == 0 or value <= price:
            return value
        for cut in range(a + 1, b):
            value = min(value, price + least(a, cut, c, d, depth - 1) + least(cut, b, c, d, depth - 1))
        for cut in range(c + 1, d):
            value = min(value, price + least(a, b, c, cut, depth - 1) + least(a, b, cut, d, depth - 1))
        return value

    return least(0, most, 0, most, depth)


def test_no_tree_is_below_the_bound(draw: Draw) -> None:
    """With weights, costs and prices of tests, under limits that the bound leaves out."""
    reached = []
    for seed in draw(range(300), 60):
        rng = np.random.default_rng(seed)
        n, classes, price = int(rng.integers(20, 200)), int(rng.integers(2, 4)), int(rng.integers(0, 4))
        x = rng.integers(0, int(rng.integers(4, 9)), (n, 2)).astype(float)
        y = rng.integers(0, classes, n).astype(np.int32)
        w = rng.integers(1, 5, n)
        cost = rng.integers(0, 6, (classes, classes)) if seed % 2 else 1 - np.eye(classes, dtype=np.int64)
        found = solve(x, y, w, cost, DEPTH, node_penalty=price, min_support=int(rng.integers(0, 3)))
        free = int((w * cost.min(axis=1)[y]).sum())
        optimum = least_cost(x, y, w, cost, DEPTH, price)
        assert found["complete"] and free + found["counters"]["raised"] <= optimum <= found["lower"], seed
        reached.append(found["counters"]["raised"] / max(1, optimum - free))
    assert np.mean(reached) > 0.1  # it says something


def test_no_tree_is_below_what_the_bound_reaches_beside_the_proof(draw: Draw) -> None:
    """Larger tables, whose proof takes longer than the bound's first share."""
    larger = 0
    for seed in draw(range(12), 2):
        rng = np.random.default_rng(seed)
        depth, n, price = 5 + seed % 2, int(rng.integers(250, 400)), int(rng.integers(0, 3))
        x, y = rng.integers(0, 12, (n, 2)).astype(float), rng.integers(0, 2, n).astype(np.int32)
        w, cost = rng.integers(1, 3, n), 1 - np.eye(2, dtype=np.int64)
        first: list[int] = []
        found = solve(x, y, w, cost, depth, node_penalty=price, poll=first_bound(first))
        optimum = least_cost(x, y, w, cost, depth, price)
        assert found["complete"] and found["counters"]["raised"] <= optimum == found["lower"], seed
        larger += found["counters"]["raised"] > first[0]
    assert larger > 0


def first_bound(seen: list[int]) -> Any:
    """A poll that keeps the first bound above zero."""

    def poll(news: list[Any], *_: Any) -> tuple[bool, None]:
        seen.extend(lower for _, _, lower in news if lower > 0)
        return False, None

    return poll


def test_a_proof_that_ends_early_keeps_the_bound() -> None:
    """Rows that no tree tells apart without end: the bound is there long before a proof."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 40, (1_500, 3)).astype(float), rng.integers(0, 2, 1_500).astype(np.int32)
    lowers: list[int] = []

    def poll(news: list[Any], *_: Any) -> tuple[bool, None]:
        lowers.extend(lower for _, _, lower in news)
        return max(lowers, default=0) > 0, None

    found = solve(x, y, None, 1 - np.eye(2, dtype=np.int64), DEPTH, poll=poll)
    assert 0 < max(lowers) <= found["lower"] <= found["tree"]["cost"]


def test_a_test_that_costs_more_than_a_target(draw: Draw) -> None:
    """What a target leaves to the sides of a test is below zero."""
    reached = 0
    for seed in draw(range(100), 40):
        rng = np.random.default_rng(seed)
        n, price = int(rng.integers(20, 80)), int(rng.integers(10, 60))
        x, y = rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, 3, n).astype(np.int32)
        cost = rng.integers(0, 7, (3, 3))
        found = solve(x, y, None, cost, DEPTH, node_penalty=price)
        optimum = least_cost(x, y, np.ones(n, dtype=np.int64), cost, DEPTH, price)
        assert found["complete"] and found["lower"] == optimum == found["tree"]["cost"], seed
        reached += found["counters"]["raised"]
    assert reached > 0


def test_at_depth_six_small_targets_come_first() -> None:
    """Of the third table a first target that is a part of the errors takes longer than the bound's first share."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 40, (1_000, 5)).astype(float), rng.integers(0, 2, 1_000).astype(np.int32)
        found = solve(x, y, None, 1 - np.eye(2, dtype=np.int64), depth=6, upper=1)
        assert found["complete"] and found["lower"] >= 1 and found["counters"]["nodes"] == 0, seed


def test_at_depth_six_small_targets_of_hard_rows_come_first() -> None:
    """The first tree labels few rows wrongly: all other bounds need nodes of the proof to show that some are."""
    for n, columns, values in [(1_500, 6, 8), (1_000, 4, 40), (1_500, 5, 12)]:
        rng = np.random.default_rng(0)
        x = rng.integers(0, values, (n, columns)).astype(float)
        y = ((x[:, 0] > values // 2) ^ (rng.random(n) < 0.1)).astype(np.int32)
        found = solve(x, y, None, 1 - np.eye(2, dtype=np.int64), depth=6, upper=1)
        assert found["complete"] and found["lower"] >= 1 and found["counters"]["nodes"] == 0, (n, columns)


def hard_table() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 8, (200, 2)).astype(float), rng.integers(0, 2, 200).astype(np.int32)
    return x, y, 1 - np.eye(2, dtype=np.int64)


def test_the_bound_is_the_same_with_a_model_in_hand() -> None:
    """A model in hand changes neither the rows nor the work."""
    x, y, cost = hard_table()
    best = solve(x, y, None, cost, DEPTH)["tree"]["cost"]
    raised = [solve(x, y, None, cost, DEPTH, upper=upper)["counters"]["raised"] for upper in (None, best + 1)]
    assert raised[0] > 0 and raised == raised[:1] * 2


def test_a_bound_that_is_asked_for_ends_the_search() -> None:
    """A check wants no trees but those below a claim: it proves the claim by the steps of the solve, and no more.

    What is reached before the proof needs none of its nodes.
    """
    x, y, cost = hard_table()
    first: list[int] = []
    alone = solve(x, y, None, cost, DEPTH, poll=first_bound(first))
    most, best = alone["counters"]["raised"], alone["tree"]["cost"]
    assert most >= first[0] > 1
    for upper in range(1, most + 1):
        found = solve(x, y, None, cost, DEPTH, upper=upper)
        assert found["complete"] and found["tree"] is None and upper <= found["lower"] <= best
        assert upper > first[0] or found["counters"]["nodes"] == 0


def test_a_proof_ends_when_its_bound_meets_the_best_tree_in_hand(draw: Draw) -> None:
    """Where the bound of hard rows is the cost of the first trees, no other search begins."""
    ended = 0
    for seed in draw(range(400), 120):
        rng = np.random.default_rng(seed)
        n, price = int(rng.integers(10, 40)), int(rng.integers(0, 3))
        x = rng.integers(0, int(rng.integers(2, 4)), (n, 2)).astype(float)
        y, cost = rng.integers(0, 2, n).astype(np.int32), 1 - np.eye(2, dtype=np.int64)
        found = solve(x, y, None, cost, DEPTH, node_penalty=price)
        optimum = least_cost(x, y, np.ones(n, dtype=np.int64), cost, DEPTH, price)
        assert found["complete"] and found["lower"] == found["tree"]["cost"] == optimum, seed
        ended += optimum > 0 and found["counters"]["nodes"] == 0
    assert ended > 0


def test_a_proof_within_a_gap_ends_when_its_bound_is_that_close(draw: Draw) -> None:
    """What is returned is within the gap, and what is claimed holds."""
    closer = 0
    for seed in draw(range(200), 60):
        rng = np.random.default_rng(seed)
        n, gap = int(rng.integers(40, 200)), int(rng.integers(1, 12))
        x, y = rng.integers(0, 7, (n, 2)).astype(float), rng.integers(0, 2, n).astype(np.int32)
        cost = 1 - np.eye(2, dtype=np.int64)
        found = solve(x, y, None, cost, DEPTH, gap=gap)
        optimum = least_cost(x, y, np.ones(n, dtype=np.int64), cost, DEPTH, 0)
        assert found["complete"] and found["lower"] <= optimum <= found["tree"]["cost"] <= found["lower"] + gap, seed
        closer += found["counters"]["nodes"] == 0 and found["lower"] > 0
    assert closer > 0


def test_a_limit_on_work_holds_with_several_threads() -> None:
    """Beside the proof there are the first trees alone, whoever proves."""
    x, y, cost = hard_table()
    alone, *several = (
        solve(x, y, None, cost, DEPTH, threads=threads, work_limit=1) for threads in (1, 2, 3)
    )
    assert alone["work"] > 0 and [one["work"] for one in several] == [alone["work"]] * 2
    assert {one["tree"]["cost"] for one in (alone, *several)} == {alone["lower"]}
