"""Arrays by what they hold: names of types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Mask = Bools
"""The rows, or other things, that are chosen."""
