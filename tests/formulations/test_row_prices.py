"""Prices of rows over a graph: what they leave out is used by no better model, whatever the rows are."""

from __future__ import annotations

from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pytest
from own_rules import AtMost, OneFeature, noisy_table

import treeform as tf
from treeform.formulations.hypergraph import HypergraphFlow
from treeform.language.question import Question
from treeform.solve import Status, columns_on_demand
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.ledger import Ledger
from treeform.solve.row_prices import _sums
from treeform.solve.verification import verify
from treeform.testing.brute import all_models
from treeform.testing.cases import draw_cases
from treeform.utils.budget import Budget


class FewTests(AtMost):
    """At most k test nodes are in use; with a column of its own, so that no search reads a sum from it."""

    demands_tests: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"active"})

    def build(self, model: tf.Model, ports: Any) -> None:
        one = model.bool("one")
        model.add(one == 1)
        model.add(ports.active.sum() <= self.k * one, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, sum(1 for _ in graph.tests()) - self.k)


class HalfAsMuch(FewTests):
    """The same with coefficients that are no whole numbers."""

    def build(self, model: tf.Model, ports: Any) -> None:
        model.add(0.3 * ports.active.sum() <= 0.3 * self.k + 0.1, str(self))


def search_of(question: Question) -> GraphSearch:
    part, budget = priced_part(question), Budget(None)
    assert part is not None
    return GraphSearch(HypergraphFlow(), tf.HiGHS(), Ledger(question, budget), budget, part)


@pytest.mark.parametrize("rule", [FewTests, OneFeature, HalfAsMuch])
def test_what_is_left_out_is_used_by_no_better_model(
    rule: type[FewTests | OneFeature], nightly: bool
) -> None:
    left_out = 0
    for case in draw_cases(60 if nightly else 4, 17, (tf.Tree(2),)):
        question = Question(case.data, case.shape, case.goal, (rule().bind(case.data),))
        search = search_of(question)
        priced = search.price()
        assert priced is not None
        graph = search.trees.up_to(priced.lower + 4)
        assert graph is not None
        compiled = search._rest(graph)
        columns = search.formulation.columns_of(compiled)  # type: ignore[attr-defined]
        most = search.relaxation.lower(priced.lower + 5) - 1
        part = search.row_prices.needed(compiled, columns, graph, most, None)
        assert (part is None) == (not graph.n_alternatives), case.code()
        if part is None:
            continue
        left_out += graph.n_alternatives - part.n_alternatives
        for tree in islice(all_models(case.data, case.shape), 3000 if nightly else 150):
            plain = tree.simplified(case.data)
            judged = verify(question, plain)
            if judged.ok and judged.value <= most:
                assert graph.choices(plain, case.data) is not None, case.code()
                assert part.choices(plain, case.data) is not None, case.code()
    assert left_out or rule is not FewTests


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
def test_a_requirement_of_ones_own_is_proved_by_prices_of_its_rows(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns_on_demand, "FEW", 1)
    X, y, group = noisy_table()
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += [tf.StatisticalParity(difference="0.05", positive=1), FewTests(1)]
    result = problem.solve(solver, formulation="hypergraph-flow", warm_start=None)
    other = problem.solve(solver, formulation="odd", warm_start=None)
    assert (result.status, result.objective) == (Status.OPTIMAL, other.objective)
    assert any(columns_on_demand.PRICES_OF_ROWS in claim.by for claim in result.claims)


@pytest.mark.parametrize(("largest", "stated"), [(2**40 - 1, True), (2**40, False)])
def test_sums_beyond_exact_floats_get_no_prices(largest: int, stated: bool) -> None:
    case = next(iter(draw_cases(1, 17, (tf.Tree(2),))))
    parity = tf.StatisticalParity(
        groups=np.arange(case.data.n_samples) % 2, difference="0.01", positive=case.data.classes[0]
    )
    requirements = (parity.bind(case.data), FewTests().bind(case.data))
    search = search_of(Question(case.data, case.shape, case.goal, requirements))
    priced = search.price()
    assert priced is not None
    graph = search.trees.up_to(priced.lower + 4)
    assert graph is not None and graph.n_alternatives
    graph.sums[0, 1] = largest
    columns = np.arange(graph.n_alternatives)
    assert bool(list(_sums(columns, graph, graph.n_alternatives, search.row_prices.sides))) == stated
