"""A problem of continuous columns whose objective pays for what a model lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

import treeform as tf

SUPPORT, BUDGET = tf.MinSupport(20), tf.FeatureBudget(1)


def problem(*paid: tf.Requirement, rows: int = 400, few_tests: bool = False, price: Any = 5) -> tf.Problem:
    """More tests than engines for tables of few tests are chosen for, or few; the labels need columns x0 to x3."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] + X[:, 3] > 0.5) ^ (rng.random(rows) < 0.05)).astype(int)
    made = tf.Problem((X > 0).astype(int) if few_tests else X, y, shape=tf.Tree(5))
    objective: Any = tf.Error()
    for one in paid:
        objective += one.soft(price)
    made.minimize(objective)
    return made


def parity(rows: int = 400) -> tf.Requirement:
    group = np.random.default_rng(1).integers(0, 2, rows)
    return tf.StatisticalParity(groups=group, difference="0.02", positive=1)
