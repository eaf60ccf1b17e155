"""Optimal regression trees: user CPU seconds of one thread, beside pystreed's regressor and CART.

Each program fits the same whole targets, pystreed in a process of its own; imports and reading are not counted.
Short fits are repeated: their median counts, without the first one. Each call of the search has a problem of its own,
freshly stated, so that nothing is known from an earlier one; stating it is not counted, as turning columns into zeros
and ones is not for pystreed. *search s* is the search from the stated table to the tree, as pystreed's `fit`; *solve
s* is all of `Problem.solve`, with the choice of what to run and the exact recount of every model.
pystreed takes zeros and ones: once it is given every threshold, once ten quantiles of each column as columns, which all
programs are given then. CART is greedy: its loss beyond the optimum is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from benchmarks.harness import SESSION, Figures, Rows, Shown, in_child, repeated, table
from benchmarks.regression.tables import binary, load
from treeform.utils.budget import Budget

SETS = (
    "linnerud,iris,wine,diabetes,breast-cancer,bank,raisin,signal-1000-8,wilt,page,signal-4000-8,occupancy,"
    "steps-10000-10,htru,magic,avila,eeg,bean,signal-20000-8,signal-100000-8"
)


def _data(name: str, tests: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(name)
    return (X if tests == "all" else binary(X).astype(float)), y


MEGABYTES = 16_000
"""That pystreed may take."""
BYTES_A_PAIR = 270
"""That it takes for each pair of columns, at least: 8.8 gigabytes do not suffice for 7992 columns."""
SPARE = 10
"""Seconds after its time limit, which it does not keep on many columns, until it is ended."""


def thresholds(name: str) -> int:
    """Of all columns together."""
    return sum(len(np.unique(column)) - 1 for column in load(name)[0].T)


def timed(work: Callable[[], Any], before_each: Callable[[], Any] = lambda: None) -> tuple[Any, float]:
    """The last answer, and the median of user seconds without the first call; `before_each` is not counted."""
    answer, seconds = repeated(work, most=31, before_each=before_each)
    return answer, median(seconds[1:] or seconds)


def own(name: str, tests: str, depth: int, loss: str, limit: float) -> dict[str, Any]:
    """The search itself."""
    import treeform as tf
    from treeform.engines import EngineRun
    from treeform.engines.relaxation import relax

    X, y = _data(name, tests)
    problem: tf.Problem

    def state() -> None:
        nonlocal problem
        problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(loss)

    result, seconds = timed(lambda: problem.solve(tf.RegressionSearch(), time_limit=limit), state)
    _, searched = timed(
        lambda: tf.RegressionSearch().run(
            problem.data, relax(problem.question, tf.RegressionSearch()).task, EngineRun(Budget(limit))
        ),
        state,
    )
    gap = 100 * (result.gap or 0.0)
    return {
        "loss": float(result.objective),
        "seconds": seconds,
        "searched": searched,
        "proved": str(result.status) == "optimal",
        "gap": gap,
    }


def streed(name: str, tests: str, depth: int, limit: float) -> dict[str, Any]:
    """pystreed's regressor without a price of tests."""
    from pystreed import STreeDRegressor

    X, y = _data(name, tests)
    if tests == "all":  # each threshold between neighbouring values as a column
        columns = [column <= value for column in X.T for value in np.unique(column)[:-1]]
        X = np.array(columns).T
    model = STreeDRegressor("regression", max_depth=depth, max_num_nodes=2**depth - 1, time_limit=limit)
    ones, targets = X.astype(int), y.astype(float)
    _, seconds = timed(lambda: model.fit(ones, targets))
    found = float(((y - model.predict(X.astype(int))) ** 2).sum())
    return {"loss": found, "seconds": seconds, "proved": bool(model.fit_result.is_optimal())}


def cart(name: str, tests: str, depth: int, loss: str) -> dict[str, Any]:
    """scikit-learn's greedy tree."""
    from sklearn.tree import DecisionTreeRegressor

    X, y = _data(name, tests)
    model = DecisionTreeRegressor(criterion=loss, max_depth=depth, random_state=0)
    _, seconds = timed(lambda: model.fit(X, y))
    distance = np.abs(y - model.predict(X))
    return {"loss": float((distance**2 if loss == "squared_error" else distance).sum()), "seconds": seconds}


Run = tuple[str, int, str]
"""The tests (``all`` or ``0/1``), the depth and the loss."""


def runs_of(name: str, runs: list[Run], limit: float) -> list[dict[str, Any]]:
    """The search and the greedy tree on one set, in one process."""
    return [
        {"own": own(name, tests, depth, loss, limit), "greedy": cart(name, tests, depth, loss)}
        for tests, depth, loss in runs
    ]


def streed_runs(name: str, runs: list[Run], limit: float) -> list[dict[str, Any]]:
    """pystreed on one set, in one process."""
    return [streed(name, tests, depth, limit) for tests, depth, _ in runs]


def peers_of(name: str, runs: list[Run], limit: float) -> dict[Run, dict[str, Any] | str]:
    """What pystreed answers, or why it does not: it is not stopped by its time limit on too many columns."""
    answers: dict[Run, dict[str, Any] | str] = {}
    easy = [run for run in runs if run[0] == "0/1"]
    if easy:
        ended = in_child(streed_runs, name, easy, limit, seconds=2 * limit * len(easy))
        answers |= dict(zip(easy, ended.answer or [ended.how] * len(easy), strict=True))
    for run in runs:
        if run[0] == "all" and run[2] == "squared_error":
            if BYTES_A_PAIR * thresholds(name) ** 2 / 2 > MEGABYTES * 2**20:
                answers[run] = f"not run: {thresholds(name)} columns"
                continue
            ended = in_child(streed, name, *run[:2], limit, seconds=limit + SPARE, megabytes=MEGABYTES)
            answers[run] = ended.answer or ended.how
    return answers


def measured(name: str, runs: list[Run], limit: float) -> list[dict[str, Any]]:
    """The rows of one set."""
    ours = in_child(runs_of, name, runs, limit).answer
    peers = peers_of(name, runs, limit)
    return [
        {
            "set": name,
            "tests": run[0],
            "loss": run[2],
            "depth": run[1],
            **row(name, run, answer, peers.get(run)),
        }
        for run, answer in zip(runs, ours, strict=True)
    ]


def row(name: str, run: Run, answer: dict[str, Any], peer: dict[str, Any] | str | None) -> dict[str, Any]:
    """What is shown of one run."""
    X, _ = _data(name, run[0])
    ours, greedy = answer["own"], answer["greedy"]
    shown = {
        "rows": len(X),
        "columns": X.shape[1],
        "optimum": f"{ours['loss']:.10g}",
        "gap %": f"{ours['gap']:.2g}",
        "solve s": f"{ours['seconds']:.3g}",
        "search s": f"{ours['searched']:.3g}",
        "CART excess %": f"{100 * max(0.0, greedy['loss'] / ours['loss'] - 1):.2g}" if ours["loss"] else "",
        "CART s": f"{greedy['seconds']:.2g}",
        "pystreed s": "",
        "pystreed": "",
    }
    if peer is None or isinstance(peer, str):
        return shown | {"pystreed": peer or ""}
    if (
        peer["proved"]
        and ours["proved"]
        and not math.isclose(peer["loss"], ours["loss"], rel_tol=1e-6, abs_tol=1e-3)
    ):
        raise SystemExit(f"{name}: {ours['loss']} here, {peer['loss']} there")
    told = "proved" if peer["proved"] else f"{100 * (peer['loss'] / ours['loss'] - 1):.2g} % above"
    return shown | {"pystreed s": f"{peer['seconds']:.3g}", "pystreed": told}


def _ratios(runs: Any, ours: str = "search s") -> list[float]:
    """How many times as long as the search pystreed takes, by run."""
    seconds = zip(runs["pystreed s"].astype(float), runs[ours].astype(float), strict=True)
    return [theirs / ours for theirs, ours in seconds]


@table("regression")
def compared(rows: Rows) -> Shown:
    """All runs, and how often the search is faster."""
    frame = rows.frame
    notes = []
    for tests, what in (("all", "all thresholds"), ("0/1", "columns of zeros and ones")):
        asked = frame[(frame["tests"] == tests) & (frame["pystreed s"] != "") & (frame["gap %"] == "0")]
        proved = asked["pystreed"] == "proved"
        if proved.any():
            ratios = _ratios(asked[proved])
            notes.append(
                f"on {what}, where pystreed proves its answer, it takes {geometric_mean(ratios):.3g} times as long in "
                f"geometric mean as the search ({min(ratios):.2g} to {max(ratios):.3g}; {len(ratios)} runs), and "
                f"{geometric_mean(_ratios(asked[proved], 'solve s')):.3g} times as long as all of the solve"
            )
        if not proved.all():
            ratios = _ratios(asked[~proved])
            notes.append(
                f"where it ends without a proof, {geometric_mean(ratios):.3g} times as long until then "
                f"({min(ratios):.2g} to {max(ratios):.3g}; {len(ratios)} runs); of all these runs together at least "
                f"{geometric_mean(_ratios(asked)):.3g} times as long as the search, and at least "
                f"{geometric_mean(_ratios(asked, 'solve s')):.3g} times as long as all of the solve"
            )
    title = f"Regression trees: user CPU seconds of one thread, at most {rows.facts['limit']} each"
    return Shown(title, frame, "; ".join(notes) + ".")


def main(
    sets: str = SETS,
    depths: str = "2,3",
    limit: float = 60,
    absolute: str = "diabetes,raisin",
    tests: str = "0/1,all",
) -> None:
    """Measure; `limit` are seconds of each program, `absolute` the sets for absolute errors."""
    figures = Figures("regression", ("set", "tests", "loss", "depth"), limit=f"{limit:g}")
    for name in sets.split(","):
        runs = [
            (kind, int(depth), "squared_error") for kind in tests.split(",") for depth in depths.split(",")
        ]
        if name in absolute.split(","):
            runs += [("all", int(depth), "absolute_error") for depth in depths.split(",")]
        missing = [
            run for run in runs
            if figures.find(set=name, tests=run[0], loss=run[2], depth=run[1]) is None
        ]  # fmt: skip
        for kind in dict.fromkeys(run[0] for run in missing):
            SESSION.check_time()
            figures.add(*measured(name, [run for run in missing if run[0] == kind], limit))
