"""Solvers that must not run in this process: every run sends all that there is to a child, which may be killed."""

from __future__ import annotations

from typing import Any

from treeform.backends.base import Backend, Session
from treeform.backends.child import Child
from treeform.backends.memory import out_of_memory
from treeform.backends.run import Answer, Verdict
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed
from treeform.model import Model


class SessionInChild(Session):
    """A session whose runs are tasks of a child."""

    def __init__(self, backend: Backend, model: Model) -> None:
        self._child = Child()
        super().__init__(backend, model)

    def close(self) -> None:
        self._child.close()

    def _ask(self, module: str, task: dict[str, Any], watch: Watch) -> Any:
        """What ``module.solve_in_child(task)`` returns; an `Answer` where it was stopped or ran out of memory."""
        try:
            result = self._child.call(module, "solve_in_child", task, watch)
        except SolverFailed as error:
            if out_of_memory(error):
                return Answer(Verdict.UNKNOWN, reason="memory")
            raise
        return Answer(Verdict.UNKNOWN, reason=watch.reason or "time") if result is None else result
