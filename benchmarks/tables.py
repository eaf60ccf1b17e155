"""Writing a benchmark's table as CSV, as Markdown, and as a part for a page of the documentation.

Machine, date and command stand above every table. A page shows one with ``.. include:: ../benchmarks/<name>.inc``.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import shlex
import sys
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "benchmarks"


def machine() -> str:
    """Processor, cores and Python, in one line."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def write(name: str, title: str, header: list[str], rows: list[list[Any]], note: str = "") -> None:
    """Print the table, and write ``docs/benchmarks/<name>.csv``, ``.md`` and ``.inc`` (reStructuredText)."""
    DOCS.mkdir(parents=True, exist_ok=True)
    with (DOCS / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    command = "python benchmarks/" + " ".join(map(shlex.quote, [Path(sys.argv[0]).name, *sys.argv[1:]]))
    origin = f"{machine()}, {date.today()}"
    text = markdown(title, f"`{command}` · {origin}", header, rows, note)
    (DOCS / f"{name}.md").write_text(text)
    (DOCS / f"{name}.inc").write_text(part(title, f"``{command}``, {origin}.", header, rows, note))
    print(text)


def markdown(title: str, origin: str, header: list[str], rows: list[list[Any]], note: str) -> str:
    """The table for a reader of the repository."""
    lines = [f"# {title}", "", origin, ""]
    lines += ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join([*lines, "", *([note, ""] if note else [])])


def part(title: str, origin: str, header: list[str], rows: list[list[Any]], note: str) -> str:
    """The table for the documentation: a ``csv-table``, the note below it."""
    body = io.StringIO()
    csv.writer(body, lineterminator="\n").writerows([header, *rows])
    lines = [f".. csv-table:: {title}", "   :header-rows: 1", ""]
    lines += ["   " + row for row in body.getvalue().splitlines()]
    return "\n".join([*lines, "", origin, "", *([note, ""] if note else [])])
