"""Codes of equal things, made without sorting."""

from __future__ import annotations

import numpy as np
import pytest

from treeform.data.codes import bit_rows, dense, first_of_each, with_column


@pytest.mark.parametrize("span", [1, 3, 1000, 2**40])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_codes_are_those_of_unique(n, span):
    rng = np.random.default_rng(n)
    column = rng.integers(-span, span, n)
    before, size = dense(rng.integers(0, 50, n), 50)
    codes, count = with_column(before, size, column)
    pairs = np.stack([before, column], axis=1)
    _, first, wanted = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    assert codes.tolist() == wanted.reshape(-1).tolist()
    assert count == len(first)
    assert first_of_each(codes, count).tolist() == first.tolist()


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
