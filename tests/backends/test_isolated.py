"""Solvers in processes of their own: the same answers, and no fault of a solver is the end of a solve."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hard_models import pigeons
from misbehaving import Misbehaving
from timing import Timed

import treeform as tf
from treeform.backends import (
    CPSAT,
    SAT,
    HiGHS,
    Isolated,
    MaxSAT,
    Outcome,
    Portfolio,
    Run,
    Verdict,
)
from treeform.backends.isolated import isolated
from treeform.backends.portfolio import PortfolioSession
from treeform.backends.TEMPLATE import Enumeration
from treeform.errors import SolverFailed, SpecError
from treeform.model import Model
from treeform.solve.search import faults
from treeform.testing import check_backend
from treeform.utils.budget import Budget

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX systems")

CRASHES = {
    "crash on import": "SIGABRT",
    "error on import": "undefined symbol",
    "exit while loading": "exit code 7",
    "killed": "SIGKILL",
}


def small(n: int = 5) -> Model:
    model = Model()
    x = model.bool("x", n)
    model.add(np.arange(1, n + 1) @ x <= 2 * n, "weight")
    model.minimize(-np.arange(2, n + 2) @ x)
    return model


def ask(fault: str, run: Run, memory_limit: int | None = None) -> Outcome:
    session = Isolated(Misbehaving(fault), memory_limit).open(small())
    try:
        return session.solve(run)
    finally:
        session.close()


def children() -> list[str]:
    """The states of this process's children, zombies included."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return listed.read_text().split() if listed.exists() else []


def ended(pid: int) -> bool:
    """Whether a process ends within a minute; a zombie of a parent that is gone has ended."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = children()
    yield
    assert set(children()) <= set(before)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_isolation_changes_no_answer(nightly: bool) -> None:
    report = check_backend(Isolated(Enumeration()), models=12 if nightly else 1)
    assert report.runs > 5


@pytest.mark.slow
@pytest.mark.parametrize("backend", [HiGHS(), CPSAT(), SAT("cadical195")], ids=lambda b: b.name)
def test_isolated_solvers(backend: tf.backends.Backend) -> None:
    check_backend(Isolated(backend), models=6)


def test_the_process_of_a_solver_loads_no_tables_and_no_sparse_arrays() -> None:
    """Each took longer to import than all else that a small solve does there."""
    session = Isolated("highs").open(small())
    try:
        assert session.solve(Run()).verdict is Verdict.OPTIMAL
        names = session._child.call("builtins", "eval", "{*__import__('sys').modules}")  # type: ignore[attr-defined]
    finally:
        session.close()
    assert "highspy" in names and not names & {"pandas", "scipy", "sklearn"}


def test_points_bounds_hints_cutoffs_and_new_rows_pass() -> None:
    model = small()
    session = Isolated(HiGHS()).open(model)
    points: list[np.ndarray] = []
    first = session.solve(Run(on_solution=points.append))
    assert first.x is not None
    assert (first.verdict, first.bound) == (Verdict.OPTIMAL, model.objective.value(first.x))
    assert points
    pid = session._child.pid  # type: ignore[attr-defined]
    assert session.solve(Run(cutoff=model.objective.value(first.x) - 1.0)).verdict is Verdict.INFEASIBLE
    x = model.expr(model.variables[0])
    model.add(x.sum() <= 1)
    y = model.integer("y", ub=3)
    model.minimize(-x.sum() - 2 * y)
    session.extend()
    second = session.solve(Run(hint=np.array([1.0, 0, 0, 0, 0, 3.0])))
    assert second.x is not None
    assert model.objective.value(second.x) == -7
    assert session.solve(Run(assumptions=[-1, -2, -3, -4, -5])).bound == -6
    assert session._child.pid == pid  # type: ignore[attr-defined]
    session.close()


@pytest.mark.drawn(1)
@posix
@pytest.mark.drawn(1)
@pytest.mark.parametrize("fault", CRASHES)
def test_a_crash_is_an_error_of_ours(fault: str) -> None:
    with pytest.raises(SolverFailed, match=CRASHES[fault]):
        ask(fault, Run())


@pytest.mark.drawn(1)
@posix
@pytest.mark.drawn(1)
@pytest.mark.parametrize("fault", ["hang", "hang with the interpreter's lock"])
def test_the_time_limit_holds_when_a_solver_hangs(fault: str, timed: Timed) -> None:
    start = time.monotonic()
    outcome = ask(fault, Run(Budget(1.5)))
    assert outcome.reason == "time"
    assert outcome.x is None
    timed(time.monotonic() - start, 1.5 + 3.0)


def test_a_solver_that_only_a_process_ends_has_no_fault_then() -> None:
    session = SAT("lingeling").open(pigeons())
    outcome = session.solve(Run(Budget(0.4)))
    session.close()
    assert outcome.reason == "time"
    assert not list(faults(outcome.info))


@posix
def test_eating_memory_ends_the_run_only() -> None:
    outcome = ask("memory", Run(), memory_limit=700)
    assert (outcome.verdict, outcome.reason) == (Verdict.UNKNOWN, "memory")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell what is in use")
def test_what_is_limited_is_memory_in_use() -> None:
    code = (
        "import mmap, numpy as np; from treeform.backends.memory import LEAST_MEMORY, cap_memory, _usage\n"
        "used = _usage()[0] >> 20; limit = max(used + 200, LEAST_MEMORY); cap_memory(limit)\n"
        "space = mmap.mmap(-1, 2 << 30, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        "held = np.ones((limit - used - 40) << 20, dtype=np.uint8)\n"
        "try:\n    np.ones(60 << 20, dtype=np.uint8); print('more')\nexcept MemoryError:\n    print('no more')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    assert done.stdout == "no more\n", done.stderr


def test_pyomo_takes_a_limit() -> None:
    for limit in (100, 1.5, True):
        with pytest.raises(SpecError, match="megabytes"):
            tf.Pyomo("cbc", memory_limit=limit)  # type: ignore[arg-type]


@pytest.mark.slow
def test_megabytes_of_output_change_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    outcome = ask("output", Run())
    assert outcome.verdict is Verdict.OPTIMAL
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@posix
def test_processes_that_a_solver_started_end_with_it() -> None:
    pids: list[int] = []
    with pytest.raises(SolverFailed, match="exit code 3"):
        ask("orphans", Run(on_bound=lambda bound: pids.append(int(-bound))))
    assert pids
    assert all(ended(pid) for pid in pids)


@pytest.mark.slow
@posix
def test_the_child_ends_with_its_parent() -> None:
    code = (
        "import os, signal, threading, time\n"
        "from misbehaving import Misbehaving\n"
        "from treeform.backends import Isolated, Run\n"
        "from treeform.model import Model\n"
        "m = Model(); x = m.bool('x', 3); m.minimize(x.sum())\n"
        "s = Isolated(Misbehaving('hang')).open(m)\n"
        "print(s._child.pid, flush=True)\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
        "s.solve(Run())\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=280)
    pid = int(done.stdout)
    assert ended(pid)


@pytest.mark.slow
def test_bytes_in_the_pipe_are_no_answer() -> None:
    with pytest.raises(SolverFailed):
        ask("writes into the pipe", Run())


def test_points_that_violate_rows_are_refused() -> None:
    outcome = ask("violating points", Run())
    assert (outcome.verdict, outcome.x, outcome.reason) == (Verdict.UNKNOWN, None, "solver")
    other = ask("points of another length", Run())
    assert (other.verdict, other.x) == (Verdict.UNKNOWN, None)
    assert other.info["rejected"]


@pytest.mark.drawn(1)
@pytest.mark.parametrize("fault", ["wrong bound", "wrong infeasibility"])
def test_claims_that_a_point_refutes_are_refused(fault: str) -> None:
    bounds: list[float] = []
    outcome = ask(fault, Run(hint=np.zeros(5), on_bound=bounds.append))
    assert (outcome.verdict, outcome.bound, outcome.reason) == (Verdict.FEASIBLE, None, "solver")
    assert "refuted" in outcome.info
    assert not bounds


@pytest.mark.drawn(1)
@posix
@pytest.mark.parametrize(
    "fault", [*CRASHES, "hang", "violating points", "wrong bound", "wrong infeasibility"]
)
def test_the_other_members_of_a_portfolio_answer(fault: str) -> None:
    session = Portfolio([Isolated(Misbehaving(fault)), HiGHS()]).open(small())
    assert isinstance(session, PortfolioSession)
    outcome = session.solve(Run(hint=np.zeros(5)))
    session.close()
    assert outcome.verdict is Verdict.OPTIMAL
    assert outcome.bound == -14


def test_what_cannot_be_isolated() -> None:
    for solver in (Portfolio(["cp-sat", "highs"]), Isolated("highs"), 3):
        with pytest.raises(SpecError, match="cannot be isolated"):
            Isolated(solver)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="memory_limit"):
        Isolated("highs", memory_limit=1)
    unpicklable = Enumeration()
    unpicklable.lock = __import__("threading").Lock()  # type: ignore[attr-defined]
    session = Isolated(unpicklable).open(small())
    with contextlib.closing(session), pytest.raises(SpecError, match="another process"):
        session.solve(Run())


def test_a_portfolio_is_isolated_member_by_member() -> None:
    made = isolated(Portfolio(["cp-sat", "highs"]))
    assert isinstance(made, Portfolio)
    assert [type(member) for member in made.members] == [Isolated, Isolated]
    own = MaxSAT()
    assert isolated(own) is own
