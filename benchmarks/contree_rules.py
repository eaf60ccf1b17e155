"""What each pruning rule of ConTree is worth: evaluated splits of depth-two searches, rule by rule.

    python benchmarks/contree_rules.py [--depth 2] [--sets avila,bank] [--plot]

The measure of the paper's Figure 2: calls of its D2Split, here the counter ``splits``. Writes ``contree_rules.csv``,
``contree_rules.md`` and, with ``--plot``, ``contree_rules.svg`` (needs matplotlib). The sets are read from the
folder in TREEFORM_DATA (``../shared/data`` unless given).
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from contree import OPTIMA, ROOT, load

RULES: dict[str, tuple[str, ...]] = {
    "none": (),
    "neighbourhood": ("neighbourhood",),
    "shrinking": ("shrinking",),
    "sub-interval": ("subinterval",),
    "the paper's three": ("neighbourhood", "shrinking", "subinterval"),
    "and features": ("neighbourhood", "shrinking", "subinterval", "features"),
}


def count(name: str, depth: int, limit: float) -> dict[str, int | str]:
    """Evaluated splits per selection of rules; the error must be the same under all."""
    from treeform.data import Dataset
    from treeform.dp import ConTree, EngineRun, TreeTask

    data = Dataset.from_user(*load(name))
    line: dict[str, int | str] = {"set": name}
    errors = set()
    for title, rules in RULES.items():
        outcome = ConTree(prune=rules).run(data, TreeTask(depth=depth), EngineRun(time_limit=limit))
        line[title] = outcome.counters["splits"] if outcome.proved else "-"
        if outcome.proved:
            errors.add(outcome.upper)
    if len(errors) > 1:
        raise SystemExit(f"{name}: the rules disagree, {sorted(map(str, errors))}")
    return line


def as_markdown(lines: list[dict[str, int | str]]) -> str:
    head = ["set", *RULES]
    rows = [head, ["---"] * len(head), *([str(line[key]) for key in head] for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def plot(lines: list[dict[str, int | str]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4))
    width = 0.8 / len(RULES)
    for k, title in enumerate(RULES):
        heights = [line[title] if isinstance(line[title], int) else 0 for line in lines]
        axes.bar([i + k * width for i in range(len(lines))], heights, width, label=title)
    axes.set(yscale="log", ylabel="splits evaluated", xticks=range(len(lines)))
    axes.set_xticklabels([str(line["set"]) for line in lines], rotation=45)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--sets", default=",".join(OPTIMA))
    parser.add_argument("--limit", type=float, default=60.0, help="wall seconds per run")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "out")
    parser.add_argument("--plot", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    lines = [count(name, asked.depth, asked.limit) for name in asked.sets.split(",")]
    with (asked.out / "contree_rules.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["set", *RULES])
        writer.writeheader()
        writer.writerows(lines)
    (asked.out / "contree_rules.md").write_text(as_markdown(lines), encoding="utf-8")
    if asked.plot:
        plot(lines, asked.out / "contree_rules.svg")
    print(as_markdown(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
