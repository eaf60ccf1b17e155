"""Certificates of size tables, curves and frontiers: they verify, and nothing false in them does."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.certify.certificate import read, sign
from treeform.certify.family import Family, Place
from treeform.certify.verdicts import Verdict
from treeform.cli.app import app
from treeform.errors import CertificateError, SpecError, TreeformError
from treeform.graph import DecisionGraph
from treeform.testing import brute_force
from treeform.testing.mutate import mutations

STEP = 193
"""Every so many mutations are tried; all with ``--nightly``."""


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(0, 2, (10, 3)), columns=list("abc"))
    return X, np.where((X["a"] ^ X["b"]) | (rng.random(10) < 0.3), "yes", "no")


def problem(depth: int = 2) -> tf.Problem:
    return tf.Problem(*table(), shape=tf.Tree(depth))


def parity() -> tf.StatisticalParity:
    return tf.StatisticalParity(groups="c", difference=None, positive="yes")


def sizes() -> Any:
    return problem().size_table()


def curve() -> Any:
    return problem().pareto()


def frontier() -> Any:
    return problem().frontier(over=parity())


def losses() -> Any:
    X, _ = table()
    return tf.Problem(X, 3 * X["a"] + X["b"], shape=tf.Tree(2)).minimize("squared_error").pareto()


def infeasible() -> Any:
    return problem().add(tf.MaxErrors(1)).size_table()


VIEWS = [sizes, curve, frontier, losses, infeasible]


def target_of(view: Callable[[], Any]) -> Any:
    X, y = table()
    return 3 * X["a"] + X["b"] if view is losses else y


def certificate(found: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(json.dumps(found.certificate()))
    return body


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_the_certificate_of_a_whole_view_verifies(view: Callable[[], Any], tmp_path: Path) -> None:
    found, (X, _) = view(), table()
    body = certificate(found)
    assert found.proved and body["complete"]
    report = tf.check(body, X, target_of(view))
    assert report.ok, str(report)
    assert report.rows[-1].what == "family"
    alone = tf.check(body, X, target_of(view), independent=True)
    assert alone.ok, str(alone)
    found.certificate().save(tmp_path / "it.json")
    assert tf.check(tmp_path / "it.json", X, target_of(view)).ok
    with pytest.raises(CertificateError, match="of several models"):
        read(body)


def test_steps_that_the_check_does_not_state_itself_are_on_trust() -> None:
    found, (X, y) = problem().frontier(over=tf.MaxCost([[0, 2], [1, 0]], at_most=9)), table()
    assert tf.check(found.certificate(), X, y).ok
    alone = tf.check(found.certificate(), X, y, independent=True)
    assert alone.verdict is Verdict.ON_TRUST
    assert alone.rests_on == (f"the steps of {found.axis}",)


def test_rows_that_follow_from_others_are_left_out() -> None:
    X = pd.DataFrame({"a": [0, 1, 2, 3]})
    found = tf.Problem(X, [0, 0, 1, 1], shape=tf.Tree(3)).pareto()
    members = certificate(found)["members"]
    assert [one["at"]["tests"] for one in members] == [None, 0]


def test_a_view_that_was_cut_short_claims_no_more() -> None:
    X, y = table()
    found = problem().frontier(over=parity(), between=(None, "0.1"))
    body = certificate(found)
    assert tf.check(body, X, y).ok
    rng = np.random.default_rng(0)
    hard = tf.Problem(rng.normal(size=(60, 4)), rng.integers(0, 2, 60), shape="diagram:1,2,4:multivariate")
    short = hard.size_table(time_limit=0.2)
    body = certificate(short)
    assert not short.proved and not body["complete"]
    rows = {row.what: row for row in tf.check(body, hard.data.X, hard.data.y, time_limit=0.2).rows}
    assert rows["family"].verdict is Verdict.VERIFIED and "open" in rows["family"].detail
    forged = tf.check(sign({**body, "complete": True}), hard.data.X, hard.data.y, time_limit=0.2)
    assert forged.verdict is Verdict.FALSE


def worse(body: dict[str, Any]) -> None:
    """One answer less."""
    del body["members"][1]


def raised(body: dict[str, Any]) -> None:
    """A bound, and the value that goes with it, higher than the optimum."""
    member = body["members"][-1]
    for claim in member["claims"]:
        claim["value"] = str(Fraction(claim["value"]) + 1)
    member["answer"]["objective"] = member["answer"]["bound"] = str(Fraction(member["answer"]["bound"]) + 1)


def elsewhere(body: dict[str, Any]) -> None:
    """The answer to a narrower problem in the place of a wider one."""
    body["members"][0] = {**body["members"][1], "at": body["members"][0]["at"]}


def impossible(body: dict[str, Any]) -> None:
    """No model at all at the narrowest problem."""
    member = body["members"][-1]
    member["answer"] = {"status": "infeasible", "objective": None, "bound": None}
    member["model"] = None
    member["claims"] = [{**member["claims"][-1], "kind": "infeasible", "value": None}]


@pytest.mark.parametrize("forge", [worse, raised, elsewhere, impossible])
@pytest.mark.parametrize("view", [sizes, curve, frontier, losses], ids=lambda view: view.__name__)
def test_forgeries_are_false(view: Callable[[], Any], forge: Callable[[Any], None]) -> None:
    body = certificate(view())
    forge(body)
    report = tf.check(sign(body), table()[0], target_of(view))
    assert report.verdict is Verdict.FALSE, str(report)


@pytest.mark.parametrize("view", [sizes, curve, frontier], ids=lambda view: view.__name__)
def test_no_mutation_that_is_called_verified_is_untrue(view: Callable[[], Any], nightly: bool) -> None:
    found, (X, y) = view(), table()
    body, seen = certificate(found), Counter[str]()
    question = found.question.with_(shape=tf.Tree(2))
    family = Family(question, view is not frontier, view is curve, getattr(found, "axis", None))
    optima: dict[Place, Fraction | None] = {}
    step = 1 if nightly else STEP
    for number, mutation in enumerate(mutations(body)):
        if number % step or mutation.is_metadata:
            continue
        try:
            report = tf.check(mutation.certificate, X, y, time_limit=20.0)
        except TreeformError:
            seen["refused"] += 1
            continue
        seen[report.verdict] += 1
        if report.ok and mutation.certificate["problem"] == body["problem"]:
            fault = untrue(mutation.certificate, family, optima)
            assert fault is None, f"{mutation}\n{fault}\n{report}"
    assert min(seen["refused"], seen["false"]) > 40 // step


def untrue(body: dict[str, Any], family: Family, optima: dict[Place, Fraction | None]) -> str | None:
    """What is false in a certificate, by enumeration; None when all of it is true."""
    data = family.question.data
    over = body["over"]
    between = tuple(None if one is None else Fraction(one) for one in (over["loosest"], over["tightest"]))
    family = Family(family.question, over["tests"], over["depth"], family.axis, between)

    def optimum(place: Place) -> Fraction | None:
        if place not in optima:
            stated = family.at(place)
            found = brute_force(data, stated.shape, stated.objective, stated.requirements)
            optima[place] = None if found is None else found[0]
        return optima[place]

    for member in body["members"]:
        at = member["at"]
        place = family.place(at["depth"], at["tests"], None if at["bound"] is None else Fraction(at["bound"]))
        least = optimum(place)
        for claim in member["claims"]:
            if claim["kind"] == "infeasible" and least is not None:
                return f"{place}: the value of a model is {least}"
            if claim["kind"] == "lower" and least is not None and Fraction(claim["value"]) > least:
                return f"{place}: the bound {claim['value']} is above {least}"
        if member["model"] is not None:
            graph = DecisionGraph.from_json(member["model"])
            value = family.question.objective.evaluate(graph, data)
            if value != Fraction(member["answer"]["objective"]):
                return f"{place}: the value is {value}"
            if any(one.violation(graph, data) for one in family.at(place).requirements):
                return f"{place}: a requirement is violated"
            family.enter(graph, value)
    if body["complete"]:
        for place, known in family.problems():
            if optimum(place) != (None if known is None else known.value):
                return f"{place}: the optimum is {optimum(place)}"
    return None


VERBS = pytest.mark.parametrize(
    ("verb", "more"), [("size-table", []), ("pareto", []), ("frontier", ["--over", "min_support:1"])]
)


@VERBS
def test_the_commands_write_certificates_that_the_command_verifies(
    tmp_path: Path, verb: str, more: list[str]
) -> None:
    X, y = table()
    path, out = tmp_path / "table.csv", tmp_path / "it.json"
    X.assign(y=y).to_csv(path, index=False)
    rows = tmp_path / "rows.json"
    words = [verb, str(path), "--target", "y", "--shape", "tree:2", "-q", "--certificate", str(out), *more]
    words += ["--output", str(rows)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    checked = CliRunner().invoke(app, ["check", str(out), str(path)])
    assert checked.exit_code == 0, checked.output
    assert "family: the optima of" in checked.output
    body = json.loads(out.read_text())
    assert json.loads(rows.read_text())["certificate"]["members"] == body["members"]
    raised(body)
    out.write_text(json.dumps(sign(copy.deepcopy(body))))
    refused = CliRunner().invoke(app, ["check", str(out), str(path), "--independent"])
    assert refused.exit_code == 6, refused.output


@pytest.mark.parametrize("verb", ["pareto", "frontier"])
def test_curves_start_from_earlier_ones(verb: str) -> None:
    more = {"over": parity()} if verb == "frontier" else {}
    whole = getattr(problem(), verb)(**more)
    again = getattr(problem(), verb)(start=whole, time_limit=1e-6, **more)
    assert whole.proved and again.proved and again.limit is None
    assert [point.proved for point in again.points] == [True] * len(whole.points)
    assert [point.graph for point in again.points] == [point.graph for point in whole.points]
    with pytest.raises(SpecError, match="another problem"):
        getattr(problem().add(tf.MinSupport(2)), verb)(start=whole, **more)
    with pytest.raises(SpecError, match="start=3 is no"):
        getattr(problem(), verb)(start=3, **more)


def test_a_frontier_over_another_requirement_is_no_start() -> None:
    with pytest.raises(SpecError, match="another problem"):
        problem().frontier(over=tf.MaxNodes(1), start=frontier())


@VERBS
def test_commands_go_on_from_a_certificate(tmp_path: Path, verb: str, more: list[str]) -> None:
    """An ended run is begun again with what it knew; the bounds say where they come from."""
    X, y = table()
    path, out, again = tmp_path / "table.csv", tmp_path / "it.json", tmp_path / "again.json"
    X.assign(y=y).to_csv(path, index=False)
    words = [verb, str(path), "--target", "y", "--shape", "tree:2", "-q", *more]
    whole = CliRunner().invoke(app, [*words, "--certificate", str(out)])
    more = ["--start", str(out), "--time-limit", "0.000001", "--certificate", str(again)]
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code == 0, done.output
    shown = [re.sub(r" \(from a certificate\)", "", text) for text in (done.stdout, whole.stdout)]
    assert [line.split() for line in shown[0].splitlines()] == [line.split() for line in shown[1].splitlines()]
    assert "(from a certificate)" in again.read_text()
    assert CliRunner().invoke(app, ["check", str(again), str(path)]).exit_code == 0
    other = CliRunner().invoke(app, [*words, "--start", str(out), "--require", "max_nodes:2"])
    assert other.exit_code == 2 and "the start is of another problem" in other.output
    single = tmp_path / "single.json"
    fit = ["fit", str(path), "--target", "y", "--shape", "tree:2", "-q", "--certificate", str(single)]
    assert CliRunner().invoke(app, fit).exit_code == 0
    refused = CliRunner().invoke(app, [*words, "--start", str(single)])
    assert refused.exit_code == 2 and "the certificate of a single answer" in refused.output


def test_a_forged_model_in_a_start_is_evaluated_again() -> None:
    """A certificate that was signed again with another worth of its models gives the same table."""
    body = json.loads(json.dumps(problem().size_table().certificate()))
    for member in body["members"]:
        member["answer"]["objective"] = "0"
        member["claims"] = [claim for claim in member["claims"] if claim["kind"] == "upper"]
    again = problem().size_table(start=sign(body), time_limit=1e-6)
    assert [row.upper for row in again.rows] == [row.upper for row in problem().size_table().rows]
    assert not again.proved


@pytest.mark.parametrize("rule", [tf.MaxNodes(2), tf.MaxDepth(1)])
def test_a_table_under_a_bound_on_tests_is_complete(rule: tf.Requirement) -> None:
    """No row has more tests than the requirement allows, and the certificate knows that nothing else is open."""
    found = problem().add(rule).size_table()
    assert found.proved and found.rows[-1].tests == (2 if isinstance(rule, tf.MaxNodes) else 1)
    body = found.certificate()
    assert body["complete"] is True


def test_what_is_asked_again_counts_what_came_since() -> None:
    rng, stated = np.random.default_rng(0), problem(3)
    family = Family(stated.question, by_tests=True, by_depth=True)
    places = [family.place(depth, tests) for depth in (1, 2, 3) for tests in range(8)]
    leaf, tree = DecisionGraph.leaf(0, stated.data), stated.solve().graph
    assert tree is not None
    for number in range(60):
        if rng.random() < 0.5:
            family.prove(places[rng.integers(len(places))], Fraction(int(rng.integers(5))), str(number))
        else:
            family.enter((leaf, tree)[rng.integers(2)], Fraction(int(rng.integers(5, 9))))
        fresh = family.without_knowledge()
        fresh.models, fresh.proofs = family.models, family.proofs
        for place in places:
            assert family.best(place) is fresh.best(place) and family.lower(place) is fresh.lower(place)
