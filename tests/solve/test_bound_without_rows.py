"""The bound of trees from depth five on without the totals that are required of them."""

from __future__ import annotations

import numpy as np
from drawing import Draw

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.language.question import Question
from treeform.solve.choice import Plan
from treeform.solve.driver import solve
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import planned
from treeform.solve.result import SolveOptions
from treeform.solve.stage.engine_search import bound_without_rows
from treeform.utils.budget import Budget

PLAN = Plan(ContinuousTotals(), None, None, None, None, ())


def question(seed: int) -> Question:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(25, 45))
    X, y = rng.integers(0, 6, (rows, 2)).astype(float), rng.integers(0, 2, rows)
    y[:2], group = (0, 1), rng.integers(0, 2, rows)
    group[:2] = 0, 1
    problem = tf.Problem(X, y, shape=tf.Tree(5))
    problem += tf.StatisticalParity(groups=group, difference="0.05", positive=1)
    return problem.question


def test_no_tree_under_parity_is_below_it(draw: Draw) -> None:
    larger = 0
    for seed in draw(range(20), 3):
        of = question(seed)
        ledger = Ledger(of, Budget())
        bound_without_rows(Node(ledger, PLAN), Budget())
        best = solve(of, SolveOptions(ContinuousTotals()))
        assert str(best.status) == "optimal" and best.objective is not None and ledger.lower is not None
        assert ledger.lower <= best.objective, seed
        larger += ledger.lower > 0
    assert larger > 0


def test_the_claim_names_what_is_left_out() -> None:
    of = question(0)
    ledger = Ledger(of, Budget())
    node = Node(ledger, PLAN)
    assert "trees without requirements" in [stage.name for stage in planned(node)]
    bound_without_rows(node, Budget())
    assert all(len(claim.relaxation) == 1 for claim in ledger.claims if claim.kind == "lower")
