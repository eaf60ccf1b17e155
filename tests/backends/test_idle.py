"""A child whose questions were answered serves the next session, and nothing of the one before is left in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hard_models import knapsack
from misbehaving import Misbehaving
from timing import wait_until

from treeform.backends import HiGHS, Isolated, Outcome, Run, Verdict, idle
from treeform.backends.base import Session
from treeform.backends.idle import idle_children
from treeform.model import Model

posix = pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX systems")


@pytest.fixture(autouse=True)
def _none_waits() -> Iterator[None]:
    idle_children.close()
    yield
    idle_children.close()


def model_of(n: int) -> Model:
    """max sum of (i + 2) x_i with sum of (i + 1) x_i <= 2 n: at least n by taking the small ones."""
    model = Model()
    x = model.bool("x", n)
    model.add(np.arange(1, n + 1) @ x <= 2 * n, "weight")
    model.minimize(-np.arange(2, n + 2) @ x)
    return model


def enumerated(n: int) -> float:
    points = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    fits = points @ np.arange(1, n + 1) <= 2 * n
    return float(-(points[fits] @ np.arange(2, n + 2)).max())


def opened(solver: Isolated | None = None, n: int = 4) -> Session:
    return (solver or Isolated(HiGHS())).open(model_of(n))


def pid_of(session: Session) -> int:
    pid = session._child.pid  # type: ignore[attr-defined]
    assert isinstance(pid, int)
    return pid


def test_one_child_answers_session_after_session() -> None:
    pids = set()
    for n in (4, 7, 3):
        session = opened(n=n)
        pids.add(pid_of(session))
        outcome = session.solve(Run())
        assert (outcome.verdict, outcome.bound) == (Verdict.OPTIMAL, enumerated(n))
        session.close()
        session.close()
        assert len(idle_children) == 1
    assert len(pids) == 1


def test_a_session_that_was_closed_and_is_asked_again_has_another_child() -> None:
    session = opened()
    pid = pid_of(session)
    session.close()
    other = opened()
    assert pid_of(other) == pid
    assert session.solve(Run()).bound == other.solve(Run()).bound == enumerated(4)
    assert pid_of(session) != pid
    session.close()
    other.close()


@posix
def test_a_child_that_died_while_it_waited_is_replaced() -> None:
    session = opened()
    pid = pid_of(session)
    session.close()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    session = opened()
    assert pid_of(session) != pid
    assert session.solve(Run()).bound == enumerated(4)
    session.close()


def test_what_did_not_end_in_good_order_is_not_kept() -> None:
    stopped = Isolated(HiGHS()).open(knapsack())
    assert stopped.solve(Run(stop=lambda: True)).reason == "interrupted"
    stopped.close()
    assert not len(idle_children)
    for solver in (Isolated(HiGHS(), memory_limit=2000), Isolated(Misbehaving("hang"))):
        session = opened(solver)
        session.close()
        assert not len(idle_children)


def test_other_settings_and_other_surroundings_have_other_children(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = opened()
    pid = pid_of(session)
    session.close()
    other = opened(Isolated(HiGHS(threads=2)))
    assert pid_of(other) != pid
    other._child.close()  # type: ignore[attr-defined]
    for change in (lambda: monkeypatch.setenv("OMP_NUM_THREADS", "3"), lambda: monkeypatch.chdir(tmp_path)):
        change()
        session = opened()
        assert pid_of(session) != pid
        pid = pid_of(session)
        session.close()
    assert len(idle_children) == 1


def test_few_wait_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "MOST", 1)
    monkeypatch.setattr(idle, "SECONDS", 0.2)
    sessions = [opened(), opened()]
    pids = [pid_of(session) for session in sessions]
    assert len(set(pids)) == 2
    for session in sessions:
        session.close()
    assert len(idle_children) <= 1
    assert wait_until(lambda: not len(idle_children))


def test_two_solves_at_once_have_two_children() -> None:
    found: dict[int, Outcome] = {}
    pids: list[int] = []

    def work(n: int) -> None:
        session = opened(n=n)
        pids.append(pid_of(session))
        found[n] = session.solve(Run())
        together.wait(60.0)
        session.close()

    together = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(n,)) for n in (5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: outcome.bound for n, outcome in found.items()} == {5: enumerated(5), 6: enumerated(6)}
    assert len(set(pids)) == len(idle_children) == 2


@posix
def test_a_fork_does_not_use_the_child_of_its_parent_and_does_not_keep_it_alive() -> None:
    code = (
        "import os, signal, time\n"
        "from test_idle import opened, pid_of, idle_children, Run\n"
        "session = opened(); session.solve(Run()); pid = pid_of(session); session.close()\n"
        "if os.fork() == 0:\n"
        "    print(pid, len(idle_children), flush=True)\n"
        "    time.sleep(30)\n"
        "time.sleep(0.2); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        pid, waiting = map(int, process.stdout.readline().split())
        try:
            assert waiting == 0
            assert ended(pid)  # the parent is gone and the fork is not
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@posix
def test_nothing_is_left_at_the_end_of_the_process() -> None:
    code = (
        "from test_idle import opened, pid_of\nsession = opened(); print(pid_of(session)); session.close()\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.stderr == ""
    assert not Path(f"/proc/{int(done.stdout.split()[-1])}").exists()


def ended(pid: int) -> bool:
    """Whether a process ends within a minute; a zombie has ended."""
    for _ in range(1200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False
