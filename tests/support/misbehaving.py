"""A solver that misbehaves in a process of its own, in the way that it is told to; rows that take a minute."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

from treeform.backends import Answer, Run, Session, Verdict
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.backends.watch import Watch
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Model


class Misbehaving(Enumeration):
    """Enumerates, but for one fault."""

    name = "misbehaving"

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def __setstate__(self, state: dict[str, object]) -> None:
        # Where a solver's module is imported: in the child, when the task arrives.
        self.__dict__.update(state)
        if self.fault == "crash on import":
            os.abort()
        if self.fault == "error on import":
            raise ImportError("libsolver.so: undefined symbol")

    def open(self, model: Model) -> Session:
        if self.fault == "exit while loading":
            os._exit(7)
        return MisbehavingSession(self, model)


class MisbehavingSession(EnumerationSession):
    backend: Misbehaving

    def _search(self, run: Run, watch: Watch) -> Answer:
        fault, n = self.backend.fault, self.lowered.n_cols
        if fault == "hang":
            time.sleep(3600)
        if fault == "hang with the interpreter's lock":
            # Nothing else of this process runs any more: neither its stop nor its limits.
            sys.setswitchinterval(1e6)
            list(map(lambda _: None, iter(int, 1)))  # noqa: C417
        if fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "memory":
            hoard = [np.ones(1 << 22) for _ in range(10**6)]
            return Answer(Verdict.UNKNOWN, info={"hoard": len(hoard)})
        if fault == "output":
            for stream in (1, 2):
                for _ in range(64):
                    os.write(stream, b"0123456789abcde\n" * (1 << 13))  # 8 MB to each
        if fault == "orphans":
            pid = os.fork()
            if pid == 0:
                time.sleep(3600)
            watch.bound(-float(pid))
            time.sleep(0.3)
            os._exit(3)
        if fault == "writes into the pipe":
            for descriptor in range(3, 20):
                try:
                    os.write(descriptor, b"this is no message, and longer than a head")
                except OSError:
                    continue
        if fault == "violating points":
            watch.solution(np.full(n, 1e9))
            return Answer(Verdict.OPTIMAL, np.full(n, np.nan), -1e6)
        if fault == "points of another length":
            watch.solution(np.zeros(n + 5))
            return Answer(Verdict.FEASIBLE, np.zeros(1))
        if fault == "wrong bound":
            watch.bound(1e6)
            return Answer(Verdict.UNKNOWN, bound=1e6)
        if fault == "wrong infeasibility":
            return Answer(Verdict.INFEASIBLE)
        return super()._search(run, watch)


class SlowRows(Component):
    """Adds a row every 10 ms, for a minute; each of them holds in every model."""

    restricts = False

    def build(self, model: Model, ports: Ports) -> None:
        x = model.bool("slow")
        for _ in range(6000):
            time.sleep(0.01)
            model.add(x >= 0)
