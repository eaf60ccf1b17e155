"""How messages name rows and settings: as in Python, or as on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

SHOWN = 6


@dataclass(frozen=True)
class RowNames:
    """How messages name rows."""

    word: str
    """What a row is called."""
    first: int
    """The number of the first one."""
    note: str
    """What a reader has to know about the numbers; empty where the word is enough."""
    options: bool = False
    """Whether settings are options of a command rather than arguments of a function."""


IN_PYTHON = RowNames("row", 0, " (rows are counted from 0)")
BY_LINE = RowNames("data line", 1, "", options=True)
_names = IN_PYTHON


@contextmanager
def rows_named(names: RowNames) -> Iterator[None]:
    """Within the block, messages name rows like this, in every thread."""
    global _names
    before, _names = _names, names
    try:
        yield
    finally:
        _names = before


def row_text(at: int) -> str:
    """A row by its position in the user's table: ``row 3``, or ``data line 4``."""
    return f"{_names.word} {at + _names.first}"


def numbers_text(many: Iterable[int], shown: int = SHOWN) -> str:
    """The numbers of several rows, the first few of them: ``0, 2, 5``."""
    numbers = [str(at + _names.first) for at in many]
    return ", ".join(numbers[:shown]) + (", ..." if len(numbers) > shown else "")


def rows_text(many: Sequence[int] | Any) -> str:
    """Several rows: ``row 3``, or ``2 rows, the first of them row 3``."""
    first = row_text(int(many[0]))
    return first if len(many) == 1 else f"{len(many)} {_names.word}s, the first of them {first}"


def rows_note() -> str:
    """What to add to a message that names rows."""
    return _names.note


def rows_word() -> str:
    """What a row is called."""
    return _names.word


def worded(python: str, text: str) -> str:
    """What to write, in the syntax of Python or of the command line, where requirements and objectives are text."""
    return text if _names.options else python


_IN_PYTHON = {"categorical": "categorical_features"}
"""Settings whose option on the command line is shorter."""


def setting_text(name: str, value: Any, several: bool = False) -> str:
    """A setting for a message: ``dates='days'``, ``categorical_features=['branch']``, or ``--dates days``."""
    if _names.options:
        return f"--{name.replace('_', '-')} {shlex.quote(str(value))}"
    name = _IN_PYTHON.get(name, name)
    return f"{name}=[{value!r}]" if several else f"{name}={value!r}"
