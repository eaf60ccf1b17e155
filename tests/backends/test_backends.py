"""What solvers do to treeform's sessions: incumbents, limits, interrupts, and input that is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import psutil
import pytest
from hard_models import knapsack, pigeons
from timing import Timed

from treeform.backends import (
    CPSAT,
    SAT,
    Backend,
    HiGHS,
    MathOpt,
    Pyomo,
    Run,
    Verdict,
    by_name,
)
from treeform.backends.packages import load
from treeform.backends.stderr import without_lines
from treeform.errors import ModelError, RouteError, SolverFailed, SolverNotAvailable
from treeform.model import Model, any_of
from treeform.utils.budget import Budget

OPTIMISERS = [HiGHS(), CPSAT(), MathOpt("scip")]
IN_PROCESS = [*OPTIMISERS, SAT("cadical195"), SAT("minisat22")]


def name_of(value: Any) -> str:
    return getattr(value, "name", str(value))


def hard(backend: Backend) -> Model:
    return knapsack() if backend.capabilities.objective else pigeons()


@pytest.mark.parametrize("backend", IN_PROCESS, ids=name_of)
def test_the_time_limit_is_kept(backend: Backend, timed: Timed) -> None:
    session = backend.open(hard(backend))
    start = time.process_time()
    outcome = session.solve(Run(Budget(0.2)))
    timed(time.process_time() - start, 2.5)
    assert outcome.reason == "time"
    assert outcome.verdict in (Verdict.FEASIBLE, Verdict.UNKNOWN)
    session.close()


def seconds_of_cpu() -> float:
    """Of this process and of its children while they run."""
    children = [child.cpu_times() for child in psutil.Process().children()]
    return time.process_time() + sum(times.user + times.system for times in children)


@pytest.mark.parametrize("backend", IN_PROCESS, ids=name_of)
def test_stop_ends_the_run_and_keeps_the_best(backend: Backend, timed: Timed) -> None:
    # Early enough to interrupt, and not before there is something to keep, however busy the machine is. SCIP reports
    # its models at the end only: on a smaller model, which takes it minutes too, it has one at once. Seconds of CPU, of
    # its child where packages clash, show how far it has come.
    silent = backend.name == "mathopt:scip"
    session = backend.open(knapsack(120, 60) if silent else hard(backend))
    clock = seconds_of_cpu if silent else time.monotonic
    stop_at = clock() + (1.5 if silent else 15.0 if backend.capabilities.objective else 0.3)
    spent: list[float] = []

    def stop() -> bool:
        if clock() > stop_at and not spent:
            spent.append(seconds_of_cpu())
        return bool(spent)

    def on_solution(x: np.ndarray) -> None:
        nonlocal stop_at
        stop_at = min(stop_at, clock() + 0.3)

    outcome = session.solve(Run(Budget().until(stop), on_solution=on_solution))
    timed(seconds_of_cpu() - spent[0], 2.0)
    assert outcome.reason == "interrupted"
    if silent and outcome.info.get("abandoned"):
        return  # it had no processor for so long that it was taken for one that does not react, and says so
    if backend.capabilities.objective:
        assert outcome.x is not None
        assert outcome.bound is not None
        assert outcome.bound <= session.model.objective.value(outcome.x)
    session.close()


@pytest.mark.parametrize("backend", [HiGHS(), CPSAT(), SAT("minisat22"), SAT("lingeling")], ids=name_of)
def test_ctrl_c_ends_the_run(backend: Backend) -> None:
    session = backend.open(hard(backend))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))

    def begin(x: np.ndarray | None = None) -> None:
        """Press Ctrl-C soon: where there is an objective, not before there is something to keep."""
        if timer.ident is None:
            timer.start()

    if not backend.capabilities.objective:
        begin()
    outcome = session.solve(Run(on_solution=begin))
    timer.join()
    assert outcome.reason == "interrupted"
    assert backend.capabilities.objective == (outcome.x is not None)
    session.close()


@pytest.mark.parametrize("backend", OPTIMISERS[:2], ids=name_of)
def test_exceptions_of_callbacks_surface(backend: Backend, timed: Timed) -> None:
    def refuse(x: np.ndarray) -> None:
        raise ValueError("mine")

    start = time.process_time()
    with pytest.raises(ValueError, match="mine"):
        backend.open(knapsack()).solve(Run(on_solution=refuse))
    timed(time.process_time() - start, 5.0)
    assert not [t for t in threading.enumerate() if t.name == "treeform search"]


@pytest.mark.parametrize("backend", OPTIMISERS[:2], ids=name_of)
def test_callbacks_run_in_the_callers_thread_and_improve(backend: Backend) -> None:
    model = knapsack(35, 12)
    seen: list[tuple[float, threading.Thread]] = []
    bounds: list[float] = []
    session = backend.open(model)
    outcome = session.solve(
        Run(
            on_solution=lambda x: seen.append((model.objective.value(x), threading.current_thread())),
            on_bound=bounds.append,
        )
    )
    assert outcome.verdict is Verdict.OPTIMAL
    assert outcome.x is not None
    best = model.objective.value(outcome.x)
    assert outcome.bound == best
    values = [value for value, _ in seen]
    assert values == sorted(set(values), reverse=True)
    assert {thread for _, thread in seen} == {threading.current_thread()}
    assert bounds == sorted(set(bounds))
    assert max(bounds) <= best


@pytest.mark.parametrize("backend", OPTIMISERS, ids=name_of)
def test_cutoffs(backend: Backend) -> None:
    model = knapsack(25, 8)
    session = backend.open(model)
    free = session.solve(Run())
    assert free.x is not None
    best = model.objective.value(free.x)
    again = session.solve(Run(cutoff=best))
    assert (again.verdict, again.bound) == (Verdict.OPTIMAL, best)
    nothing = session.solve(Run(cutoff=best - 1))
    assert (nothing.verdict, nothing.x, nothing.bound) == (Verdict.INFEASIBLE, None, None)
    assert session.solve(Run()).verdict is Verdict.OPTIMAL


@pytest.mark.parametrize("backend", OPTIMISERS, ids=name_of)
def test_a_hint_survives_a_run_without_time(backend: Backend) -> None:
    model = knapsack()
    session = backend.open(model)
    found: list[np.ndarray] = []
    # Not by SCIP, which reports its models at the end only.
    first = HiGHS().open(model).solve(Run(Budget().until(lambda: bool(found)), on_solution=found.append))
    assert first.x is not None
    hinted = session.solve(Run(Budget(0.05), hint=first.x))
    assert hinted.x is not None
    assert model.objective.value(hinted.x) <= model.objective.value(first.x)
    assert session.solve(Run(Budget(1e-9), hint=first.x)).verdict is Verdict.FEASIBLE


@pytest.mark.parametrize("backend", OPTIMISERS[:2], ids=name_of)
def test_partial_hints_are_completed(backend: Backend) -> None:
    """The unknown columns follow from the known ones; nothing in the run would find the point by chance."""
    rng = np.random.default_rng(3)
    secret = rng.integers(0, 2, 60)
    model = Model()
    x, y = model.bool("x", 60), model.bool("y", 60)
    model.add(y == 1 - x)
    weights = rng.integers(1, 10**6, 60)
    model.add(weights @ x == int(weights @ secret))
    hint = np.full(model.n_cols, np.nan)
    hint[:60] = secret
    outcome = backend.open(model).solve(Run(hint=hint))
    assert outcome.x is not None
    assert int(weights @ outcome.x[:60]) == int(weights @ secret)


def test_hints_may_be_shorter_than_a_grown_model() -> None:
    model = Model()
    x = model.bool("x", 3)
    model.minimize(x.sum())
    session = CPSAT().open(model)
    y = model.bool("y")
    model.add(x.sum() + y >= 1)
    session.extend()
    assert session.solve(Run(hint=np.ones(3))).bound == 0.0
    with pytest.raises(ModelError, match="hint"):
        session.solve(Run(hint=np.ones(5)))
    with pytest.raises(ModelError, match="assumption"):
        session.solve(Run(assumptions=[7]))


def test_relaxed_columns_are_boolean_where_nothing_is_continuous() -> None:
    model = Model()
    x, r = model.bool("x", 2), model.bool("r", 2, relax=True)
    model.add(r >= x)
    model.add(x.sum() >= 1)
    model.minimize(r.sum())
    for backend in (HiGHS(), CPSAT()):
        assert backend.open(model).solve(Run()).bound == 1.0
    assert SAT().open(model).solve(Run()).verdict is Verdict.FEASIBLE
    model.continuous("c")
    for other in (CPSAT(), SAT()):
        with pytest.raises(RouteError, match="continuous"):
            other.open(model)


def test_cp_sat_needs_finite_ranges() -> None:
    loose = Model()
    loose.integer("free", 1)
    with pytest.raises(RouteError, match="free"):
        CPSAT().open(loose)


@pytest.mark.parametrize("name", ["highs", "cp-sat", "mathopt:scip", "cadical195", "minisat22", "kissat404"])
def test_edges(name: str) -> None:
    backend = by_name(name)
    nothing = Model()
    assert backend.open(nothing).solve(Run()).verdict is Verdict.OPTIMAL
    free = Model()
    free.bool("x", 3)
    assert backend.open(free).solve(Run()).verdict is Verdict.OPTIMAL
    impossible = Model()
    x = impossible.bool("x", 3)
    impossible.add(0 * x >= 1)
    assert backend.open(impossible).solve(Run()).verdict is Verdict.INFEASIBLE
    fixed = Model()
    one = fixed.integer("one", 2, lb=1, ub=1)
    fixed.add(one[0] + fixed.bool("y") >= 1)
    assert backend.open(fixed).solve(Run(assumptions=[-1])).verdict is Verdict.INFEASIBLE
    solved = backend.open(fixed).solve(Run())
    assert solved.x is not None
    assert solved.x[:2].tolist() == [1.0, 1.0]


def test_sat_takes_no_cutoff() -> None:
    with pytest.raises(ModelError, match="objective"):
        SAT().open(pigeons(3)).solve(Run(cutoff=3.0))


def test_sat_grows_and_takes_back_assumptions() -> None:
    model = Model()
    x = model.bool("x", 4)
    model.add(any_of(x, axis=0))
    session = SAT("cadical195").open(model)
    lits = (~x).as_literals().tolist()
    assert session.solve(Run(assumptions=lits)).verdict is Verdict.INFEASIBLE
    assert session.solve(Run(assumptions=lits[:3])).x is not None
    model.add(any_of(~x[3]))
    session.extend()
    assert session.solve(Run(assumptions=lits[:3])).verdict is Verdict.INFEASIBLE
    found = session.solve(Run(hint=np.array([1.0, 0.0, 0.0, np.nan]))).x
    assert found is not None
    assert found.sum() >= 1
    session.close()


def test_a_child_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    session = SAT("lingeling").open(pigeons(3))
    monkeypatch.setattr("treeform.backends.sat.SAT.install", "nothing")
    original = session._child._running  # type: ignore[attr-defined]

    def doomed() -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = original()
        process.kill()
        process.wait()
        return process

    monkeypatch.setattr(session._child, "_running", doomed)  # type: ignore[attr-defined]
    with pytest.raises(SolverFailed, match="SIGKILL"):
        session.solve(Run())
    monkeypatch.undo()
    assert session.solve(Run()).verdict is Verdict.INFEASIBLE
    session.close()


def test_pyomo_is_asked_for_names_that_are_not_listed(caplog: pytest.LogCaptureFixture) -> None:
    """Before anything is solved, and without a warning of Pyomo's; its own solvers are taken, and a program is not."""
    for name in ("no_such_solver", "ipopt_v2_none", "asl"):
        with pytest.raises(SolverNotAvailable, match=rf"(?s)'pyomo:{name}' .*pyomo help --solvers"):
            Pyomo(name)
    assert not caplog.records
    assert Pyomo("gdpopt").solver == "gdpopt"


def test_solvers_do_not_print() -> None:
    code = (
        "import numpy as np, treeform.backends as b\n"
        "from treeform.model import Model\n"
        "m = Model(); x = m.bool('x', 8); m.add(np.arange(1, 9) @ x <= 11); m.minimize(-np.arange(2, 10) @ x)\n"
        "for s in (b.HiGHS(), b.CPSAT(), b.MathOpt(), b.SAT()): s.open(m).solve(b.Run())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == ""


def test_only_known_noise_is_kept_out(capfd: pytest.CaptureFixture[str]) -> None:
    with without_lines([b"noise"]):
        os.write(2, b"[a] noise\nheard\nno end of line")
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "heard\nno end of lineafter\n"


def test_missing_modules_are_reported_as_such() -> None:
    with pytest.raises(ImportError, match="try this"):
        load("no_such_module_at_all", "some solver", "try this")
