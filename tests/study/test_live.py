"""Rows of a sweep are told as runs end, whoever solves them, and workers end with the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.distribute import executor
from treeform.study import subject
from treeform.study.live import Collector

PRICES = {"price": [0, 1, 2]}


@pytest.fixture
def problem() -> tf.Problem:
    rng = np.random.default_rng(0)
    return tf.Problem(rng.integers(0, 4, (40, 3)), rng.integers(0, 2, 40), shape="tree:2")


def test_a_row_is_told_before_its_chain_has_ended(
    problem: tf.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    two, usual, asked = threading.Event(), subject.solve, []

    def solve(question: Any, options: Any) -> Any:
        asked.append(question)
        if len(asked) == 3:  # the last run of the one chain
            assert two.wait(60)
        return usual(question, options)

    def told(progress: tf.study.StudyProgress) -> None:
        if progress.done == 2:
            two.set()

    monkeypatch.setattr(subject, "solve", solve)
    study = tf.sweep(problem, PRICES, executor="threading", workers=2, on_progress=told)
    assert study.complete, study.table["message"].tolist()
    assert study.table["run"].tolist() == [0, 1, 2]


def test_ctrl_c_keeps_rows_of_workers_without_a_folder(
    problem: tf.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(executor: Any, workers: Any, tasks: Any) -> Any:
        subject, chain, journal, limit, board = tasks[0].args
        tasks[0].func(subject, chain[:1], journal, limit, board)  # a worker that had time for one run
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(sys.modules["treeform.study.sweep"], "_each", interrupted)
    study = tf.sweep(problem, PRICES, executor="loky")
    assert (len(study.table), study.total) == (1, 3)


def test_what_the_callers_function_raises_ends_the_sweep(problem: tf.Problem) -> None:
    def told(progress: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tf.sweep(problem, PRICES, executor="threading", workers=1, on_progress=told)


def test_the_folder_of_rows_is_removed() -> None:
    told: list[int] = []
    with Collector(lambda done, row: told.append(row["run"]), True) as collector:
        assert collector.board is not None
        collector.board.put({"run": 1})
        while not told:
            time.sleep(0.01)
        collector.add({"run": 1})
        collector.add({"run": 0})
    assert told == [1, 0]
    assert not Path(collector.board.folder).exists()
    collector.board.put({"run": 2})  # a worker that was late, or sees another disk


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_worker_ends_with_the_process_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "POLL_SECONDS", 0.02)
    reading, writing = os.pipe()
    starts = os.fork()
    if starts == 0:
        parent = os.getpid()
        if os.fork() == 0:
            sys.modules["treeform.study.sweep"]._call(lambda: (os.write(writing, b"+"), time.sleep(600)), parent)
            os._exit(0)
        os.close(writing)
        time.sleep(600)  # longer than a test may take
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"+"
    os.kill(starts, signal.SIGKILL)
    os.waitpid(starts, 0)
    assert os.read(reading, 1) == b""  # the last one that had the pipe


def test_the_folder_of_a_process_that_was_killed_is_removed() -> None:
    code = "from treeform.distribute.executor import shared_folder\n"
    code += "with shared_folder() as folder: print(folder, flush=True), input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as ran:
        assert ran.stdout is not None and ran.stderr is not None
        folder = Path(ran.stdout.readline().strip())
        assert folder.is_dir()
        ran.kill()
        ran.stderr.read()  # the tracker, the last one that has it, has ended
    assert not folder.exists()
