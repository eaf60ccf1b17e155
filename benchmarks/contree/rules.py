"""What each pruning rule of ConTree saves: splits evaluated with it alone, and without it.

The measure of the paper's Figure 2: calls of its D2Split, here the counter ``splits``. Depth two has each rule alone,
as there; depth three has all rules but one. The errors must be the same under every selection. Draws
``contree_rules.svg`` (needs matplotlib).
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from benchmarks.contree.compare import SETS, load
from benchmarks.harness import SESSION, Figures, Frame, Rows, Shown, named, table
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.utils.budget import Budget

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
SHOWN = {2: ("each rule alone", ALONE), 3: ("all rules but one", WITHOUT)}


@cache
def dataset(name: str) -> Dataset:
    return Dataset.from_user(*load(name))


def count(name: str, depth: int, rules: tuple[str, ...], limit: float) -> dict[str, Any]:
    """Evaluated splits; a dash when the limit came first."""
    outcome = ConTree(parts=rules).run(dataset(name), TreeTask(depth=depth), EngineRun(Budget(limit)))
    return {"splits": outcome.counters["splits"] if outcome.proved else "-", "errors": outcome.upper}


def lines(frame: Frame, depth: int) -> list[list[str]]:
    """A line for each set, a column for each selection of rules."""
    of = frame[frame["depth"] == str(depth)]
    cells = {(row["set"], row["rules"]): row["splits"] for row in of.to_dict("records")}
    return [[name, *(cells.get((name, rules)) for rules in SHOWN[depth][1])] for name in of["set"].unique()]


def shown(rows: Rows, depth: int) -> Shown:
    """The table of one depth."""
    words, choices = SHOWN[depth]
    note = f"A dash: not finished in {rows.facts['limit']} seconds."
    return Shown.of(
        f"Splits evaluated at depth {depth}, {words}", ["set", *choices], lines(rows.frame, depth), note
    )


table("contree_rules_2", "contree_rules")(partial(shown, depth=2))
table("contree_rules_3", "contree_rules")(partial(shown, depth=3))


def draw(frame: Frame) -> None:
    """Bars, a panel for each depth."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "treeform", "svg.fonttype": "none"})
    figure, panels = plt.subplots(len(SHOWN), 1, figsize=(9, 3.2 * len(SHOWN)), squeeze=False)
    for axes, (depth, (words, choices)) in zip(panels.flat, SHOWN.items(), strict=True):
        rows = lines(frame, depth)
        width = 0.84 / len(choices)
        for k, title in enumerate(choices):
            heights = [0 if row[k + 1] in ("-", None) else int(row[k + 1]) for row in rows]
            axes.bar([i + k * width for i in range(len(rows))], heights, width, label=title)
        axes.set(yscale="log", ylabel="splits evaluated", title=f"depth {depth}, {words}")
        axes.set_xticks([i + 0.42 - width / 2 for i in range(len(rows))], [row[0] for row in rows])
        axes.legend(fontsize="x-small", ncols=3)
        axes.set_ylim(top=axes.get_ylim()[1] * 10)  # room for the legend
    figure.tight_layout()
    figure.savefig(SESSION.folder / "contree_rules.svg", metadata={"Date": None})


def main(sets: str = SETS, limit: float = 30) -> None:
    """Measure and draw; `limit` are wall seconds for each run."""
    figures = Figures("contree_rules", ("set", "depth", "rules"), limit=f"{limit:g}")
    for depth, (_, choices) in SHOWN.items():
        for name in named("continuous", sets):
            of = [
                figures.measure(partial(count, name, depth, rules, limit), set=name, depth=depth, rules=title)
                for title, rules in choices.items()
            ]
            errors = {row.get("errors") for row in of if row["splits"] != "-"}
            if len(errors) > 1:
                raise SystemExit(f"{name}: the rules disagree, {sorted(errors)}")
    draw(Rows.of(figures).frame)
