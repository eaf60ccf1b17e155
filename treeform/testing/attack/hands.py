"""How a table is handed over: frames, lists, Series in their own order, polars; and what has to be refused."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pandas as pd

from treeform.testing.attack.plain import Plain

HANDS = ("lists", "named", "labelled", "shuffled", "sorted", "other labels", "polars")
REFUSED = ("other labels",)
"""What cannot be right: labels of rows that the table does not have."""


@dataclass(frozen=True)
class Handed:
    """The arguments of `treeform.Problem`, in one form."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    mask: Any = None


def numbers(texts: tuple[str, ...] | None) -> list[float | int] | None:
    """Weights as a user has them."""
    return None if texts is None else [int(t) if t.isdecimal() else float(t) for t in texts]


def target_of(plain: Plain, of_values: bool) -> list[Any]:
    """Labels, or floats."""
    return [float(t) for t in plain.target] if of_values else list(plain.target)


def hand_over(plain: Plain, hand: str, of_values: bool, rng: random.Random) -> Handed:
    """The table in one of the forms `HANDS`."""
    y, weights = target_of(plain, of_values), numbers(plain.weights)
    columns = {name: list(values) for name, values in plain.columns.items()}
    groups, mask = list(plain.groups), list(plain.mask) or None
    if hand == "polars":
        import polars as pl

        return Handed(
            pl.DataFrame(columns, strict=False),
            pl.Series("y", y),
            None if weights is None else pl.Series("w", list(map(float, weights))),
            pl.Series("groups", groups),
            mask and pl.Series("mask", mask),
        )
    names = [f"r{i}" for i in range(plain.n_rows)]
    frame = pd.DataFrame(columns, index=None if hand in ("lists", "named") else names)
    if hand == "lists":
        return Handed(frame, y, weights, groups, mask)
    if hand == "named":
        return Handed(frame.assign(target=y), "target", weights, groups, mask)

    def series(values: Any, name: str) -> Any:
        if values is None:
            return None
        index = [f"other {i}" for i in range(plain.n_rows)] if hand == "other labels" else names
        made = pd.Series(values, index=index, name=name)
        if hand == "shuffled":
            return made.iloc[rng.sample(range(plain.n_rows), plain.n_rows)]
        return made

    if hand == "sorted":
        order = sorted(range(plain.n_rows), key=lambda i: (str(y[i]), i))
        # as ``y.sort_values()`` gives them
        return Handed(frame, *(s if s is None else s.iloc[order] for s in (
            series(y, "y"), series(weights, "w"), series(groups, "groups"), series(mask, "mask"))))  # fmt: skip
    return Handed(frame, series(y, "y"), series(weights, "w"), series(groups, "groups"), series(mask, "mask"))
