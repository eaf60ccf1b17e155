"""How large coefficients of objectives may become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.model import Expr

LARGEST = 2**53
"""Solvers hold objectives in float64: whole numbers up to here are exact."""


def require_exact_sum(term: object, part: Expr, factor: int, scale: int, terms: int) -> None:
    """Refuse one of so many terms whose coefficients, times a factor, add up beyond what float64 holds exactly.

    Raises
    ------
    SpecError
    """
    largest = factor * float(np.abs(part.rows.vals).sum() + np.abs(part.const).sum())
    if largest > LARGEST / terms:
        raise SpecError(
            f"the term {term} reaches {largest:.3g} in the objective's whole units of 1/{scale}",
            cause="solvers hold objectives in float64, exact up to 2**53",
            fix="round sample weights and coefficients to fewer digits",
        )
