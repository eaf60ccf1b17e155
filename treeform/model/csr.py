"""Row-compressed arrays of terms: the few primitives on which expressions and blocks stand.

A family of ``n`` affine rows is held as ``indptr (n + 1,)``, ``cols (nnz,)`` and ``vals (nnz,)``: the terms
of row ``r`` are at ``indptr[r]:indptr[r + 1]``. Nothing here loops over rows in Python.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeform.utils.arrays import Bools, Floats, Ints


class Rows(NamedTuple):
    """Terms of a family of rows: ``indptr (n + 1,)``, ``cols (nnz,)``, ``vals (nnz,)``."""

    indptr: Ints
    cols: Ints
    vals: Floats

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Ints:
        """Number of terms of each row."""
        return np.diff(self.indptr)

    def row_of_term(self) -> Ints:
        """The row of each term, ``(nnz,)``, sorted."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), self.lengths)


def indptr_of(lengths: NDArray[Any]) -> Ints:
    """Row starts from row lengths."""
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


def positions(starts: NDArray[Any], lengths: NDArray[Any]) -> Ints:
    """The concatenated ranges ``starts[r] + 0 .. lengths[r] - 1``."""
    ends = indptr_of(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1], dtype=np.int64)


def uniform_length(rows: Rows) -> int | None:
    """The common number of terms when all rows have equally many, else None."""
    n = rows.n_rows
    if n == 0 or len(rows.cols) % n:
        return None
    width = len(rows.cols) // n
    return width if bool((rows.lengths == width).all()) else None


def take_rows(rows: Rows, index: Ints) -> Rows:
    """Rows ``index`` (flat, entries may repeat), in that order."""
    width = uniform_length(rows)
    if width is not None:
        # Equally long rows are a rectangle, and a rectangle is gathered far faster.
        indptr = np.arange(len(index) + 1, dtype=np.int64) * width
        box = (rows.n_rows, width)
        return Rows(indptr, rows.cols.reshape(box)[index].ravel(), rows.vals.reshape(box)[index].ravel())
    lengths = rows.lengths[index]
    where = positions(rows.indptr[index], lengths)
    return Rows(indptr_of(lengths), rows.cols[where], rows.vals[where])


def keep_terms(rows: Rows, keep: Bools) -> Rows:
    """Only the terms marked in ``keep``; rows stay, perhaps empty."""
    before = indptr_of(keep)
    return Rows(before[rows.indptr], rows.cols[keep], rows.vals[keep])


def add_rows(a: Rows, b: Rows) -> Rows:
    """Row-wise sum; equal columns stay apart until :func:`coalesce`."""
    if not len(a.cols):
        return b
    if not len(b.cols):
        return a
    nnz_a, nnz_b = len(a.cols), len(b.cols)
    at_a = np.repeat(b.indptr[:-1], a.lengths) + np.arange(nnz_a, dtype=np.int64)
    at_b = np.repeat(a.indptr[1:], b.lengths) + np.arange(nnz_b, dtype=np.int64)
    cols = np.empty(nnz_a + nnz_b, dtype=np.int64)
    vals = np.empty(nnz_a + nnz_b, dtype=np.float64)
    cols[at_a], cols[at_b] = a.cols, b.cols
    vals[at_a], vals[at_b] = a.vals, b.vals
    return Rows(a.indptr + b.indptr, cols, vals)


def concatenate_rows(parts: list[Rows]) -> Rows:
    """Families of rows, one after the other."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(p.cols) for p in parts)])
    starts = [p.indptr[:-1] + off for p, off in zip(parts, offsets[:-1], strict=True)]
    indptr = np.concatenate([*starts, offsets[-1:]]).astype(np.int64)
    return Rows(indptr, np.concatenate([p.cols for p in parts]), np.concatenate([p.vals for p in parts]))


def coalesce(rows: Rows) -> Rows:
    """Sort each row by column, add up equal columns and drop zero coefficients."""
    if len(rows.cols) and int(rows.lengths.max()) > 1:
        rows = _sum_duplicates(rows)
    nonzero = rows.vals != 0.0
    return rows if bool(nonzero.all()) else keep_terms(rows, nonzero)


def _sum_duplicates(rows: Rows) -> Rows:
    matrix = as_matrix(rows)
    if matrix.has_canonical_format:
        return rows
    # The sum is done in place, and the arrays may be shared with other expressions.
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return from_matrix(matrix)


def width_of(rows: Rows) -> int:
    """One more than the largest column (0 without terms)."""
    return int(rows.cols.max()) + 1 if len(rows.cols) else 0


def at_point(rows: Rows, point: Floats) -> Floats:
    """The sum of each row at a point, without scipy: a process that checks a solver's points does not import it."""
    sums = np.bincount(rows.row_of_term(), rows.vals * point[rows.cols], rows.n_rows)
    return sums.astype(np.float64, copy=False)


def as_matrix(rows: Rows, n_cols: int | None = None) -> Any:
    """The rows as a ``scipy.sparse.csr_array`` of ``n_cols`` columns (default: as many as occur)."""
    from scipy import sparse  # a tenth of a second that every process would spend

    shape = (rows.n_rows, width_of(rows) if n_cols is None else n_cols)
    return sparse.csr_array((rows.vals, rows.cols, rows.indptr), shape=shape)


def from_matrix(matrix: Any) -> Rows:
    """The rows of a ``csr_array``."""
    return Rows(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64, copy=False),
    )


def multiply(a: Any, rows: Rows, width: int) -> Rows:
    """Product of a constant ``(m, k)`` and ``k * width`` rows seen as a ``(k, width)`` array of rows.

    Row ``(i, q)`` of the result is ``sum_j a[i, j] * rows[j, q]``. One sparse product does it all: entry
    ``(j, q)`` with column ``c`` becomes entry ``q * span + c`` of a single long row ``j``.
    """
    from scipy import sparse

    left = sparse.csr_array(a)
    m, k = left.shape
    if width == 0 or k == 0 or m == 0:
        return Rows(np.zeros(m * width + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    span = max(width_of(rows), 1)
    key = (rows.row_of_term() % width) * span + rows.cols if width > 1 else rows.cols
    # The product keeps a workspace as long as its rows: number only the keys that occur when they are few.
    keys: Ints | None = None
    if span * width > 4 * len(key) + 1024:
        keys, key = np.unique(key, return_inverse=True)
    size = len(keys) if keys is not None else span * width
    right = sparse.csr_array((rows.vals, key, rows.indptr[::width]), shape=(k, max(size, 1)))
    product = left @ right
    product.sort_indices()
    flat = from_matrix(product)
    key = flat.cols if keys is None else keys[flat.cols]
    if width == 1:
        return Rows(flat.indptr, key, flat.vals)
    row = flat.row_of_term() * width + key // span
    return Rows(indptr_of(np.bincount(row, minlength=m * width)), key % span, flat.vals)
