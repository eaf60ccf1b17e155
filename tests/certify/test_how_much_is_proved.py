"""A bound that falls short by the least amount proves nothing: provers, and the court that weighs them."""

from __future__ import annotations

import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import treeform as tf
from treeform.certify import Verdict, bounds
from treeform.certify.bounds import claim_rows
from treeform.certify.certificate import read, sign
from treeform.certify.left_out import Counted
from treeform.certify.proofs.rup import Verification
from treeform.certify.provers import Bound, Means, _Target, beyond, by_prices, multipliers_of
from treeform.certify.schema import ClaimMetadata, ClaimPart, ProofRoute
from treeform.certify.verdicts import on_trust
from treeform.language.question import ceiling
from treeform.shape import Shape
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach


def inverted(shape: Shape | str = "tree:1") -> tf.Problem:
    """The one admissible model predicts every row wrong: it costs what no model costs more than."""
    problem = tf.Problem([[0.0], [1.0]], ["a", "b"], shape=shape)
    wrong = tf.DecisionGraph.from_nested((0, 0.5, 1, 0), problem.data)
    return problem + tf.StayCloseTo(wrong, at_most=0)


def some_rows() -> tf.Problem:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], [0, 1, 1, 0, 1, 0]
    groups = ["p", "p", "q", "q", "p", "q"]
    return tf.Problem(X, y, shape=tf.Tree(2)) + tf.StatisticalParity(groups=groups, difference="0.1")


def test_a_bound_at_the_ceiling_leaves_room_for_a_model():
    question = inverted().question
    most = question.to_units(ceiling(question))
    assert inverted().solve().objective == most == 2
    assert not beyond(question, most)
    assert beyond(question, most + Fraction(1, question.scale))


def test_prices_prove_the_optimum_and_nothing_above_it():
    question = some_rows().question
    best = Fraction(some_rows().solve().objective)
    step = Fraction(1, question.scale)
    assert by_prices(question, best, None, Budget()).lower == best
    above = by_prices(question, best + step, None, Budget())
    assert (above.lower, above.best) == (best, best)
    below = by_prices(question, best - step, None, Budget())
    assert below.lower == best - step and below.best is None
    assert by_prices(question, None, None, Budget()).lower == best


def test_formulations_whose_clauses_are_trusted_exist():
    assert all(tf.catalogue.find_formulation(name).name == name for name in bounds.OWN_FORMULATIONS)


def test_a_limit_on_the_objective_is_kept_by_no_list_of_prices():
    """One error has to be made, and none is allowed: the cheapest tree is no model of the question."""
    problem = tf.Problem([[0], [0], [1]], [0, 1, 1], shape=tf.Tree(1))
    problem += tf.StatisticalParity(groups=["p", "q", "q"], difference="0.9")
    question = problem.question.with_(requirements=(*problem.question.requirements, tf.MaxErrors(0)))
    found = by_prices(question, Fraction(1), None, Budget())
    assert (found.lower, found.best) == (None, None)


def test_prices_prove_fractions():
    """With a third of an error for a test, values are multiples of a third."""
    problem = some_rows().minimize(tf.Error() + Fraction(1, 3) * tf.Nodes())
    question, best = problem.question, Fraction(problem.solve().objective)
    assert best == Fraction(5, 3)
    assert by_prices(question, best, None, Budget()).lower == best
    assert by_prices(question, best + Fraction(1, 3), None, Budget()).lower == best


def test_prices_see_the_dearest_model():
    question = inverted().question
    found = by_prices(question, None, None, Budget())
    assert found is not None and found.lower is not None and found.lower <= 2


def test_prices_prove_that_there_is_no_model():
    problem = tf.Problem([[0.0], [0.0], [1.0]], ["a", "b", "b"], shape=tf.Tree(1))
    none = problem + tf.MinRecall(1, "a") + tf.MinRecall(1, "b")
    found = by_prices(none.question, None, None, Budget())
    assert found is not None and found.lower is None


# -- the court ------------------------------------------------------------------------------------------------


def claim(kind, value=None, route=None, by="somebody"):
    metadata = ClaimMetadata(by=by, seconds=0.0, relaxation=[], details={})
    return ClaimPart(kind=kind, value=None if value is None else str(value), route=route, metadata=metadata)


def verdict(problem, one, graph=None, **means):
    (row,) = claim_rows([one], problem.question, graph, Means(**means))
    return row


@pytest.mark.parametrize(
    ("shown", "claimed", "holds"),
    [
        (1, 2, False),
        (2, 2, True),
        (3, 2, True),
        (None, 2, True),
        (2, None, False),
        (3, None, True),
        (None, None, True),
    ],
)
def test_a_proof_has_to_show_as_much_as_is_claimed(monkeypatch, shown, claimed, holds):
    """Of `inverted`, whose dearest model costs 2; claims are looked at before anything else is tried."""
    monkeypatch.setattr(
        bounds, "verify_proof",
        lambda *a, **k: (None if shown is None else Fraction(shown), Verification("verified", "read", {}), Cnf()),
    )  # fmt: skip
    monkeypatch.setattr(bounds._Court, "_by_counting", lambda *a: None)
    route = ProofRoute(kind="proof", file="x", sha256="0" * 64, formulation="odd", rows=[0], at_most=None)
    kind = "infeasible" if claimed is None else "lower"
    row = verdict(inverted(), claim(kind, claimed, route), proofs="folder")
    assert (row.verdict is Verdict.VERIFIED) == holds
    assert row.verdict in (Verdict.VERIFIED, Verdict.FALSE)


class Cnf:
    n_clauses = 1


@pytest.mark.parametrize("independent", [False, True])
def test_claims_at_and_above_the_optimum(independent):
    problem = some_rows()
    best = Fraction(problem.solve().objective)
    assert verdict(problem, claim("lower", best), independent=independent).verdict is Verdict.VERIFIED
    for one in (claim("lower", best + 1), claim("infeasible")):
        assert verdict(problem, one, independent=independent).verdict is Verdict.FALSE
    graph = problem.solve().graph
    assert verdict(problem, claim("upper", best), graph).verdict is Verdict.VERIFIED
    assert verdict(problem, claim("upper", best - 1), graph).verdict is Verdict.FALSE
    assert verdict(problem, claim("upper", best)).verdict is Verdict.FALSE


def test_what_is_proved_implies_what_is_weaker_only():
    problem = some_rows()
    best = Fraction(problem.solve().objective)
    claims = [claim("lower", best - 1), claim("lower", best), claim("lower", best + 1)]
    rows = claim_rows(claims, problem.question, None, Means())
    assert [row.verdict for row in rows] == [Verdict.VERIFIED, Verdict.VERIFIED, Verdict.FALSE]


def test_of_claims_of_one_value_the_smallest_graph_is_counted_first(monkeypatch):
    problem, counted = some_rows(), []
    value = Fraction(problem.solve().objective)

    def count(question, value, details, budget):
        counted.append(details["graph"]["nodes"])
        return Counted("all of it", len(counted) == 2)

    def out_of_reach(*given):
        raise OutOfReach("the search", cause="a test says so")

    monkeypatch.setattr(bounds, "by_prices", lambda *a: None)
    monkeypatch.setattr(bounds, "by_engines", lambda *a, **k: iter([]))
    monkeypatch.setattr(bounds, "least_value", out_of_reach)
    monkeypatch.setattr(bounds, "count_left_out", count)
    claims = [claim("lower", value) for _ in range(4)]
    for one, nodes in zip(claims, (50, "7", 40, 60), strict=True):
        one.metadata.details["graph"] = {"nodes": nodes}
    rows = claim_rows(claims, problem.question, None, Means())
    assert counted == ["7", 40]  # what is not a number of nodes is found out first
    assert [row.verdict for row in rows] == [
        Verdict.VERIFIED, Verdict.ON_TRUST, Verdict.VERIFIED, Verdict.VERIFIED
    ]  # fmt: skip


def test_a_prover_that_shows_less_leaves_a_claim_unproved(monkeypatch):
    problem = some_rows()
    best = Fraction(problem.solve().objective)
    less = Bound("a prover", best - 1, None, True)
    monkeypatch.setattr(bounds, "by_prices", lambda *a: less)
    monkeypatch.setattr(bounds, "by_engines", lambda *a, **k: iter([less]))
    monkeypatch.setattr(bounds, "least_value", lambda *a: best - 1)
    assert verdict(problem, claim("lower", best)).verdict is not Verdict.VERIFIED
    assert verdict(problem, claim("infeasible")).verdict is not Verdict.VERIFIED


def test_a_certificate_with_a_better_objective_is_false():
    problem = some_rows()
    body = json.loads(json.dumps(problem.solve().certificate()))
    assert read(sign(body)).answer.status == "optimal"
    groups = ["p", "p", "q", "q", "p", "q"]
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], [0, 1, 1, 0, 1, 0]
    assert tf.check(body, X, y, sensitive_features=groups).ok
    for step in (-1, 1):
        other = json.loads(json.dumps(body))
        other["answer"]["objective"] = str(Fraction(body["answer"]["objective"]) + step)
        assert not tf.check(sign(other), X, y, sensitive_features=groups).ok


@pytest.mark.parametrize("shape", [tf.Tree(1), tf.Diagram(1)])
def test_prices_at_the_ceiling(shape):
    """A bound as high as any model may cost does not say that there is none."""
    problem = inverted(shape)
    assert by_prices(problem.question, Fraction(2), None, Budget()).lower == 2
    beyond_all = by_prices(problem.question, None, None, Budget())
    assert beyond_all is None or beyond_all.lower == 2


@pytest.mark.parametrize(
    ("hint", "read"),
    [
        ({"multipliers": [1, -2], "unit": 3}, ([1, -2], 3)),
        ({"multipliers": [], "unit": 0}, ([], 0)),
        ({"multipliers": [1], "unit": -1}, ([], 1)),
        ({"multipliers": [1], "unit": "3"}, ([], 1)),
        ({"multipliers": [1], "unit": True}, ([], 1)),
        ({"multipliers": [1.5], "unit": 3}, ([], 1)),
        ({"multipliers": "12", "unit": 3}, ([], 1)),
        ({"unit": 3}, ([], 1)),
        (None, ([], 1)),
        ([1, 2], ([], 1)),
    ],
)
def test_multipliers_are_read_or_ignored(hint, read):
    assert multipliers_of(hint) == read


def test_that_there_is_no_model_is_proved_by_engines(monkeypatch):
    monkeypatch.setattr(bounds, "by_prices", lambda *a: None)
    problem = tf.Problem([[0.0], [0.0], [1.0]], ["a", "b", "b"], shape=tf.Tree(1))
    none = problem + tf.MinRecall(1, "a") + tf.MinRecall(1, "b")
    assert verdict(none, claim("infeasible")).verdict is Verdict.VERIFIED
    assert verdict(none, claim("lower", 1)).verdict is Verdict.VERIFIED


def test_a_ratio_is_proved_independently_of_its_parts():
    problem = some_rows().minimize(tf.F1Loss(1))
    best = Fraction(problem.solve().objective)
    row = verdict(problem, claim("lower", best), independent=True)
    assert (row.verdict, row.proved_by) == (Verdict.VERIFIED, bounds.REFERENCE)
    assert (
        verdict(problem, claim("lower", best + Fraction(1, 1000)), independent=True).verdict
        is not Verdict.VERIFIED
    )


def test_the_least_depth_is_proved_depth_by_depth():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Depth()) + tf.MaxErrors(0)
    assert problem.solve().objective == 2
    assert verdict(problem, claim("lower", 2)).verdict is Verdict.VERIFIED
    assert verdict(problem, claim("lower", 3)).verdict is not Verdict.VERIFIED
    assert verdict(problem, claim("infeasible")).verdict is not Verdict.VERIFIED


def test_prices_of_diagrams_prove_fractions_and_that_there_is_no_model():
    problem = tf.Problem([[0.0], [0.0], [1.0]], ["a", "b", "b"], shape=tf.Diagram(1))
    problem.minimize(tf.Cost([[0, "1/2"], ["1/3", 0]]))
    half = problem + tf.MinRecall(1, "a")
    question, best = half.question, Fraction(half.solve().objective)
    assert best == Fraction(1, 3)
    assert by_prices(question, best, None, Budget()).lower == best
    none = half + tf.MinRecall(1, "b")
    assert by_prices(none.question, None, None, Budget()).lower is None


def test_an_engine_goes_on_until_there_is_a_model_or_none():
    """Where it is to show that there is no model, any model ends the search, and nothing else does."""
    problem = some_rows()
    ledger = _Target(problem.question, Budget(None))
    assert not ledger.closed
    ledger.submit(problem.solve().graph, "somebody")
    assert ledger.closed


def test_the_bound_by_counting_is_reached():
    problem = tf.Problem([[0.0], [0.0], [1.0]], ["a", "b", "b"], shape=tf.Tree(1))
    row = verdict(problem, claim("lower", 1))
    assert (row.verdict, row.proved_by) == (Verdict.VERIFIED, "counting")
    assert "rows that agree on every feature cost at least 1" in row.detail


def test_a_ratio_whose_parts_are_not_proved_is_searched_as_a_whole(monkeypatch):
    problem = some_rows().minimize(tf.F1Loss(1))
    best = Fraction(problem.solve().objective)
    monkeypatch.setattr(bounds._Case, "_in_parts", lambda *a: on_trust("lower", "no parts", "somebody"))
    row = verdict(problem, claim("lower", best), independent=True)
    assert (row.verdict, row.proved_by) == (Verdict.VERIFIED, bounds.REFERENCE)
    assert verdict(problem, claim("lower", best)).verdict is Verdict.ON_TRUST


@pytest.mark.parametrize(("by", "names"), [("odd on highs 1.0", 1), ("odd on scip 9.0", 2)])
def test_the_same_solver_is_no_second_opinion(monkeypatch, by, names):
    problem = some_rows()
    best = problem.solve().objective
    again = SimpleNamespace(status="optimal", bound=best, objective=best, solver="highs")
    monkeypatch.setattr(bounds, "solve", lambda *a: again)
    court = bounds._Court(problem.question, None, Means(confirm="highs"))
    case = bounds._Case(court, "lower", claim("lower", best, by=by), Fraction(best), Budget())
    assert case._by_another() is None and len(case.names) == names


@pytest.mark.parametrize("independent", [False, True])
def test_at_depth_five_bounds_up_to_the_optimum_are_proved_and_no_larger_one(independent):
    """Whether a model is in hand or not; without a proof the optimum is not confirmed, but not refuted either."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 8, (200, 2)).astype(float), rng.integers(0, 2, 200)
    problem = tf.Problem(X, y, shape=tf.Tree(5))
    result = problem.solve(tf.ConTree())
    best = int(result.objective)
    for graph in (None, result.graph):
        for value in (1, best // 2, best, best + 1):
            found = verdict(problem, claim("lower", value), graph, independent=independent).verdict
            wanted = {Verdict.FALSE} if value > best else {Verdict.VERIFIED}
            if independent:
                wanted |= {Verdict.ON_TRUST}
            assert found in wanted, value
