"""What the search for regression trees is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treeform.engines.task import TreeTask

BOUND_UNIT = Fraction(1, 2**20)
"""Bounds of the search are multiples of it, in units of the loss."""
BestValue = Callable[[NDArray[np.int64]], Fraction]


@dataclass(frozen=True, kw_only=True)
class RegressionTask(TreeTask):
    """The part of a regression problem that the engine solves: the tree of least loss within limits."""

    loss: Literal["squared", "absolute"] = "squared"
    price: Fraction = Fraction(0)
    """Price of a test, in units of the loss: of the target's unit (squared) times the unit of weight."""
    best_value: BestValue = field(default=lambda rows: Fraction(0))
    """The exact value that costs a set of rows least."""
    best_loss: BestValue = field(default=lambda rows: Fraction(0))
    """The loss of that value, in units of the loss."""
    columns: NDArray[np.int64] | None = None
    """(C,) int64 array or None: encoded features that tests may read; None for all."""
