"""Certificates about targets that were rounded because they have too many digits."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd

import treeform as tf
from treeform.certify.certificate import sign


def test_a_grid_that_was_chosen_is_verified_and_another_one_is_not():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.normal(size=1200), "y": rng.normal(size=1200)})
    problem = tf.Problem(table, "y", shape=tf.Tree(1)).minimize(tf.SquaredError(grid="auto"))
    certificate = problem.solve().certificate()
    assert "too many digits" in certificate["data"]["quantity"]["rounded"]
    assert tf.check(certificate, table).ok
    edited = copy.deepcopy(certificate)
    edited["data"]["quantity"]["rounded"] = "the targets are rounded to multiples of 1"
    assert not tf.check(sign({k: v for k, v in edited.items() if k != "digest"}), table).ok
