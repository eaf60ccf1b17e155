"""DiagramSearch against brute force: costs for every number of tests, limits, prices, and techniques switched off."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from diagram_reference import NEVER, fault_of, least_costs
from drawing import Draw
from layered_reference import random_data

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, EngineRun, TreeTask
from treeform.engines.native_call import admissible_diagram
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.shape import Shape

WIDTHS = [(1,), (1, 2), (1, 2, 2), (1, 2, 3), (1, 1, 1), (1, 2, 1), (1, 1, 2), (1, 2, 1, 2), (1, 2, 2, 2)]
LIMIT = EngineRun()


def random_case(seed: int) -> tuple[Dataset, TreeTask]:
    """Tiny data and a task with some of: costs, limits of weight, a bound on the tests, the shape of a tree."""
    rng = np.random.default_rng(seed)
    widths = WIDTHS[seed % len(WIDTHS)]
    n, classes = int(rng.integers(5, 9 if len(widths) < 4 else 7)), int(rng.integers(2, 4))
    data = random_data(seed, n, classes, weighted=bool(rng.integers(2)))
    weight, is_tree = data.total_weight, rng.random() < 0.2
    task = TreeTask(
        depth=2 if is_tree else len(widths),
        cost=rng.integers(0, 4, (classes, classes)) if rng.random() < 0.4 else None,
        min_support=int(rng.integers(1, weight // 3 + 2)) if rng.random() < 0.3 else 0,
        max_nodes=int(rng.integers(0, 5)) if rng.random() < 0.3 else None,
        widths=None if is_tree else widths,
        min_flow=int(rng.integers(1, weight + 3)) if rng.random() < 0.3 else 0,
    )
    return data, task


def shape_of(task: TreeTask) -> Shape:
    return tf.Tree(task.depth) if task.widths is None else tf.Diagram(*task.widths)


def limits_of(task: TreeTask) -> dict[str, Any]:
    names = ("cost", "min_support", "min_flow", "max_nodes")
    return {name: getattr(task, name) for name in names}


def check(graph: DecisionGraph, data: Dataset, task: TreeTask, cost: int, most: int) -> None:
    """The model is what the task asks for, and costs what it is said to."""
    assert fault_of(graph, data, task) is None
    found = admissible_diagram(graph, data, task)
    assert found is not None
    assert found.tests <= most
    assert found.cost == cost


def test_flows_into_one_node_are_not_refused_for_what_it_costs_already() -> None:
    """The optimum sends two flows into one test: a bound that counts what is below that test twice leaves it out."""
    pick = np.random.default_rng(249)
    rows, columns, classes = (int(pick.integers(*ends)) for ends in ((8, 40), (2, 5), (2, 4)))
    X = pick.integers(0, int(pick.integers(2, 5)), (rows, columns)).astype(float)
    y = pick.integers(0, classes, rows)
    y[:classes] = range(classes)
    data = Dataset.from_user(X, y)
    inner = {
        "root": (0, 2.5, "a", "b"), "a": (3, 1.5, "c", "d"), "b": (1, 1.5, "two", "d"), "c": (2, 1.5, "zero", "e"),
        "d": (1, 0.5, "two", "f"), "e": (2, 2.5, "one", "zero"), "f": (2, 1.5, "one", "zero"),
    }  # fmt: skip
    nodes: dict[Any, Any] = {
        name: {"feature": f, "threshold": t, "left": left, "right": right}
        for name, (f, t, left, right) in inner.items()
    }
    nodes |= {name: {"label": label} for label, name in enumerate(("zero", "one", "two"))}
    known = DecisionGraph.build(nodes, data)
    task = TreeTask(4, widths=(1, 2, 2, 2))
    assert fault_of(known, data, task) is None
    found = DiagramSearch().run(data, task, LIMIT)
    assert found.proved and found.upper <= int((known.predict(X) != y).sum())


@pytest.mark.parametrize("block", range(7))
def test_least_costs(block: int, draw: Draw) -> None:
    for seed in draw(range(30 * block, 30 * block + 30), 15):
        _check_least_costs(*random_case(seed))


def _check_least_costs(data: Dataset, task: TreeTask) -> None:
    expected = least_costs(data, task)
    table = DiagramSearch().size_table(data, shape_of(task), **limits_of(task))
    assert table.reason is None
    assert list(table.upper) == [None if e == NEVER else e for e in expected[: len(table.upper)]]
    assert set(expected[len(table.upper) :]) <= {table.upper[-1]}
    if table.upper[0] is not None:
        assert table.lower == table.upper
    for k, (graph, cost) in enumerate(zip(table.graphs, table.upper, strict=True)):
        if graph is not None and cost is not None:
            check(graph, data, task, cost, k)


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_prices(seed: int, free: int) -> None:
    data, task = random_case(7 * seed + 3)
    task = TreeTask(task.depth, task.cost, widths=task.widths)
    e = least_costs(data, task)
    prices = [Fraction(2), Fraction(1, 3), Fraction(0), Fraction(7, 5)]
    table = DiagramSearch().size_table(data, shape_of(task), prices, free=free, cost=task.cost)
    for price in prices:
        optimum = min(cost + price * max(k - free, 0) for k, cost in enumerate(e))
        value, graph = table.best(price)
        assert table.proved(price)
        assert value == table.bound(price) == optimum
        assert table.proved_at[price] is not None
        assert graph is not None
        assert graph.n_nodes < len(e)
    assert list(table.proved_at) == sorted(prices, reverse=True)
    assert all(low <= cost for low, cost in zip(table.lower, e, strict=False))


@pytest.mark.parametrize("techniques", [(), ("trees",), ("transpositions",)])
def test_techniques_change_the_time_alone(techniques: tuple[str, ...]) -> None:
    for seed in range(10):
        data, task = random_case(seed)
        whole = DiagramSearch().size_table(data, shape_of(task), **limits_of(task))
        part = DiagramSearch(parts=techniques).size_table(data, shape_of(task), **limits_of(task))
        assert part.upper == whole.upper
        assert part.lower == whole.lower


def iris() -> Dataset:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return Dataset.from_user(X, y)


def runs_here(simd: str) -> bool:
    try:
        DiagramSearch(simd=simd)
    except SpecError:
        return False
    return True


def test_paths_of_the_kernels_agree() -> None:
    data = iris()
    here = [simd for simd in ("auto", "avx512", "avx2", "plain") if runs_here(simd)]
    assert {"auto", "plain"} <= set(here)
    found = [DiagramSearch(simd=simd).size_table(data, tf.Diagram(1, 2, 3)) for simd in here]
    assert len({one.upper for one in found}) == 1
    # Alternation and annealing begin by the clock, and better models leave fewer states.
    alone = ("trees", "transpositions", "pairs", "intervals")
    found = [
        DiagramSearch(simd=path, parts=alone).size_table(data, tf.Diagram(1, 2, 2)) for path in here
    ]
    assert len({(one.upper, one.counters["states"]) for one in found}) == 1


def test_a_start_and_an_upper_bound() -> None:
    data = iris()
    task = TreeTask(3, widths=(1, 2, 3), node_penalty=2)
    best = DiagramSearch().run(data, task, LIMIT)
    assert best.proved
    assert best.graph is not None
    assert best.upper is not None
    check(best.graph, data, task, best.upper - 2 * best.graph.n_nodes, best.graph.n_nodes)
    again = DiagramSearch().run(data, task, EngineRun(start=best.graph))
    assert (again.upper, again.proved) == (best.upper, True)
    none = DiagramSearch().run(data, task, EngineRun(upper=best.upper))
    assert none.graph is None
    assert none.proved
    assert none.lower >= best.upper
    one = DiagramSearch().run(data, task, EngineRun(upper=best.upper + 1))
    assert one.upper == best.upper


def test_models_to_begin_with_may_be_unusable() -> None:
    """One is too deep, the other serves; they are not mixed up."""
    data = iris()
    deep = DiagramSearch().size_table(data, tf.Tree(4)).graphs[-1]
    good = DiagramSearch().size_table(data, tf.Diagram(1, 2)).graphs[-1]
    assert deep is not None
    assert good is not None
    table = DiagramSearch().size_table(data, tf.Diagram(1, 2), start=[deep, good])
    for graph, cost, k in zip(table.graphs, table.upper, range(4), strict=True):
        assert graph is not None
        assert cost is not None
        check(graph, data, TreeTask(2, widths=(1, 2)), cost, k)


def test_incumbents_and_bounds_come_in_order() -> None:
    seen: list[tuple[float, int, int]] = []
    task = TreeTask(3, widths=(1, 2, 4))
    run = EngineRun(on_incumbent=lambda at, upper, lower, graph: seen.append((at, upper, lower)))
    outcome = DiagramSearch().run(iris(), task, run)
    assert outcome.proved
    uppers = [upper for _, upper, _ in seen]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] == outcome.upper
    assert all(lower <= upper for _, upper, lower in seen)
