"""Trees of growing depth under the same requirement: whether a greater depth is worse after as many seconds.

Each row is a process of its own with one run for each depth. ``wide`` and ``bits`` are the tables of ``deep rules``,
``eeg`` has the rows to learn from of that set. CART's trees, leaves relabelled where that satisfies what is required,
stand beside them: at each depth the best one of that depth or less. ``long`` has 20,000 rows of 20 drawn columns.
"""

from __future__ import annotations

from itertools import accumulate, product
from typing import Any

import pandas as pd

from benchmarks.deep.rules import asked_at
from benchmarks.harness import Figures, Rows, Shown, in_child, table

ASKED = (
    "MaxLeaves", "MinSupport", "price of a leaf", "Monotone", "MaxThresholds", "MaxTestsPerPath", "StatisticalParity",
    "parity, support", "FeatureBudget", "FeatureCost of paths", "Uses", "StayCloseTo",
)  # fmt: skip
DEPTHS = (3, 4, 5, 6, 8)


def run(asked: str, name: str, depths: tuple[int, ...], seconds: float, rows: int, seed: int) -> dict[str, Any]:
    """One requirement at all depths in this process; called in a fresh one."""
    at, answer = asked_at(asked, "hard", name, rows, seed), {}
    for depth in depths:
        found = at(depth, seconds)
        mark = "*" if found["status"] == "optimal" else ""
        answer |= {f"CART {depth}": found["CART"], str(depth): found["objective"] + mark, "version": found["version"]}
    return answer


def worse(values: list[float]) -> float:
    """The largest excess of a value over an earlier one, in per cent of that."""
    least = list(accumulate(values, min))
    return max(100 * (value / best - 1) if best else 0.0 for value, best in zip(values, least, strict=True))


@table("deep_depths")
def depths(rows: Rows) -> Shown:
    """Tables, what is asked, and depths; of several seeds the means."""
    frame, facts = rows.frame, rows.facts
    columns, by = facts["depths"].split(","), [frame["table"], frame["asked"]]
    values = frame[columns].apply(lambda column: pd.to_numeric(column.str.rstrip("*"))).fillna(float("inf"))
    greedy = frame[[f"CART {one}" for one in columns]].apply(pd.to_numeric).fillna(float("inf")).cummin(axis=1)
    above = (values > greedy.to_numpy()).sum(axis=1).groupby(by, sort=False).sum()
    means = values.groupby(by, sort=False).mean()
    shown = (frame[columns].groupby(by, sort=False).first() if len(means) == len(frame) else means.round(1)).copy()
    shown["worse by, %"] = [f"{worse(list(line)):.2g}" for line in means.to_numpy()]
    shown["above CART"] = above
    shown = shown.reset_index()
    note = (
        f"Objectives by depth after {facts['seconds']} seconds of work each; * proved. By how much a depth is worse "
        "than a smaller one at most, and at how many depths than CART's repaired trees of that depth or less."
    )
    return Shown("Depth under requirements", shown.sort_values("table", kind="stable"), note)


def main(
    asked: str = ";".join(ASKED), tables: str = "wide,bits,eeg", depths: str = ",".join(map(str, DEPTHS)),
    seconds: float = 1, rows: int = 3000, seeds: str = "0", others: str = "",
) -> None:  # fmt: skip
    """Measure; ``asked``: cases of ``deep rules``, separated by semicolons; ``rows``: of tables that are drawn.

    ``seeds``: of these, and of the rows of a set; means are shown. ``others``: more of it, such as
    ``MinSupport(30) of odd/statlog-german-credit;MaxLeaves(10) of long``.
    """
    figures = Figures("deep_depths", ("asked", "table", "seed"), depths=depths, seconds=f"{seconds:g}", rows=rows)
    some = tuple(map(int, depths.split(",")))
    pairs = [(one, name) for name in tables.split(",") for one in asked.split(";")]
    pairs += [(one, name) for one, _, name in (pair.partition(" of ") for pair in others.split(";") if pair)]
    for seed, (one, name) in product(map(int, seeds.split(",")), pairs):
        figures.measure(
            lambda o=one, n=name, s=seed: in_child(run, o, n, some, seconds, rows, s, seconds=600).answer or {},
            asked=one, table=name, seed=seed,
        )  # fmt: skip
