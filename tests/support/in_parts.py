"""A search that is answered in parts by threads of this process."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.distribute.search import with_bounds_of_pairs
from treeform.distribute.workers import Work, started
from treeform.engines import EngineOutcome, EngineRun, TreeTask
from treeform.engines.distributed import NOTHING, Distributable
from treeform.engines.task import Message

# Threads share the evaluators of this process by the key: it is never to be that of an earlier search. (The address
# of a table is no key: a later table may stand there.)
_NUMBERS = count()


def never() -> bool:
    """A search that nobody stops."""
    return False


def cost_of(reply: Message) -> int | None:
    """The least cost that the reply to a bounded question states, if it found one."""
    return int(reply[1]) if reply[1] < NOTHING else None


def solve_in_parts(
    engine: Distributable, data: Dataset, task: TreeTask, workers: int, run: EngineRun | None = None
) -> EngineOutcome:
    """What ``engine`` answers with ``workers`` threads; at least one part was asked."""
    with started("threading", workers, Work(engine, data, task, f"search {next(_NUMBERS)}")) as pool:

        def ask(question: Message) -> Message | None:
            return pool.ask(question, never)

        asked = with_bounds_of_pairs(ask) if engine.bounded else ask
        shared = replace(run or EngineRun(), ask=asked, callers=pool.size, threads=pool.size)
        found = engine.run(data, task, shared)
    assert pool.seconds
    return found


def weighted(frame: pd.DataFrame, seed: int, rng: np.random.Generator) -> Dataset:
    """The table, with weights for odd seeds."""
    weights = rng.integers(1, 4, len(frame)) if seed % 2 else None
    return Dataset.from_user(frame.drop(columns="y"), frame["y"], weights)
