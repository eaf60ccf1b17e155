"""Figures 2 and 3 of the paper: accuracy of diagrams, optimal trees and CART on the test part.

The runs are those of ``benchmarks odd runs --name odd_accuracy``; CART is fitted here. Draws ``odd_figure2.svg`` and
``odd_figure3.svg`` (needs matplotlib).
"""

from __future__ import annotations

from functools import partial
from statistics import mean, quantiles
from typing import Any

import numpy as np

from benchmarks.harness import SESSION, Figures, Rows, Shown, table
from benchmarks.harness.figures import Row
from benchmarks.odd.protocol import ALPHAS, KEY, SPLITS, calibrated, read_parts
from benchmarks.odd.runs import limits_of, share

COLOURS = {"ODD": "#0b6e99", "optimal tree": "#c25b12", "CART": "#7a7a7a"}
CART_GRID = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.05)
Accuracies = dict[str, dict[str, list[float]]]


def cart(name: str, seed: int) -> dict[str, float]:
    """Test accuracy of CART of depth 4, its pruning chosen on the validation part."""
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    parts = read_parts(name, seed)
    (train, *_) = parts
    words = [c for c in train[0].columns if train[0][c].dtype == object]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(train[0][words])

    def matrix(X: Any) -> np.ndarray:
        return np.hstack([X.drop(columns=words).to_numpy(float), encoder.transform(X[words]).toarray()])

    made = [
        DecisionTreeClassifier(max_depth=4, ccp_alpha=alpha, random_state=0).fit(matrix(train[0]), train[1])
        for alpha in CART_GRID
    ]
    best = max(made, key=lambda m: (m.score(matrix(parts[1][0]), parts[1][1]), -m.tree_.node_count))
    return {"test": float(best.score(matrix(parts[2][0]), parts[2][1]))}


def accuracies(rows: list[Row]) -> Accuracies:
    """splits -> model -> test accuracies, of the instances that all models have."""
    out: Accuracies = {}
    trees = {(r["set"], r["seed"]): float(r["test"]) for r in rows if r["skeleton"] == "CART"}
    for splits in SPLITS:
        own = [r for r in rows if r["splits"] == splits and r["test"]]
        models = {
            "ODD": [r for r in own if r["skeleton"] != "tree"],
            "optimal tree": [r for r in own if r["skeleton"] == "tree"],
        }
        found = {
            model: {(r["set"], r["seed"]): float(r["test"]) for r in calibrated(of)}
            for model, of in models.items()
        } | {"CART": trees}
        common = sorted(set.intersection(*(set(of) for of in found.values())))
        out[splits] = {model: [of[key] for key in common] for model, of in found.items()}
    return out


@table("odd_accuracy")
def accuracy(rows: Rows) -> Shown:
    """Quartiles and means."""
    every = rows.frame.to_dict("records")
    lines = []
    for splits, models in accuracies(every).items():
        for model, values in models.items():
            if not values:  # no instance has all models yet
                continue
            numbers = [min(values), *quantiles(values, n=4, method="inclusive"), mean(values)]
            lines.append([splits, model, len(values), *(f"{v:.3f}" for v in numbers)])
    runs = [r for r in every if r["skeleton"] != "CART"]
    names, skeletons, seeds = (", ".join(sorted({r[c] for r in runs})) for c in ("set", "skeleton", "seed"))
    shares = {
        splits: share([r for r in runs if r["splits"] == splits], "proved", percent=True) for splits in SPLITS
    }
    note = (
        f"Sets: {names}. Skeletons {skeletons}, alpha in {{{', '.join(ALPHAS)}}}, both chosen on "
        "the validation part (ties: fewer tests); CART has depth 4 and its pruning chosen the same way. Seeds "
        f"{seeds}; {limits_of(runs)}, one thread. "
        f"Proved optimal: {', '.join(f'{of} of the {splits} runs' for splits, of in shares.items())}."
    )
    columns = ["splits", "model", "instances", "least", "first quartile", "median", "third quartile", "mean"]
    return Shown.of("Accuracy on the test part", columns, lines, note)


def pyplot() -> Any:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "odd", "svg.fonttype": "none", "font.size": 9})
    return plt


def box(found: Accuracies) -> None:
    """Figure 2: distributions of test accuracy."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.8), sharey=True, layout="constrained")
    for axis, (splits, models) in zip(axes, found.items(), strict=True):
        boxes = axis.boxplot(list(models.values()), patch_artist=True, widths=0.55)
        axis.set_xticks(range(1, len(models) + 1), list(models))
        for patch, model in zip(boxes["boxes"], models, strict=True):
            patch.set(facecolor=COLOURS[model], alpha=0.55)
        for line in boxes["medians"]:
            line.set_color("black")
        axis.set_title(splits)
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("accuracy on the test part")
    figure.savefig(SESSION.folder / "odd_figure2.svg", metadata={"Date": None})
    plt.close(figure)


def sorted_runs(found: Accuracies) -> None:
    """Figure 3: accuracy of every instance in ascending order."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.8), sharey=True, layout="constrained")
    for axis, (splits, models) in zip(axes, found.items(), strict=True):
        for model, of in models.items():
            axis.plot(
                range(1, len(of) + 1),
                sorted(of),
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
    figure.savefig(SESSION.folder / "odd_figure3.svg", metadata={"Date": None})
    plt.close(figure)


def main(name: str = "odd_accuracy") -> None:
    """Fit CART for the sets and seeds of the runs, and draw."""
    figures = Figures(name, KEY)
    for row in list(figures):
        if row["skeleton"] != "CART":
            key = {**dict.fromkeys(KEY, ""), "set": row["set"], "seed": row["seed"], "skeleton": "CART"}
            figures.measure(partial(cart, row["set"], int(row["seed"])), **key)
    found = accuracies(list(figures))
    box(found)
    sorted_runs(found)
