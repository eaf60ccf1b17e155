"""Wrong predictions on unseen rows of trees whose depth and complexity penalty are chosen by cross-validation.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=SEED)``), five folds of them
choose. Both choose among depths one to eight; CART among twelve penalties of its pruning path too, treeform among up
to twelve of each depth. Each run is a process of its own; treeform's time limit counts the seconds of the processor.
"""

from __future__ import annotations

from functools import partial
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.other_sets import CONFIRMED, GROUPS, TRIED
from benchmarks.deep.programs import limits_count_work
from benchmarks.deep.sets import family_of, named_sets, split_rows
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

DEPTHS = (1, 2, 3, 4, 5, 6, 7, 8)
SHARES = np.linspace(0, 1, 12)
"""Of CART's pruning path, where its penalties are taken."""
TEN = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt"
OF_CART = ["CART", "CART depth", "CART leaves", "CART seconds"]
MEASURED = ["rows", *OF_CART, "wrong", "depth", "leaves", "seconds"]


def run(name: str, seed: int, seconds: float, cart: dict[str, Any] | None) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    import treeform as tf

    limits_count_work()
    X, X_test, y, y_test = split_rows(name, seed)
    found = cart or _cart(X, X_test, y, y_test)
    began = user_seconds()
    limit = seconds or float(found["CART seconds"])
    ours = tf.OptimalTreeClassifierCV(DEPTHS, cv=5, time_limit=limit).fit(X, y)
    return found | {
        "rows": len(y_test),
        "wrong": int((ours.predict(X_test) != y_test).sum()),
        "depth": ours.best_params_["max_depth"],
        "leaves": int(ours.graph_.n_leaves),
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


def _cart(X: Any, X_test: Any, y: Any, y_test: Any) -> dict[str, Any]:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    began = user_seconds()
    path = DecisionTreeClassifier(max_depth=DEPTHS[-1], random_state=0).cost_complexity_pruning_path(X, y)
    penalties = np.quantile(path.ccp_alphas[:-1] if len(path.ccp_alphas) > 1 else [0.0], SHARES)
    grid = {"max_depth": DEPTHS, "ccp_alpha": np.unique(penalties.clip(0))}
    found = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=5).fit(X, y)
    return {
        "CART": int((found.predict(X_test) != y_test).sum()),
        "CART depth": found.best_params_["max_depth"],
        "CART leaves": int(found.best_estimator_.get_n_leaves()),
        "CART seconds": round(user_seconds() - began, 2),
    }


@table("deep_unseen")
def unseen(rows: Rows) -> Shown:
    """Sets: means over the seeds."""
    lines, ratios = _by_set(rows)
    return Shown("Unseen rows, depth and penalty by cross-validation", lines, _note("All", ratios))


@table("deep_unseen_as_long")
def as_long(rows: Rows) -> Shown:
    """Sets: means over the seeds, where both have the same time."""
    lines, ratios = _by_set(rows)
    return Shown("Unseen rows, cross-validation for as long as CART's", lines, _note("All", ratios))


@table("deep_unseen_others")
def on_others(rows: Rows) -> Shown:
    """The other sets: means over the seeds."""
    lines, ratios = _by_set(rows)
    halves = {"Tried": TRIED, "Confirmed": CONFIRMED}
    found = {part: {name: ratios[name] for name in names if name in ratios} for part, names in halves.items()}
    notes = [_note(part, of_part) for part, of_part in {"All": ratios, **found}.items() if of_part]
    return Shown("Unseen rows of other sets, depth and penalty by cross-validation", lines, " ".join(notes))


def _by_set(rows: Rows) -> tuple[pd.DataFrame, dict[str, tuple[float, float]]]:
    """A line for each set, and the ratios of wrong predictions and of leaves to CART's."""
    lines, ratios = [], {}
    for name, case in rows.frame[rows.frame["wrong"] != ""].groupby("set", sort=False):
        each = case[MEASURED].astype(float)
        mean, total = each.mean(), each.sum()
        ratio = (total["wrong"] + 1) / (total["CART"] + 1)
        ratios[str(name)] = ratio, mean["leaves"] / mean["CART leaves"]
        seeds = (each["wrong"] + 1) / (each["CART"] + 1)
        lines.append(
            {
                "set": name,
                "seeds": len(case),
                "CART, % wrong": f"{100 * total['CART'] / total['rows']:.2f}",
                "treeform, % wrong": f"{100 * total['wrong'] / total['rows']:.2f}",
                "ratio": f"{ratio:.2f}",
                "of seeds": f"{seeds.min():.2f} to {seeds.max():.2f}",
                "CART, leaves": f"{mean['CART leaves']:.1f}",
                "leaves": f"{mean['leaves']:.1f}",
                "CART, s": f"{mean['CART seconds']:.1f}",
                "s": f"{mean['seconds']:.1f}",
            }
        )
    return pd.DataFrame(lines), ratios


def _note(part: str, ratios: dict[str, tuple[float, float]]) -> str:
    wrong, leaves = map(np.array, zip(*ratios.values(), strict=True))
    error = float(np.log(wrong).std(ddof=min(1, len(wrong) - 1)) / np.sqrt(len(wrong)))
    return (
        f"{part} ({len(wrong)} sets): geometric mean of (wrong + 1) in parts of CART's {geometric_mean(wrong):.3f} "
        f"(one standard error over sets: {100 * error:.1f} per cent), of leaves {geometric_mean(leaves):.3f}; fewer "
        f"wrong on {(wrong < 1).sum()} sets, more on {(wrong > 1).sum()}."
    )


def main(sets: str = TEN, seeds: str = "0", seconds: float = 5) -> None:
    """Measure; ``--sets others`` are 55 sets of other folders, ``--seconds 0`` is the time that CART took.

    CART's figures are measured once for all limits.
    """
    names = named_sets(",".join(GROUPS.get(sets, [sets])))
    ten = all(family_of(name) == "continuous" for name in names)
    name = "deep_unseen_others" if not ten else "deep_unseen" if seconds else "deep_unseen_as_long"
    figures = Figures(name, ("set", "seed", "limit"))
    for seed in map(str, map(int, seeds.split(","))):
        for one in names:
            known = [row for row in figures if (row["set"], row["seed"]) == (one, seed) and row["CART"]]
            cart = {column: known[0][column] for column in OF_CART} if known else None
            figures.measure(
                partial(_alone, one, int(seed), seconds, cart),
                set=one, seed=seed, limit=f"{seconds:g}" if seconds else "CART",
            )  # fmt: skip


def _alone(name: str, seed: int, seconds: float, cart: dict[str, Any] | None) -> dict[str, Any]:
    done = in_child(run, name, seed, seconds, cart, seconds=5 * seconds + 100)
    return done.answer or {"wrong": "", "CART": "", "how": done.how}
