"""Codes of equal things, made without sorting."""

from __future__ import annotations

import numpy as np
import pytest

from treeform.data.views import bit_rows, dense, first_of_each, with_columns


@pytest.mark.parametrize("span", [1, 3, 1000, 2**40])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_codes_are_those_of_unique(n, span):
    rng = np.random.default_rng(n)
    column = rng.integers(-span, span, n)
    before, size = dense(rng.integers(0, 50, n), 50)
    codes, count = with_columns(before, size, [column])
    pairs = np.stack([before, column], axis=1)
    _, first, wanted = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    assert codes.tolist() == wanted.reshape(-1).tolist()
    assert count == len(first)
    assert first_of_each(codes, count).tolist() == first.tolist()


@pytest.mark.parametrize("spans", [(), (1, 1), (2, 3, 2), (300, 2, 900, 5), (2**50, 3, 2**50), (3, 200, 3)])
def test_codes_of_several_columns_are_those_of_unique(spans):
    rng = np.random.default_rng(len(spans))
    columns = [rng.integers(-span, span, 400) for span in spans] + [np.full(400, 7)]
    columns += [rng.integers(-128, 128, 400).astype(np.int8), rng.integers(0, 9, 400).astype(np.uint64)]
    first = rng.integers(0, 4, 400)
    codes, count = with_columns(first, 4, columns)
    rows = np.stack([first, *(column.astype(np.int64) for column in columns)], axis=1)
    distinct, wanted = np.unique(rows, axis=0, return_inverse=True)
    assert codes.tolist() == wanted.reshape(-1).tolist()
    assert count == len(distinct)


def test_codes_far_apart_are_sorted():
    codes, count = dense(np.array([2**50, 3, 2**50, 0]), 2**51)
    assert (codes.tolist(), count) == ([2, 1, 2, 0], 3)


@pytest.mark.parametrize(("n", "width"), [(0, 3), (4, 0), (1, 1), (60, 5), (60, 16), (300, 40), (200, 130)])
def test_rows_of_bits_are_numbered_in_their_order(n, width):
    bits = np.random.default_rng(width).integers(0, 2, (n, width)).astype(np.uint8)
    codes, count = bit_rows(bits)
    wanted = [tuple(row) for row in bits.tolist()]
    order = sorted(set(wanted))
    assert codes.tolist() == [order.index(row) for row in wanted]
    assert count == len(order)
