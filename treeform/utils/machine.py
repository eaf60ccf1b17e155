"""What the machine has, within the limits that a container sets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")
LIMITS = ("memory.max", "memory.limit_in_bytes")
"""Files of a control group of version 2 and of version 1."""


@cache
def physical_memory() -> int:
    """Bytes of memory that this process may have: those of the machine, or fewer in a container with a limit."""
    return min([int(psutil.virtual_memory().total), *_limits(CGROUPS, Path("/proc/self/cgroup"))])


def _limits(root: Path, membership: Path) -> list[int]:
    """The limits on the memory of the control groups that this process is in, and of those above them.

    Control groups are mounted at ``root``; those of memory are in a folder ``memory`` of it in version 1.
    ``membership`` is ``/proc/self/cgroup``, with lines ``number:controllers:path``.
    """
    found = set()
    for line in _read(membership).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / "memory" if controllers else root
        inner = base / path.lstrip("/")
        found.update([inner, *(folder for folder in inner.parents if folder.is_relative_to(base)), base])
    texts = (_read(folder / name).strip() for folder in found for name in LIMITS)
    return [int(text) for text in texts if text.isdecimal() and int(text)]  # "max" stands for none


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
