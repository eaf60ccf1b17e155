"""Limits on work: time of other processes does not count, threads shorten no limit, and an end is always there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarks.deep.programs import limits_count_work
from treeform.estimators import candidates, cross_validated
from treeform.solve import result
from treeform.utils import budget
from treeform.utils.budget import STRETCH, ProcessorBudget


class Clocks:
    """Elapsed time and the work of this process, set by hand."""

    elapsed = 0.0
    worked = 0.0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    clock = SimpleNamespace(monotonic=lambda: made.elapsed, process_time=lambda: made.worked)
    monkeypatch.setattr(budget, "time", clock)
    return made


def test_only_work_counts(clocks: Clocks) -> None:
    limit = ProcessorBudget(60.0)
    clocks.elapsed, clocks.worked = 100.0, 20.0
    assert (limit.seconds, limit.remaining, limit.elapsed_limit) == (20.0, 40.0, 40.0 * STRETCH)
    clocks.elapsed, clocks.worked = 150.0, 60.0
    assert limit.stop()


def test_many_threads_have_the_time_that_elapses(clocks: Clocks) -> None:
    limit = ProcessorBudget(60.0)
    clocks.elapsed, clocks.worked = 30.0, 240.0
    assert limit.remaining == 30.0 and not limit.stop()


def test_a_process_that_does_not_work_ends(clocks: Clocks) -> None:
    limit = ProcessorBudget(60.0)
    clocks.elapsed = 60.0 * STRETCH - 1
    assert not limit.stop()
    clocks.elapsed += 1
    assert limit.stop()


def test_parts_count_work_too(clocks: Clocks) -> None:
    whole = ProcessorBudget(60.0)
    part = whole.share(10.0)
    clocks.elapsed, clocks.worked = 50.0, 9.0
    assert isinstance(part, ProcessorBudget) and part.remaining == 1.0 and not part.stop()
    assert whole.share(None).remaining == 51.0


def test_benchmarks_count_the_work_of_every_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (candidates, cross_validated, result):
        monkeypatch.setattr(module, "Budget", module.Budget)  # as it was, afterwards
    limits_count_work()
    assert isinstance(result.SolveOptions(time_limit=1.0).budget(), ProcessorBudget)
    assert {module.Budget for module in (candidates, cross_validated)} == {ProcessorBudget}
