"""ConTree with a minimum support: user CPU seconds until proof, beside the problem without one.

    python benchmarks/contree_support.py [--sets wilt,page] [--depth 3] [--share 0.01] [--limit 120]

Every leaf keeps at least the given share of the rows (rounded up). One thread; the seconds include no reading. Writes
``contree_support`` in ``docs/benchmarks``.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from math import ceil
from typing import Any

from contree import load, user_seconds
from tables import write


def measure(name: str, depth: int, share: Fraction, limit: float) -> list[Any]:
    from treeform.data import Dataset
    from treeform.engines import ConTree, EngineRun, TreeTask

    data = Dataset.from_user(*load(name))
    support = ceil(share * int(data.weights.sum()))
    row: list[Any] = [name, data.n_samples, support]
    for least in (0, support):
        start = user_seconds()
        outcome = ConTree().run(data, TreeTask(depth, min_support=least), EngineRun(time_limit=limit))
        proof = "" if outcome.proved else f" (bound {outcome.lower})"
        row += [f"{outcome.upper}{proof}", f"{user_seconds() - start:.3g}", outcome.counters["splits"]]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="wilt,bank,raisin,page,occupancy,magic,bean,avila,eeg,htru")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--share", type=Fraction, default=Fraction(1, 100))
    parser.add_argument("--limit", type=float, default=120.0)
    asked = parser.parse_args()
    rows = [measure(name, asked.depth, asked.share, asked.limit) for name in asked.sets.split(",")]
    write(
        "contree_support",
        f"Depth {asked.depth} with at least {float(asked.share):.1%} of the rows in every leaf",
        ["set", "rows", "in a leaf", "errors without", "CPU s", "splits", "errors with", "CPU s", "splits"],
        rows,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
