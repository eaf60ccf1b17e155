"""Which runs a study has: every combination of the values of its settings, on every fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.errors import SpecError
from treeform.utils.arrays import Ints
from treeform.utils.text import count_of

MOST_RUNS = 100_000


def combinations(
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Iterable[Any]]],
) -> list[dict[str, Any]]:
    """The settings of every run, in the order given; the last setting of a grid changes first.

    scikit-learn's ParameterGrid sorts settings by their names. Several grids are taken one after the other, as there.

    Raises SpecError if a setting has no values, or there are too many combinations.
    """
    parts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(parts, Iterable) or isinstance(parts, str):
        raise _no_grid(grid)
    parts = list(parts)
    if not all(isinstance(part, Mapping) for part in parts):
        raise _no_grid(grid)
    out: list[dict[str, Any]] = []
    for part in parts:
        names = list(part)
        values = [_values(name, part[name]) for name in names]
        out += [dict(zip(names, each, strict=True)) for each in product(*values)]
        if len(out) > MOST_RUNS:
            raise SpecError(
                f"the grid has more than {MOST_RUNS:,} combinations",
                cause="every combination is a solve of its own",
                fix="give fewer values, or several smaller grids",
            )
    return out


def _no_grid(grid: Any) -> SpecError:
    return SpecError(
        f"{grid!r} is no grid",
        cause="a grid is a mapping from settings to lists of values, or several of them",
        fix='write for example {"shape": [tf.Tree(2), tf.Tree(3)]}',
    )


def _values(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SpecError(
            f"the setting {name!r} of the grid has the value {values!r}",
            cause="a grid gives a list of values for each setting",
            fix=f"write {name!r}: [{values!r}]",
        )
    listed = list(values)
    if not listed:
        raise SpecError(
            f"the setting {name!r} of the grid has no values", fix="give at least one, or leave it out"
        )
    return listed


@dataclass(frozen=True)
class Fold:
    """Rows of one fold."""

    seed: int | None = None
    """What the folds were drawn with; None where they were given, or nothing is held out."""
    number: int | None = None
    """From 0; None where nothing is held out."""
    train: Ints | None = None
    test: Ints | None = None
    """(m,) int64 or None: positions among the rows; None: all of them are learnt from, and none is held out."""


def some_rows(fold: Fold, count: int, n_samples: int) -> Fold:
    """The fold with so many of its rows to learn from, drawn with its seed; fewer are among those that more are.

    Without rows held out, the others are.

    Raises SpecError if there are not so many.
    """
    rows = np.arange(n_samples) if fold.train is None else fold.train
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= len(rows):
        raise SpecError(
            f"rows={count!r} cannot be learnt from",
            cause=f"there are {len(rows)} rows to draw from",
            fix="give whole numbers from 1 to that",
        )
    drawn = np.random.default_rng(fold.seed or 0).permutation(rows)
    others = np.sort(drawn[count:]) if count < len(rows) else None
    test = others if fold.test is None else fold.test
    return Fold(fold.seed, fold.number, np.sort(drawn[:count]), test)


def folds_of(
    cv: Any, seeds: Sequence[int], y: NDArray[Any], stratified: bool = True, drawn_anyway: bool = False
) -> list[Fold]:
    """The folds of a study.

    ``cv`` is None, a number of folds that are drawn anew with each seed, a splitter of scikit-learn, or pairs (train,
    test) of rows; these two are used as they are. With ``stratified`` each fold has its share of every label. With
    ``drawn_anyway`` there is a fold for each seed even without ``cv``.

    Raises SpecError if ``cv`` is none of these, or no fold can be drawn.
    """
    if len(seeds) == 0:
        raise SpecError(
            "there is no seed", cause="folds and rows are drawn with each of the seeds", fix="give seeds=[0]"
        )
    if cv is None:
        return [Fold(seed) for seed in seeds] if drawn_anyway else [Fold()]
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    kind = StratifiedKFold if stratified else KFold
    drawn: list[tuple[int | None, Any]]
    try:
        if isinstance(cv, Integral):
            drawn = [(seed, kind(int(cv), shuffle=True, random_state=seed)) for seed in seeds]
        else:
            drawn = [(None, check_cv(cv))]
    except ValueError as error:
        raise SpecError(
            f"cv={cv!r} makes no folds",
            cause="it is a number of folds, at least 2, a splitter of scikit-learn, or a list of (train, test) rows",
            fix="use for example cv=5, or leave it out to learn from all rows",
        ) from error
    nothing = np.zeros((len(y), 1))
    try:
        return [
            Fold(seed, number, np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64))
            for seed, splitter in drawn
            for number, (train, test) in enumerate(splitter.split(nothing, y))
        ]
    except ValueError as error:
        raise SpecError(
            f"cv={cv!r} does not fit these {count_of(len(y), 'row')}",
            cause=str(error).splitlines()[0],
            fix="use fewer folds",
        ) from error
