"""What each pruning rule of ConTree is worth: splits evaluated with it alone, and without it.

    python benchmarks/contree_rules.py                  # measure, write the tables, draw
    python benchmarks/contree_rules.py --sets avila,bank --limit 20

The measure of the paper's Figure 2: calls of its D2Split, here the counter ``splits``. Depth two has each rule
alone, as there; depth three has all rules but one. The errors must be the same under every selection. Writes
``contree_rules_2`` and ``contree_rules_3`` (CSV, Markdown, reStructuredText) and ``contree_rules.svg`` in
``docs/benchmarks`` (the plot needs matplotlib). The sets are read from the folder in TREEFORM_DATA
(``../shared/data`` unless given).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from contree import OPTIMA, load
from tables import DOCS, write

PAPER = ("neighbourhood", "shrinking", "subinterval")
ALL = (*PAPER, "features")
ALONE: dict[str, tuple[str, ...]] = {
    "no rule": (),
    "neighbourhood": ("neighbourhood",),
    "shrinking": ("shrinking",),
    "sub-interval": ("subinterval",),
    "the paper's three": PAPER,
    "and features": ALL,
}
WITHOUT: dict[str, tuple[str, ...]] = {
    "all rules": ALL,
    **{f"without {rule}": tuple(other for other in ALL if other != rule) for rule in ALL},
}
TABLES = {2: ("each rule alone", ALONE), 3: ("all rules but one", WITHOUT)}


def count(name: str, depth: int, choices: dict[str, tuple[str, ...]], limit: float) -> list[Any]:
    """Evaluated splits per selection of rules; "-" when the limit came first."""
    from treeform.data import Dataset
    from treeform.engines import ConTree, EngineRun, TreeTask

    data = Dataset.from_user(*load(name))
    line: list[Any] = [name]
    errors = set()
    for rules in choices.values():
        outcome = ConTree(prune=rules).run(data, TreeTask(depth=depth), EngineRun(time_limit=limit))
        line.append(outcome.counters["splits"] if outcome.proved else "-")
        if outcome.proved:
            errors.add(outcome.upper)
    if len(errors) > 1:
        raise SystemExit(f"{name}: the rules disagree, {sorted(map(str, errors))}")
    print(*line, flush=True)
    return line


def draw(lines: dict[int, list[list[Any]]], path: Path) -> None:
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "treeform", "svg.fonttype": "none"})
    figure, panels = plt.subplots(len(lines), 1, figsize=(9, 3.2 * len(lines)), squeeze=False)
    for axes, (depth, rows) in zip(panels.flat, lines.items(), strict=True):
        words, choices = TABLES[depth]
        width = 0.84 / len(choices)
        for k, title in enumerate(choices):
            heights = [row[k + 1] if isinstance(row[k + 1], int) else 0 for row in rows]
            axes.bar([i + k * width for i in range(len(rows))], heights, width, label=title)
        axes.set(yscale="log", ylabel="splits evaluated", title=f"depth {depth}, {words}")
        axes.set_xticks([i + 0.42 - width / 2 for i in range(len(rows))], [str(row[0]) for row in rows])
        axes.legend(fontsize="x-small", ncols=3)
        axes.set_ylim(top=axes.get_ylim()[1] * 10)  # room for the legend
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(OPTIMA))
    parser.add_argument("--limit", type=float, default=60.0, help="wall seconds per run")
    asked = parser.parse_args()
    lines = {}
    for depth, (words, choices) in TABLES.items():
        lines[depth] = [
            count(name, depth, choices, asked.limit) for name in filter(None, asked.sets.split(","))
        ]
        note = f"A dash: not finished in {asked.limit:g} seconds."
        write(
            f"contree_rules_{depth}",
            f"Splits evaluated at depth {depth}, {words}",
            ["set", *choices],
            lines[depth],
            note,
        )
    draw(lines, DOCS / "contree_rules.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
