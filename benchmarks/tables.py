"""Writing a benchmark's table as CSV and as Markdown, with machine, date and command above it."""

from __future__ import annotations

import csv
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
    """Print the table, and write ``docs/benchmarks/<name>.csv`` and ``.md``."""
    DOCS.mkdir(parents=True, exist_ok=True)
    with (DOCS / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    command = "python benchmarks/" + " ".join(map(shlex.quote, [Path(sys.argv[0]).name, *sys.argv[1:]]))
    lines = [f"# {title}", "", f"`{command}` · {machine()} · {date.today()}", ""]
    lines += ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    text = "\n".join([*lines, "", *([note, ""] if note else [])])
    (DOCS / f"{name}.md").write_text(text)
    print(text)
