"""Trees under requirements on totals: the native search beside pystreed, every optimum compared.

Usage: ``python benchmarks/totals.py [--rows FILE] [--seconds 60] [--peer-seconds 60] [--without-peer] [set ...]``.
Data: the folder in ``TREEFORM_DATA``; a set that is not there is left out, and said so. With ``--rows`` pystreed is
not asked the same twice. One thread each; times are user CPU seconds of the solve alone (reading the table is left
out), pystreed's of a process of its own, as it ends the process on some questions.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from tables import HERE, write

import treeform as tf
from treeform.engines import EngineRun
from treeform.solve.relaxation import relax

DATA = Path(os.environ.get("TREEFORM_DATA", HERE.parent.parent / "shared" / "data")) / "fairness"
SENSITIVE = {
    "compas": ("Race=African-American", 0),
    "adult": ("Sex=Male", 1),
    "german-credit": ("Gender=Male", 1),
    "student-mat": ("sex:M", 1),
}
"""The column whose groups are compared, and the favourable class."""
DEEP = ("compas", "adult")
RULES: dict[str, tuple[type[tf.Requirement], dict[str, str], str | None]] = {
    "difference .05": (tf.StatisticalParity, {"difference": "0.05"}, "group-fairness"),
    "difference .01": (tf.StatisticalParity, {"difference": "0.01"}, "group-fairness"),
    "ratio .8": (tf.StatisticalParity, {"ratio": "0.8"}, None),
    "equal opportunity .05": (tf.EqualOpportunity, {"difference": "0.05"}, "equality-of-opportunity"),
}
"""The requirement, its amount, and pystreed's task for it, where it has one."""
HEADER = [
    "set", "tests", "column", "rule", "depth", "errors", "bound", "multipliers' bound", "status", "solve s",
    "search s", "pystreed errors", "pystreed", "pystreed CPU s", "times faster",
]  # fmt: skip
PEER = """
import json, resource, sys
import pandas as pd
from pystreed import STreeDGroupFairnessClassifier
path, task, limit, depth, seconds = sys.argv[1:]
frame = pd.read_csv(path)
X, y = frame.drop(columns="target").astype(int).to_numpy(), frame["target"].to_numpy()
model = STreeDGroupFairnessClassifier(task, 0, float(limit), max_depth=int(depth), time_limit=float(seconds))
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
model.fit(X, y)
spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
errors = int((model.predict(X) != y).sum())
print("ANSWER " + json.dumps([errors, bool(model.fit_result.is_optimal()), spent]))
"""


def cpu_seconds() -> float:
    """User CPU of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def own_line(
    name: str, frame: pd.DataFrame, allowed: bool, rule: str, depth: int, seconds: float
) -> list[Any]:
    """The native search on one question."""
    column, favourable = SENSITIVE[name]
    X, y = frame.drop(columns="target"), frame["target"]
    kind, amount, _ = RULES[rule]
    problem = tf.Problem(X if allowed else X.drop(columns=column), y, shape=tf.Tree(depth))
    problem += kind(groups=frame[column], favourable=favourable, **amount)
    began = cpu_seconds()
    result = problem.solve(tf.TotalsSearch(), time_limit=seconds)
    spent = cpu_seconds() - began
    relaxation = relax(problem.question, tf.TotalsSearch())
    assert relaxation is not None
    began = cpu_seconds()
    tf.TotalsSearch().run(problem.data, relaxation.task, EngineRun(time_limit=seconds))
    searched = cpu_seconds() - began
    counters = result.counters
    bound = counters.get("totals-search: multiplier_bound")
    errors = result.errors if result.graph is not None else None
    return [name, counters.get("totals-search: tests"), "allowed" if allowed else "left out", rule, depth, errors,
            int(result.bound or 0), bound, str(result.status), round(spent, 3), round(searched, 3)]  # fmt: skip


def peer_line(name: str, frame: pd.DataFrame, rule: str, depth: int, seconds: float) -> list[Any]:
    """pystreed on the same question: (errors, what became of it, CPU seconds). It never tests the sensitive column."""
    column, favourable = SENSITIVE[name]
    _, amount, task = RULES[rule]
    if task is None:
        return [None, "has no such rule", None]
    first = [column, *(c for c in frame.columns if c != column)]
    ready = frame[first].copy()
    ready["target"] = (ready["target"] == favourable).astype(int)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        ready.to_csv(file.name, index=False)
        # Its own limit counts wall time, and it does not always stop: the limit that counts is the process's CPU time.
        command = [
            sys.executable,
            "-c",
            PEER,
            file.name,
            task,
            amount["difference"],
            str(depth),
            str(100 * seconds),
        ]
        limit = math.ceil(seconds) + 2
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
        )
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return [None, f"open after {seconds:g} s", None]
    answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if not answers:
        crashed = done.returncode < 0 or "Error" in done.stderr
        return [None, "crash" if crashed else f"exit {done.returncode}", None]
    errors, proved, spent = json.loads(answers[0][7:])
    return [errors, "proved" if proved else "open", round(spent, 3)]


def questions(sets: list[str]) -> list[tuple[str, bool, str, int]]:
    """(set, sensitive column allowed, rule, depth)"""
    return [
        (name, allowed, rule, depth)
        for name in sets
        for allowed in (False, True)
        for rule in RULES
        for depth in ((2, 3, 4, 5) if name in DEEP else (2, 3, 4))
    ]


def compared(line: list[Any], peer: list[Any]) -> list[Any]:
    """The whole line; a proved answer of the peer has to be the same."""
    errors, outcome, spent = peer
    ratio = None
    if outcome == "proved" and spent is not None:
        ratio = round(spent / max(line[10], 0.001), 1)
        if line[8] == "optimal" and errors != line[5]:
            outcome = "proved, DIFFERENT"
    return [*line, errors, outcome, spent, ratio]


def note(rows: list[list[Any]], seconds: float) -> str:
    ratios = [row[14] for row in rows if row[14]]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0.0
    different = sum(row[12] == "proved, DIFFERENT" for row in rows)
    proved = sum(row[8] == "optimal" for row in rows)
    return (
        "*column*: whether tests may use the sensitive column (pystreed never does). *multipliers' bound*: the bound "
        "before any enumeration. *search s*: from the encoded data to the tree, as pystreed's *fit*; *solve s*: with "
        "the exact recount of every model by code that knows no search. "
        f"{proved} of {len(rows)} questions proved. pystreed proves {len(ratios)} of its questions within "
        f"{seconds:g} s; {different} of its proved optima differ; geometric mean of the ratio of times over these: "
        f"{mean:.0f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--rows", type=Path, help="keep pystreed's answers here, and go on from them")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--peer-seconds", type=float, default=60.0, help="CPU seconds for pystreed")
    parser.add_argument("--without-peer", action="store_true", help="only pystreed's answers that are kept")
    given = parser.parse_args()
    done: dict[str, list[Any]] = {}
    if given.rows is not None and given.rows.exists():
        told = map(json.loads, given.rows.read_text().splitlines())
        done = {json.dumps(row[:3]): row[3] for row in told}
    rows, frames = [], {}
    for name, allowed, rule, depth in questions(given.sets or list(SENSITIVE)):
        path = DATA / f"{name}.csv.gz"
        if not path.exists():
            print(f"left out: {name} (not in {DATA}; set TREEFORM_DATA to the folder that holds fairness/)")
            continue
        if name not in frames:
            frames[name] = pd.read_csv(path)
        line = own_line(name, frames[name], allowed, rule, depth, given.seconds)
        key, asked = json.dumps([name, rule, depth]), not allowed and depth <= 4
        if asked and key not in done and not given.without_peer:
            done[key] = peer_line(name, frames[name], rule, depth, given.peer_seconds)
            if given.rows is not None:
                with given.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, rule, depth, done[key]]) + "\n")
        rows.append(compared(line, done.get(key, [None] * 3) if asked else [None] * 3))
        print(rows[-1], flush=True)
    if rows:
        write("totals", "Trees under requirements on totals", HEADER, rows, note(rows, given.peer_seconds))


if __name__ == "__main__":
    main()
