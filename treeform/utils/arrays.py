"""Arrays by what they hold: names of types, and the numbers of rows."""

from __future__ import annotations

from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Mask = Bools
"""The rows, or other things, that are chosen."""

_numbered: WeakValueDictionary[int, Ints] = WeakValueDictionary()


def row_numbers(n: int) -> Ints:
    """From 0 to ``n - 1``, read-only: one array for all who hold it, since it is as large as a column of the table."""
    rows = _numbered.get(n)
    if rows is None:
        rows = np.arange(n, dtype=np.int64)
        rows.setflags(write=False)
        _numbered[n] = rows
    return rows
