"""ConTree with a minimum support: user CPU seconds until proof, beside the problem without one.

Every leaf keeps at least the given share of the rows (rounded up). One thread; the seconds include no reading.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

from benchmarks.contree.compare import load
from benchmarks.harness import Figures, Rows, Shown, named, table, user_seconds
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.utils.budget import Budget


def measure(name: str, depth: int, share: Fraction, limit: float) -> dict[str, Any]:
    data = Dataset.from_user(*load(name))
    support = ceil(share * int(data.weights.sum()))
    start = user_seconds()
    outcome = ConTree().run(data, TreeTask(depth, min_support=support), EngineRun(Budget(limit)))
    spent = user_seconds() - start
    proof = "" if outcome.proved else f" (bound {outcome.lower})"
    return {
        "rows": data.n_samples, "in a leaf": support, "errors": f"{outcome.upper}{proof}", "CPU s": f"{spent:.3g}",
        "splits": outcome.counters["splits"],
    }  # fmt: skip


@table("contree_support")
def supported(rows: Rows) -> Shown:
    """Both problems in one line."""
    facts, of = rows.facts, {(row["set"], row["least"]): row for row in rows.frame.to_dict("records")}
    lines = []
    for (name, least), row in of.items():
        if least != "0" and (name, "0") in of:
            both = [one[column] for one in (of[name, "0"], row) for column in ("errors", "CPU s", "splits")]
            lines.append([name, row["rows"], row["in a leaf"], *both])
    columns = [
        "set",
        "rows",
        "in a leaf",
        "errors without",
        "CPU s",
        "splits",
        "errors with",
        "CPU s",
        "splits",
    ]
    title = f"Depth {facts['depth']} with at least {float(Fraction(facts['share'])):.1%} of the rows in every leaf"
    return Shown.of(title, columns, lines)


def main(
    sets: str = "wilt,bank,raisin,page,occupancy,magic,bean,avila,eeg,htru",
    depth: int = 3,
    share: str = "1/100",
    limit: float = 120,
) -> None:
    """Measure; `limit` are wall seconds for each run."""
    figures = Figures("contree_support", ("set", "least"), depth=depth, share=share)
    for name in named("continuous", sets):
        for least in ("0", share):
            figures.measure(partial(measure, name, depth, Fraction(least), limit), set=name, least=least)
