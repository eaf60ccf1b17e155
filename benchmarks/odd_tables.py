"""Table 1 and Figures 2 and 3 of Florio et al. (AAAI 2023) from the rows of ``treeform bench odd``.

Run: python benchmarks/odd_tables.py table ROWS.csv "COMMAND THAT MADE THEM"
     python benchmarks/odd_tables.py figures ROWS.csv

CART is fitted here; it reads the tables in the folder ``odd`` of TREEFORM_DATA (default ../shared/data).
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, quantiles

import matplotlib as mpl
import numpy as np
import tables
from matplotlib import pyplot as plt
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from treeform.bench.odd import ALPHAS, SKELETONS, SPLITS, read_parts, read_rows
from treeform.bench.tables import calibrated

Row = dict[str, str]
COLOURS = {"ODD": "#0b6e99", "optimal tree": "#c25b12", "CART": "#7a7a7a"}
DATA = Path(os.environ.get("TREEFORM_DATA", tables.HERE.parent.parent / "shared" / "data")) / "odd"
CART_GRID = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.05)


def share(rows: list[Row], column: str) -> str:
    """``3/5``: of the runs that say, how many."""
    known = [row for row in rows if row[column]]
    return f"{sum(int(row[column]) for row in known)}/{len(known)}" if known else ""


def percent(rows: list[Row], column: str) -> str:
    known = [row for row in rows if row[column]]
    return f"{100 * sum(int(row[column]) for row in known) / len(known):.0f} %" if known else ""


def table(rows: list[Row], origin: str) -> None:
    """Runs proved optimal and improved over Step 1, by skeleton and alpha, for each kind of splits."""
    rows = [row for row in rows if row["proved"]]
    header = ["splits", "skeleton", *(f"proved, alpha {a}" for a in ALPHAS), "proved", "improved"]
    lines: list[list[str]] = []
    for splits in (*SPLITS, "all"):
        for skeleton in (*SKELETONS, "all") if splits != "all" else ("all",):
            own = [r for r in rows if splits in ("all", r["splits"]) and skeleton in ("all", r["skeleton"])]
            if not own:
                continue
            cells = [share([r for r in own if r["alpha"] == a], "proved") for a in ALPHAS]
            total = share(own, "proved")
            if skeleton == "all":
                total += f" ({percent(own, 'proved')})"
            improved = percent(own, "improved") if skeleton == "all" else share(own, "improved")
            lines.append([splits, skeleton, *cells, total, improved])
    cpu = {tuple(r[c] for c in ("set", "splits", "skeleton")): float(r["cpu"]) for r in rows}
    limit = max(float(r["limit"]) for r in rows)
    note = (
        f"{len(rows)} runs of {len(cpu)} ladders. Rows made by ``{origin}``. One thread, {limit:g} "
        "seconds of wall clock for a ladder and all its alphas; the ladders "
        f"took {mean(cpu.values()):.0f} seconds of user CPU time each on average, at most {max(cpu.values()):.0f}."
    )
    tables.write("odd_table1", "Table 1: runs proved optimal, and improved over Step 1", header, lines, note)


# -- Figures 2 and 3 ---------------------------------------------------------------------------------


def cart(folder: Path, name: str, seed: int) -> float:
    """Test accuracy of CART of depth 4, its pruning chosen on the validation part."""
    parts = read_parts(folder, name, seed)
    (train, *_) = parts
    words = [c for c in train[0].columns if train[0][c].dtype == object]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(train[0][words])

    def matrix(X):
        return np.hstack([X.drop(columns=words).to_numpy(float), encoder.transform(X[words]).toarray()])

    made = [
        DecisionTreeClassifier(max_depth=4, ccp_alpha=alpha, random_state=0).fit(matrix(train[0]), train[1])
        for alpha in CART_GRID
    ]
    best = max(made, key=lambda m: (m.score(matrix(parts[1][0]), parts[1][1]), -m.tree_.node_count))
    return float(best.score(matrix(parts[2][0]), parts[2][1]))


def accuracies(rows: list[Row], folder: Path) -> dict[str, dict[str, dict[tuple[str, str], float]]]:
    """splits -> model -> (set, seed) -> test accuracy, for the instances that all models have."""
    out: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    for splits in SPLITS:
        own = [r for r in rows if r["splits"] == splits and r["test"]]
        models = {
            "ODD": [r for r in own if r["skeleton"] != "tree"],
            "optimal tree": [r for r in own if r["skeleton"] == "tree"],
        }
        found = {
            model: {(r["set"], r["seed"]): float(r["test"]) for r in calibrated(of)}
            for model, of in models.items()
        }
        common = set.intersection(*(set(of) for of in found.values()))
        found = {model: {key: of[key] for key in sorted(common)} for model, of in found.items()}
        found["CART"] = {key: cart(folder, key[0], int(key[1])) for key in sorted(common)}
        out[splits] = found
    return out


def figures(rows: list[Row], folder: Path) -> None:
    mpl.rcParams.update({"svg.hashsalt": "odd", "svg.fonttype": "none", "font.size": 9})
    found = accuracies(rows, folder)
    box(found)
    sorted_runs(found)
    lines = []
    for splits, models in found.items():
        for model, of in models.items():
            values = list(of.values())
            low, middle, high = quantiles(values, n=4, method="inclusive")
            numbers = [min(values), low, middle, high, mean(values)]
            lines.append([splits, model, len(values), *(f"{v:.3f}" for v in numbers)])
    names = sorted({r["set"] for r in rows})
    skeletons = sorted({r["skeleton"] for r in rows})
    proved = defaultdict(list)
    for r in rows:
        proved[r["splits"]].append(r["proved"] == "1")
    shares = ", ".join(f"{100 * mean(of):.0f} % of the {splits} runs" for splits, of in proved.items())
    note = (
        f"Sets: {', '.join(names)}. Skeletons {', '.join(skeletons)}, alpha in {{{', '.join(ALPHAS)}}}, both chosen on "
        "the validation part (ties: fewer tests); CART has depth 4 and its pruning chosen the same way. Seeds "
        f"{', '.join(sorted({r['seed'] for r in rows}))}; {float(rows[0]['limit']):g} s for a ladder, one thread. "
        f"Proved optimal: {shares}."
    )
    header = ["splits", "model", "instances", "least", "first quartile", "median", "third quartile", "mean"]
    tables.write("odd_accuracy", "Accuracy on the test part", header, lines, note)


def box(found) -> None:
    """Figure 2: distributions of test accuracy."""
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.8), sharey=True, layout="constrained")
    for axis, (splits, models) in zip(axes, found.items(), strict=True):
        boxes = axis.boxplot([list(of.values()) for of in models.values()], patch_artist=True, widths=0.55)
        axis.set_xticks(range(1, len(models) + 1), list(models))
        for patch, model in zip(boxes["boxes"], models, strict=True):
            patch.set(facecolor=COLOURS[model], alpha=0.55)
        for line in boxes["medians"]:
            line.set_color("black")
        axis.set_title(splits)
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("accuracy on the test part")
    figure.savefig(tables.DOCS / "odd_figure2.svg", metadata={"Date": None})
    plt.close(figure)


def sorted_runs(found) -> None:
    """Figure 3: accuracy of every instance in ascending order."""
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.8), sharey=True, layout="constrained")
    for axis, (splits, models) in zip(axes, found.items(), strict=True):
        for model, of in models.items():
            axis.plot(
                range(1, len(of) + 1),
                sorted(of.values()),
                "o-",
                ms=3,
                lw=1.2,
                label=model,
                color=COLOURS[model],
            )
        axis.set_title(splits)
        axis.set_xlabel("instances, ascending")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("accuracy on the test part")
    axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(tables.DOCS / "odd_figure3.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    if sys.argv[1:2] == ["table"] and len(sys.argv) == 4:
        table(read_rows(Path(sys.argv[2])), sys.argv[3])
    elif sys.argv[1:2] == ["figures"] and len(sys.argv) == 3:
        figures(read_rows(Path(sys.argv[2])), DATA)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
