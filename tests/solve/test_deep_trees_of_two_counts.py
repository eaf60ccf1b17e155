"""Deep trees of losses that are no sums: a search that does not end goes on from the best model."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import treeform as tf
from treeform.language.question import Question
from treeform.solve.in_parts import search_in_parts
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import PartLedger
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget, Limit


def asked(loss: str, depth: int, found: int) -> tuple[list[tuple[str, float]], Ledger]:
    """Titles and seconds of the searches, none of which ends; so many of the first ones find a better model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 1.5).astype(int)
    of = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(f"{loss}[positive=1]").question
    ledger = Ledger(of, Budget(1000.0))
    constants(of, ledger)
    stumps = [tf.DecisionGraph.from_nested((0, t, 0, 1), of.data) for t in np.linspace(-1.0, 1.0, 9)]
    stumps.sort(key=lambda graph: of.objective.evaluate(graph, of.data), reverse=True)
    searches: list[tuple[str, float]] = []

    def search(one: Question, claims: Ledger) -> Limit:
        assert isinstance(claims, PartLedger) and claims.budget.limit is not None
        searches.append((claims.title, claims.budget.limit))
        if len(searches) <= found:
            ledger.submit(stumps.pop(-2 if len(searches) < found else -1), "a test")
        return Limit.TIME

    search_in_parts(of, ledger, search)
    return searches, ledger


@pytest.mark.parametrize("loss", ["f1_loss", "matthews_loss"])
def test_the_first_search_is_short_and_the_last_one_has_all_that_is_left(loss: str) -> None:
    searches, _ = asked(loss, 5, 2)
    shares = [round(seconds, -1) for _, seconds in searches]
    assert shares[0] == 100 and shares[1:-1] == [490] * (len(shares) - 2) and shares[-1] == 1000
    assert len(shares) == 4


@pytest.mark.parametrize("loss", ["f1_loss", "matthews_loss"])
def test_low_trees_are_searched_to_the_end(loss: str) -> None:
    assert {seconds for _, seconds in asked(loss, 3, 0)[0]} == {1000.0}


def test_models_are_searched_along_the_slope_at_the_best_one() -> None:
    searches, ledger = asked("matthews_loss", 5, 1)
    graph, question = ledger.graph, ledger.question
    assert graph is not None
    term, data = question.objective.terms[0][1], question.data
    x, y = term.point(graph, data)
    here, right, up = (term.loss(data, Fraction(i), Fraction(j)) for i, j in ((x, y), (x + 1, y), (x, y + 1)))
    a, b = (int(one.split()[0]) for one in searches[1][0].split("+"))
    assert abs(Fraction(a, b) - (right - here) / (up - here)) < Fraction(1, b)
    assert (a, b) != tuple(int(one.split()[0]) for one in searches[0][0].split("+"))
