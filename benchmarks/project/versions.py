"""This version beside an earlier one: user CPU seconds of whole solves and of building a model.

The earlier version is installed in ``build/bench/COMMIT``. The two take turns, each time in a new process that runs all
cases; short ones are repeated there. All of them end with a proof, so that both versions do the same work.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from statistics import geometric_mean
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, SESSION, Figures, Rows, Shown, in_child, read_set, repeated, table

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


def alone(engine: str, subject: str, name: str, depth: int) -> Solve:
    """From arrays to the tree by the engine alone, as the benchmarks of the engines measure it."""
    import treeform as tf
    from treeform.data import Dataset

    engines = import_module("treeform.engines" if find_spec("treeform.engines") else "treeform.dp")
    X, y = arrays(subject, name)

    def solve() -> Any:
        data = Dataset.from_user(X, y)
        outcome = getattr(tf, engine)().run(data, engines.TreeTask(depth=depth), engines.EngineRun())
        return SimpleNamespace(status="proved" if outcome.proved else "open", objective=outcome.upper)

    return solve


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
}


def measure(cases: list[str]) -> tuple[str, dict[str, tuple[str, float]]]:
    """Where treeform is, and what was found in which user seconds."""
    import treeform as tf

    for engine in (tf.ConTree(), tf.DL85(), tf.DiagramSearch()):  # imports and first-call costs
        tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1)).solve(engine)
    tiny = tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1)).minimize(tf.Depth()).add(tf.MaxErrors(0))
    tiny.solve("sat", formulation="sat-depth", warm_start=None)
    found = {}
    for case in cases:
        prepare, given = CASES[case]
        result, seconds = repeated(prepare(*given), enough=0.4, most=5)
        found[case] = ("" if result is None else f"{result.status} {result.objective}", min(seconds))
    return str(tf.__file__), found


@table("versions")
def versions(rows: Rows) -> Shown:
    """Medians and least seconds of both, and their ratios."""
    frame = rows.frame.assign(seconds=rows.frame["seconds"].astype(float))
    lines, ratios, engines = [], [], []
    for case, of in frame.groupby("case", sort=False):
        both = [of[of["version"] == version]["seconds"] for version in ("before", "after")]
        if any(one.empty for one in both):
            continue
        ratio = both[1].median() / both[0].median()
        ratios.append(ratio)
        engines += [ratio] if " alone," in str(case) else []
        middle, least = ([getattr(one, what)() for one in both] for what in ("median", "min"))
        seconds = [f"{value:.3g}" for pair in (middle, least) for value in pair]
        lines.append(
            [case, len(both[1]), *seconds[:2], f"{ratio:.3f}", *seconds[2:], f"{least[1] / least[0]:.3f}"]
        )
    columns = [
        "case", "runs of each", "before, median s", "after, median s", "ratio", "before, least s", "after, least s",
        "ratio",
    ]  # fmt: skip
    note = (
        "*alone*: from arrays to the tree by the engine; the other searches are whole solves by the public interface. "
        f"User CPU seconds, by turns in new processes. Before: commit {rows.facts['before']}. Geometric mean of the "
        f"ratios of medians: {geometric_mean(ratios):.3f}, of the engines alone "
        f"{geometric_mean(engines) if engines else 1:.3f}. Both versions find the same optima."
    )
    return Shown.of("Speed before and after", columns, lines, note)


def main(before: str = "7c02411", runs: int = 5, cases: str = USUAL) -> None:
    """Measure; `before` is a commit, `cases` are beginnings of names with semicolons between them."""
    folder = SESSION.raw / before
    if not (folder / "treeform").exists():
        raise SystemExit(f"first: pip install --no-deps --target {folder} git+file://{ROOT}@{before}")
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
