"""What the machine has."""

from __future__ import annotations

import os


def physical_memory() -> int:
    """Bytes of memory of this machine; a large number where the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62
