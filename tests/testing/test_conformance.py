"""Every requirement on every formulation and solver against brute force; the kit itself; engines against each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.bridges import BRIDGES
from treeform.catalogue.formulations import formulation_names
from treeform.errors import SpecError
from treeform.language.requirement import registered
from treeform.testing import (
    all_models,
    brute_force,
    check_bridge,
    check_formulation,
    check_requirement,
    draw_cases,
)

SOLVERS = ["highs", "cp-sat", "glucose42"]
FORMULATIONS = ["odd", "sat-depth"]
FLOWS = ["flow-oct", "benders-oct"]


class AtMostFeatures(tf.Requirement):
    """The example of the documentation."""

    name = "at_most_features_in_conformance"
    needs = frozenset({"feature"})

    def __init__(self, k):
        self.k = k

    def build(self, model, ports):
        used = model.bool("used", ports.n_features)
        model.add(ports.feature <= used)
        model.add(used.sum() <= self.k)

    def violation(self, graph, data):
        return max(0, len(graph.features_used()) - self.k)


class SmallLeaves(tf.Requirement):
    """Reads `leaf`: no leaf holds more than a share of the samples."""

    name = "small_leaves_in_conformance"
    needs = frozenset({"leaf"})
    most = 5

    def build(self, model, ports):
        model.add((ports.leaf * ports.weights[:, None]).sum(axis=0) <= self.most)

    def violation(self, graph, data):
        weight = np.bincount(graph.apply(data.X), weights=data.weights)
        return max(0, int(weight.max()) - self.most)


class RootSendsRight(tf.Requirement):
    """Reads `reaches` and `branch`: a test that is passed by anybody sends at least two samples to the right."""

    name = "root_sends_right_in_conformance"
    needs = frozenset(
        {"reaches", "branch", "active", "feature"}
    )  # `feature`: tests with swapped sides stay apart

    def build(self, model, ports):
        model.add(ports.branch[:, :, 1].sum(axis=0) >= 2 * ports.active)
        model.add(ports.reaches == ports.branch.sum(axis=2))

    def violation(self, graph, data):
        missing = 0
        goes_right = graph.route(data.X) & ~graph.goes_left(data.X)
        for test in graph.tests():
            missing += max(0, 2 - int(goes_right[:, test.node].sum()))
        return missing


REQUIREMENTS = [
    tf.MaxNodes(1),
    tf.MaxNodes(2),
    tf.MinSupport(2),
    tf.MinSupport(0.3),
    tf.Stability(0.5),
    tf.MaxErrors(0),
    tf.MaxErrors(1),
    tf.MaxErrors(0.3),
    tf.StatisticalParity(groups="group", ratio=0.8, favourable=1),
    tf.StatisticalParity(difference=0.2, favourable=0),
    tf.EqualOpportunity(groups="group", difference=0.2, favourable=1),
    tf.PredictiveEquality(groups="group", ratio=0.8, favourable=1),
    tf.EqualizedOdds(difference=0.3, favourable=0),
    tf.ConditionalParity(groups="group", given="owner", ratio=0.5, favourable=1),
    tf.AccuracyParity(groups="group", difference=0.2),
    tf.GroupErrorAtMost(groups="group", rate=0.3),
    tf.MinPrecision(0.7, positive=1),
    tf.MinRecall(0.5, positive=1),
    tf.MinSpecificity(0.6, positive=0),
    tf.MaxFalsePositiveRate(0.3, positive=0),
    tf.MustClassifyRight([0, 2]),
    tf.FeatureBudget(1),
    tf.NoTestOn("age"),
    tf.Monotone("age", favourable=1),
    tf.Monotone("owner", "decreasing", favourable=0),
    AtMostFeatures(1),
    RootSendsRight(),
]
IN_USE = tf.Problem(
    pd.DataFrame({"age": [18.5, 30.25, 47.0, 47.0], "owner": [False, True, False, True]}),
    [0, 1, 1, 0],
    shape=tf.Tree(1),
)
STRUCTURE = [
    tf.MaxLeaves(2),
    tf.MaxDepth(1),
    tf.MaxTestsPerPath(["age", "owner"], 1),
    tf.OncePerPath(),
    tf.MaxThresholds("age", 1),
    tf.FeatureCost({"age": 1, "owner": "0.5"}, at_most=1),
    tf.FeatureCost({"age": 1, "owner": "0.5"}, at_most=1, per_path=True),
    tf.Uses("age"),
    tf.Exclusive(["age", "owner"]),
    tf.Interaction([["age"], ["owner", "group"]]),
    tf.Below("owner", above="age"),
    tf.Fix(tf.DecisionGraph.from_nested((0, 38.0, 0, 1), IN_USE.data)),
    tf.StayCloseTo(tf.DecisionGraph.from_nested((0, 24.0, 0, (1, 0.5, 1, 0)), IN_USE.data), changed="0.3"),
]
"""What a model looks like; the cells are drawn."""


@pytest.mark.drawn(36)
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_requirements(requirement, formulation, nightly):
    """Cases of each shape; every requirement in every run, many on both formulations, each cell with every solver."""
    size = {"cases": 6, "models": 40} if nightly else {"cases": 4, "models": 6, "in_turn": True}
    report = check_requirement(requirement, [formulation], SOLVERS, **size)
    assert report.cells == set(product([formulation], SOLVERS))
    assert report.models >= 8


NOT_ON_CUTS = ("min_support", "stability", "monotone", "at_most_features", "root_sends_right")
"""Requirements that follow samples through tests, or may ask for tests, which Benders cuts do not state."""


def cells_of_flows():
    """Every cell of a flow formulation, a requirement and one of the solvers; one of six is drawn for each run."""
    for f, formulation in enumerate(FLOWS):
        for number, requirement in enumerate(REQUIREMENTS):
            if formulation == "flow-oct" or not str(requirement).startswith(NOT_ON_CUTS):
                solver, marks = SOLVERS[number // 6 % 3], [] if (number + f) % 6 == 0 else [pytest.mark.slow]
                yield pytest.param(
                    requirement, formulation, solver, marks=marks, id=f"{requirement}-{formulation}"
                )


@pytest.mark.parametrize(("requirement", "formulation", "solver"), list(cells_of_flows()))
def test_requirements_on_flows(requirement, formulation, solver):
    report = check_requirement(requirement, [formulation], [solver], cases=3, models=4)
    assert report.cells == {(formulation, solver)}


@pytest.mark.drawn(4)
@pytest.mark.parametrize("requirement", STRUCTURE, ids=str)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_requirements_on_the_structure(requirement, formulation, nightly):
    size = {"cases": 6, "models": 40} if nightly else {"cases": 2, "models": 8}
    report = check_requirement(requirement, [formulation], SOLVERS[:2], **size)
    assert report.cells == set(product([formulation], SOLVERS[:2]))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("requirement", [*REQUIREMENTS, *STRUCTURE], ids=str)
def test_requirements_on_all_that_is_installed(requirement):
    report = check_requirement(requirement, cases=3, models=8)
    assert report.cells >= set(product(FORMULATIONS, ["highs", "cp-sat", "mathopt:scip"]))


def test_all_requirements_and_formulations_are_among_the_cells():
    ours = {kind for kind in registered().values() if kind.__name__ in tf.__all__}
    assert len(ours) > 15
    # That on coverage needs data with a label for abstaining: tests/objectives/test_abstain.py.
    assert ours - {tf.MinCoverage} <= {type(requirement) for requirement in (*REQUIREMENTS, *STRUCTURE)}
    # The two left out are covered by tests of their own: one for hyperplanes, one for the fewest tests without errors.
    assert set(formulation_names()) == {*FORMULATIONS, *FLOWS, "odd-paper", "sat-size"}


def test_tests_that_change_no_prediction_are_kept_where_a_requirement_needs_them():
    # A test with equal leaves makes leaves small.
    report = check_requirement(SmallLeaves(), ["sat-depth"], ["cadical195"], cases=5)
    assert report.cases == 5


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_formulations(formulation, nightly):
    report = check_formulation(formulation, SOLVERS, [tf.MaxNodes(1)], cases=9 if nightly else 3, models=20)
    assert report.cells == set(product([formulation], SOLVERS))
    assert report.solves >= 8
    assert "agree with brute force" in str(report)


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda b: f"{b.name} from {b.source}")
def test_bridges(bridge):
    assert check_bridge(bridge, blocks=25) > 15


# -- the kit finds what it is made to find ------------------------------------------------------------


class TooLoose(tf.MaxNodes):
    """Its rows allow one test more than `violation` does."""

    name: ClassVar[str] = "too_loose"

    def build(self, model, ports):
        model.add(ports.active.sum() <= self.k + 1)


class TooTight(tf.MaxNodes):
    """Its rows forbid what `violation` allows, though never at the optimum of these cases alone."""

    name: ClassVar[str] = "too_tight"

    def build(self, model, ports):
        model.add(ports.active.sum() <= max(0, self.k - 1))


@pytest.mark.parametrize("wrong", [TooLoose(1), TooTight(2)], ids=str)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_faces_that_differ_are_found(wrong, formulation):
    with pytest.raises((AssertionError, tf.errors.ContradictionError)):
        check_requirement(wrong, [formulation], ["cp-sat"], cases=4)


def test_failures_print_code_that_runs():
    with pytest.raises(AssertionError) as caught:
        check_requirement(TooTight(1), ["sat-depth"], ["cadical195"], cases=3)
    code = str(caught.value)
    code = code[code.index("import pandas") :]
    scope: dict = {}
    exec(code, scope)
    assert isinstance(scope["problem"], tf.Problem)
    assert len(scope["problem"].requirements) == 1


def test_a_bridge_that_loses_solutions_is_found():
    class Wrong(type(BRIDGES[0])):
        def apply(self, block, model):
            (out,) = super().apply(block, model)
            return [type(out)(out.name, out.indptr, out.cols, out.vals, out.lo + 1, out.hi, out.when)]

    with pytest.raises(AssertionError, match="counterpart"):
        check_bridge(Wrong())


# -- brute force --------------------------------------------------------------------------------------


def test_brute_force_counts_all_trees():
    case = next(iter(draw_cases(1, shapes=(tf.Tree(1),))))
    classes = case.data.n_classes
    separating = len(case.data.splits(None).feature)
    models = list(all_models(case.data, tf.Tree(1)))
    assert len(models) == classes + separating * classes**2 + classes  # a leaf, a test, a pass-through
    assert len(set(models)) == len(models)


def test_brute_force_refuses_what_it_cannot_finish():
    rng = np.random.default_rng(0)
    data = tf.Dataset.from_user(rng.random((40, 5)), rng.integers(0, 2, 40))
    with pytest.raises(SpecError, match="too many to try"):
        brute_force(data, tf.Tree(3), tf.Error())


def test_brute_force_on_costs_and_unknown_terms():
    case = next(iter(draw_cases(1, seed=3, shapes=(tf.Tree(2),))))
    n = case.data.n_classes
    cost = tf.Cost(1 - np.eye(n))
    assert brute_force(case.data, case.shape, cost)[0] == brute_force(case.data, case.shape, tf.Error())[0]
    depth, graph = brute_force(case.data, case.shape, tf.Depth())
    assert depth == graph.depth == 0


# -- engines against each other -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_engines_agree_on_random_problems(seed):
    """ConTree, two formulations on three solvers, and brute force: one optimum."""
    for case in draw_cases(2, seed=100 + seed, shapes=(tf.Tree(2), tf.Tree(1))):
        for requirement in ([], [tf.MinSupport(2)]):
            problem = tf.Problem(case.data, None, shape=case.shape)
            problem.minimize("error")
            problem += requirement
            expected = brute_force(case.data, case.shape, "error", requirement)
            assert expected is not None
            answers = {"contree": problem.solve(tf.ConTree())}
            for name in SOLVERS:
                for formulation in ("odd", "sat-depth"):
                    answers[f"{formulation} on {name}"] = problem.solve(name, formulation=formulation)
            told = {who: (str(r.status), Fraction(r.objective)) for who, r in answers.items()}
            wrong = {who: value for who, value in told.items() if value != ("optimal", expected[0])}
            assert not wrong, f"{wrong}, not {expected[0]}\n{case.code(*requirement)}"


def test_engines_agree_at_depth_three():
    for case in draw_cases(2, seed=7, shapes=(tf.Tree(3),)):
        problem = tf.Problem(case.data, None, shape=case.shape)
        problem.minimize("error")
        values = {
            problem.solve(tf.ConTree()).objective,
            problem.solve("cp-sat", formulation="odd", warm_start=None).objective,
            problem.solve("cadical195", formulation="sat-depth", warm_start=None).objective,
        }
        assert len(values) == 1, f"{values}\n{case.code()}"
