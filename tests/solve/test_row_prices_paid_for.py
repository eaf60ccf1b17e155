"""Prices of rows where what a model lacks is paid for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from paid_for import parity, problem

import treeform as tf
from treeform.language.question import Question
from treeform.objectives.soft import demanded
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import InnerLedger
from treeform.solve.stage.deep_trees import DeepTrees
from treeform.utils.budget import Budget


def rows_of(question: Question, price: int) -> DeepTrees:
    """The search with all demanded of what is paid for at a price."""
    of = question.with_(objective=tf.Error() + parity().bind(question.data).soft(price))
    asked = demanded(of)
    assert asked is not None
    return DeepTrees(asked, InnerLedger(asked, Ledger(of, Budget())))


def test_a_row_has_no_higher_price_than_what_it_lacks_costs() -> None:
    of = problem(parity()).question
    made = rows_of(of, 400)
    (price,) = {price for price, _ in made._paid}
    rule = made.question.requirements[0]
    several = [tf.DecisionGraph.from_nested((0, t, 0, 1), of.data) for t in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    tried = 0
    for index, row in enumerate(made.dual.rows):
        for graph in several:
            if (slack := row.slack(graph, of.data)) > 0:
                most = made._price_paid(index, graph)
                assert most is not None and most * slack == price * rule.lacking(graph, of.data)
                tried += 1
    assert tried > 0
    made.first(Budget(), Budget())
    assert made._most and all(made.prices[i] <= most for i, most in made._most.items())
    around = made._around(Fraction(5, 4))
    assert all(around[i] <= most for i, most in made._most.items())


def test_what_costs_little_has_no_price_and_what_is_demanded_may_have_any(monkeypatch: pytest.MonkeyPatch) -> None:
    of = problem(parity()).question
    cheap = rows_of(of, 1)
    cheap.first(Budget(), Budget())
    assert not any(cheap.prices) and not cheap._most
    assert cheap._is_priced_as_paid() and cheap.ledger.graph is not None and cheap.ledger.graph.depth == 5
    done: list[str] = []  # small subtrees come before a search that takes all of the time
    monkeypatch.setattr(cheap, "_low_subtrees", lambda *_: done.append("subtrees"))
    monkeypatch.setattr(cheap, "_searched", lambda *_: done.append("search"))
    cheap._step(tf.ContinuousTotals(), Budget())
    assert done[:2] == ["subtrees", "search"]
    asked = demanded(of)
    assert asked is not None
    hard = DeepTrees(asked, Ledger(asked, Budget()))
    hard.first(Budget(), Budget())
    assert any(hard.prices) and not hard._most and not hard._paid
