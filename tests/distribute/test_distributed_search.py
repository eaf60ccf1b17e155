"""One search in many places: the same answer whoever works, whatever dies, and after every stop."""

from __future__ import annotations

import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import numpy as np
import pandas as pd
import psutil
import pytest
from in_parts import solve_in_parts
from timing import Timed, wait_until
from typer.testing import CliRunner

import treeform as tf
from treeform import _core
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.distribute import workers
from treeform.distribute.executor import is_cancelled, never
from treeform.distribute.journal import Parts, kept
from treeform.distribute.workers import Work, Workers, answer, started
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.errors import SolverFailed, SpecError
from treeform.utils.budget import Limit


def table(n: int = 150, seed: int = 0, features: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, features)).round(2), columns=list("abcdefgh"[:features]))
    frame["y"] = ((frame["a"] * frame["b"] > 0) ^ (rng.random(n) < 0.2)).astype(int) + (frame["c"] > 1)
    return frame


def problem(seed: int = 0, **more: Any) -> tf.Problem:
    return tf.Problem(table(seed=seed), "y", shape="tree:3", **more)


def same(a: Any, b: Any) -> bool:
    """Whether two results differ in nothing that does not measure time."""
    left, right = (one.certificate() for one in (a, b))
    for one in (left, right):
        one.pop("metadata"), one.pop("digest")
        for claim in one["claims"]:
            claim["metadata"].pop("seconds")
            claim["metadata"]["details"].pop("parts_from_journal", None)
        one["claims"] = [claim for claim in one["claims"] if claim["kind"] == "lower"][-1:]
    return left == right and (a.objective, a.bound, a.status) == (b.objective, b.bound, b.status)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_is_the_same_whoever_does_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = table(110, seed)
    weights = rng.integers(1, 4, len(frame)) if seed % 2 else None
    data = Dataset.from_user(frame.drop(columns="y"), frame["y"], weights)
    cost = rng.integers(0, 5, (data.n_classes,) * 2) * (1 - np.eye(data.n_classes, dtype=int))
    task = TreeTask(
        3, [None, cost][seed // 2], int(rng.integers(0, 2)), [0, 9][seed % 2], [None, 5][int(seed == 3)]
    )
    alone = ConTree().run(data, task, EngineRun())
    shared = solve_in_parts(ConTree(), data, task, 3)
    assert shared.counters == alone.counters
    assert (shared.upper, shared.lower, shared.proved) == (alone.upper, alone.lower, True)
    assert shared.graph == alone.graph


def out_of_alignment(array: Any) -> Any:
    moved = np.frombuffer(b"x" + np.ascontiguousarray(array).tobytes(), np.uint8)[1:].view(array.dtype)
    assert not moved.flags.aligned
    return moved.reshape(array.shape)


def test_tables_and_questions_that_come_out_of_alignment() -> None:
    data = Dataset.from_user(table().drop(columns="y"), table()["y"])
    moved = replace(data, X=out_of_alignment(data.X))
    with started("threading", 1, Work(ConTree(), moved, TreeTask(3), "moved")) as pool:

        def ask(question: Any) -> Any:
            return pool.ask(out_of_alignment(question), lambda: False)

        found = ConTree().run(data, TreeTask(3), EngineRun(ask=ask))
    assert found.graph == ConTree().run(data, TreeTask(3), EngineRun()).graph


def test_replies_that_come_out_of_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(*given: Any) -> Any:
        reply, seconds = answer(*given)
        return out_of_alignment(reply), seconds

    monkeypatch.setattr(workers, "answer", moved)
    assert same(problem().solve("contree", executor="threading", workers=2), problem().solve("contree"))


def test_a_client_of_dask_searches_too() -> None:
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ) as client:
        shared = problem().solve("contree", executor=client)
    assert same(shared, problem().solve("contree"))


@pytest.mark.parametrize(("sent", "lost"), [(signal.SIGKILL, 1), (signal.SIGINT, 0)])
def test_a_killed_worker_costs_its_part_only_and_ctrl_c_nothing(sent: signal.Signals, lost: int) -> None:
    data = Dataset.from_user(table().drop(columns="y"), table()["y"])
    task, asked = TreeTask(3), 0

    with started("loky", 2, Work(ConTree(), data, task, "killed")) as pool:

        def ask(question: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 20:
                workers = [one for one in psutil.Process().children(recursive=True) if _is_worker(one)]
                os.kill(workers[0].pid, sent)
            return pool.ask(question, lambda: False)

        shared = ConTree().run(data, task, EngineRun(ask=ask, callers=pool.size))
    alone = ConTree().run(data, task, EngineRun())
    assert (shared.graph, shared.counters) == (alone.graph, alone.counters)
    assert pool.lost <= lost
    assert len(pool.seconds) == asked


def _is_worker(process: psutil.Process) -> bool:
    return any("popen_loky" in part for part in process.cmdline())


def test_a_journal_is_gone_on_from(tmp_path: Path) -> None:
    whole = problem().solve("contree")
    problem().solve("contree", journal=tmp_path / "j")
    (kept,) = (tmp_path / "j").iterdir()
    replies = sorted(kept.iterdir())
    # As a kill leaves it: some replies, one that a disk has spoilt, one that it has cut off, one of another question.
    half = len(replies) // 2
    for reply in replies[half + 3 :]:
        reply.unlink()
    replies[half + 2].write_bytes(replies[0].read_bytes())
    content = replies[half].read_bytes()
    replies[half].write_bytes(content[:9] + bytes([content[9] ^ 1]) + content[10:])
    replies[half + 1].write_bytes(replies[half + 1].read_bytes()[:10])
    again = problem().solve("contree", journal=tmp_path / "j", executor="threading", workers=2)
    assert same(again, whole)
    assert any(f"{half} of its parts were there" in note for note in again.notes)
    assert "3 files were damaged in the journal; what they held was searched again" in again.notes
    *_, claim = (c for c in again.certificate()["claims"] if c["kind"] == "lower")
    assert claim["metadata"]["details"]["parts_from_journal"] == half
    assert tf.check(again.certificate(), table().drop(columns="y"), table()["y"]).ok
    assert sorted(kept.iterdir()) == replies
    third = problem().solve("contree", journal=tmp_path / "j")
    assert any(f"{len(replies)} of its parts" in note for note in third.notes)


def test_a_journal_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch) -> None:
    answered = kept(tmp_path / "search", lambda question: question, Parts())

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(SpecError, match="cannot be used") as error:
        answered(np.zeros(3, dtype=np.int64))
    assert str(tmp_path) in str(error.value)


def test_problems_may_share_a_journal(tmp_path: Path) -> None:
    problem().solve("contree", journal=tmp_path / "j")
    for other in (problem(1), problem().minimize(tf.Error() + tf.Nodes()), problem().add(tf.MaxNodes(5))):
        found = other.solve("contree", journal=tmp_path / "j")
        assert not any("of its parts were there" in note for note in found.notes)
        assert same(found, other.solve("contree"))
    again = problem().solve("contree", journal=tmp_path / "j")
    assert any("of its parts were there" in note for note in again.notes)
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="cannot be used"):
        problem().solve("contree", journal=tmp_path / "file")


def test_a_reply_that_cannot_be_read_is_no_journal(tmp_path: Path) -> None:
    problem().solve("contree", journal=tmp_path / "j")
    for reply in (tmp_path / "j").glob("*/*"):
        reply.unlink()
        reply.mkdir()
    with pytest.raises(SpecError, match="cannot be used"):
        problem().solve("contree", journal=tmp_path / "j")


def test_a_journal_that_cannot_be_written_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpecError, match="cannot be written"):
        problem().solve("contree", journal=tmp_path / "j")


def test_a_part_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    def part() -> None:
        (tmp_path / "began").touch()
        if wait_until(is_cancelled):
            (tmp_path / "ended").touch()

    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as client:
        future = client.get_executor(pure=False).submit(part)
        assert wait_until((tmp_path / "began").exists)
        assert not (tmp_path / "ended").exists()
        future.cancel()
        assert wait_until((tmp_path / "ended").exists)


def test_messages_are_small() -> None:
    frame = table(50, features=8)
    wide = pd.concat([frame.drop(columns="y")] * 25, axis=1)
    wide.columns = [f"f{i}" for i in range(200)]
    data = Dataset.from_user(wide, frame["y"])
    work, sizes = Work(ConTree(), data, TreeTask(3), "wide"), []

    def ask(question: Any) -> Any:
        found = worker.submit(answer, work, work.key, never, question).result()
        sent = pickle.dumps((answer, is_cancelled, work.key, question))
        sizes.append((len(sent), len(pickle.dumps(found))))
        return None if found is None or len(sizes) > 2 else found[0]

    with ThreadPoolExecutor(1) as worker:
        ConTree().run(data, work.task, EngineRun(ask=ask))
    assert max(map(max, sizes)) < 10_000


class OneExecutor:
    """An executor whose first answers are lost."""

    def __init__(self, error: Exception, lost: int) -> None:
        self.error, self.lost = error, lost

    def submit(self, *given: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.lost -= 1
        if self.lost >= 0:
            future.set_exception(self.error)
        else:
            future.set_result((np.arange(2), 0.0))
        return future


def pool_with(error: Exception, lost: int) -> Workers:
    executor = OneExecutor(error, lost)
    return Workers(2, lambda: executor, None, "k", never)


def test_lost_workers_are_counted_and_end_the_search_at_last() -> None:
    pool = pool_with(BrokenExecutor(), lost=2)
    assert pool.ask(np.arange(3), lambda: False) is not None
    assert pool.lost == 2
    with pytest.raises(SolverFailed, match="has cost 3 workers"):
        pool_with(BrokenExecutor(), lost=3).ask(np.arange(3), lambda: False)


def test_a_part_that_costs_a_cluster_its_workers_ends_the_search() -> None:
    lost = distributed.scheduler.KilledWorker("answer", SimpleNamespace(address="tcp://w"), 4)
    with pytest.raises(SolverFailed, match="has cost 3 workers"):
        pool_with(lost, lost=1).ask(np.arange(3), lambda: False)


def test_a_worker_out_of_memory_is_with_notes() -> None:
    data = Dataset.from_user(table().drop(columns="y"), table()["y"])
    small = Work(ConTree(memory_limit=1), data, TreeTask(3), "small")
    with started("threading", 1, small) as pool, pytest.raises(SolverFailed, match="memory_limit"):
        ConTree().run(data, small.task, EngineRun(ask=lambda q: pool.ask(q, lambda: False)))


def test_time_limit_and_ctrl_c_keep_model_and_bound(timed: Timed) -> None:
    frame = table(1500, features=8)
    hard = tf.Problem(frame, "y", shape="tree:4")
    began = time.monotonic()
    stopped = hard.solve("contree", executor="threading", workers=2, time_limit=0.5)
    timed(time.monotonic() - began, 5)
    assert stopped.limit is Limit.TIME
    assert stopped.graph is not None
    assert 0 <= stopped.bound < stopped.objective
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    pressed = hard.solve("contree", executor="threading", workers=2)
    assert pressed.limit is Limit.INTERRUPTED
    assert pressed.graph is not None


def test_an_engine_for_a_part_of_the_problem_is_not_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    problem = tf.Problem(X, (X[:, 0] * X[:, 1] > 0).astype(int), shape=tf.Tree(3))
    problem += tf.Uses(["x3"])
    # As on a table that is too large for all formulations.
    monkeypatch.setattr("treeform.solve.choice.why_unstated", lambda question, options: "a test")
    with pytest.raises(tf.errors.SpecError, match="contree cannot be shared"):
        problem.solve(executor="threading", workers=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"executor": "lokky"}, "there is no executor 'lokky'"),
        ({"executor": 3}, "there is no executor 3"),
        ({"executor": "ray"}, "takes many solves"),
        ({"workers": 2}, "no effect without an executor"),
        ({"executor": "loky", "workers": 0}, "no number of processes"),
        ({"executor": "dask:nowhere"}, "could not be started"),
        ({"executor": "loky", "solver": "highs"}, "search of highs cannot be shared"),
        ({"journal": "j", "solver": "blossom"}, "search of blossom cannot be shared"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        problem().solve(**({"solver": "contree"} | given))


def test_the_command_line_and_specification_files(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "s.toml").write_text(
        'data = "t.csv"\ntarget = "y"\nshape = "tree:3"\nsolver = "contree"\njournal = "j"\nworkers = 2\n'
        'executor = "threading"\n'
    )
    first = CliRunner().invoke(app, ["fit", "--spec", str(tmp_path / "s.toml")])
    assert first.exit_code == 0, first.output
    ran = CliRunner().invoke(
        app,
        [
            *("fit", str(tmp_path / "t.csv"), "--target", "y", "--shape", "tree:3", "--solver", "contree"),
            *("--journal", str(tmp_path / "j"), "--certificate", str(tmp_path / "c.json")),
        ],
    )
    assert ran.exit_code == 0, ran.output
    assert "of its parts were there" in ran.output
    claims = json.loads((tmp_path / "c.json").read_text())["claims"]
    assert any("parts_from_journal" in claim["metadata"]["details"] for claim in claims)
    wrong = CliRunner().invoke(app, ["fit", "--spec", str(tmp_path / "s.toml"), "--executor", "ray"])
    assert wrong.exit_code == 2
    assert "takes many solves" in wrong.output


@pytest.mark.slow
def test_workers_end_with_the_process_that_was_killed(tmp_path: Path) -> None:
    table(1500, features=8).to_csv(tmp_path / "t.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "treeform",
        "fit",
        str(tmp_path / "t.csv"),
        "--target",
        "y",
        "--shape",
        "tree:4",
    ]
    command += [
        "--solver",
        "contree",
        "--executor",
        "loky",
        "--workers",
        "2",
        "--journal",
        str(tmp_path / "j"),
    ]
    ran = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: any(one.is_file() for one in (tmp_path / "j").rglob("*")))
    workers = [one for one in psutil.Process(ran.pid).children(recursive=True) if _is_worker(one)]
    ran.kill()
    ran.wait()
    assert len(workers) == 2
    _, alive = psutil.wait_procs(workers, timeout=280)
    assert not alive


def test_questions_that_do_not_fit_are_refused() -> None:
    data = Dataset.from_user(table().drop(columns="y"), table()["y"])
    questions: list[Any] = []
    evaluator = ConTree().evaluator(data, TreeTask(4))

    def keep(question: Any) -> Any:
        questions.append(question)
        return evaluator.evaluate(question, lambda: False) if len(questions) < 9 else None

    stopped = ConTree().run(data, TreeTask(4), EngineRun(ask=keep))
    assert not stopped.proved
    for place, wrong in ((0, 2), (5, 77), (5, -1)):  # the depth, and the feature of the test
        changed = questions[0].copy()
        changed[place] = wrong
        with pytest.raises(ValueError, match="does not fit"):
            evaluator.evaluate(changed, lambda: False)
    with pytest.raises(ValueError, match="does not fit"):
        evaluator.evaluate(questions[0][:-1], lambda: False)


@pytest.mark.parametrize(
    ("rows", "columns", "depth"), [(66_000, 8, 4), pytest.param(60_000, 60, 3, marks=pytest.mark.slow)]
)
def test_a_worker_that_was_stopped_answers_as_before(rows: int, columns: int, depth: int) -> None:
    """Stopped while it divides rows: as lists with marks, or by the ranks of a feature in the orders of all others."""
    x = np.random.default_rng(0).integers(0, 2, (rows, columns)).astype(float)
    y = (x[:, :depth].sum(axis=1) % 2).astype(np.int32)
    keywords = ConTree(improve=False)._keywords(Dataset.from_user(x[:99], y[:99]), TreeTask(depth))
    table = x, y, None, 1 - np.eye(2, dtype=np.int64)
    evaluator = _core.ContreeEvaluator(*table, **keywords)
    asked: list[tuple[Any, Any]] = []

    def ask(question: Any) -> Any:
        if depth == 3 and len(asked) == 5:
            return None
        asked.append((question.copy(), evaluator.evaluate(question, never)))
        return asked[-1][1]

    _core.contree(*table, **keywords, upper=None, time_limit=np.inf, poll=None, ask=ask, callers=1)
    for question, reply in asked[-3:]:
        evaluator.evaluate(question, never)
        for other, _ in asked[-4:]:
            evaluator.evaluate(other, lambda: True)
        assert np.array_equal(evaluator.evaluate(question, never), reply)


@pytest.mark.parametrize("ahead", [3, 64, 2**12])
def test_how_many_are_in_work_changes_no_cost(ahead: int) -> None:
    data, task = Dataset.from_user(table(80).drop(columns="y"), table(80)["y"]), TreeTask(4, node_penalty=1)
    alone = ConTree().run(data, task, EngineRun())
    one, three = (solve_in_parts(ConTree(ahead=ahead), data, task, workers) for workers in (1, 3))
    assert (one.upper, one.lower, one.proved) == (alone.upper, alone.lower, True)
    assert (three.graph, three.counters) == (one.graph, one.counters)  # whoever answers first
    with pytest.raises(SpecError, match="ahead"):
        ConTree(ahead=2)
