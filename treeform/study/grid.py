"""The grid of a study: every combination of the values of its settings, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from treeform.errors import SpecError

MOST_RUNS = 100_000


def combinations(
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Iterable[Any]]],
) -> list[dict[str, Any]]:
    """The settings of every run, in the order given; the last setting of a grid changes first.

    scikit-learn's ParameterGrid sorts settings by their names.

    Raises SpecError if a setting has no values, or there are too many combinations.

    Parameters
    ----------
    grid : mapping from setting to values, or a sequence of mappings
        Several grids are taken one after the other, as in scikit-learn.
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
