"""How the cost of ConTree grows with rows, features and classes: a log-log plot.

    python benchmarks/contree_growth.py                    # measure what is missing, then draw
    python benchmarks/contree_growth.py --limit 20 --only rows,skin

Rows and features: uniform values, two classes from a random tree of depth three, every tenth label redrawn. Classes: a
noisy sum of the features cut into equal parts. Skin: random rows of that set. User CPU seconds of a whole fit with one
thread until proof, ``pycontree`` beside it; a line ends where the next point would take longer than the limit.
Measurements are kept in ``docs/benchmarks/contree_growth.csv`` (remove lines to measure them again); the plot is
``contree_growth.svg`` beside it (needs matplotlib).
"""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from contree import ENOUGH, FITS, load, user_seconds
from tables import DOCS

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
FIELDS = ["sweep", "solver", "depth", "size", "user", "errors", "proved", "date"]


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


def table(sweep: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    if sweep == "skin":
        x, y = load("skin")
        chosen = np.random.default_rng(0).permutation(len(y))[:size]
        return np.ascontiguousarray(x[chosen]), y[chosen]
    if sweep == "classes":
        return graded(5_000, 5, size)
    return synthetic(size, 5) if sweep == "rows" else synthetic(2_000, size)


def fit(solver: str, x: np.ndarray, y: np.ndarray, depth: int, limit: float) -> dict[str, Any]:
    """User seconds of the fit: the mean of many when it is short."""
    seconds: list[float] = []
    while not seconds or (sum(seconds) < ENOUGH and len(seconds) < 25):
        user = user_seconds()
        answer = FITS[solver](x, y, depth, limit, 1)
        seconds.append(user_seconds() - user)
    mean = round(sum(seconds) / len(seconds), 6)
    return {"user": mean, "errors": answer["errors"], "proved": answer["proved"], "date": date.today()}


def measure(path: Path, sweeps: list[str], depths: list[int], limit: float) -> None:
    """Measure what the file lacks, size by size, until a fit does not end in time."""
    lines = read(path)
    for solver in FITS:
        FITS[solver](*synthetic(50, 2), 1, 10.0, 1)  # imports and first-call costs
    known = {tuple(str(line[key]) for key in FIELDS[:4]): line for line in lines}
    for sweep in sweeps:
        for depth in depths:
            for solver in FITS:
                for size in SWEEPS[sweep]:
                    key = (sweep, solver, str(depth), str(size))
                    if key not in known:
                        line = dict(zip(FIELDS, key, strict=False)) | fit(
                            solver, *table(sweep, size), depth, limit
                        )
                        lines.append(line)
                        known[key] = line
                        print(*line.values(), flush=True)
                        write(path, lines)
                    if str(known[key]["proved"]) != "True" or float(known[key]["user"]) > limit / 4:
                        break


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(lines)


def draw(lines: list[dict[str, Any]], path: Path) -> None:
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
                    if (line["sweep"], line["solver"], str(line["depth"])) == (sweep, solver, depth)
                    and str(line["proved"]) == "True"
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
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(SWEEPS), help="sweeps; empty: only draw")
    parser.add_argument("--depths", default="2,3")
    parser.add_argument("--limit", type=float, default=40.0, help="wall seconds per fit")
    parser.add_argument("--out", type=Path, default=DOCS)
    asked = parser.parse_args()
    path = asked.out / "contree_growth.csv"
    sweeps = [sweep for sweep in asked.only.split(",") if sweep]
    measure(path, sweeps, [int(depth) for depth in asked.depths.split(",")], asked.limit)
    draw(read(path), asked.out / "contree_growth.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
