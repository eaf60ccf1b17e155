"""A file of figures: measured rows as CSV, with the facts of their sessions above.

::

    # command: python -m benchmarks totals growth
    # machine: AMD EPYC, 2 cores, Python 3.11.7
    # date: 2026-11-21 to 2026-11-22
    # seconds: 600
    varied,value,errors,...

A row is found by its key columns. Each is added with one write as soon as it is measured, so that a stopped session
goes on where it was; a row that was cut in the middle is dropped. Cells are text: what is measured is not rounded or
formatted when it is read again.

A file that became large is kept as ``NAME.csv.gz`` (``gzip -9n NAME.csv``), and is unpacked when a row is added.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.harness.session import SESSION, command, machine

Row = dict[str, str]
csv.field_size_limit(2**31 - 1)  # a trace is a long cell


def text(value: Any) -> str:
    """A cell."""
    return "" if value is None else str(value)


def _with(known: str, new: str, between: str) -> str:
    """A list with one more item, unless it has it."""
    items = [item for item in known.split(between) if item]
    return between.join(items if new in items else [*items, new])


def packed(path: Path) -> Path:
    """``NAME.csv.gz`` of ``NAME.csv``."""
    return path.with_name(f"{path.name}.gz")


def exists(path: Path) -> bool:
    """Whether there is such a file of figures, packed or not."""
    return path.exists() or packed(path).exists()


def read(path: Path) -> tuple[dict[str, str], list[str], list[Row]]:
    """Facts, columns and rows of a file, packed or not; all empty when there is none."""
    if path.exists():
        whole = path.read_text(encoding="utf-8")
    else:
        whole = gzip.decompress(packed(path).read_bytes()).decode() if exists(path) else ""
    lines = whole[: whole.rfind("\n") + 1].splitlines(keepends=True)
    head = next((i for i, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    facts = dict(line[2:].rstrip("\n").split(": ", 1) for line in lines[:head])
    table = csv.DictReader(lines[head:])
    rows = list(table)
    return facts, list(table.fieldnames or ()), rows


class Figures:
    """The rows of ``NAME.csv``, to look up and to add to.

    Parameters
    ----------
    name : str
        Of the file in the session's folder.
    key : iterable of str
        Columns that tell rows apart.
    raw : bool
        Whether it is a file that only tables' files are made from, too large for the documentation.
    **facts
        Of the measurement, such as its time limit: the same for all rows. A file with other facts is refused, since
        its rows could not stand beside new ones.
    """

    def __init__(self, name: str, key: Iterable[str], raw: bool = False, **facts: Any) -> None:
        self.path, self.key = (SESSION.raw if raw else SESSION.folder) / f"{name}.csv", tuple(key)
        SESSION.opened.append(name)
        self.facts, self.columns, rows = read(self.path)
        self.rows = {self.key_of(row): row for row in rows}
        self.fresh: set[tuple[str, ...]] = set()
        for fact, value in facts.items():
            if self.rows and self.facts.setdefault(fact, text(value)) != text(value) and not SESSION.again:
                raise SystemExit(
                    f"{self.path} has {fact} {self.facts[fact]}, not {value}: add --again, or move it"
                )
        head = dict.fromkeys(("command", "machine", "date"), "")
        self.facts = head | self.facts | {fact: text(value) for fact, value in facts.items()}

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows.values())

    def find(self, **key: Any) -> Row | None:
        """The row of that key; with ``--again`` only when this session has measured it."""
        wanted = self.key_of(key)
        return None if SESSION.again and wanted not in self.fresh else self.rows.get(wanted)

    def measure(self, work: Callable[[], Mapping[str, Any]], **key: Any) -> Row:
        """The row of that key, measured by `work` and added where it is missing.

        Raises
        ------
        SessionOver
            If it is missing and the session's time is over.
        """
        known = self.find(**key)
        if known is not None:
            return known
        SESSION.check_time()
        self.add({**key, **work()})
        return self.rows[self.key_of(key)]

    def add(self, *rows: Mapping[str, Any]) -> None:
        """Write rows down; one of the same key is replaced."""
        new = [{column: text(value) for column, value in row.items()} for row in rows]
        self.fresh.update(map(self.key_of, new))
        new = [row for row in new if row != self.rows.get(self.key_of(row))]
        if not new:
            return
        facts = self._facts()
        whole = facts != self.facts or not self.path.exists()
        self.facts = facts
        for row in new:
            whole |= self.key_of(row) in self.rows or not set(row) <= set(self.columns)
            self.columns += [column for column in row if column not in self.columns]
            self.rows[self.key_of(row)] = row
            print(", ".join(f"{column} {value[:80]}" for column, value in row.items() if value), flush=True)
        if whole or not self._complete():
            self._rewrite()
            return
        with self.path.open("ab", buffering=0) as file:
            file.write(self._lines(new).encode())

    def key_of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The cells of the key columns."""
        return tuple(text(row.get(column)) for column in self.key)

    def _facts(self) -> dict[str, str]:
        """The facts with those of this session."""
        old = self.facts
        days = sorted({*filter(None, old.get("date", "").split(" to ")), str(date.today())})
        return old | {
            "command": _with(old.get("command", ""), command(), " && "),
            "machine": _with(old.get("machine", ""), machine(), "; "),
            "date": days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        }

    def _complete(self) -> bool:
        return self.path.read_bytes()[-1:] == b"\n"

    def _lines(self, rows: Iterable[Mapping[str, str]], head: bool = False) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, restval="", lineterminator="\n")
        if head:
            writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def _rewrite(self) -> None:
        """The whole file, put in the place of the old one in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        facts = "".join(f"# {fact}: {value}\n" for fact, value in self.facts.items())
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        aside.write_text(facts + self._lines(self.rows.values(), head=True), encoding="utf-8")
        os.replace(aside, self.path)
        packed(self.path).unlink(missing_ok=True)
