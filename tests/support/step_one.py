"""The first models of the search for diagrams, without the search after them: Step 1 of the paper."""

from __future__ import annotations

from treeform.data import Dataset
from treeform.engines import EngineOutcome, EngineRun, TreeTask
from treeform.engines.diagram_core import CoreCall, DiagramSession


def step_one(
    data: Dataset,
    task: TreeTask,
    *,
    starts: int = 2**62,
    seconds: float = 60.0,
    seed: int = 0,
    memory: int | None = None,
) -> EngineOutcome:
    session = DiagramSession(data, task, EngineRun())
    call = CoreCall(starts=starts, start_seconds=seconds, seed=seed, memory=memory)
    return session.outcome(call.run(data, task, session, None))
