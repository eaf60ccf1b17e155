"""Tables that are too large to read are refused before they are parsed."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from treeform.errors import DataError
from treeform.utils.machine import physical_memory

LONGEST_LINE = 1 << 26
"""Bytes of a line."""
MOST_COLUMNS = 100_000
MEMORY_PER_BYTE = 3
"""Bytes of memory that a byte of CSV needs at least while it is read: the text, its cells, and the columns."""


def check_columns(path: Path, columns: int) -> None:
    """Refuse a table of more than `MOST_COLUMNS`. Raises DataError."""
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{path} has {columns:,} columns",
            cause=f"treeform reads tables of at most {MOST_COLUMNS:,}",
            fix="keep the columns that tests may use",
        )


def check_size(path: Path, stream: IO[bytes]) -> None:
    """Refuse what would fill the memory before it is parsed: one endless line, or more than the machine holds.

    Raises DataError.

    Parameters
    ----------
    path : Path
        For messages.
    stream : binary file
        The text, unpacked.
    """
    total, line, here = 0, 0, physical_memory()
    while chunk := stream.read(1 << 20):
        total += len(chunk)
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        longest = line + (first if first >= 0 else len(chunk))
        line = line + len(chunk) if first < 0 else len(chunk) - 1 - last
        if longest > LONGEST_LINE:
            raise DataError(
                f"{path} is not a regular table",
                cause=f"it has a line of more than {LONGEST_LINE >> 20} megabytes",
                fix="write one line for each row",
            )
        if total * MEMORY_PER_BYTE > here:
            raise DataError(
                f"{path} is too large for this machine",
                cause=f"it holds more than {total >> 20} megabytes of text, which take at least "
                f"{MEMORY_PER_BYTE} times as much to read, and the machine has {here >> 20} megabytes",
                fix="leave out columns, draw some of its rows, or use a machine with more memory",
            )
