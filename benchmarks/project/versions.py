"""This version beside an earlier one: CPU seconds of whole solves and of building a model.

The earlier version is installed in ``build/bench/COMMIT``. The two take turns, each time in a new process that runs all
cases; short ones are repeated there. All of them end with a proof, so that both versions do the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from statistics import geometric_mean
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.harness import (
    SESSION,
    Figures,
    Rows,
    Shown,
    cpu_seconds,
    in_child,
    read_set,
    repeated,
    table,
)
from benchmarks.harness.figures import read
from benchmarks.harness.session import DOCS

Solve = Callable[[], Any]
USUAL = "ConTree;DL85;DiagramSearch;SAT;model"  # what the earlier version has too
BUILD = {"n": 19_000, "n_features": 20, "depth": 4}


def arrays(subject: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 and classes."""
    X, y = read_set(subject, name)
    return np.ascontiguousarray(X.to_numpy(float)), y.to_numpy()


def contree(name: str, depth: int) -> Solve:
    """A tree on continuous features."""
    import treeform as tf

    X, y = arrays("continuous", name)
    return lambda: tf.Problem(X, y, shape=tf.Tree(depth)).solve(tf.ConTree(), time_limit=120)


def dl85(name: str, depth: int) -> Solve:
    """A tree on 0/1 features."""
    import treeform as tf

    X, y = arrays("binary", name)
    return lambda: tf.Problem(X, y, shape=tf.Tree(depth)).solve(tf.DL85(), time_limit=120)


def ended(outcome: Any) -> Any:
    """How an engine's run ended, in the words of a result."""
    return SimpleNamespace(status="proved" if outcome.proved else "open", objective=outcome.upper)


def alone(engine: str, subject: str, name: str, depth: int) -> Solve:
    """From arrays to the tree by the engine alone, as the benchmarks of the engines measure it."""
    import treeform as tf
    from treeform.data import Dataset

    engines = import_module("treeform.engines" if find_spec("treeform.engines") else "treeform.dp")
    X, y = arrays(subject, name)

    def solve() -> Any:
        data = Dataset.from_user(X, y)
        return ended(getattr(tf, engine)().run(data, engines.TreeTask(depth=depth), engines.EngineRun()))

    return solve


class FairSearch:
    """A tree under a fairness rule by the search for totals alone, each time on a table of its own."""

    def __init__(self, name: str, rule: str, depth: int) -> None:
        self.given = name, rule, depth

    def encode(self) -> None:
        """Everything before the search."""
        import treeform as tf
        from benchmarks.totals.compare import RULES, SENSITIVE

        name, rule, depth = self.given
        X, y = read_set("fairness", name)
        sensitive, positive = SENSITIVE[name]
        kind, amount, _ = RULES[rule]
        named = "positive" if "positive" in signature(kind).parameters else "favourable"
        problem = tf.Problem(X.drop(columns=sensitive), y, shape=tf.Tree(depth))
        problem += kind(groups=X[sensitive], **{named: positive}, **amount)
        package = "engines" if find_spec("treeform.engines.relaxation") else "solve"
        relax = import_module(f"treeform.{package}.relaxation").relax
        self.data, self.task = problem.data, relax(problem.question, tf.TotalsSearch()).task

    def __call__(self) -> Any:
        import treeform as tf
        from treeform.engines import EngineRun

        return ended(tf.TotalsSearch().run(self.data, self.task, EngineRun()))


def cadl85(name: str, depth: int) -> Solve:
    """The same by restarts under rules."""
    import treeform as tf

    X, y = read_set("binary", name)
    return lambda: tf.Problem(X, y, shape=tf.Tree(depth)).solve(tf.CADL85(), time_limit=120)


def totals(name: str, column: str, depth: int) -> Solve:
    """A tree with statistical parity."""
    import treeform as tf

    X, y = read_set("fairness", name)

    def solve() -> Any:
        problem = tf.Problem(X, y, shape=tf.Tree(depth)).add(tf.StatisticalParity(column, difference=0.05))
        return problem.solve(tf.TotalsSearch(), time_limit=120)

    return solve


def diagram(name: str, price: int) -> Solve:
    """A diagram of skeleton I, whose models are the same in both versions (no pass-throughs)."""
    import treeform as tf

    X, y = read_set("odd", name)

    def solve() -> Any:
        problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 4, 8)).minimize(tf.Error() + price * tf.Nodes())
        return problem.solve(tf.DiagramSearch(), time_limit=120)

    return solve


def sat(name: str) -> Solve:
    """The least depth without errors, by SAT alone."""
    import treeform as tf
    from treeform.formulations.sat import SatDepth

    X, y = read_set("sat", name)

    def solve() -> Any:
        problem = tf.Problem(X, y, shape=tf.Tree(8)).minimize(tf.Depth()).add(tf.MaxErrors(0))
        return problem.solve("sat", formulation=SatDepth(), warm_start=None, time_limit=120)

    return solve


def model(hand_over: bool) -> Solve:
    """A model of a million rows, and its way to HiGHS."""
    from benchmarks.project import model_build

    def build() -> None:
        made = model_build.tree_model(**BUILD)
        if hand_over:
            model_build.hand_over(made)

    return build


def of_readme(longest: float = 20) -> dict[str, tuple[Callable[..., Solve], tuple[Any, ...]]]:
    """A case for each run behind the README's table of speed that takes at most `longest` seconds."""
    cases: dict[str, tuple[Callable[..., Solve], tuple[Any, ...]]] = {}
    for row in read(DOCS / "totals.csv")[2]:
        if row["program"] == "pystreed" and row["status"] == "proved":
            name, rule, depth = row["set"], row["rule"], int(row["depth"])
            cases[f"README, fair, depth {depth}: {name}, {rule}"] = FairSearch, (name, rule, depth)
    continuous = read(DOCS / "contree.csv")[2]
    beside = {(row["set"], row["depth"]) for row in continuous if row["solver"] == "pycontree"}
    runs = [
        *(("ConTree", "continuous", row, row["user"]) for row in continuous
          if row["solver"] == "treeform" and row["threads"] == "1" and (row["set"], row["depth"]) in beside),
        *(("DL85", "binary", row, row["DL85"]) for row in read(DOCS / "binary_sets.csv")[2]),
    ]  # fmt: skip
    for engine, subject, row, seconds in runs:
        if not seconds.startswith(">") and float(seconds) <= longest:
            name, depth = row["set"], int(row["depth"])
            cases[f"README, {subject}, depth {depth}: {name}"] = alone, (engine, subject, name, depth)
    return dict(sorted(cases.items()))


CASES: dict[str, tuple[Callable[..., Solve], tuple[Any, ...]]] = {
    **{
        f"ConTree alone, {n}, depth 3": (alone, ("ConTree", "continuous", n, 3))
        for n in ("avila", "htru", "magic")
    },
    **{
        f"DL85 alone, {n}, depth {d}": (alone, ("DL85", "binary", n, d))
        for n, d in (("ionosphere", 4), ("pendigits", 5), ("letter", 4))
    },
    **{f"ConTree, {name}, depth 3": (contree, (name, 3)) for name in ("avila", "htru", "magic")},
    **{
        f"DL85, {name}, depth {d}": (dl85, (name, d))
        for name, d in (("ionosphere", 4), ("pendigits", 5), ("letter", 4))
    },
    **{f"CADL85, {name}, depth 4": (cadl85, (name, 4)) for name in ("ionosphere", "vehicle")},
    **{f"TotalsSearch, compas, depth {d}": (totals, ("compas", "Race=African-American", d)) for d in (4, 5)},
    **{f"DiagramSearch, {name}": (diagram, (name, 2)) for name in ("monks1", "spect-heart")},
    **{f"SAT, {name}": (sat, (name,)) for name in ("monks-3", "mouse-onehot", "iris")},
    "model of a million rows": (model, (False,)),
    "model of a million rows, handed to HiGHS": (model, (True,)),
    **of_readme(),
}


def measure(cases: list[str]) -> tuple[str, dict[str, tuple[str, float]]]:
    """Where treeform is, and what was found in which CPU seconds."""
    import treeform as tf

    for engine in (tf.ConTree(), tf.DL85(), tf.DiagramSearch()):  # imports and first-call costs
        tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1)).solve(engine)
    tiny = tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    tiny.solve("sat", formulation="sat-depth", warm_start=None)
    found = {}
    for case in cases:
        prepare, given = CASES[case]
        solve = prepare(*given)
        before_each = getattr(solve, "encode", lambda: None)
        result, seconds = repeated(solve, 0.4, 15, before_each, cpu_seconds)
        found[case] = ("" if result is None else f"{result.status} {result.objective}", sum(seconds) / len(seconds))
    return str(tf.__file__), found


@table("versions")
def versions(rows: Rows) -> Shown:
    """A line for each case, or for those whose names begin alike up to a colon."""
    frame = rows.frame.assign(
        seconds=rows.frame["seconds"].astype(float), line=rows.frame["case"].str.partition(":")[0]
    )
    middle = frame.groupby(["line", "case", "version"], sort=False)["seconds"].median().unstack().dropna()
    lines = []
    for line, of in middle.groupby("line", sort=False):
        before, after = (geometric_mean(of[version]) for version in ("before", "after"))
        ratios = of["before"] / of["after"]
        lines.append(
            [line, len(of), f"{before:.3g}", f"{after:.3g}", f"{before / after:.2f}", f"{ratios.min():.2f}"]
        )
    columns = ["cases", "number", "before, s", "after, s", "before / after", "least of a case"]
    note = (
        "CPU seconds by turns in new processes, each with the mean of several calls: the median of each case, and "
        "geometric means. *before / after*: how many times as fast it is now. README: from arrays to the tree by the "
        f"engine alone. Before: commit {rows.facts['before']}. Both versions find the same optima."
    )
    return Shown.of("Speed before and after", columns, lines, note)


def main(before: str = "7c02411", runs: int = 5, cases: str = USUAL) -> None:
    """Measure; `before` is a commit, `cases` are beginnings of names with semicolons between them."""
    folder = SESSION.installed(before)
    figures = Figures("versions", ("case", "run", "version"), before=before)
    chosen = [case for case in CASES if case.startswith(tuple(cases.split(";")))]
    for run in range(runs):
        for version in ("before", "after") if run % 2 == 0 else ("after", "before"):
            missing = [case for case in chosen if figures.find(case=case, run=run, version=version) is None]
            if not missing:
                continue
            SESSION.check_time()
            done = in_child(measure, missing, **({"PYTHONPATH": str(folder)} if version == "before" else {}))
            if done.answer is None:
                raise SystemExit(done.how)
            where, found = done.answer
            if where.startswith(str(folder)) != (version == "before"):
                raise SystemExit(f"{version}: treeform is imported from {where}")
            for case, (answer, seconds) in found.items():
                key = {"case": case, "run": run, "version": version}
                figures.add({**key, "found": answer, "seconds": round(seconds, 6)})
    for case in chosen:
        answers = {row["found"] for row in figures if row["case"] == case}
        if len(answers) > 1:
            raise SystemExit(f"{case}: the versions differ, {' and '.join(sorted(answers))}")
