"""Limits on the memory of native engines: tables are refused before they are built, and searches end in time."""

from __future__ import annotations

import mmap
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from step_one import step_one

import treeform as tf
from treeform import _core
from treeform.data import Dataset
from treeform.engines.native_call import LEAST, Room, bytes_of_tests, note_of
from treeform.engines.task import EngineRun, TreeTask


def numbers(rows: int, columns: int) -> Dataset:
    pick = np.random.default_rng(rows)
    X = pick.normal(size=(rows, columns))
    return Dataset.from_user(X, X[:, 0] * X[:, 1] > 0)


@pytest.mark.parametrize("engine", [tf.DL85(memory_limit=LEAST), tf.Blossom(memory_limit=LEAST)])
def test_a_table_of_tests_is_refused_with_its_estimate(engine: tf.engines.Engine) -> None:
    data = numbers(2500, 8)
    assert bytes_of_tests(data) == 2 * 2499 * 8 * 2500
    outcome = engine.run(data, TreeTask(3), EngineRun())
    assert (outcome.graph, outcome.reason, outcome.lower, outcome.proved) == (None, "memory", 0, False)
    assert outcome.notes == (note_of(2 * 2499 * 8 * 2500),) and "99 MB" in outcome.notes[0]


def test_a_table_of_pairs_is_refused_with_its_estimate() -> None:
    bits = np.random.default_rng(0).integers(0, 2, (40, 4200)).astype(float)
    data = Dataset.from_user(bits, bits[:, 0] == bits[:, 1])
    outcome = tf.TotalsSearch(memory_limit=LEAST).run(data, TreeTask(3), EngineRun())
    assert outcome.reason == "memory" and "was not built" in outcome.notes[0]
    assert outcome.graph is not None and outcome.counters["subproblems"] == 0


def test_pairs_of_tests_under_rules_on_paths_are_counted_in_smaller_parts() -> None:
    data, task, run = numbers(150, 4), TreeTask(2), EngineRun()
    free = tf.PathSearch().run(data, task, run)
    held = tf.PathSearch(memory_limit=LEAST).run(data, task, run)
    assert (held.upper, held.lower, held.proved) == (free.upper, free.lower, True)
    assert held.counters["pairs"] > free.counters["pairs"] == 1
    large = numbers(1500, 2)
    outcome = tf.PathSearch(memory_limit=LEAST).run(large, task, run)
    assert (outcome.graph, outcome.reason, outcome.lower, outcome.proved) == (None, "memory", 0, False)
    assert outcome.notes == (note_of(9 * 1500 * 2 * 1499),)


def test_a_search_under_rules_on_paths_ends_where_no_pair_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Room, "left", lambda room: 0 if room.limit is None else 100_000)
    outcome = tf.PathSearch(memory_limit=LEAST).run(numbers(150, 4), TreeTask(2), EngineRun())
    assert outcome.reason == "memory" and not outcome.proved
    assert outcome.upper is not None and outcome.lower <= outcome.upper and outcome.graph is not None


def test_quick_diagrams_are_limited_too() -> None:
    data = numbers(70_000, 30)
    outcome = step_one(data, TreeTask(2, widths=(1, 2)), starts=1, memory=LEAST)
    assert outcome.reason == "memory" and "was not built" in outcome.notes[0]


def test_sorted_columns_are_refused_with_their_estimate() -> None:
    data = numbers(140_000, 30)
    for engine in (tf.ConTree(memory_limit=LEAST), tf.ContinuousTotals(memory_limit=LEAST)):
        outcome = engine.run(data, TreeTask(2), EngineRun())
        assert outcome.reason == "memory" and "33 MB was not built" in outcome.notes[0]


def test_the_arrays_of_scans_for_regression_count_too() -> None:
    data = numbers(70_000, 20)
    cells = 70_000 * 20
    assert (
        16 * cells < LEAST < 26 * cells
    )  # ranks, orders and parts would fit, with what is scanned they do not
    problem = tf.Problem(data.X, np.round(data.X[:, 0] * 100), shape="tree:2").minimize("squared_error")
    result = problem.solve(tf.RegressionSearch(memory_limit=LEAST), warm_start=None)
    assert result.limit == tf.Limit.MEMORY
    assert any("36 MB was not built" in note for note in result.notes)


def test_the_answer_of_a_solve_says_what_did_not_fit() -> None:
    result = tf.Problem(numbers(500, 3), None, shape="tree:3").solve(
        tf.ConTree(memory_limit=10_000), warm_start=None
    )
    assert result.limit == tf.Limit.MEMORY and result.bound == 0
    assert any("1 MB was not built" in note for note in result.notes)


allocator_tells = pytest.mark.skipif(
    sys.platform == "win32" or (sys.platform == "linux" and platform.libc_ver()[0] != "glibc"),
    reason="what the allocator has handed out is known with glibc and on macOS (every Linux job of CI)",
)


@contextmanager
def memory_kept_free(megabytes: int) -> Iterator[None]:
    """Memory that was used and freed, and that the allocator keeps: what follows fills it without any growth of the
    process."""
    size = 2**16  # such blocks come from the allocator's own heap and are not mapped one by one
    blocks = [np.ones(size, np.uint8) for _ in range(megabytes * 2**20 // size)]
    above = np.ones(size, np.uint8)  # in use above them, so that they cannot be given back
    blocks.clear()
    yield
    assert above[0] == 1


@pytest.mark.parametrize("free", [0, pytest.param(200, marks=allocator_tells)])
def test_the_process_is_watched(free: int) -> None:
    data = numbers(60_000, 20)
    noise = Dataset.from_user(data.X, np.random.default_rng(1).integers(0, 2, 60_000))
    with memory_kept_free(free):
        outcome = tf.ConTree(memory_limit=LEAST + 2**20, threads=2).run(noise, TreeTask(3), EngineRun())
    assert outcome.reason == "memory" and not outcome.notes and outcome.graph is not None


@pytest.mark.parametrize("free", [0, pytest.param(200, marks=allocator_tells)])
def test_memory_in_use_is_growth_wherever_it_comes_from(free: int) -> None:
    with memory_kept_free(free):
        grown = _core.Growth()
        nearly = 39 * 2**20  # of the whole process: what ran before may give back something meanwhile
        blocks = [np.ones(2**16, np.uint8) for _ in range(640)]
        assert nearly <= grown.bytes() < 50 * 2**20
        blocks.clear()
        one = np.ones(40 * 2**17)
        assert nearly <= grown.bytes() < 100 * 2**20  # what was freed may still be in main memory
        assert one[0] == 1


def test_what_python_prepared_counts() -> None:
    room = Room(100 * 2**20)
    held = mmap.mmap(-1, 40 * 2**20)  # not from the allocator
    for _ in range(40):
        held.write(bytes(2**20))
    assert 50 * 2**20 < room.left() < 70 * 2**20 and not room.has(80 * 2**20)
    held.close()
    assert Room(None).left() == 0 and Room(None).has(2**20) and not Room(None).has(2**60)
