"""Every requirement on every formulation and solver against brute force; the kit itself; engines against each other."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.backends import Outcome, Run, Session
from treeform.backends.programs import find_program
from treeform.bridges import BRIDGES
from treeform.catalogue.solvers import formulation_names
from treeform.errors import SpecError
from treeform.language.requirement import registered
from treeform.testing import (
    all_models,
    brute_force,
    check_bridge,
    check_formulation,
    check_requirement,
    conformance,
    draw_cases,
)
from treeform.testing.matrix import SOLVERS as SOLVERS_OF_CELLS
from treeform.testing.matrix import Way, drawn, judge, ways
from treeform.testing.samples import SAMPLES, SAMPLES_OF_VALUES

SOLVERS = ["highs", "cp-sat", "glucose42"]
FORMULATIONS = ["odd", "sat-depth"]


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

    def __init__(self, most=5):
        self.most = most

    def build(self, model, ports):
        model.add((ports.leaf * ports.weights[:, None]).sum(axis=0) <= self.most)

    def violation(self, graph, data):
        weight = np.bincount(graph.apply(data.X), weights=data.weights)
        return max(0, int(weight.max()) - self.most)


class Approving(tf.Requirement):
    """Reads `label`: at least, or at most, so many leaves predict the second class."""

    name = "approving_in_conformance"
    needs = frozenset({"label"})

    def __init__(self, least, most):
        self.least, self.most = least, most

    def build(self, model, ports):
        approving = ports.label[:, 1].sum()
        model.add(approving >= self.least)
        model.add(approving <= self.most)

    def violation(self, graph, data):
        approving = int((graph.label == 1).sum())
        return max(0, self.least - approving, approving - self.most)


class FewRowsEndEarly(tf.Requirement):
    """Reads `arc` and `leaf`: the first test leads straight to leaves of at most so many samples each."""

    name = "few_rows_end_early_in_conformance"
    needs = frozenset({"arc", "leaf"})

    def __init__(self, most):
        self.most = most

    def build(self, model, ports):
        held = (ports.leaf * ports.weights[:, None]).sum(axis=0)
        for side in (0, 1):
            ends = ports.arc[0, side, ports.arc.shape[0] :]
            model.add(held + ports.weights.sum() * ends <= self.most + ports.weights.sum())

    def violation(self, graph, data):
        ends = [v for v in {graph.left[0], graph.right[0]} if v >= 0 and graph.feature[v] < 0]
        return max(0, *(int(data.weights[graph.route(data.X)[:, v]].sum()) - self.most for v in ends), 0)


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


REQUIREMENTS = [*SAMPLES, AtMostFeatures(1), RootSendsRight()]
FACES = {"odd": "cp-sat", "sat-depth": "glucose42", "flow-oct": "highs"}
"""Formulations whose rows are compared with `violation` model by model, and a solver for each."""
QUICK = ("highs", "cp-sat", "cadical195")
"""Solvers that run in this process: cells of the others are verified nightly."""


def faces():
    """Every requirement on each formulation; one formulation for each is drawn for every run."""
    for number, requirement in enumerate(REQUIREMENTS):
        for place, formulation in enumerate(FACES):
            marks = [] if number % len(FACES) == place else [pytest.mark.slow]
            yield pytest.param(requirement, formulation, marks=marks, id=f"{requirement}-{formulation}")


@pytest.mark.parametrize(("requirement", "formulation"), list(faces()))
def test_two_faces_of_a_requirement(requirement, formulation, nightly):
    size = {"cases": 6, "models": 40} if nightly else {"cases": 2, "models": 8}
    report = check_requirement(requirement, [formulation], [FACES[formulation]], **size)
    assert report.cells == {(formulation, FACES[formulation])}
    assert report.models >= 8


@pytest.mark.parametrize(("requirement", "way"), drawn(70, solvers=QUICK), ids=str)
def test_drawn_cells(requirement, way):
    """Each cell works, as brute force says, or is refused with a reason and a remedy."""
    cell = judge(requirement, way, cases=1)
    assert cell.works != bool(cell.reason)
    assert bool(cell.reason) == bool(cell.instead)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("solver", [None, *SOLVERS_OF_CELLS])
@pytest.mark.parametrize("requirement", SAMPLES, ids=str)
def test_all_cells(requirement, solver):
    """On the native engines (no solver), or on every formulation."""
    faults = []
    for way in ways(() if solver is None else (solver,)):
        if (way.formulation is None) == (solver is None):
            try:
                cell = judge(requirement, way, cases=1 if "pyomo" in way.solver else 2, seconds=300.0)
                assert cell.works or (cell.reason and cell.instead), way
            except AssertionError as fault:
                faults.append(str(fault))
    assert not faults, "\n".join(faults)


def test_the_draw_has_every_requirement_and_every_way():
    cells = drawn(70, solvers=QUICK)
    assert len(cells) >= 60
    assert {str(requirement) for requirement, _ in cells} == set(map(str, SAMPLES))
    assert {way for _, way in cells} == set(ways(QUICK))


def test_a_wrong_optimum_is_no_cell():
    with pytest.raises((AssertionError, tf.errors.ContradictionError)):
        judge(TooTight(1), Way("cp-sat", "odd"), cases=4)
    refused = judge(tf.MinSupport(2), Way("highs", "benders-oct"))
    assert (refused.works, refused.instead) == (
        False,
        "use a formulation that offers it: flow-oct, hypergraph-flow, odd, odd-paper, sat-depth, sat-size",
    )
    assert "does not offer" in refused.reason
    without = judge(tf.MaxNodes(1), Way("pyomo:glpk", "odd"), 1)
    assert "not on the path" in without.reason or find_program("glpsol")


def test_all_requirements_and_formulations_are_among_the_cells():
    ours = {kind for kind in registered().values() if kind.__name__ in tf.__all__}
    assert len(ours) > 15
    assert ours <= {type(requirement) for requirement in (*SAMPLES, *SAMPLES_OF_VALUES)}
    assert set(formulation_names()) <= {way.formulation for way in ways(QUICK)}


ON_HIGHS = ["odd-paper", "flow-oct", "hypergraph-flow"]
TREES = {"odd": "cp-sat", "sat-depth": "glucose42", **dict.fromkeys(ON_HIGHS, "highs")}
"""Formulations of trees, and a solver for each: where columns are whole, one that needs no process of its own here."""


@pytest.mark.parametrize("formulation", ["odd", "odd-paper", "flow-oct"])
@pytest.mark.parametrize(("most", "best"), [(1, Fraction(3, 4)), (2, Fraction(1, 2))])
def test_arcs_of_a_tree_lead_to_its_leaves(formulation, most, best):
    problem = tf.Problem(np.arange(6.0)[:, None], [0, 0, 1, 1, 0, 0], shape=tf.Tree(2)) + FewRowsEndEarly(most)
    problem.minimize(tf.Error() + tf.Nodes() / 4)
    assert best == brute_force(problem.data, problem.shape, problem.objective, problem.requirements)[0]
    assert problem.solve("highs", formulation=formulation, warm_start=None).objective == best


@pytest.mark.parametrize("formulation", TREES)
@pytest.mark.parametrize("requirement", [SmallLeaves(2), Approving(2, 4), Approving(0, 1)], ids=repr)
def test_leaves_of_a_tree_are_its_own(formulation, requirement):
    """Two leaves of one class are two, and a place to which no test leads is none."""
    check_requirement(requirement, [formulation], [TREES[formulation]], cases=1, models=5)
    problem = tf.Problem(np.arange(6.0)[:, None], [0, 1, 1, 0, 1, 1], shape=tf.Tree(2)) + requirement
    best, _ = brute_force(problem.data, problem.shape, problem.objective, problem.requirements)
    assert problem.solve(TREES[formulation], formulation=formulation, warm_start=None).objective == best


def test_progress_is_told_after_each_solve(capsys, monkeypatch):
    told = []
    check = partial(check_requirement, tf.MaxNodes(1), ["sat-depth"], ["cadical195"], cases=2, models=0)
    check(on_progress=lambda report: told.append((report.cases, report.solves)))
    assert told == [(1, 1), (2, 2)]
    assert not capsys.readouterr().err
    monkeypatch.setattr(conformance, "TELL_EVERY", 0)
    check()
    assert capsys.readouterr().err.splitlines() == [
        f"max_nodes:1: case {k} of 2, {solves} so far"
        for k, solves in ((1, "1 solve"), (2, "2 solves"))
    ]


def test_tests_that_change_no_prediction_are_kept_where_a_requirement_needs_them():
    # A test with equal leaves makes leaves small.
    report = check_requirement(SmallLeaves(), ["sat-depth"], ["cadical195"], cases=5)
    assert report.cases == 5


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_formulations(formulation, nightly):
    cases = 9 if nightly else 3
    report = check_formulation(formulation, SOLVERS, [tf.MaxNodes(1)], cases=cases, models=20)
    assert report.cases == cases
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
        model.add(ports.active.sum() <= self.at_most + 1)


class TooTight(tf.MaxNodes):
    """Its rows forbid what `violation` allows, though never at the optimum of these cases alone."""

    name: ClassVar[str] = "too_tight"

    def build(self, model, ports):
        model.add(ports.active.sum() <= max(0, self.at_most - 1))


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


def test_single_models_are_judged_without_a_limit_on_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether rows admit a model does not depend on the speed of the machine."""
    solve, limits = Session.solve, []

    def noted(session: Session, run: Run) -> Outcome:
        if run.assumptions:
            limits.append(run.budget.limit)
        return solve(session, run)

    monkeypatch.setattr(Session, "solve", noted)
    check_requirement(tf.MaxNodes(1), ["odd"], ["highs"], cases=1, models=2)
    assert limits
    assert set(limits) == {None}
