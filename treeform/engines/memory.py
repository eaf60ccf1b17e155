"""What an engine may use of the machine's memory, and what is said when that does not suffice.

The limit counts by how much the process grows, from the beginning of the engine's run: what Python prepares, and what
the native core holds. Memory that the process had freed before and fills again counts, too, where the allocator can be
asked (``native/common/memory.hpp``). The core looks every few milliseconds (``native/common/stoppable.hpp``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treeform.engines.task import EngineOutcome
from treeform.utils.machine import physical_memory

if TYPE_CHECKING:
    from treeform._core import Growth
    from treeform.data import Dataset

LEAST = 2**25
"""Bytes below which a limit is not looked at: less is lost among what the allocator keeps."""


class Room:
    """The memory of one run.

    Parameters
    ----------
    limit : int or None
        Bytes; with None there is none, but a table has to fit into three quarters of the machine's memory.
    """

    def __init__(self, limit: int | None) -> None:
        from treeform import _core

        self.limit = limit
        self._growth: Growth | None = None if limit is None else _core.Growth()

    def left(self) -> int:
        """By how many bytes the process may still grow; 0 for any number of them."""
        if self.limit is None or self._growth is None:
            return 0
        grown: int = self._growth.bytes()
        return max(1, self.limit - grown)

    def has(self, table: int) -> bool:
        """Whether a table of that many bytes fits."""
        most = physical_memory() * 3 // 4 if self.limit is None else max(self.left(), LEAST)
        return table <= most


def bytes_of_tests(data: Dataset) -> int:
    """Bytes of the table that says for each sample and each test on which side it is, while it is made."""
    cells = 2 * data.n_samples * data.n_features
    if cells * data.n_samples < LEAST or data.points.are_bits:
        return cells
    return 2 * data.n_tests * data.points.n_points


def refused(table: int) -> EngineOutcome:
    """The answer of an engine whose table would not fit: nothing was searched."""
    return EngineOutcome(None, None, 0, False, "memory", 0.0, {}, (note_of(table),))


def notes_of(native: dict[str, Any]) -> tuple[str, ...]:
    """What the core says about a table that it refused."""
    return (note_of(int(native["refused"])),) if native.get("refused") else ()


def note_of(table: int) -> str:
    """A table's size in words."""
    size = f"{table / 1e9:.1f} GB" if table >= 1e9 else f"{max(1, table // 10**6)} MB"
    return f"a table of about {size} was not built: memory_limit, or the machine, has no room for it"
