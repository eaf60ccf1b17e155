"""What holds for one call of ``python -m benchmarks``: where figures go, and how long it may take."""

from __future__ import annotations

import math
import os
import platform
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "benchmarks"


class SessionOver(Exception):
    """The minutes of the session are over; what is measured is kept."""


def commit() -> str:
    """The commit of the tree that is measured; empty where there is none."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@dataclass
class Session:
    """Options that every benchmark has.

    Attributes
    ----------
    folder, raw : Path
        Where the files of figures are, and those that they are made from.
    again : bool
        Whether rows of earlier sessions are measured again.
    until : float
        Moment of the monotonic clock after which no run begins.
    opened : list of str
        Names of the files of figures that a benchmark has opened.
    """

    folder: Path = DOCS
    raw: Path = ROOT / "build" / "bench"
    again: bool = False
    until: float = math.inf
    opened: list[str] = field(default_factory=list)

    def over(self) -> bool:
        """Whether no run may begin any more."""
        return time.monotonic() > self.until

    def check_time(self) -> None:
        """Raise `SessionOver` when no run may begin any more."""
        if self.over():
            raise SessionOver

    def installed(self, before: str) -> Path:
        """The folder of an earlier version, from which a process imports it; says how to install it there."""
        folder = self.raw / before
        if not (folder / "treeform").exists():
            raise SystemExit(f"first: pip install --no-deps --target {folder} git+file://{ROOT}@{before}")
        return folder


SESSION = Session()


def command() -> str:
    """The command line of this session, without the options of `Session`."""
    words = sys.argv[1:]
    while words and words[0].startswith("--"):
        words = words[1 if words[0] == "--again" or "=" in words[0] else 2 :]
    return shlex.join(["python", "-m", "benchmarks", *words])


def machine() -> str:
    """Processor, cores and Python, in one line."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"
