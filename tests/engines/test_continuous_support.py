"""ContinuousTotals under a minimum support that binds."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform import _core
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax


def run(problem, engine, **circumstances):
    relaxation = relax(problem.question, engine)
    assert relaxation.exact
    return engine.run(problem.data, relaxation.task, EngineRun(**circumstances))


@pytest.mark.parametrize(("depth", "classes"), [(2, 2), (2, 3), (3, 2)])
def test_a_support_that_binds_is_proved_on_weighted_rows(depth, classes):
    binds = False
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 15, (120, 3)) / 7
        y = np.where(
            rng.random(120) < 0.2, rng.integers(0, classes, 120), (X[:, 0] * classes / 2.1).astype(int)
        )
        problem = tf.Problem(X, y, shape=tf.Tree(depth), sample_weight=rng.integers(1, 5, 120))
        problem += tf.StatisticalParity(groups=(X[:, 0] > 1).astype(int), difference="0.2", positive=1)
        loose = run(problem, tf.ContinuousTotals())
        problem += tf.MinSupport(fraction=["0.2", "0.35", "0.45"][seed])
        own, other = run(problem, tf.ContinuousTotals(threads=1 + seed % 2)), run(problem, tf.TotalsSearch())
        assert own.proved and other.proved and own.upper == own.lower == other.upper >= loose.upper
        binds |= own.upper > loose.upper
    assert binds


@pytest.mark.parametrize("weighted", [False, True])
def test_a_support_that_binds_is_proved_alike_on_every_instruction_set(weighted):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3)).round(2)
    y = (X[:, 0] + rng.normal(size=400) > 0.4).astype(int)
    weight = rng.integers(1, 4, 400) if weighted else None
    groups = (X[:, 1] + X[:, 0] > 0).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=weight)
    problem += [
        tf.StatisticalParity(groups=groups, difference="0.1", positive=1),
        tf.MinSupport(fraction="0.3"),
    ]
    usual = run(problem, tf.ContinuousTotals())
    assert usual.proved and usual.upper < min(np.bincount(y, weights=weight))
    for simd in filter(_core.simd_available, ("plain", "portable", "avx2", "avx512")):
        answer = run(problem, tf.ContinuousTotals(simd=simd))
        assert answer.proved and (answer.upper, answer.lower) == (usual.upper, usual.upper)
    # The splits that only smaller trees leave alive are no longer left out.
    parts = tuple(part for part in tf.ContinuousTotals().parts if part != "shallow")
    assert run(problem, tf.ContinuousTotals(parts=parts)).upper == usual.upper
