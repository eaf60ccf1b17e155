"""How far DiagramSearch gets by itself: size tables that answer every alpha of objective (18).

Training halves (seed 0) of the sets; skeleton I on every set, II, III, IV and the tree of depth 4 on some, drawn with a
fixed seed. A size table ends after so many seconds of CPU time, which a busy machine does not change. Then its
techniques, one by one switched off, and Step 1 by itself.
"""

from __future__ import annotations

import json
import time
from fractions import Fraction
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.diagrams.step_one import step_one
from benchmarks.harness import Figures, Rows, Shown, named, table
from benchmarks.harness.figures import Row
from benchmarks.odd.protocol import ALPHAS, SKELETONS, read_parts
from treeform.data import Dataset
from treeform.engines.diagram import TECHNIQUES
from treeform.shape import parse_shape
from treeform.tradeoff.size_table import price_of_alpha

STUDIED = (
    "breast-cancer-wisconsin", "congressional-voting", "hayes-roth", "iris", "mammographic-mass", "monks1",
    "spect-heart", "thyroid-new",
)  # fmt: skip
TECHNIQUE_SETS = {
    "all": TECHNIQUES,
    "no transpositions": tuple(one for one in TECHNIQUES if one != "transpositions"),
    "no bounds from trees": tuple(one for one in TECHNIQUES if one != "trees"),
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
    (X, y), _, _ = read_parts(name, 0)
    return Dataset.from_user(X, y)


def prices_of(data: Dataset, shape: Any) -> dict[str, Fraction]:
    """The price of a test in errors, by alpha."""
    question = tf.Problem(data, None, shape=shape).question
    return {alpha: price_of_alpha(question, alpha) for alpha in ALPHAS}


def size_table_row(
    name: str, skeleton: str, cpu: float, techniques: tuple[str, ...] = TECHNIQUES
) -> dict[str, Any]:
    """One size table: CPU seconds until each alpha was proved, and the values found."""
    data, shape = training(name), parse_shape(SKELETONS[skeleton])
    prices = prices_of(data, shape)
    clock = Clock(cpu)
    began = time.process_time()
    sizes = tf.DiagramSearch(parts=techniques).size_table(
        data, shape, list(prices.values()), free=1, stop=clock.stop
    )
    spent = time.process_time() - began
    clock.stop()
    at = {a: sizes.proved_at[price] for a, price in prices.items()}
    proved = {
        a: None if not sizes.proved(p) else spent if at[a] is None else clock.at(at[a])
        for a, p in prices.items()
    }
    found = {a: float(sizes.best(p)[0]) for a, p in prices.items()}
    return {
        "proved": proved,
        "cpu": spent,
        "best": found,
        "states": sizes.counters["states"],
        "n": data.n_samples,
    }


def first_step(name: str, best: dict[str, float], proved: dict[str, float | None]) -> dict[str, Any]:
    """Step 1 on skeleton I: starts a CPU second, and how far its value is from the proved optimum."""
    data, shape = training(name), parse_shape(SKELETONS["I"])
    began = time.process_time()
    outcome = step_one(data, shape, starts=STARTS)
    rate = outcome.counters["starts"] / (time.process_time() - began)
    excess = {}
    for alpha, price in prices_of(data, shape).items():
        if proved[alpha] is None:
            continue
        graph = step_one(data, shape, Fraction(round(1000 * price), 1000), starts=STARTS).graph
        assert graph is not None
        errors = int((graph.predict_codes(data.X) != data.y).sum())
        value = errors + float(price) * max(0, graph.n_nodes - 1)
        excess[alpha] = max(0.0, value - best[alpha]) / data.n_samples
    return {"rate": rate, "points": data.points.n_points, "excess": excess}


class Runs:
    """The size tables and first steps behind the tables, each measured once."""

    def __init__(self, cpu: float) -> None:
        self.cpu, self.figures = (
            cpu,
            Figures("diagram_runs", ("what", "set", "skeleton"), raw=True, cpu=f"{cpu:g}"),
        )

    def size_table(self, name: str, skeleton: str, techniques: str = "all") -> dict[str, Any]:
        """What `size_table_row` returns."""
        work = partial(size_table_row, name, skeleton, self.cpu, TECHNIQUE_SETS[techniques])
        return self._get(work, what=techniques, set=name, skeleton=skeleton)

    def step(self, name: str) -> dict[str, Any]:
        """What `first_step` returns."""
        whole = self.size_table(name, "I")
        return self._get(
            partial(first_step, name, whole["best"], whole["proved"]), what="step", set=name, skeleton="I"
        )

    def proved(self, tables: list[dict[str, Any]]) -> list[int]:
        """How many have the proof within the time, by alpha."""
        at = [[one["proved"][alpha] for one in tables] for alpha in ALPHAS]
        return [sum(moment is not None and moment <= self.cpu for moment in of) for of in at]

    def _get(self, work: Any, **key: str) -> dict[str, Any]:
        row: Row = self.figures.measure(lambda: {"answer": json.dumps(work())}, **key)
        return dict(json.loads(row["answer"]))


@table("diagram_search")
def proved(rows: Rows) -> Shown:
    """A line for each skeleton."""
    cpu = rows.facts["cpu"]
    note = (
        f"Sets of which the objective (18) was proved optimal, within {cpu} CPU seconds for one size table that "
        "answers all five. Univariate tests, training half of seed 0."
    )
    return Shown("Proved by DiagramSearch alone", rows.frame, note)


@table("diagram_aids")
def aids(rows: Rows) -> Shown:
    """A line for each set of techniques."""
    note = f"Skeleton I on {', '.join(STUDIED)}; each size table at most {rows.facts['cpu']} CPU seconds."
    return Shown("Aids of the search switched off", rows.frame, note)


@table("diagram_step1")
def step1(rows: Rows) -> Shown:
    """A line for each set."""
    known = [
        float(row[f"alpha {a}"]) for row in rows.frame.to_dict("records") for a in ALPHAS if row[f"alpha {a}"]
    ]
    note = (
        f"*starts / s*: top-down diagrams built and pruned a CPU second, set-up included. Then, after {STARTS} starts, "
        f"how much the value of (18) lies above the proved optimum, in per cent of the samples (empty: not proved); "
        f"mean {mean(known or [0.0]):.2f}, {sum(value == 0 for value in known)} of {len(known)} are optimal. "
        "Skeleton I."
    )
    return Shown("Step 1 by itself", rows.frame, note)


def main(sets: str = "", cpu: float = 3, others: int = 12) -> None:
    """Measure; `cpu` seconds for each size table, `others` are the sets for the skeletons besides I."""
    names, runs, facts = named("odd", sets), Runs(cpu), {"cpu": f"{cpu:g}"}
    drawn = sorted(np.random.default_rng(0).permutation(names)[:others].tolist())
    figures = Figures("diagram_search", ("skeleton",), **facts)
    for skeleton, shape in SKELETONS.items():
        own = [runs.size_table(name, skeleton) for name in (names if skeleton == "I" else drawn)]
        counts = runs.proved(own)
        share = f"{100 * sum(counts) / max(len(own) * len(ALPHAS), 1):.0f} %"
        proved = {f"alpha {alpha}": count for alpha, count in zip(ALPHAS, counts, strict=True)}
        figures.add({"skeleton": shape, "sets": len(own), **proved, "all": share})
    studied = [name for name in STUDIED if name in names]
    figures = Figures("diagram_aids", ("aids",), **facts)
    for techniques in TECHNIQUE_SETS:
        own = [runs.size_table(name, "I", techniques) for name in studied]
        spent, states = sum(min(one["cpu"], cpu) for one in own), sum(one["states"] for one in own)
        count = f"{sum(runs.proved(own))} of {len(own) * len(ALPHAS)}"
        figures.add({"aids": techniques, "proved": count, "CPU s": f"{spent:.1f}", "states": f"{states:,}"})
    figures = Figures("diagram_step1", ("set",))
    for name in studied:
        whole, one = runs.size_table(name, "I"), runs.step(name)
        excess = {
            f"alpha {a}": f"{100 * one['excess'][a]:.2f}" if a in one["excess"] else None for a in ALPHAS
        }
        rate = f"{one['rate']:,.0f}"
        figures.add(
            {"set": name, "rows": whole["n"], "distinct": one["points"], "starts / s": rate, **excess}
        )
