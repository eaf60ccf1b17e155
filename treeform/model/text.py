"""Expressions as text, and the errors of their arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treeform.errors import ModelError
from treeform.utils.arrays import Floats, Ints


def affine_text(cols: Ints, vals: Floats, const: float, name: Callable[[int], str], limit: int) -> str:
    """Terms and a constant as text, at most ``limit`` terms."""
    parts: list[str] = []
    for col, val in zip(cols[:limit].tolist(), vals[:limit].tolist(), strict=True):
        size = "" if abs(val) == 1 else f"{abs(val):g} "
        sign = "-" if val < 0 else "+"
        parts.append(f"{sign} {size}{name(col)}")
    if len(cols) > limit:
        parts.append(f"+ ... ({len(cols) - limit} more)")
    if const or not parts:
        parts.append(f"{'-' if const < 0 else '+'} {abs(const):g}")
    text = " ".join(parts)
    return text[2:] if text.startswith("+ ") else "-" + text[2:] if text.startswith("- ") else text


def matmul_error(expr: str, other: Any) -> ModelError:
    """A product whose shapes do not fit."""
    return ModelError(
        f"shape mismatch in @: {expr} with an array of shape {np.shape(other)}",
        cause="@ sums over the last axis of the left and the first of the right factor; 1 or 2 axes each",
        fix="transpose one of them, or index with None to add an axis",
    )


def shape_error(a: str, b: str) -> ModelError:
    """Two operands that do not broadcast."""
    return ModelError(
        f"shape mismatch: {a} against {b}",
        cause="shapes broadcast as in NumPy: from the last axis on, lengths are equal or one of them is 1",
        fix="add an axis with e[:, None], or transpose one side",
    )


def strict_error(sign: str) -> ModelError:
    """A comparison that solvers do not know."""
    return ModelError(
        f"'{sign}' between expressions is not possible",
        cause="rows state <=, >= or ==; the feasible set of a solver is closed",
        fix="for integers write a <= b - 1 in place of a < b",
    )
