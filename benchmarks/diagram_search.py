"""How far DiagramSearch gets by itself: ladders over numbers of tests that answer every alpha of objective (18).

Usage: ``python benchmarks/diagram_search.py [--rows FILE] [--cpu SECONDS] [--others N]``. Data: training halves (seed
0) of the sets in the folder ``odd`` of ``TREEFORM_DATA``; skeleton I on every set; II, III, IV and the tree of depth
4 on N of them drawn with a fixed seed. A ladder ends after so many seconds of CPU time, which a busy machine does not
change. Then its techniques, one by one switched off, and Step 1 by itself. With ``--rows`` a run that was cut
goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from tables import HERE, write

import treeform as tf
from treeform.bench.odd import ALPHAS, SKELETONS, read_parts
from treeform.data import Dataset
from treeform.engines import DiagramHeuristic, EngineRun, TreeTask
from treeform.engines.diagram import TECHNIQUES
from treeform.shape import parse_shape
from treeform.tradeoff.size_table import price_of_alpha

DATA = Path(os.environ.get("TREEFORM_DATA", HERE.parent.parent / "shared" / "data")) / "odd"
STUDIED = (
    "breast-cancer-wisconsin", "congressional-voting", "hayes-roth", "iris", "mammographic-mass", "monks1",
    "spect-heart", "thyroid-new",
)  # fmt: skip
TECHNIQUE_SETS = {
    "all": TECHNIQUES,
    "no transpositions": ("trees",),
    "no bounds from trees": ("transpositions",),
    "none": (),
}
STARTS = 1000


class Clock:
    """CPU seconds of the process, and where they were when the engine asked."""

    def __init__(self, limit: float) -> None:
        self.cpu, self.wall, self.limit = time.process_time(), time.monotonic(), limit
        self.seen = [(0.0, 0.0)]

    def stop(self) -> bool:
        spent = time.process_time() - self.cpu
        self.seen.append((time.monotonic() - self.wall, spent))
        return spent > self.limit

    def at(self, wall: float) -> float:
        """CPU seconds after so many wall seconds."""
        return float(np.interp(wall, [at for at, _ in self.seen], [spent for _, spent in self.seen]))


def training(name: str) -> Dataset:
    (X, y), _, _ = read_parts(DATA, name, 0)
    return Dataset.from_user(X, y)


def prices_of(data: Dataset, shape: Any) -> dict[str, Fraction]:
    """The price of a test in errors, by alpha."""
    question = tf.Problem(data, None, shape=shape).question
    return {alpha: price_of_alpha(question, alpha) for alpha in ALPHAS}


def climb(name: str, skeleton: str, cpu: float, techniques: tuple[str, ...] = TECHNIQUES) -> dict[str, Any]:
    """One ladder's line: CPU seconds until each alpha was proved, and the values found."""
    data, shape = training(name), parse_shape(SKELETONS[skeleton])
    prices = prices_of(data, shape)
    clock = Clock(cpu)
    began = time.process_time()
    ladder = tf.DiagramSearch(techniques=techniques).size_table(
        data, shape, list(prices.values()), free=1, stop=clock.stop
    )
    spent = time.process_time() - began
    clock.stop()
    at = {a: ladder.proved_at[price] for a, price in prices.items()}
    proved = {
        a: None if not ladder.proved(p) else spent if at[a] is None else clock.at(at[a])
        for a, p in prices.items()
    }
    found = {a: float(ladder.best(p)[0]) for a, p in prices.items()}
    return {
        "proved": proved,
        "cpu": spent,
        "best": found,
        "states": ladder.counters["states"],
        "n": data.n_samples,
    }


def first_step(name: str, best: dict[str, float], proved: dict[str, float | None]) -> dict[str, Any]:
    """Step 1 on skeleton I: starts a CPU second, and how far its value is from the proved optimum."""
    data, shape = training(name), parse_shape(SKELETONS["I"])
    began = time.process_time()
    task = TreeTask(shape.depth, widths=shape.widths)
    outcome = DiagramHeuristic(seconds=3600.0, starts=STARTS).run(data, task, EngineRun())
    rate = outcome.counters["starts"] / (time.process_time() - began)
    excess = {}
    for alpha, price in prices_of(data, shape).items():
        if proved[alpha] is None:
            continue
        # A price in whole numbers: errors count a thousand times.
        cost = 1000 * (1 - np.eye(data.n_classes, dtype=np.int64))
        priced = TreeTask(shape.depth, cost, round(1000 * price), widths=shape.widths)
        graph = DiagramHeuristic(seconds=3600.0, starts=STARTS).run(data, priced, EngineRun()).graph
        assert graph is not None
        errors = int((graph.predict_codes(data.X) != data.y).sum())
        value = errors + float(price) * max(0, graph.n_nodes - 1)
        excess[alpha] = max(0.0, value - best[alpha]) / data.n_samples
    return {"rate": rate, "points": data.points.n_points, "excess": excess}


class Rows:
    """Finished lines by key, kept in a file."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.rows = path, {}
        if path is not None and path.exists():
            self.rows = {one["key"]: one for one in map(json.loads, path.read_text().splitlines())}

    def get(self, key: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if key not in self.rows:
            self.rows[key] = {"key": key, **work()}
            print(self.rows[key], flush=True)
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(self.rows[key]) + "\n")
        return self.rows[key]


def proved(one: dict[str, Any], alpha: str, cpu: float) -> bool:
    """Whether a line has the proof, within that time."""
    at = one["proved"][alpha]
    return at is not None and at <= cpu


def proved_table(rows: Rows, sets: dict[str, list[str]], cpu: float) -> None:
    lines = []
    for skeleton, names in sets.items():
        own = [rows.get(f"{name} {skeleton}", partial(climb, name, skeleton, cpu)) for name in names]
        counts = [sum(proved(one, alpha, cpu) for one in own) for alpha in ALPHAS]
        share = sum(counts) / (len(own) * len(ALPHAS))
        lines.append([SKELETONS[skeleton], len(own), *counts, f"{100 * share:.0f} %"])
    note = (
        f"Sets of which the objective (18) was proved optimal, within {cpu:g} CPU seconds for one ladder that answers "
        "all five. Univariate tests, training half of seed 0."
    )
    header = ["skeleton", "sets", *(f"alpha {a}" for a in ALPHAS), "all"]
    write("diagram_search", "Proved by DiagramSearch alone", header, lines, note)


def aids_table(rows: Rows, cpu: float) -> None:
    lines = []
    for told, techniques in TECHNIQUE_SETS.items():
        own = [
            rows.get(f"{name} aids {told}", partial(climb, name, "I", cpu, techniques)) for name in STUDIED
        ]
        count = sum(proved(one, alpha, cpu) for one in own for alpha in ALPHAS)
        spent, states = sum(min(one["cpu"], cpu) for one in own), sum(one["states"] for one in own)
        lines.append([told, f"{count} of {len(own) * len(ALPHAS)}", f"{spent:.1f}", f"{states:,}"])
    note = f"Skeleton I on {', '.join(STUDIED)}; each ladder at most {cpu:g} CPU seconds."
    write(
        "diagram_aids", "Aids of the search switched off", ["aids", "proved", "CPU s", "states"], lines, note
    )


def first_step_table(rows: Rows) -> None:
    lines = []
    for name in STUDIED:
        whole = rows.rows[f"{name} I"]
        one = rows.get(f"{name} step", partial(first_step, name, whole["best"], whole["proved"]))
        excess = [f"{100 * one['excess'][a]:.2f}" if a in one["excess"] else "" for a in ALPHAS]
        lines.append([name, whole["n"], one["points"], f"{one['rate']:,.0f}", *excess])
    known = [value for line in rows.rows.values() for value in line.get("excess", {}).values()]
    note = (
        f"*starts / s*: top-down diagrams built and pruned a CPU second, set-up included. Then, after {STARTS} starts, "
        f"how much the value of (18) lies above the proved optimum, in per cent of the samples (empty: not proved); "
        f"mean {100 * mean(known):.2f}, {sum(v < 1e-9 for v in known)} of {len(known)} are optimal. Skeleton I."
    )
    header = ["set", "rows", "distinct", "starts / s", *(f"alpha {a}" for a in ALPHAS)]
    write("diagram_step1", "Step 1 by itself", header, lines, note)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, help="keep finished lines here, and go on from them")
    parser.add_argument("--cpu", type=float, default=3.0, help="CPU seconds of a ladder")
    parser.add_argument("--others", type=int, default=12, help="sets for the skeletons besides I")
    given = parser.parse_args()
    names = sorted(path.name.removesuffix(".csv.gz") for path in DATA.glob("*.csv.gz"))
    if not names:
        print(f"nothing to do: {DATA} holds no data sets; set TREEFORM_DATA to the folder that holds odd/")
        return
    rows = Rows(given.rows)
    drawn = sorted(np.random.default_rng(0).permutation(names)[: given.others].tolist())
    others = {skeleton: drawn for skeleton in SKELETONS if skeleton != "I"}
    proved_table(rows, {"I": names, **others}, given.cpu)
    aids_table(rows, given.cpu)
    first_step_table(rows)


if __name__ == "__main__":
    main()
