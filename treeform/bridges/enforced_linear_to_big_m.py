r"""Enforced linear rows as plain ones, with a constant that slackens the row when its literal is false.

For a literal ``w`` (a 0/1 column ``x_c`` or ``1 - x_c``)

.. math:: w = 1 \Rightarrow a x \le h \qquad\text{becomes}\qquad a x + M w \le h + M,
          \quad M = \max(0, \max\{a x : w = 0\} - h)

with the maximum taken over the bounds of the columns: the smallest constant that is valid for the row and
these bounds. Lower sides are the same with signs turned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treeform.bridges.base import ENFORCED_LINEAR, LINEAR, Bridge
from treeform.errors import RouteError
from treeform.model import Block, Linear, Model, csr
from treeform.model.csr import Rows
from treeform.utils.arrays import Bools, Floats

#: Slackening constants of rows with fractions are rounded up to this many decimals.
_DECIMALS = 9


class EnforcedLinearToBigM(Bridge):
    """One plain row for each finite side of an enforced row."""

    source = ENFORCED_LINEAR
    target = frozenset({LINEAR})
    cost = 4.0

    def apply(self, block: Linear, model: Model) -> list[Block]:
        upper = np.flatnonzero(block.hi < np.inf)
        lower = np.flatnonzero(block.lo > -np.inf)
        rows, hi = _at_most(block.take(upper), model)
        turned = block.take(lower)
        turned = replace(turned, vals=-turned.vals, lo=-turned.hi, hi=-turned.lo)
        other, low = _at_most(turned, model)
        other = other._replace(vals=-other.vals)
        stacked = csr.concatenate_rows([rows, other])
        lo = np.concatenate([np.full(len(hi), -np.inf), 0.0 - low])
        return [Linear(block.name, *stacked, lo, np.concatenate([hi, np.full(len(low), np.inf)]))]


def _at_most(block: Linear, model: Model) -> tuple[Rows, Floats]:
    """Plain rows and their upper sides for ``when implies a x <= hi``."""
    assert block.when is not None
    most_true, _ = _largest(block, model, truth=True)
    keep = most_true > block.hi
    if not bool(keep.all()):
        # Where the bounds alone imply the row there is nothing to state.
        block = block.take(np.flatnonzero(keep))
    assert block.when is not None
    most, infinite = _largest(block, model, truth=False)
    if bool(infinite.any()):
        raise _unbounded(block, model, infinite)
    slack, hi = _round_up(block, np.maximum(most - block.hi, 0.0))
    positive = block.when > 0
    sign = np.where(positive, 1.0, -1.0)
    each = np.arange(block.n_rows + 1, dtype=np.int64)
    extra = Rows(each, np.abs(block.when) - 1, slack * sign)
    rows = csr.coalesce(csr.add_rows(block.rows, extra))
    # Where the literal's column was in the row, two decimals were added: round away the error of that sum.
    on_indicator = rows.cols == np.repeat(np.abs(block.when) - 1, rows.lengths)
    vals = np.where(on_indicator, _short(rows.vals), rows.vals)
    return csr.coalesce(rows._replace(vals=vals)), np.where(positive, hi, block.hi)


def _largest(block: Linear, model: Model, truth: bool) -> tuple[Floats, Bools]:
    """The largest ``a x`` given the truth of the enforcement literal, and the terms without limit."""
    assert block.when is not None
    lengths = np.diff(block.indptr)
    value = np.where(block.vals > 0, model.ub[block.cols], model.lb[block.cols])
    on_indicator = block.cols == np.repeat(np.abs(block.when) - 1, lengths)
    value = np.where(on_indicator, np.repeat((block.when > 0) == truth, lengths), value)
    term = block.vals * value
    row = block.rows.row_of_term()
    most = np.asarray(np.bincount(row, weights=term, minlength=block.n_rows), dtype=np.float64)
    return most, np.isinf(term)


def _round_up(block: Linear, slack: Floats) -> tuple[Floats, Floats]:
    """The constant and ``hi`` plus it, as short decimals, so that their sum is exact as written."""
    whole = (slack == np.rint(slack)) & (block.hi == np.rint(block.hi))
    # The allowance of 1e-3 units of the last decimal absorbs the noise of float64 sums of decimals.
    up = np.round(np.ceil(slack * 10.0**_DECIMALS - 1e-3) / 10.0**_DECIMALS, _DECIMALS)
    slack = np.where(whole | (slack > 1e6), slack, up)
    total = block.hi + slack
    return slack, np.where(whole, total, _short(total))


def _short(values: Floats) -> Floats:
    """Sums of short decimals without the noise of float64; large ones have no digits to spare."""
    return np.where(np.abs(values) > 1e3, values, np.round(values, 12))


def _unbounded(block: Linear, model: Model, infinite: Bools) -> RouteError:
    at = int(np.argmax(infinite))
    row = int(np.searchsorted(block.indptr, at, side="right")) - 1
    in_row = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
    cols = block.cols[in_row][infinite[in_row]]
    names = ", ".join(model.column_name(int(c)) for c in cols[:5])
    return RouteError(
        f"the enforced rows {block.name!r} have no finite big-M constant",
        cause=f"{names} can be arbitrarily large in row {row}",
        fix="give these variables finite bounds, or use a solver that takes enforced linear rows",
    )
