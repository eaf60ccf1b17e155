"""Models as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from treeform.model.blocks import Block, Cardinality, Linear
from treeform.model.columns import VariableBlock
from treeform.model.expr import Squares
from treeform.model.text import affine_text
from treeform.utils.arrays import Floats, Ints
from treeform.utils.text import count_of

_LIMIT = 12


class Goal(Protocol):
    """What is shown of an objective: its terms, its constant and its squares."""

    @property
    def cols(self) -> Ints: ...
    @property
    def vals(self) -> Floats: ...
    @property
    def const(self) -> float: ...
    @property
    def squares(self) -> Squares: ...


class Shown(Protocol):
    """What is read of a model."""

    @property
    def variables(self) -> Sequence[VariableBlock]: ...
    @property
    def blocks(self) -> Sequence[Block]: ...
    @property
    def objective(self) -> Goal: ...
    def column_name(self, col: int, /) -> str: ...


def stats(model: Shown) -> str:
    """A table of variables and blocks with their sizes."""
    lines = [repr(model)]
    for var in model.variables:
        size = f"{_shape(var.shape):>14} {var.size:>10}"
        lines.append(f"  variable  {var.name:<40} {var.kind.value:<20} {size}")
    for block in model.blocks:
        lines.append(
            f"  rows      {block.name:<40} {block.form!s:<20} {block.n_rows:>14} {block.n_terms:>10} terms"
        )
    return "\n".join(lines)


def text(model: Shown, rows_per_block: int) -> str:
    """The model written out, the first rows of each block."""
    goal = model.objective
    aim = affine_text(goal.cols, goal.vals, goal.const, model.column_name, _LIMIT)
    if len(goal.squares):
        squares = goal.squares
        aim += " + " + affine_text(
            squares.cols, squares.vals, 0.0, lambda c: f"{model.column_name(c)}^2", _LIMIT
        )
    lines = [f"minimize {aim}", "subject to"]
    for block in model.blocks:
        lines.append(f"  {block.name}: {count_of(block.n_rows, f'{block.form} row')}")
        lines += [f"    {row_text(model, block, r)}" for r in range(min(rows_per_block, block.n_rows))]
        if block.n_rows > rows_per_block:
            lines.append(f"    ... {block.n_rows - rows_per_block} more")
    return "\n".join(lines)


def row_text(model: Shown, block: Block, row: int) -> str:
    """One row written out with the names of its variables."""
    terms = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
    if isinstance(block, Linear):
        body = affine_text(block.cols[terms], block.vals[terms], 0.0, model.column_name, _LIMIT)
        out = _between(float(block.lo[row]), body, float(block.hi[row]))
    else:
        lits = block.lits[terms]
        names = [literal_text(model, int(lit)) for lit in lits[:_LIMIT]]
        if len(lits) > _LIMIT:
            names.append(f"... ({len(lits) - _LIMIT} more)")
        if isinstance(block, Cardinality):
            out = f"{block.lo[row]} <= count({', '.join(names)}) <= {block.hi[row]}"
        else:
            out = " or ".join(names) if names else "false"
    return out if block.when is None else f"{literal_text(model, int(block.when[row]))} implies {out}"


def literal_text(model: Shown, lit: int) -> str:
    """``x[0]`` or ``~x[0]``."""
    return ("~" if lit < 0 else "") + model.column_name(abs(lit) - 1)


def _between(lo: float, body: str, hi: float) -> str:
    if lo == hi:
        return f"{body} == {hi:g}"
    left = "" if lo == -np.inf else f"{lo:g} <= "
    return left + body + ("" if hi == np.inf else f" <= {hi:g}")


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "1"
