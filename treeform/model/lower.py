"""From statements (relations, clauses, cardinalities) to stored rows: normalised, trivial rows gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from treeform.errors import ModelError
from treeform.model import csr
from treeform.model.array import FALSE, TRUE, Owner
from treeform.model.blocks import Block, Cardinality, Clause, Linear, negated_per_row
from treeform.model.csr import Rows
from treeform.model.expr import Expr, Relation, common_owner
from treeform.model.specs import NO_LIMIT, CardinalitySpec, ClauseSpec, SignedClauses
from treeform.utils.arrays import Bools, Floats, Ints

_stop: ContextVar[Callable[[], bool] | None] = ContextVar("treeform_stop_building", default=None)


class BuildingStopped(Exception):
    """Raised when a model grows after its stop function returned True."""


@contextmanager
def stop_building_when(stop: Callable[[], bool]) -> Iterator[None]:
    """Within this context, and this thread, a model that grows calls ``stop`` first."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def look_up() -> None:
    """Raise `BuildingStopped` when it is time."""
    stop = _stop.get()
    if stop is not None and stop():
        raise BuildingStopped


#: Rows without variables hold if they do up to the rounding of sums of decimal constants.
TRIVIAL_TOLERANCE = 1e-9


def to_block(
    thing: Relation | ClauseSpec | SignedClauses | CardinalitySpec, name: str, when: Expr | None, owner: Owner
) -> Block:
    """The rows of a statement.

    Raises ModelError if ``when`` does not fit the rows, an entry is not a literal, or a coefficient overflowed.
    """
    if isinstance(thing, SignedClauses):
        literals = None if when is None else _enforcement(when, thing.shape, name)
        return _signed(thing, name, literals, owner)
    if isinstance(thing, Relation):
        expr = thing.expr
    else:
        expr = thing.owner if isinstance(thing, ClauseSpec) else thing.literals
    model = common_owner(expr) if when is None else common_owner(expr, when)
    if model is not None and model is not owner:
        raise ModelError(
            f"rows {name!r} use variables of another model: {expr.describe()}",
            cause="the model that stores rows has to own their variables",
            fix="declare the variables on the model that the rows are added to",
        )
    literals = None if when is None else _enforcement(when, thing.shape, name)
    if isinstance(thing, Relation):
        return _linear(thing, name, literals)
    if isinstance(thing, ClauseSpec):
        clauses = thing.literals.reshape(int(np.prod(thing.shape)), thing.literals.shape[-1])
        return clause_block(name, clauses, literals)
    return _cardinality(thing, name, literals)


def _enforcement(when: Expr, shape: tuple[int, ...], name: str) -> Ints:
    try:
        same = np.broadcast_shapes(when.shape, shape) == shape
    except ValueError:
        same = False
    if not same:
        raise ModelError(
            f"shape mismatch: when={when.describe()} against the rows {name!r} {shape}",
            cause="there is one enforcement literal for each row, broadcast to the shape of the rows",
            fix="give a literal, or an array of literals that broadcasts to the shape of the rows",
        )
    return when.broadcast_to(shape).as_literals().ravel()


def _linear(relation: Relation, name: str, when: Ints | None) -> Linear:
    rows = csr.coalesce(relation.expr.rows)
    if not bool(np.isfinite(rows.vals).all()):
        bad = int(np.argmin(np.isfinite(rows.vals)))
        raise ModelError(
            f"a coefficient of rows {name!r} is {rows.vals[bad]}",
            cause="the product or sum of coefficients left the range of float64",
            fix="scale the coefficients",
        )
    bound = 0.0 - relation.expr.const
    infinite = np.full(len(bound), np.inf)
    lo = -infinite if relation.sense == "<=" else bound
    hi = infinite if relation.sense == ">=" else bound
    return linear_block(name, rows, lo, hi, when)


def linear_block(name: str, rows: Rows, lo: Floats, hi: Floats, when: Ints | None) -> Linear:
    """A block of coalesced rows without those that hold trivially; false ones stay, empty."""
    keep = (rows.lengths > 0) | (lo > TRIVIAL_TOLERANCE) | (hi < -TRIVIAL_TOLERANCE)
    keep &= (lo > -np.inf) | (hi < np.inf)
    block = Linear(name, *rows, lo, hi, when)
    return block if bool(keep.all()) else block.take(np.flatnonzero(keep))


def _signed(spec: SignedClauses, name: str, when: Ints | None, owner: Owner) -> Clause:
    codes = spec.literals.reshape(-1, spec.literals.shape[-1])
    binary = np.concatenate([[True], owner.is_binary])  # literal 0 is padding
    size = np.abs(codes)
    known = bool(size.size == 0 or size.max() < len(binary))
    if not known or not bool(binary[size].all()):
        raise ModelError(
            f"clauses {name!r} hold a number that is no literal of this model",
            cause="a literal is +-(col + 1) of a 0/1 column",
            fix="take literals from Expr.as_literals()",
        )
    return clause_block(name, codes, when)


def clause_block(name: str, codes: Ints, when: Ints | None = None) -> Clause:
    """Clauses from a rectangle of literal codes ``(rows, width)``; ``FALSE`` pads short rows."""
    width = codes.shape[1]
    # Sorted by column, equal literals are neighbours, and so are a literal and its negation.
    key = np.sort(np.where(codes < 0, -2 * codes + 1, np.where(codes == TRUE, TRUE, 2 * codes)), axis=1)
    satisfied: Bools = (key == TRUE).any(axis=1)
    real = (key != FALSE) & (key != TRUE)
    if width > 1:
        pair = real[:, 1:] & real[:, :-1] & (key[:, 1:] // 2 == key[:, :-1] // 2)
        equal = key[:, 1:] == key[:, :-1]
        satisfied |= (pair & ~equal).any(axis=1)
        real[:, 1:] &= ~(pair & equal)
    if bool(satisfied.any()):
        key, real = key[~satisfied], real[~satisfied]
        when = None if when is None else when[~satisfied]
    half = key[real] // 2
    lits = np.where(key[real] % 2 == 1, -half, half)
    return Clause(name, csr.indptr_of(real.sum(axis=1)), lits, when)


def _cardinality(spec: CardinalitySpec, name: str, when: Ints | None) -> Cardinality | Linear:
    count = spec.literals.sum(axis=-1)
    rows = count.rows
    lo = spec.lo.ravel() - count.const.astype(np.int64)
    hi = np.where(spec.hi.ravel() == NO_LIMIT, NO_LIMIT, spec.hi.ravel() - count.const.astype(np.int64))
    if not bool((np.abs(rows.vals) == 1.0).all()):
        # A literal that occurs twice counts twice: these rows have coefficients.
        upper = np.where(hi == NO_LIMIT, np.inf, hi)
        return linear_block(name, rows, _lower_or_none(lo, rows), upper, when)
    lits = (rows.cols + 1) * rows.vals.astype(np.int64)
    # count = sum(true literals) - (number of negated ones) + const
    negated = negated_per_row(rows.indptr, lits)
    lo = lo + negated
    hi = np.where(hi == NO_LIMIT, NO_LIMIT, hi + negated)
    return cardinality_block(name, rows.indptr, lits, lo, hi, when)


def _lower_or_none(lo: Ints, rows: Rows) -> Floats:
    """Lower limits, minus infinity where no assignment of 0/1 columns goes below."""
    least = np.zeros(rows.n_rows)
    np.add.at(least, rows.row_of_term(), np.minimum(rows.vals, 0.0))
    return np.where(lo <= least, -np.inf, lo)


def cardinality_block(
    name: str, indptr: Ints, lits: Ints, lo: Ints, hi: Ints, when: Ints | None
) -> Cardinality:
    """A block without rows that always hold; rows that never do become empty with ``lo = 1``, ``hi = 0``."""
    length = np.diff(indptr)
    lo, hi = np.maximum(lo, 0), np.minimum(hi, length)
    never = (lo > hi) | (lo > length) | (hi < 0)
    keep = never | (lo > 0) | (hi < length)
    rows = Rows(indptr, lits, np.ones(len(lits)))
    if bool(never.any()):
        rows = csr.keep_terms(rows, np.repeat(~never, length))
        lo, hi = np.where(never, 1, lo), np.where(never, 0, hi)
    if not bool(keep.all()):
        index = np.flatnonzero(keep)
        rows, lo, hi = csr.take_rows(rows, index), lo[index], hi[index]
        when = None if when is None else when[index]
    return Cardinality(name, rows.indptr, rows.cols, lo, hi, when)
