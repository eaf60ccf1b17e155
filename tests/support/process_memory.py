"""The memory of this process, where the system tells it."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

STATM = Path("/proc/self/statm")
needs_proc = pytest.mark.skipif(not STATM.exists(), reason="reads /proc")


def resident() -> int:
    """Bytes of it in main memory."""
    return int(STATM.read_text().split()[1]) * resource.getpagesize()
