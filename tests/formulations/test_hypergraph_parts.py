"""Parts of the AND/OR graph: a model of the value of the bound is looked for in some of what trees of a cost use."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.engines.and_or_graph import GraphOfTrees, Priced
from treeform.language.alternatives import AndOrGraph
from treeform.solve import Limit, Status, columns_on_demand
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import SomeModels
from treeform.solve.search import StatedPart
from treeform.utils.budget import Share


def problem_of(seed: int, n: int = 300) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4)).round(2)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.6) ^ (rng.random(n) < 0.25)).astype(int)
    group = np.where(rng.random(n) + 0.5 * X[:, 0] > 0.75, "p", "q")
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    return problem + tf.StatisticalParity(difference="0.05", positive=1)


@pytest.mark.parametrize("solver", ["highs", "cp-sat", "cadical195"])
def test_a_model_of_the_bound_is_found_in_a_part(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[tuple[bool, int]] = []
    search = GraphSearch._search

    def watched(
        self: GraphSearch, graph: AndOrGraph, part: StatedPart, ledger: Ledger, share: Share
    ) -> Limit | None:
        whole = ledger
        while isinstance(whole, SomeModels):
            whole = whole.whole
        before = len(whole.claims)
        limit = search(self, graph, part, ledger, share)
        made = [claim.kind for claim in whole.claims[before:]]
        if ledger is not whole:
            parts.append(("upper" in made, len(made) - made.count("upper")))
        return limit

    monkeypatch.setattr(GraphSearch, "_search", watched)
    monkeypatch.setattr(columns_on_demand, "MANY", 20)
    for seed in (1, 4):
        expected = problem_of(seed).solve(tf.TotalsSearch())
        found = problem_of(seed).solve(solver, formulation="hypergraph-flow", warm_start=None)
        assert (found.status, found.objective) == (Status.OPTIMAL, expected.objective), seed
    assert any(upper for upper, _ in parts)
    assert all(others == 0 for _, others in parts)  # what is not stated is never claimed


def test_a_part_holds_all_cheaper_trees_and_no_more_than_the_whole() -> None:
    question = problem_of(6).question
    task = priced_part(question)
    assert task is not None
    trees = GraphOfTrees(question.data, task.task, "partition")
    priced = trees.relax()
    assert isinstance(priced, Priced)
    cost = priced.lower + 2
    cheaper, whole = trees.up_to(cost - 1), trees.up_to(cost)
    assert cheaper is not None
    assert whole is not None
    sizes = [cheaper.n_alternatives]
    for share in (4, 2):
        part = trees.up_to(cost, short_by=priced.unit - priced.unit // share)
        assert part is not None
        assert part.up_to == cheaper.up_to
        sizes.append(part.n_alternatives)
    assert [*sizes, whole.n_alternatives] == sorted([*sizes, whole.n_alternatives])
    assert sizes[0] < sizes[-1] < whole.n_alternatives
