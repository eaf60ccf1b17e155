"""Diagrams of tables whose tests have no room in memory: searches on some thresholds of each column."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from step_one import step_one

import treeform as tf
from treeform.data import Dataset
from treeform.engines import (
    ConTree,
    DiagramSearch,
    EngineOutcome,
    EngineRun,
    TreeTask,
    diagram_core,
    some_thresholds,
)
from treeform.utils import budget

TASK = TreeTask(3, widths=(1, 2, 2))


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for some tests of `noisy`, not for all."""
    monkeypatch.setattr(diagram_core, "USUAL_MEMORY", 7_000)
    monkeypatch.setattr(some_thresholds, "EVEN", 4)
    monkeypatch.setattr(some_thresholds, "NEAR", 4)


def noisy(seed: int) -> tuple[Any, Any]:
    pick = np.random.default_rng(seed)
    X = pick.normal(size=(200, 3))
    return X, ((X[:, 0] * X[:, 1] > 0.1) ^ (pick.random(200) < 0.05)).astype(int)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_good_model_and_no_proof(no_room: None, seed: int) -> None:
    X, y = noisy(seed)
    data = Dataset.from_user(X, y)
    found = DiagramSearch().run(data, TASK, EngineRun())
    assert (found.reason, found.proved, found.lower) == ("memory", False, 0)
    assert found.notes == (
        "the tests have no room in memory as sets of rows: models were searched on some thresholds of each column at a "
        "time",
    )
    graph = found.graph
    assert graph is not None and int((graph.predict_codes(X) != y).sum()) == found.upper
    whole = DiagramSearch(memory_limit=2**30).run(data, TASK, EngineRun())
    assert whole.proved and whole.upper is not None and found.upper is not None
    assert whole.upper <= found.upper <= whole.upper + 4 < min(y.sum(), (1 - y).sum())
    for node in np.flatnonzero((graph.feature >= 0) & (graph.feature < 3)):
        values = np.unique(X[:, graph.feature[node]])
        at = np.searchsorted(values, graph.threshold[node])
        assert 0 < at < len(values)  # between two values, so that new rows are parted in the middle
        assert values[at - 1] <= graph.threshold[node] < values[at]


@pytest.mark.parametrize("seed", range(8))
def test_all_thresholds_given_are_all_there_are(seed: int) -> None:
    """In any order of the values between them, and with some beyond the least and the largest value."""
    pick = np.random.default_rng(seed)
    X = pick.integers(0, 5, (pick.integers(10, 40), 3)) / 4
    y = pick.integers(0, 2 + seed % 2, len(X))
    data = Dataset.from_user(X, y, pick.integers(1, 3, len(X)))
    task = TreeTask(3, widths=(1, 2, 2), min_support=seed % 3)
    values = np.linspace(-1, 2, 25 + seed)  # one in each gap, or several
    given = [np.union1d(values, values + 1e-3)] * 3
    found = DiagramSearch()._over(given, data, task, EngineRun())
    whole = DiagramSearch().run(data, task, EngineRun())
    assert found.proved and whole.proved and found.upper == whole.upper
    assert found.counters["splits"] == whole.counters["splits"]
    assert found.graph is not None
    for f, usual in enumerate(map(data.ranks.thresholds, range(3))):
        assert set(found.graph.threshold[found.graph.feature == f]) <= set(usual)


@pytest.mark.parametrize("seed", range(6))
def test_some_thresholds_make_a_table_of_the_places_between_them(seed: int) -> None:
    """Every second table has a column that parts the rows as another one does, from the other side."""
    pick = np.random.default_rng(seed)
    X = pick.integers(0, 9, (60, 3)) / 4
    if seed % 2:
        X[:, 1] = -X[:, 0]
    y, weights = pick.integers(0, 3, 60), pick.integers(1, 4, 60)
    given = [np.sort(pick.uniform(-1, 2, pick.integers(2, 7))) for _ in range(3)]
    places = np.column_stack([np.searchsorted(*pair) for pair in zip(given, X.T, strict=True)])
    task = TreeTask(3, widths=(1, 2, 2), min_support=seed % 3, node_penalty=seed % 2)
    found = DiagramSearch()._over(given, Dataset.from_user(X, y, weights), task, EngineRun())
    table = DiagramSearch().run(Dataset.from_user(places, y, weights), task, EngineRun())
    assert found.proved and table.proved and found.upper == table.upper
    assert found.counters["splits"] == table.counters["splits"] > 0


@pytest.mark.parametrize("given", [[[2.0, 1.0], [0.5], [0.5]], [[0.5, np.nan], [0.5], [0.5]], [[0.5], [0.5]]])
def test_thresholds_that_do_not_fit_are_refused(given: list[list[float]]) -> None:
    X, y = noisy(0)
    with pytest.raises(ValueError, match=r"thresholds|number|nan|NaN"):
        DiagramSearch()._over([np.array(one) for one in given], Dataset.from_user(X, y), TASK, EngineRun())


def test_thresholds_of_a_model_and_some_around_them_are_chosen() -> None:
    X, y = noisy(0)
    data = Dataset.from_user(X, y)
    model = DiagramSearch(memory_limit=2**30).run(data, TASK, EngineRun()).graph
    assert model is not None
    rounds = [some_thresholds.chosen(data, model, 4, turn) for turn in (0, 1)]
    for f, (one, other) in enumerate(zip(*rounds, strict=True)):
        values = np.unique(X[:, f])
        for threshold in model.threshold[model.feature == f]:
            at = np.searchsorted(values, threshold) - 1
            assert set(values[at - 1 : at + 2]) <= set(one) & set(other)
        assert set(one) != set(other) and not {values[-1]} & {*one, *other}
        assert set(one) | set(other) <= set(values)


def test_rows_of_more_weight_have_more_thresholds() -> None:
    X = np.arange(1000.0)[:, None]
    data = Dataset.from_user(X, np.arange(1000) % 2, np.where(np.arange(1000) < 100, 1000, 1))
    (chosen,) = some_thresholds.chosen(data, None, 16, 0)
    assert (chosen < 100).sum() >= 12


def test_a_large_table_bounds_what_a_search_takes() -> None:
    small, large = (Dataset.from_user(np.ones((n, 20)), np.arange(n) % 2) for n in (100, 60_000))
    assert diagram_core.usual_memory(small, 0.5) == diagram_core.USUAL_MEMORY
    assert diagram_core.usual_memory(large, 0.5) == large.X.nbytes // 2
    assert some_thresholds.fits(large, diagram_core.memory_of_round(large, None))
    assert diagram_core.memory_of_round(large, 4000) == 1000


def test_tests_that_have_room_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of their sets is copied while it is short only: else it took three times its size for a moment."""
    monkeypatch.setattr(diagram_core, "USUAL_MEMORY", 20_000_000)
    pick = np.random.default_rng(0)
    X = pick.normal(size=(4000, 9))
    data = Dataset.from_user(X, (X[:, 0] + pick.normal(size=4000) > 0).astype(int))
    assert diagram_core.has_room(data)
    found = DiagramSearch().run(data, TreeTask(1, widths=(1,)), EngineRun())
    assert found.proved and found.upper == ConTree().run(data, TreeTask(1), EngineRun()).upper


def test_nobody_is_asked_who_holds_other_tests(no_room: None) -> None:
    X, y = noisy(0)
    asked: list[Any] = []
    found = DiagramSearch().run(Dataset.from_user(X, y), TASK, EngineRun(ask=asked.append))
    assert found.graph is not None and not asked


def test_the_start_is_never_lost(no_room: None) -> None:
    """Thresholds of the start are among those that are searched, whatever the others are."""
    X, y = noisy(3)
    data = Dataset.from_user(X, y)
    best = DiagramSearch(memory_limit=2**30).run(data, TASK, EngineRun())
    told: list[tuple[int, int]] = []
    run = EngineRun(
        start=best.graph, on_incumbent=lambda seconds, upper, lower, graph: told.append((upper, lower))
    )
    found = DiagramSearch().run(data, TASK, run)
    assert found.upper == best.upper and found.graph is not None
    assert int((found.graph.predict_codes(X) != y).sum()) == best.upper
    assert told and all(one == (best.upper, 0) for one in told)


def test_only_better_models_are_wanted(no_room: None) -> None:
    X, y = noisy(0)
    data = Dataset.from_user(X, y)
    whole = DiagramSearch(memory_limit=2**30).run(data, TASK, EngineRun())
    assert DiagramSearch().run(data, TASK, EngineRun(upper=whole.upper)).graph is None


def test_a_limit_on_time_is_the_reason(no_room: None) -> None:
    X, y = noisy(0)
    result = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2)).solve(DiagramSearch(), time_limit=1)
    assert result.limit is tf.Limit.TIME and result.graph is not None
    # Some thresholds prove nothing of all; a machine under load may have no time to claim anything.
    lower = [claim.value for claim in result.claims if claim.kind == "lower"]
    assert result.bound == max(lower, default=None) and set(lower) <= {0}


def test_a_round_that_is_left_out_for_lack_of_time_is_a_limit_on_time(
    no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(some_thresholds, "_is_too_late", lambda *_: True)
    X, y = noisy(0)
    result = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2)).solve(DiagramSearch(), time_limit=600)
    assert result.limit is tf.Limit.TIME and result.seconds < 600


@pytest.mark.parametrize("seed", range(6))
def test_a_start_with_pass_throughs_and_shared_nodes_changes_no_answer(seed: int) -> None:
    """Whatever model a search begins with, and whatever thresholds it has; a start may be the answer."""
    pick = np.random.default_rng(seed)
    X = pick.integers(0, 6, (30, 3)) / 2
    data = Dataset.from_user(X, (X[:, 0] > X[:, 1]) ^ (pick.random(30) < 0.2))
    task = TreeTask(4, widths=(1, 1, 2, 2))
    whole = DiagramSearch().run(data, task, EngineRun())
    first = step_one(data, task, seed=seed, starts=1)
    assert whole.proved and first.graph is not None
    for start in (first.graph, whole.graph):
        found = DiagramSearch().run(data, task, EngineRun(start=start))
        assert found.proved and found.upper == whole.upper and found.graph is not None
        few = some_thresholds.chosen(data, start, 2, seed)
        part = DiagramSearch()._over(few, data, task, EngineRun(start=start))
        assert part.upper is not None and whole.upper is not None and first.upper is not None
        assert whole.upper <= part.upper <= (first.upper if start is first.graph else whole.upper)


@pytest.mark.parametrize("reading", [0.1, 1.0, 3.0])
def test_no_round_begins_that_would_end_before_its_search(reading: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of its own: before a round searches, its thresholds and sets of rows take the given seconds."""
    clock = [0.0]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    X, y = noisy(0)
    data = Dataset.from_user(X, y)
    graph = DiagramSearch().run(data, TASK, EngineRun()).graph
    searched = []

    def run_on(thresholds: Any, run: EngineRun) -> EngineOutcome:
        clock[0] += reading
        while not run.budget.stop():
            clock[0] += 0.05
            searched.append(clock[0])
        clock[0] += reading
        return EngineOutcome(graph, 9, 0, False, "time")

    found = some_thresholds.search(run_on, data, EngineRun(budget.Budget(10)), 7_000)
    assert found.reason in ("time", "late") and found.graph is graph
    assert 10 - 4 * reading - 0.6 < clock[0] < 10.3
