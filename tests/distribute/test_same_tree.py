"""One tree for every number of workers and threads, also where a known bound ends the search at some tree."""

from __future__ import annotations

import threading
import time
from itertools import count

import numpy as np
import pytest
from in_parts import cost_of, never

import treeform as tf
from treeform.data import Dataset
from treeform.distribute.search import with_bounds_of_pairs
from treeform.engines import DL85, ConTree, DiagramSearch, EngineOutcome, EngineRun, TotalsSearch, TreeTask
from treeform.engines.distributed import Distributable
from treeform.engines.task import Message
from treeform.utils.budget import Budget

SECONDS = 0.06
"""In seconds; longer than an engine waits between two checks whether its run is over."""


def last_first(
    engine: Distributable, data: Dataset, task: TreeTask, callers: int, known: int = -1, seconds: float = 0.0
) -> EngineOutcome:
    """A search whose workers answer in reverse order; it ends when a tree costs no more than `known`."""
    free = [engine.evaluator(data, task) for _ in range(callers)]
    numbers, shown = count(), []

    def ask(question: Message) -> Message | None:
        number, worker = next(numbers), free.pop()
        reply = worker.evaluate(question, never)
        free.append(worker)
        time.sleep(seconds * (callers - 1 - number % callers))
        return reply

    run = EngineRun(
        Budget().until(lambda: any(cost <= known for cost in shown)),
        on_incumbent=lambda seconds, upper, lower, graph: shown.append(upper),
        ask=with_bounds_of_pairs(ask) if engine.bounded else ask,
        callers=callers,
        threads=callers,
    )
    return engine.run(data, task, run)


def parity(seed: int) -> Dataset:
    """Classes that many trees of depth four separate."""
    X = np.random.default_rng(seed).integers(0, 2, (100, 6))
    return Dataset.from_user(X, X[:, :4].sum(axis=1) % 2)


def few_wrong(seed: int) -> Dataset:
    """Such classes, but for one sample in ten."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (90, 7))
    return Dataset.from_user(X, X[:, :4].sum(axis=1) % 2 ^ (rng.random(90) < 0.1))


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_that_ends_a_search_is_the_first_of_its_sequence(seed: int) -> None:
    data, task = parity(seed), TreeTask(4)
    one, two, three = (last_first(ConTree(), data, task, workers, 0, SECONDS) for workers in (1, 2, 3))
    assert one.upper == two.upper == three.upper == 0
    assert one.graph == two.graph == three.graph


@pytest.mark.parametrize("seed", [25, 49, 50])
def test_a_known_bound_ends_dl85_at_one_tree(seed: int) -> None:
    data, engine, task = few_wrong(seed), DL85(exact_depth=2), TreeTask(4)
    known = engine.run(data, task, EngineRun()).upper
    assert known is not None
    one, two, three = (last_first(engine, data, task, workers, known, SECONDS) for workers in (1, 2, 3))
    assert one.upper == two.upper == three.upper == known
    assert one.graph == two.graph == three.graph


def test_a_proof_in_parts_that_is_stopped_keeps_the_best_tree() -> None:
    """Also one that waits for parts which come before its own: here the first part is not answered."""
    data, task = few_wrong(49), TreeTask(4)
    engine, found = DL85(exact_depth=2), threading.Event()
    best, asked = engine.run(data, task, EngineRun()), count()

    def ask(question: Message) -> Message | None:
        if next(asked) == 0:
            assert found.wait(300)
            return None
        reply = engine.evaluator(data, task).evaluate(question, never)
        assert reply is not None
        if cost_of(reply) is not None:
            found.set()
        return reply

    stopped = engine.run(data, task, EngineRun(ask=ask, callers=2))
    assert not stopped.proved and stopped.upper == best.upper
    assert stopped.graph is not None
    assert int((stopped.graph.predict_codes(data.X) != data.y).sum()) == best.upper


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("engine", "task"),
    [
        (ConTree(), TreeTask(4)),
        (DL85(exact_depth=2), TreeTask(4)),
        (TotalsSearch(), TreeTask(4)),
        (DiagramSearch(), TreeTask(3, max_nodes=5)),
    ],
    ids=["contree", "dl85", "totals", "diagram"],
)
def test_one_tree_for_every_number_of_workers(engine: Distributable, task: TreeTask, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (90, 6))
    data = Dataset.from_user(X, X[:, :3].sum(axis=1) % 2 ^ (rng.random(90) < 0.2))
    one, two, three = (last_first(engine, data, task, workers) for workers in (1, 2, 3))
    assert one.proved and one.upper == two.upper == three.upper
    assert one.graph == two.graph == three.graph


@pytest.mark.parametrize("seed", range(8))
def test_threads_of_a_search_with_totals_choose_no_tree(seed: int) -> None:
    """Columns of zeros and ones have many best trees."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (80, 6))
    problem = tf.Problem(X, X[:, :3].sum(axis=1) % 2 ^ (rng.random(80) < 0.25), shape=tf.Tree(4 + seed % 2))
    problem += tf.StatisticalParity(groups=rng.integers(0, 2, 80), difference="0.05", positive=1)
    if seed % 4 == 0:
        problem += tf.FeatureBudget(4)
    one, two, three = (problem.solve(tf.TotalsSearch(threads=threads)) for threads in (1, 2, 3))
    assert one.status is tf.Status.OPTIMAL
    assert one.graph == two.graph == three.graph
