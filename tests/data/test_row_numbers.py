"""The numbers of all rows, which table and points share."""

from __future__ import annotations

import numpy as np

import treeform as tf


def test_a_table_of_different_rows_and_its_points_have_one_array_of_row_numbers() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0])
    data = tf.Problem(X, y, shape=tf.Tree(1)).data
    assert data.points.index is data.kept_rows
    assert data.kept_rows.tolist() == list(range(6)) and not data.kept_rows.flags.writeable
    some = tf.Problem(X, y, sample_weight=[1, 0, 1, 1, 0, 2], shape=tf.Tree(1)).data
    assert some.kept_rows.tolist() == [0, 2, 3, 5] and some.points.index.tolist() == [0, 1, 2, 3]
    merged = tf.Problem(X[[0, 0, 1, 2, 3, 4]], y, shape=tf.Tree(1)).data
    assert merged.points.index.tolist() == [0, 0, 1, 2, 3, 4] and merged.kept_rows.tolist() == list(range(6))
