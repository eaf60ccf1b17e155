"""One search of a native engine, shared by the workers of an executor and kept in a journal."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from treeform import __version__
from treeform.data import Dataset
from treeform.distribute.executor import LOCAL, CutShort, check_executor
from treeform.distribute.journal import Parts, kept
from treeform.distribute.workers import Work, started
from treeform.engines import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.engines.distributed import Distributable, part_of
from treeform.engines.task import Ask, Message
from treeform.errors import SpecError
from treeform.utils.rows import setting_text, worded
from treeform.utils.text import count_of


def with_bounds_of_pairs(answer: Ask) -> Ask:
    """The same answers; questions bring the bounds that are known of each side of one test with each side of another.

    Replies state them, and later questions contain them; both tests lead to the same rows. They hold for questions
    about the same but for the test, which stands first.
    """
    lock = threading.Lock()
    known: dict[tuple[int, ...], Message] = {}  # about what: [test, its side, other test, its side]

    def ask(question: Message) -> Message | None:
        test, *about = map(int, part_of(question))
        key = tuple(about)
        with lock:
            hints = known[key][test].ravel() if key in known else ()
        stated = [question[0], len(hints), *hints, 1 + len(about), test, *about]
        reply = answer(np.array(stated, dtype=np.int64))
        if reply is not None and reply[2]:
            unknown, found = reply[3], reply[4 : 3 + int(reply[2])].reshape(2, -1, 2)
            with lock:
                if key not in known:
                    known.clear()
                    known[key] = np.full((found.shape[1], 2) * 2, unknown)
                mine, theirs = known[key][test], known[key][:, :, test].transpose(2, 0, 1)
                mine[...] = theirs[...] = np.maximum(found, np.maximum(mine, theirs))
        return reply

    return ask


ONE_SEARCH = ("loky", "threading", "dask")
"""The executors that one search can be given to."""


@dataclass(frozen=True)
class Distribution:
    """Who does the work of one solve, and where its parts are kept.

    Raises SpecError if there is no such executor, or the number of workers is not possible.
    """

    executor: Any = None
    """None (this process), "loky", "threading", "dask", "dask:tcp://HOST:PORT", or a client of Dask distributed."""
    workers: int | None = None
    """Processes, or threads, of those that are started here; None takes one for each processor."""
    journal: str | os.PathLike[str] | None = None
    """A folder that keeps each part as it ends."""

    def __post_init__(self) -> None:
        if self.executor is not None:
            check_executor(self.executor, ONE_SEARCH)
        workers = self.workers
        if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
            what = f"workers={workers!r} is no number of processes"
            raise SpecError(what, fix="give a whole number, at least 1")
        if workers is not None and self.executor is None:
            raise SpecError(
                f"{setting_text('workers', workers)} has no effect without an executor",
                cause="an executor starts the workers",
                fix=f"add {setting_text('executor', 'loky')}",
            )

    def of(self, engine: Engine) -> Engine:
        """The engine, with its search divided among workers; see `check`."""
        return _Distributed(engine, self)

    def check(self, engine: Engine | None, other: Any) -> None:
        """Refuse an engine whose search stays in one process, and who else answers where there is none for all of it.

        Raises SpecError.
        """
        if isinstance(engine, Distributable):
            return
        searcher = engine or other
        cause, fix = "that takes a native engine which answers the problem alone", ""
        if engine is not None:
            cause = "its parts depend on each other"
            called = "tf.ConTree(), tf.TotalsSearch(), tf.DiagramSearch() or tf.DL85()"
            those = worded(called, "contree, totals-search, diagram-search or dl85")
            fix = f"solve with {those}, where they take the problem; "
            fix += f"several cores serve {searcher.name} by its setting threads; "
        raise SpecError(
            f"the search of {searcher.name} cannot be shared by several workers, or kept in a journal",
            cause=cause,
            fix=f"leave out executor and journal; {fix}{worded('tf.sweep', 'treeform sweep')} shares many solves by "
            "any solver",
        )


class _Distributed(Engine):
    """An engine whose search is shared out; it goes by the engine's name."""

    def __init__(self, engine: Engine, how: Distribution) -> None:
        self.engine, self.how = engine, how
        self.name = engine.name  # type: ignore[misc]
        self.understands = engine.understands  # type: ignore[misc]

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`."""
        engine = cast(Distributable, self.engine)
        work = Work(engine, data, task, _digest(engine, data, task))
        how, stop = self.how, run.budget.stop
        executor, workers = ("threading", 1) if how.executor is None else (how.executor, how.workers)
        parts = Parts()
        try:
            with started(executor, workers, work, stop) as pool:
                answered: Ask = partial(pool.ask, stop=stop)
                if how.journal is not None:
                    answered = kept(Path(how.journal) / work.key[:24], answered, parts, engine.bounded)
                if engine.bounded:
                    answered = with_bounds_of_pairs(answered)
                threads = pool.size if executor in LOCAL else 1
                shared = replace(run, ask=answered, callers=pool.size, threads=threads)
                outcome = engine.run(data, task, shared)
        except CutShort:
            return EngineOutcome(None, None, 0, False, "time")
        return _with_notes(outcome, pool.lost, parts)


def _with_notes(outcome: EngineOutcome, lost: int, parts: Parts) -> EngineOutcome:
    """The outcome with what its reader has to know: parts that come from an earlier run, and workers that died."""
    notes, details = [], {}
    if found := parts.found:
        details["parts_from_journal"] = len(found)
        folder = found[0].parent.parent
        notes.append(f"the search went on from {folder}: {len(found)} of its parts were there")
    if parts.damaged:
        those = count_of(len(parts.damaged), "file", "were")
        notes.append(f"{those} damaged in the journal; what they held was searched again")
    if lost:
        notes.append(f"{count_of(lost, 'worker', 'were')} lost; what was left undone was searched again")
    return replace(outcome, notes=(*outcome.notes, *notes), details=outcome.details | details)


OF_THE_MACHINE = ("threads", "memory_limit", "simd")
"""Settings of engines that change no question and no reply."""


def _digest(engine: Distributable, data: Dataset, task: TreeTask) -> str:
    """The digest of all that questions and replies depend on."""
    import joblib

    settings = {name: value for name, value in vars(engine).items() if name not in OF_THE_MACHINE}
    columns = [(column.name, column.source) for column in data.columns]
    what = [__version__, data.X, data.y, data.weights, columns, type(engine).__name__, settings]
    what += [(one.name, getattr(task, one.name)) for one in fields(task)]
    return str(joblib.hash(what, hash_name="sha1"))
