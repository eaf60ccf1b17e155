"""Under requirements and a limit, a larger shape is no worse than the one with a layer less.

What ends a run is a phase that it has come to, and not a clock.
"""

from __future__ import annotations

import numpy as np
import pytest
from ended_early import pressed_when

import treeform as tf
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax
from treeform.utils.budget import Budget


class FewApproved(tf.Requirement):
    """Class 1 for at most so many samples; no totals, so no engine knows it."""

    needs = frozenset({"predicted"})

    def __init__(self, most):
        self.most = most

    def build(self, model, ports):
        model.add((ports.predicted[:, 1] * ports.weights).sum() <= self.most)

    def violation(self, graph, data):
        return max(0, int((graph.predict_codes(data.X) == 1).sum()) - self.most)


def problem(shape, values=2, rows=400):
    rng = np.random.default_rng(0)
    X = rng.integers(0, values, (rows, 12)) if values else rng.random((rows, 12))
    z = (0.5 if values < 3 else values / 2) < X
    y = (z[:, 0] & z[:, 1]) ^ (z[:, 2] | z[:, 3]) ^ (rng.random(rows) < 0.2)
    group = z[:, 0] ^ (rng.random(rows) < 0.3)
    problem = tf.Problem(X, y.astype(int), shape=shape)
    return problem, tf.StatisticalParity(groups=group.astype(int), difference="0.02", positive=1)


LONG = 1000.0
"""A limit that is not reached: with one, smaller shapes are tried first."""


@pytest.mark.parametrize(
    ("shape", "second"), [(tf.Tree(4), "tree:2"), (tf.Diagram(1, 2, 4, 4), "diagram:1,2")], ids=str
)
def test_a_solver_starts_from_the_best_model_of_the_shape_with_a_layer_less(shape, second):
    answers = []
    for asked in (type(shape)(1), shape):
        stated, _ = problem(asked, rows=60)
        stated += FewApproved(40)
        ended = pressed_when(lambda progress: progress.phase == f"{second} first")
        answers.append(stated.solve(tf.CPSAT(), warm_start=None, time_limit=LONG, on_progress=ended))
    one_test, larger = answers
    assert one_test.status is tf.Status.OPTIMAL and larger.limit is tf.Limit.INTERRUPTED
    assert one_test.graph.n_nodes == 1 and larger.objective <= one_test.objective
    assert any("the best model of" in claim.by for claim in larger.claims)


@pytest.mark.parametrize("engine", [tf.TotalsSearch(), tf.ContinuousTotals()], ids=lambda e: e.name)
def test_an_engine_that_is_stopped_has_the_best_tree_of_the_depth_before(engine):
    binary = isinstance(engine, tf.TotalsSearch)
    runs, found = {}, []
    for depth in (2, 7):
        stated, parity = problem(tf.Tree(depth), 2 if binary else 0)
        stated += parity
        task = relax(stated.question, engine).task
        stop = (lambda: False) if depth == 2 else (lambda: bool(found) and found[-1] <= runs[2].upper)
        run = EngineRun(Budget().until(stop), on_incumbent=lambda _, upper, *rest: found.append(upper))
        runs[depth] = engine.run(stated.data, task, run)
        found.clear()
    assert runs[2].proved and not runs[7].proved
    assert runs[7].upper <= runs[2].upper


def test_a_size_table_has_the_models_of_the_shape_with_a_layer_less():
    tables = {}
    for depth in (1, 3):
        stated, parity = problem(tf.Tree(depth), rows=200)
        stated += [parity, FewApproved(80)]
        ended = pressed_when(lambda progress: progress.phase.startswith("at most 2 tests"))
        tables[depth] = stated.size_table(on_progress=ended)
    assert tables[1].proved and tables[3].limit is tf.Limit.INTERRUPTED
    assert all(row.upper <= tables[1].rows[1].upper for row in tables[3].rows[1:])


def test_a_curve_passes_models_on_to_greater_depths():
    stated, parity = problem(tf.Tree(4), rows=200)
    stated += [parity, FewApproved(80)]
    ended = pressed_when(lambda progress: progress.parts is not None and progress.parts[0] == 2)
    tables = stated.pareto(on_progress=ended).tables
    assert len(tables) > 2
    for depth in sorted(tables)[1:]:
        for below, row in zip(tables[depth - 1].rows, tables[depth].rows, strict=False):
            assert row.upper <= below.upper


def test_a_frontier_of_a_deeper_tree_is_no_worse_at_any_bound():
    curves = []
    for depth in (1, 6):
        stated, parity = problem(tf.Tree(depth))
        curves.append(stated.frontier(over=parity, between=("0.1", "0.02")))
    assert curves[1].points
    for bound in ("0.1", "0.05", "0.02"):
        assert curves[1].at(bound).objective <= curves[0].at(bound).objective
