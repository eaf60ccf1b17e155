"""Tables of the documentation, made from files of figures when it is built.

A benchmark's module states a table as a function of the rows: title, columns and the sentence below it are written
there and nowhere else. ``.. benchmark-table:: NAME`` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pandas as pd

import benchmarks
from benchmarks.harness.figures import Figures, exists, read
from benchmarks.harness.session import DOCS

Frame = pd.DataFrame


@dataclass(frozen=True)
class Rows:
    """The rows of a file, cells as text, and the facts above them."""

    frame: Frame
    facts: dict[str, str]

    @property
    def commits(self) -> str:
        """The commits of treeform that were measured, from the column ``version``; empty without one."""
        found = self.frame.get("version", pd.Series(dtype=str)).str.extract(r"(?:^|^\d\S+ )([0-9a-f]{7,8})$")[0]
        return ", ".join(found.dropna().unique())

    @classmethod
    def of(cls, figures: Figures) -> Rows:
        """The rows of a file that is being measured."""
        return cls(pd.DataFrame(list(figures), columns=pd.Index(figures.columns)).fillna(""), figures.facts)


@dataclass(frozen=True)
class Shown:
    """A table as it is shown.

    Attributes
    ----------
    title, note : str
        Above and below it, as reStructuredText.
    frame : Frame, or columns and rows
        The cells.
    """

    title: str
    frame: Frame
    note: str = ""

    @classmethod
    def of(cls, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str = "") -> Shown:
        """From columns and rows; None is an empty cell. Two columns may have the same title."""
        cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
        return cls(title, pd.DataFrame(cells, columns=pd.Index(list(columns))), note)


@dataclass(frozen=True)
class Table:
    """A stated table: its name, its file of figures, and the function that makes it."""

    name: str
    source: str
    make: Callable[[Rows], Shown]

    def shown(self, folder: Path = DOCS) -> tuple[Shown, dict[str, str]]:
        """The table from the file as it is now, and the facts of its measurement."""
        path = folder / f"{self.source}.csv"
        if not exists(path):
            raise FileNotFoundError(f"{path}: not measured yet")
        facts, columns, cells = read(path)
        rows = Rows(pd.DataFrame(cells, columns=pd.Index(columns)), facts)
        return self.make(rows), facts | {"commits": rows.commits}


TABLES: dict[str, Table] = {}


def table(name: str, source: str = "") -> Callable[[Callable[[Rows], Shown]], Callable[[Rows], Shown]]:
    """State a table; `source` is its file of figures, where that is not named as the table is."""

    def state(make: Callable[[Rows], Shown]) -> Callable[[Rows], Shown]:
        TABLES[name] = Table(name, source or name, make)
        return make

    return state


def plain_table(name: str, title: str, note: Callable[[Rows], str], source: str = "") -> None:
    """State a table that shows the rows as they are."""
    TABLES[name] = Table(name, source or name, lambda rows: Shown(title, rows.frame, note(rows)))


def modules() -> Iterator[tuple[str, str, Any]]:
    """(subject, name, module) of every benchmark: what has a function ``main`` in a folder of a subject."""
    for found in walk_packages(benchmarks.__path__, "benchmarks."):
        _, subject, *rest = found.name.split(".")
        if rest and subject != "harness" and hasattr(module := import_module(found.name), "main"):
            yield subject, rest[-1], module


def all_tables() -> dict[str, Table]:
    """Every stated table by name."""
    for _ in modules():
        pass
    return TABLES
