"""Tables 1-3 of Avellaneda (AAAI 2020) in their own form, with the paper's figures beside ours."""

from __future__ import annotations

import math
import statistics
from typing import Any

from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.sat.runs import run

# name: (set, folds, paper's DT_depth, paper's DT_size); each (seconds, examples, k, n, accuracy in %).
PAPER: dict[str, Any] = {
    "mouse": ("sat/mouse-onehot", "10 parts", (0.02, 33, 4, 31, 85.8), (0.07, 37, 4, 15, 83.5)),
    "car": ("sat/car", None, (127, 603, 8, 511, None), (217, 635, 8, 143, None)),
    "iris": ("sat/iris", "folds", (0.018, None, 3, None, 92.9), (0.03, None, None, 10.6, 93.2)),
    "monks-1": ("sat/monks-1", "folds", (0.024, None, 4.4, None, 90.3), (0.08, None, None, 17, 95.5)),
    "monks-3": ("sat/monks-3", "folds", (0.03, None, 4.8, None, 78.1), (0.21, None, None, 23.4, 82.6)),
    "balance-scale": ("sat/balance-scale", "folds", (50, None, 8, None, 93.0), (183, None, None, 268, 92.6)),
}
LIMIT = 120
NOT_ALONE = {
    ("balance-scale", "size", "whole set"),
    ("balance-scale", "depth", "whole set"),
    ("balance-scale", "size", "folds"),
    ("balance-scale", "depth", "folds"),
}
"""Rows that the SAT solver alone does not run for: minutes each."""
SHORT = 0.5
COLUMNS = [
    "data", "algorithm", "of", "seconds", "SAT alone", "examples", "k", "n", "accuracy", "paper: seconds",
    "paper: examples", "paper: k", "paper: n", "paper: accuracy", "ratio", "SAT alone: ratio",
]  # fmt: skip
NOTE = """\
User CPU seconds, one thread, from the table in memory to the verified tree, imports not counted; medians of
five runs where a run takes less than 0.5 s. *seconds*: as shipped, where a native engine (``dl85``) looks
at each depth before a formula is built; it settles all of these sets. *SAT alone*: the same with
``warm_start="none"``, the paper's method and all that `SatDepth` adds to it; *examples* are those in its last
formula. *of*: the whole set, or the means over the five train files (balance-scale repeats rows, and its test
parts overlap the train parts: its accuracy says nothing), or over 10 parts for mouse. *n* counts tests and
leaves, of the tree as shipped; a tree of DT_depth is pruned here, the paper counts the perfect one. "> s": some
runs were stopped after 120 s of wall time. The paper's machine is an i7-2600K with MiniSat called from C++,
ours another one with Python around the solvers, so ratios say more about hundreds than about single digits.
Geometric mean of the ratios, one entry per row with figures of the paper: **{shipped}** as shipped;
**{alone}** for SAT alone (stopped runs left out), and **{large}** for SAT alone over the rows that take
the paper a second or more. Below that, Python's share of about 0.05 s outweighs the paper's 0.02 to 0.2 s."""


def seconds_of(task: dict[str, Any]) -> dict[str, Any]:
    """A run, repeated when it is short."""
    first = run(task)
    return run({**task, "repeat": 5}) if first.get("seconds", 99) < SHORT else first


def whole(name: str, kind: str, how: dict[str, Any]) -> list[dict[str, Any]]:
    return [seconds_of({"set": PAPER[name][0], "kind": kind, "limit": LIMIT, **how})]


def parts(name: str, kind: str, how: dict[str, Any]) -> list[dict[str, Any]]:
    base, of, *_ = PAPER[name]
    if of == "folds":
        many = [base.replace("sat/", "sat/folds/") + f"-train{fold}" for fold in range(5)]
        return [seconds_of({"set": data, "kind": kind, "limit": LIMIT, **how}) for data in many]
    if of == "10 parts":
        tasks = [{"order": 1, "train": part, "parts": 10} for part in range(10)]
        return [run({"set": base, "kind": kind, "limit": LIMIT, **task, **how}) for task in tasks]
    return []


def mean(results: list[dict[str, Any]], key: str) -> float | None:
    values = [r[key] for r in results if r.get(key) is not None]
    return statistics.fmean(values) if results and len(values) == len(results) else None


def text(value: float | None, digits: int = 1) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if value != int(value) or digits > 1 else str(int(value))


def row(name: str, kind: str, of: str, found: list[list[dict[str, Any]]], paper: Any) -> dict[str, Any]:
    """One line of the table; ``found`` are the results as shipped, and of SAT alone."""
    shipped, alone = found
    share, nodes = mean(shipped, "accuracy"), mean(shipped, "nodes")
    ours = [
        *(seconds_text(results, kind) for results in found),
        text(mean(alone, "examples")),
        text(mean(shipped, "depth")),
        text(None if nodes is None else 2 * nodes + 1),
        text(None if share is None else 100 * share),
    ]
    theirs = [""] * 5
    if paper:
        theirs = [text(v, 3 if i == 0 and v is not None and v < 0.1 else 1) for i, v in enumerate(paper)]
    ratios = [ratio(results, kind, paper) for results in found]
    return dict(
        zip(COLUMNS, [name, f"DT_{kind}", of, *ours, *theirs, *(text(r) for r in ratios)], strict=True)
    )


def seconds_text(results: list[dict[str, Any]], kind: str) -> str:
    seconds = mean(results, "seconds")
    if seconds is None:
        return "not run"
    return ("" if all(proved(r, kind) for r in results) else "> ") + text(seconds, 3 if seconds < 1 else 1)


def ratio(results: list[dict[str, Any]], kind: str, paper: Any) -> float | None:
    """The paper's seconds over ours, where everything was proved."""
    seconds = mean(results, "seconds")
    return paper[0] / seconds if paper and seconds and all(proved(r, kind) for r in results) else None


def geometric(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def proved(result: dict[str, Any], kind: str) -> bool:
    if result["status"] != "optimal":
        return False
    return kind == "depth" or any(
        note.startswith("nodes at depth") and "at least" not in note for note in result["notes"]
    )


@table("sat_tables")
def tables(rows: Rows) -> Shown:
    """The rows as they are; the means are of ratios that were not rounded."""
    means = {name: rows.facts[name] for name in ("shipped", "alone", "large")}
    return Shown("Tables 1-3 of Avellaneda (AAAI 2020)", rows.frame, NOTE.format(**means))


def main(sets: str = ",".join(PAPER)) -> None:
    """Measure."""
    rows: list[dict[str, Any]] = []
    shipped: list[float] = []
    alone: list[tuple[float, float]] = []
    for name in sets.split(","):
        _, how, *papers = PAPER[name]
        for kind, paper in zip(("depth", "size"), papers, strict=True):
            of_paper = "whole set" if how in (None, "10 parts") else how
            for of, runs in (("whole set", whole), (str(how), parts)):
                ways = [{"engine": "auto"}] if (name, kind, of) in NOT_ALONE else [{"engine": "auto"}, {}]
                found = [runs(name, kind, with_) for with_ in ways]
                found += [[]] * (2 - len(found))
                if not found[0]:
                    continue
                published = paper if of == of_paper else None
                rows.append(row(name, kind, of, found, published))
                shipped += [r for r in [ratio(found[0], kind, published)] if r is not None]
                alone += [(published[0], r) for r in [ratio(found[1], kind, published)] if r is not None]
    means = {
        "shipped": f"{geometric(shipped):.1f}", "alone": f"{geometric([r for _, r in alone]):.2f}",
        "large": f"{geometric([r for seconds, r in alone if seconds >= 1]):.1f}",
    }  # fmt: skip
    figures = Figures("sat_tables", COLUMNS[:3])
    figures.facts |= means
    figures.add(*rows)
