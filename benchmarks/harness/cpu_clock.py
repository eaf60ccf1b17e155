"""A clock for programs that limit themselves by elapsed time: it runs with the CPU time of their process."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.harness.session import SESSION

SOURCE = Path(__file__).with_name("cpu_clock.c")


def on_cpu_time() -> dict[str, str]:
    """What the environment of a process needs; Linux with a C compiler."""
    library = SESSION.raw / "cpu_clock.so"
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        library.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    return {"LD_PRELOAD": str(library)}
