"""Bounds for every number of tests from the best tree at one price, against trees by enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from diagram_reference import NEVER, least_costs
from drawing import Draw
from test_diagram_engine import limits_of, shape_of
from test_diagram_passes import random_case

from treeform.data import Dataset
from treeform.engines import DiagramSearch, TreeTask, tree_prices
from treeform.engines.size_outcome import SizeOutcome
from treeform.engines.tree_prices import best_at_price, has_question
from treeform.graph import DecisionGraph
from treeform.shape import Tree

TREE = 12
"""Among the kinds of `random_case`, which has 13: trees."""


def nothing_known(upper: list[int], free: int) -> SizeOutcome:
    """These costs without models, and no bound."""
    none: tuple[DecisionGraph | None, ...] = (None,) * len(upper)
    return SizeOutcome((0,) * len(upper), tuple(upper), none, {}, 0.0, None, {}, free)


def drawn(seed: int) -> tuple[Dataset, TreeTask, Fraction, int, list[int]]:
    data, task, rng = random_case(13 * seed + TREE)
    task = TreeTask(task.depth, task.cost, 0, task.min_support, task.max_nodes)
    price = Fraction(int(rng.integers(0, 5)), int(rng.integers(1, 5)))
    return data, task, price, int(rng.integers(0, 3)), least_costs(data, task)


def test_bounds_hold_and_prove_the_price(draw: Draw) -> None:
    """From the cost of a leaf, as all that is known, and from the optimum of every number of tests."""
    asked = better = 0
    for seed in draw(range(1500), 150):
        data, task, price, free, e = drawn(seed)
        if e[0] >= NEVER:
            continue
        least = min(cost + price * max(k - free, 0) for k, cost in enumerate(e))
        for upper in ([e[0]] * len(e), e):
            sizes = nothing_known(upper, free)
            if not has_question(sizes, price):
                continue
            lower, graph = best_at_price(data, task, sizes, price)
            assert all(low <= cost for low, cost in zip(lower, e, strict=True)), seed
            bound = min(low + price * max(k - free, 0) for k, low in enumerate(lower))
            if graph is None or len(graph.tests()) >= free:
                assert bound == least, (seed, price, free)
            better += graph is not None
            asked += 1
    assert asked > 50
    assert better > 10


@pytest.mark.parametrize("free", [0, 1])
def test_size_table_through_trees(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no time for the search by numbers of tests, the same values as without the trees, and all proved."""
    rng = np.random.default_rng(5)
    X = rng.random((150, 6))
    data = Dataset.from_user(X, (X[:, 0] * X[:, 1] + 0.2 * rng.random(150) > 0.4).astype(int))
    prices = [Fraction(5), Fraction(3, 2), Fraction(1, 4)]
    whole = DiagramSearch(memory_limit=2**30).size_table(data, Tree(3), prices, free=free)
    asked: list[Fraction] = []
    price_of = best_at_price

    def noted(data: Dataset, task: TreeTask, sizes: SizeOutcome, price: Fraction, **how: object) -> object:
        asked.append(price)
        return price_of(data, task, sizes, price, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(tree_prices, "SEARCH_FIRST", -1.0)
    monkeypatch.setattr(tree_prices, "best_at_price", noted)
    table = DiagramSearch().size_table(data, Tree(3), prices, free=free)
    assert asked
    assert table.reason is None
    for price in prices:
        assert table.proved(price)
        assert table.best(price)[0] == whole.best(price)[0]
        assert table.proved_at[price] is not None


def test_limits_of_weight_are_searched_by_numbers_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """ConTree has no least weight that reaches a test: it is not asked."""
    monkeypatch.setattr(tree_prices, "SEARCH_FIRST", -1.0)
    monkeypatch.delattr(tree_prices, "best_at_price")
    data, task, *_ = drawn(3)
    table = DiagramSearch().size_table(data, shape_of(task), [1], **limits_of(task) | {"min_flow": 1})
    assert table.proved(1)
