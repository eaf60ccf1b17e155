"""How the cost of ConTree grows with rows, features and classes: a log-log plot.

Rows and features: uniform values, two classes from a random tree of depth three, every tenth label redrawn. Classes: a
noisy sum of the features cut into equal parts. Skin: random rows of that set. User CPU seconds of a whole fit with one
thread until proof, pycontree beside it; a line ends where the next point would take longer than the limit. Draws
``contree_growth.svg`` (needs matplotlib).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contree.compare import ENOUGH, FITS, load
from benchmarks.harness import SESSION, Figures, repeated

SWEEPS: dict[str, list[int]] = {
    "rows": [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
    "skin": [1_000, 3_000, 10_000, 30_000, 100_000, 196_045],
    "features": [5, 10, 20, 50, 100, 200],
    "classes": [2, 3, 5, 10, 20, 30],
}
TITLES = {
    "rows": "rows (5 features, 2 classes)",
    "skin": "rows of skin (3 features, 2 classes)",
    "features": "features (2,000 rows, 2 classes)",
    "classes": "classes (5,000 rows, 5 features)",
}


def synthetic(n: int, features: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, F) and two classes (n,): a random tree of depth three, and a tenth of noise."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, features))
    cell = np.zeros(n, dtype=np.int64)
    for level in range(3):
        test = rng.integers(0, features, 2**level), rng.uniform(0.3, 0.7, 2**level)
        cell = 2 * cell + (x[np.arange(n), test[0][cell]] > test[1][cell])
    noisy = rng.random(n) < 0.1
    y = cell % 2
    y[noisy] = rng.integers(0, 2, int(noisy.sum()))
    return x, y


def graded(n: int, features: int, classes: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, F) and classes (n,) of equal size: a sum of the features, with noise, cut into as many parts."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, features))
    score = x @ (0.5 ** np.arange(features)) + rng.normal(0, 0.05, n)
    return x, np.argsort(np.argsort(score)) * classes // n


def points(sweep: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and classes of one point of a line."""
    if sweep == "skin":
        x, y = load("skin")
        chosen = np.random.default_rng(0).permutation(len(y))[:size]
        return np.ascontiguousarray(x[chosen]), y[chosen]
    if sweep == "classes":
        return graded(5_000, 5, size)
    return synthetic(size, 5) if sweep == "rows" else synthetic(2_000, size)


def fit(solver: str, sweep: str, size: int, depth: int, limit: float) -> dict[str, Any]:
    """User seconds of the fit: the mean of many when it is short."""
    x, y = points(sweep, size)
    answer, seconds = repeated(lambda: FITS[solver](x, y, depth, limit, 1), **ENOUGH)
    mean = round(sum(seconds) / len(seconds), 6)
    return {"user": mean, "errors": answer["errors"], "proved": answer["proved"]}


def draw(lines: Iterable[dict[str, str]]) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plt.rcParams.update({"svg.hashsalt": "treeform", "svg.fonttype": "none"})
    figure, grid = plt.subplots(2, 2, figsize=(9, 6.5), sharey=True)
    styles = {"treeform": {"color": "C0", "marker": "o"}, "pycontree": {"color": "C3", "marker": "s"}}
    for axes, sweep in zip(grid.flat, SWEEPS, strict=True):
        for depth, dash in (("2", "--"), ("3", "-")):
            for solver, style in styles.items():
                points = sorted(
                    (int(line["size"]), float(line["user"]))
                    for line in lines
                    if (line["sweep"], line["solver"], line["depth"]) == (sweep, solver, depth)
                    and line["proved"] == "True"
                )
                if points:
                    axes.plot(
                        *zip(*points, strict=True), dash, ms=4, label=f"{solver}, depth {depth}", **style
                    )
        axes.set(xscale="log", yscale="log", xlabel=TITLES[sweep])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.3)
    for axes in grid[:, 0]:
        axes.set_ylabel("user CPU seconds")
    grid[0, 0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(SESSION.folder / "contree_growth.svg", metadata={"Date": None})


def main(sweeps: str = ",".join(SWEEPS), depths: str = "2,3", limit: float = 40) -> None:
    """Measure, size by size, until a fit does not end in time, and draw; `limit` are wall seconds for each fit."""
    figures = Figures("contree_growth", ("sweep", "solver", "depth", "size"))
    for solver in FITS:
        FITS[solver](*synthetic(50, 2), 1, 10.0, 1)  # imports and first-call costs
    for sweep in filter(None, sweeps.split(",")):
        for depth in map(int, depths.split(",")):
            for solver in FITS:
                for size in SWEEPS[sweep]:
                    work = partial(fit, solver, sweep, size, depth, limit)
                    row = figures.measure(work, sweep=sweep, solver=solver, depth=depth, size=size)
                    if row["proved"] != "True" or float(row["user"]) > limit / 4:
                        break
    draw(figures)
