"""The live block: what it shows, where it is quiet, and that every long step tells how far it has come."""

from __future__ import annotations

import io
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from timing import wait_until

import treeform as tf
from treeform.backends.watch import build_beside
from treeform.cli.app import app
from treeform.cli.progress import ProgressDisplay, clock, line, shown_as
from treeform.model import Model
from treeform.solve import Limit, Progress
from treeform.utils.budget import Step, observe_steps, report_step

CREDIT = Path(__file__).parents[2] / "examples/data/german-credit.csv"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are reported whenever they are told, and not once a second."""
    monkeypatch.setattr("treeform.utils.budget.REPORT_EVERY", 0.0)


def noisy(n: int = 300, columns: int = 4, values: int = 12) -> tuple[np.ndarray, np.ndarray]:
    pick = np.random.default_rng(7)
    X = pick.integers(0, values, size=(n, columns)).astype(float)
    y = ((X[:, 0] + X[:, 1] > values) ^ (pick.random(n) < 0.2)).astype(int)
    return X, y


# -- the block ---------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """What is left without the codes of the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def test_the_block_shows_the_state_of_the_search() -> None:
    out = io.StringIO()
    with ProgressDisplay(Console(file=out, force_terminal=True, width=80)) as display:
        step = Step(12345, "nodes")
        display(Progress(61.0, 300, 250, "depth 2: contree", 120.0, step, 4321.0, (1, 4)))
        assert wait_until(lambda: "61." in plain(out.getvalue()))  # of the thread that draws
        shown = plain(out.getvalue())
    for part in (
        "depth 2: contree", "1 of 4 parts", "incumbent 300", "bound 250", "gap 16.7%", "12,345 nodes",
        "4,321 nodes per second", "of 2:00 min",
    ):  # fmt: skip
        assert part in shown, part
    assert "61." in shown  # the seconds go on by themselves
    assert re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", shown)
    assert "\n" not in plain(out.getvalue()).splitlines()[-1]
    assert shown.count("phase") == 0  # no log beside the block


def test_work_without_an_incumbent_is_shown_too() -> None:
    out = io.StringIO()
    with shown_as("checking c.json", Console(file=out, force_terminal=True, width=80)):
        report_step(1234, "nodes")
        assert wait_until(lambda: "1,234 nodes" in plain(out.getvalue()))
    shown = plain(out.getvalue())
    assert "checking c.json" in shown and "1,234 nodes" in shown


def test_nothing_is_shown_in_pipes_unless_asked_for() -> None:
    for log, quiet, lines in ((False, False, 0), (True, False, 2), (True, True, 0)):
        out = io.StringIO()
        with ProgressDisplay(Console(file=out), enabled=not quiet, log=log) as display:
            display.begin("reading")
            display(Progress(0.1, 300, 0, "start"))
        assert len(out.getvalue().splitlines()) == lines


def test_lines_of_the_log() -> None:
    out = io.StringIO()
    with ProgressDisplay(Console(file=out, highlight=False), log=True) as display:
        display(Progress(0.0, None, 0, "start"))
        display(Progress(0.1, 300, 0, "start"))
        display(Progress(0.2, 300, 10, "start"))  # only the bound moved, and just now: not shown
        display(Progress(0.3, 259, 259, "start"))
        display(Progress(0.4, 259, 259, "start"))
    lines = out.getvalue().splitlines()
    assert lines[0].split() == ["time", "incumbent", "bound", "gap", "phase"]
    assert [text.split()[1:] for text in lines[1:]] == [
        ["-", "0", "-", "start"],
        ["300", "0", "100.0%", "start"],
        ["259", "259", "0.0%", "start"],
    ]
    assert line(Progress(1.0, Fraction(5, 2), 0, "x")).split() == ["1.0s", "2.5", "0", "100.0%", "x"]


def test_times_and_progress_as_text() -> None:
    assert [clock(s) for s in (0.04, 99.94, 100, 245.2, 3725)] == [
        "0.0 s", "99.9 s", "1:40 min", "4:05 min", "1:02:05 h",
    ]  # fmt: skip
    text = str(Progress(1.25, 10, 8, "contree", step=Step(5, "nodes", 20), parts=(1, 3)))
    assert text == "1.2 s: incumbent 10, bound 8, gap 20.0%, contree (1 of 3 parts done), 5 of 20 nodes"


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Within the block standard error is a pseudo-terminal; what was written to it is in the list afterwards."""
    ours, theirs = os.openpty()
    written: list[str] = []
    with monkeypatch.context() as patch, os.fdopen(theirs, "w", buffering=1) as stream:
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "100")
        patch.setattr("sys.stderr", stream)
        reader = Thread(target=lambda: written.extend(_until_closed(ours)))
        reader.start()
        yield written
    reader.join()
    os.close(ours)


def _until_closed(end: int) -> Iterator[str]:
    while True:
        try:
            piece = os.read(end, 65536)
        except OSError:  # the other end is closed
            return
        yield piece.decode(errors="replace")


@pytest.mark.usefixtures("at_once")
def test_fit_in_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = noisy(2500, columns=8, values=2500)
    table = pd.DataFrame(X, columns=list("abcdefgh")).assign(label=y)
    table.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.setattr("treeform.cli.progress.REFRESH", 50)
    command = ["fit", str(tmp_path / "table.csv"), "--target", "label", "--shape=tree:5", "--time-limit=1.5"]
    with terminal(monkeypatch) as pieces, pytest.raises(SystemExit) as ended:
        app(command)
    written = "".join(pieces)
    shown = plain(written)
    assert ended.value.code == 0
    assert "contree" in shown and "nodes per second" in shown and "of 1.5 s" in shown
    assert "\x1b[?25l" in written and "\x1b[?25h" in written  # the cursor comes back
    assert "if " in capsys.readouterr().out  # rules go to standard output, not into the block


def test_fit_in_a_pipe_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    for more, words in (([], ["Problem"]), (["-q"], []), (["-v"], ["taken as", "incumbent"])):
        with pytest.raises(SystemExit):
            app(["fit", str(CREDIT), "--target", "creditworthy", "--shape", "tree:1", *more])
        told = capsys.readouterr().err
        assert all(word in told for word in words) and bool(told) == bool(words)
        assert "\x1b" not in told and ("incumbent" in told) == ("-v" in more)


# -- steps of long work ------------------------------------------------------------------------------


def test_steps_go_to_the_innermost_observer() -> None:
    outer: list[Step] = []
    inner: list[Step] = []
    report_step(1, "without an observer")
    with observe_steps(outer.append):
        with observe_steps(inner.append):
            report_step(2, "rows", 5)
        report_step(3, "rows")
    assert (outer, inner) == ([Step(3, "rows")], [Step(2, "rows", 5)])


def test_tables_report_how_far_they_are_read_and_compared() -> None:
    seen: list[Step] = []
    table = pd.DataFrame({"a": list("xyz") * 5, "b": range(15)})
    with observe_steps(seen.append):
        data = tf.Problem(table, [0, 1, 1] * 5, shape="tree:1").data
        data.splits("feature")
    assert [str(step) for step in seen[:2]] == ["0 of 2 columns read", "1 of 2 columns read"]
    assert str(seen[-1]) == "0 of 17 tests compared"


def steps_of(solve: Callable[[Callable[[Progress], None]], Any]) -> list[Progress]:
    seen: list[Progress] = []
    solve(seen.append)
    assert all(p.limit == 250 for p in seen)
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    return seen


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("solver", "shape", "requirement"),
    [
        (tf.ConTree(), tf.Tree(3), None),
        (tf.DL85(), tf.Tree(4), None),
        (tf.Blossom(), tf.Tree(5), None),
        (tf.TotalsSearch(), tf.Tree(3), "predicted"),
        (tf.ContinuousTotals(), tf.Tree(3), "predicted"),
        (tf.DiagramSearch(), tf.Diagram(1, 2, 2, 2), None),
        (tf.RegressionSearch(), tf.Tree(3), "value"),
        ("highs", tf.Tree(2), None),
    ],
)
def test_nodes_of_every_search(solver: Any, shape: Any, requirement: Any) -> None:
    X, y = noisy(12 if solver == "highs" else 300)
    problem = tf.Problem(X, y, shape=shape)
    if requirement == "value":
        problem.minimize(tf.SquaredError())
    elif requirement:
        problem += tf.StatisticalParity(groups=(X[:, 2] > 5).astype(int), difference="0.1", positive=1)
    more = {} if solver != "highs" else {"formulation": "odd", "warm_start": None}
    seen = steps_of(lambda report: problem.solve(solver, on_progress=report, time_limit=250, **more))
    counts = [p.step.done for p in seen if p.step is not None and p.step.unit == "nodes"]
    assert counts == sorted(counts) and (counts[0] > 0 or solver == "highs")  # which needs one node at most


def test_a_model_tells_how_far_it_is_built() -> None:
    seen: list[Step] = []

    def build() -> Model:
        model = Model()
        many = model.bool("many", 5)
        model.add(many <= 1)
        time.sleep(0.1)
        return model

    with observe_steps(seen.append):
        model = build_beside(build, lambda: False)
        tf.HiGHS().open(model)
    assert seen == [Step(5, "rows built"), Step(1, "blocks of rows for the solver", 1)]


@pytest.mark.usefixtures("at_once")
def test_every_long_piece_of_work_tells_how_far_it_is() -> None:
    X, y = noisy(200)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    parity = tf.StatisticalParity(groups=(X[:, 2] > 5).astype(int), difference="0.05", positive=1)
    pareto = steps_of(lambda report: problem.pareto(on_progress=report, time_limit=250))
    assert {p.parts for p in pareto} >= {(0, 2), (1, 2)}
    table = steps_of(lambda report: problem.size_table(on_progress=report, time_limit=250))
    assert table[-1].parts == (4, 4)
    frontier = steps_of(lambda report: problem.frontier(over=parity, on_progress=report, time_limit=250))
    assert any(p.phase.startswith("1 bound answered, difference") for p in frontier)
    near = steps_of(lambda report: problem.near_optimal(within=0.02, on_progress=report, time_limit=250))
    assert {"counting models"} & {p.phase for p in near}
    problem += [tf.MaxErrors(0), tf.MinSupport(0.2)]
    conflict = steps_of(lambda report: problem.conflict(on_progress=report, time_limit=250))
    assert any(p.phase.startswith("without min_support") for p in conflict)


# -- Ctrl-C ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["size_table", "pareto", "frontier", "conflict", "near_optimal"])
def test_ctrl_c_stops_the_whole_and_keeps_what_was_found(what: str) -> None:
    X, y = noisy(200)
    problem = tf.Problem(X, y, shape=tf.Tree(4))
    over = {"over": tf.StatisticalParity(groups=(X[:, 2] > 5).astype(int), difference=None, positive=1)}
    if what == "conflict":
        problem += [tf.MaxErrors(0), tf.MinSupport(0.2)]
    pressed: list[Progress] = []
    after: list[str] = []

    def press(p: Progress) -> None:
        if not pressed and p.upper is not None:
            pressed.append(p)
            signal.raise_signal(signal.SIGINT)
        elif pressed:
            after.append(p.phase.partition(":")[0])

    before = signal.getsignal(signal.SIGINT)
    more = over if what == "frontier" else {}
    found = getattr(problem, what)(on_progress=press, **more)
    assert pressed and len(set(after)) <= 1, "no other part is begun"
    assert signal.getsignal(signal.SIGINT) is before
    if what != "conflict":  # of which nothing is known yet
        assert found.limit is Limit.INTERRUPTED
    if what == "pareto":
        assert list(found.tables) == [1] and found.points and not found.proved
    if what == "size_table":
        assert found.rows[0].graph is not None


def test_the_second_ctrl_c_ends_at_once() -> None:
    X, y = noisy(200)
    presses = iter([True, True])

    def press(p: Progress) -> None:
        for _ in presses:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tf.Problem(X, y, shape=tf.Tree(3)).pareto(on_progress=press)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
