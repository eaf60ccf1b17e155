"""A native engine beside the search over depths: the same answers, named in the claims, and none with proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.certify.certificate import sign
from treeform.engines import Engine, EngineOutcome
from treeform.errors import Infeasible, SpecError
from treeform.formulations.sat import SatDepth, SatSize


def xor_table(noise: int = 0):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 5))
    y = X[:, 0] ^ X[:, 1] ^ (X[:, 2] & X[:, 3])
    y[:noise] ^= 1
    return X, y


def least_depth(noise=0, allowed=0, depth=5):
    X, y = xor_table(noise)
    return tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.Depth()).add(tf.MaxErrors(allowed))


@dataclass(frozen=True)
class ScriptedEngine(Engine):
    """Returns a given outcome, and keeps the tasks that it was given."""

    name: ClassVar[str] = "scripted"
    understands: ClassVar[frozenset[str]] = frozenset({"weights", "cost", "node_penalty"})
    outcome: EngineOutcome
    asked: list = field(default_factory=list)

    def run(self, data, task, run):
        self.asked.append(task)
        return self.outcome


@pytest.mark.parametrize("formulation", [SatDepth, SatSize])
@pytest.mark.parametrize("engine", ["dl85", "contree", "blossom"])
def test_same_optimum_with_and_without_an_engine(formulation, engine):
    alone = least_depth().solve("sat", formulation=formulation(), warm_start=None)
    beside = least_depth().solve("sat", formulation=formulation(), warm_start=engine)
    assert alone.objective == beside.objective == 4
    assert str(beside.status) == "optimal"
    assert any(claim.by == engine for claim in beside.claims)
    if formulation is SatSize:
        assert alone.graph.n_nodes == beside.graph.n_nodes
        assert f"nodes at depth 4: {beside.graph.n_nodes}" in beside.notes


def test_errors_allowed_and_too_few_of_them():
    for allowed in (4, 6):
        alone, beside = (least_depth(4, allowed).solve("sat", warm_start=start) for start in (None, "auto"))
        assert (alone.status, alone.objective) == (beside.status, beside.objective)
        assert beside.errors <= allowed
    with pytest.raises(Infeasible, match="rows"):
        least_depth(4, 0)
    assert str(least_depth(depth=3).solve("sat").status) == "infeasible"


def test_what_the_engine_ignores_is_named_and_its_tree_verified():
    problem = least_depth().add(tf.MinSupport(0.1))
    problem.add(tf.FeatureBudget(4))
    alone = problem.solve("sat", warm_start=None)
    beside = problem.solve("sat")
    assert (str(alone.status), alone.objective) == (str(beside.status), beside.objective)
    refuted = [claim for claim in beside.claims if claim.by == "dl85" and claim.kind != "upper"]
    assert refuted
    assert any("feature" in text for claim in refuted for text in claim.relaxation)


def test_an_engine_that_runs_out_of_time_is_not_asked_again():
    out_of_time = ScriptedEngine(EngineOutcome(graph=None, upper=None, lower=0, proved=False, reason="time"))
    result = least_depth().solve("sat", warm_start=out_of_time)
    assert (str(result.status), result.objective) == ("optimal", 4)
    assert len(out_of_time.asked) == 1


def test_a_refutation_says_whose_it_is():
    scripted = ScriptedEngine(EngineOutcome(graph=None, upper=None, lower=8, proved=True))
    result = least_depth(depth=4).solve("sat", warm_start=scripted)
    assert str(result.status) == "infeasible"
    assert {claim.by for claim in result.claims} >= {"scripted"}


def test_with_proofs_no_engine_takes_part(tmp_path):
    result = least_depth(depth=4).solve("sat", proofs=tmp_path)
    assert result.objective == 4
    assert not any(claim.by == "dl85" for claim in result.claims)
    assert any((claim.recheck or {}).get("kind") == "proof" for claim in result.claims)
    assert "dl85 took no part: proofs are of what the solver refutes" in result.notes


def test_a_warm_start_that_is_no_engine_is_refused():
    with pytest.raises(SpecError, match="no warm start"):
        least_depth().solve("sat", warm_start="highs")


def test_the_search_ends_before_a_formula_that_is_too_large(monkeypatch):
    monkeypatch.setattr("treeform.formulations.sat.depth.MOST_CLAUSES", 100)
    result = least_depth().solve("sat", formulation="sat-depth", warm_start=None)
    assert str(result.status) == "unknown"
    assert str(result.limit) == "memory"
    assert result.bound == 4
    assert any("stopped before depth 4" in note and "clauses for each" in note for note in result.notes)
    assert least_depth().solve("sat").objective == 4  # the engine needs no formula


def test_a_check_refutes_the_depth_again():
    X, y = xor_table()
    for depth in (5, 3):  # optimal, infeasible
        body = least_depth(depth=depth).solve("sat").certificate()
        report = tf.check(body, X, y)
        assert report.ok, str(report)
        assert any("proved again by contree" in row.detail for row in report.rows)
    claim = next(c for c in body["claims"] if c["kind"] == "infeasible")
    body["problem"]["shape"]["depth"] = 4  # and there is one
    assert claim["metadata"]["details"] == {"engine": "dl85"}
    assert tf.check(sign(body), X, y).verdict == "false"
