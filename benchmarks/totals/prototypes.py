"""The two searches for totals beside the throw-away sketches that they come from, in one run.

The sketches are no part of the project: ``TREEFORM_PROTOTYPES`` names their folder (``requirement_totals.cpp`` and
``continuous_totals.cpp``), and without it, or without a compiler, nothing is measured and the reason is printed. Both
are given the same whole numbers: the kinds, costs and rows of the task that the native search gets. User CPU seconds
of the search alone, least of two runs. ``TREEFORM_PROTOTYPE_FLAGS`` are options of the compiler for the sketches,
``-O3`` by default; the committed figures let it use every instruction of the processor at hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals import compare, continuous
from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.contributions import NO_BOUND, Contributions
from treeform.engines.relaxation import relax

KEY = ("columns", "set", "rule", "depth")
BINARY_RULES = ("difference .05", "difference .01", "ratio .8")
RUNS = 2
LEAST = 0.01
"""Seconds that both are taken for at least: the sketch for continuous columns prints hundredths."""


def folder() -> Path | str:
    """Where the sketches are, or why there is nothing to measure."""
    place = os.environ.get("TREEFORM_PROTOTYPES")
    if not place or not (Path(place) / "requirement_totals.cpp").exists():
        return "TREEFORM_PROTOTYPES does not name a folder with requirement_totals.cpp"
    return Path(place) if shutil.which("g++") else "there is no g++ here"


def compiled(source: Path, fast: list[str], into: Path) -> Path:
    """The program."""
    program = into / source.stem
    subprocess.run(
        [
            "g++",
            *os.environ.get("TREEFORM_PROTOTYPE_FLAGS", "-O3").split(),
            *fast,
            "-std=c++20",
            str(source),
            "-o",
            str(program),
        ],
        check=True,
        capture_output=True,
    )
    return program


def written(data: Any, task: TreeTask, into: Path, binary: bool) -> Path:
    """The question in the form that the sketches read."""
    adds = Contributions(data, task, np.zeros(1, dtype=np.int32))
    kinds, rows = adds.cost.shape[0], adds.row.shape[2]
    n, features = data.X.shape
    head = f"{n} {features} {kinds} 2 {rows} -1 0" if binary else f"{n} {features} {kinds} {rows}"
    path = into / "question.txt"
    with path.open("w") as file:
        print(head, file=file)
        for kind in range(kinds):
            for label in (0, 1):
                print(adds.cost[kind, label], *adds.row[kind, label], file=file)
        for lo, hi in zip(adds.lo, adds.hi, strict=True):
            print("-inf" if lo <= -NO_BOUND else lo, "inf" if hi >= NO_BOUND else hi, file=file)
        if binary:
            for bits, kind in zip(data.X.astype(int), adds.kind, strict=True):
                print("".join(map(str, bits)), kind, file=file)
        else:
            ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in data.X.T]
            np.savetxt(file, np.column_stack([adds.kind, *ranks]), fmt="%d")
    return path


def sketch(program: Path, question: Path, depth: int, seconds: float) -> tuple[int | None, float | None]:
    """Its optimum and its own seconds; None where it does not prove one in time."""
    least = None
    for _ in range(RUNS):
        command = [str(program), str(question), str(depth)]
        command += ["1", str(seconds)] if program.stem == "requirement_totals" else [str(seconds)]
        try:
            output = subprocess.run(command, capture_output=True, text=True, timeout=4 * seconds + 10).stdout
        except subprocess.TimeoutExpired:
            return None, None
        found = re.search(r'optimal(?: opt=|","errors":)(\d+)', output)
        spent = re.search(r'(?:total=|"cpu":)([\d.]+)', output)
        if found is None or spent is None:
            return None, None
        least = float(spent[1]) if least is None else min(least, float(spent[1]))
    return int(found[1]), least


def own(engine: Engine, data: Any, task: TreeTask, seconds: float) -> tuple[int | None, float]:
    """The native search: its proved optimum, and its user CPU seconds."""
    least, cost = float("inf"), None
    for _ in range(RUNS):
        before = user_seconds()
        answer = engine.run(data, task, EngineRun(time_limit=seconds))
        least = min(least, user_seconds() - before)
        cost = answer.upper if answer.proved else None
    return cost, least


def beside(problem: tf.Problem, engine: Engine, program: Path, seconds: float) -> dict[str, Any]:
    """One line."""
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    with tempfile.TemporaryDirectory() as place:
        question = written(problem.data, relaxation.task, Path(place), isinstance(engine, tf.TotalsSearch))
        theirs, spent = sketch(program, question, relaxation.task.depth, seconds)
    cost, searched = own(engine, problem.data, relaxation.task, seconds)
    ratio = None if spent is None or cost is None else round(max(searched, LEAST) / max(spent, LEAST), 2)
    return {
        "errors": cost, "search s": round(searched, 4), "prototype's errors": theirs, "prototype s": spent,
        "times the prototype": ratio, "same": theirs is None or cost is None or theirs == cost,
    }  # fmt: skip


def binary_problem(name: str, rule: str, depth: int) -> tf.Problem:
    """A question of `benchmarks.totals.compare`, the sensitive column left out."""
    X, y = read_set("fairness", name)
    sensitive, positive = compare.SENSITIVE[name]
    kind, amount, _ = compare.RULES[rule]
    problem = tf.Problem(X.drop(columns=sensitive), y, shape=tf.Tree(depth))
    problem += kind(groups=X[sensitive], positive=positive, **amount)
    return problem


@table("totals_prototypes")
def compared(rows: Rows) -> Shown:
    """A line for each question, and the means."""
    frame: pd.DataFrame = rows.frame
    known = pd.to_numeric(frame["times the prototype"], errors="coerce")
    means = [
        f"{what}: {geometric_mean(part.clip(lower=0.01)):.2f} in geometric mean, {part.max():.2f} at most, "
        f"of {len(part)}"
        for what in frame["columns"].unique()
        if len(part := known[frame["columns"] == what].dropna())
    ]
    different = int((frame["same"].astype(str) == "False").sum())
    note = f"*times the prototype*, {'; '.join(means)}. Optima that differ: {different}."
    return Shown("Beside the prototypes, in one run", frame, note)


def main(
    columns: str = "binary,continuous", sets: str = "", depths: str = "2,3,4", seconds: float = 100
) -> None:
    """Measure."""
    sources = folder()
    if isinstance(sources, str):
        print(f"skipped: {sources}")
        return
    figures = Figures("totals_prototypes", KEY, seconds=f"{seconds:g}")
    with tempfile.TemporaryDirectory() as place:
        if "binary" in columns:
            program = compiled(sources / "requirement_totals.cpp", ["-ffast-math"], Path(place))
            for name in named("fairness", sets or ",".join(compare.SENSITIVE)):
                for rule in BINARY_RULES:
                    for depth in map(int, depths.split(",")):
                        problem = binary_problem(name, rule, depth)
                        work = partial(beside, problem, tf.TotalsSearch(), program, seconds)
                        figures.measure(work, columns="binary", set=name, rule=rule, depth=depth)
        if "continuous" in columns:
            program = compiled(sources / "continuous_totals.cpp", [], Path(place))
            for name in sets.split(",") if sets else continuous.SETS:
                for rule in continuous.RULES:
                    for depth in map(int, depths.split(",")):
                        if depth > 3:
                            continue
                        problem = continuous.problem_of(name, rule, depth)
                        work = partial(beside, problem, tf.ContinuousTotals(), program, seconds)
                        figures.measure(work, columns="continuous", set=name, rule=rule, depth=depth)
