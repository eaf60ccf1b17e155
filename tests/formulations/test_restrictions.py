"""Components that are added to a formulation: rows that narrow the problem, and rows that keep its optimum."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from misbehaving import SlowRows

import treeform as tf
from treeform import report
from treeform.catalogue.solvers import find_formulation, formulation_names
from treeform.certify.certificate import sign
from treeform.errors import ContradictionError, SpecError
from treeform.formulations import ODD, SatDepth
from treeform.formulations.odd import NormalForm, PaperODD, SymmetryBreaking
from treeform.language.component import Component
from treeform.language.formulation import Formulation
from treeform.language.ports import Ports
from treeform.model import Model

SOLVER = tf.HiGHS(threads=1)


class RootUsesFirst(Component):
    """The root tests the first feature."""

    needs = frozenset({"feature"})

    def build(self, model: Model, ports: Ports) -> None:
        model.add(ports.feature[0, 0] >= 1, "the root tests the first feature")


class ByColumn(Component):
    """The same, over a column of its own, which no formulation sets."""

    needs = frozenset({"feature"})

    def build(self, model: Model, ports: Ports) -> None:
        model.add(model.bool("first") <= ports.feature[0, 0], "first")
        model.add(model.expr(model.variables[-1]) >= 1, "it is first")


class Declared(RootUsesFirst):
    """The same, declared to keep the optimum, which is wrong."""

    restricts = False


class Derived(Declared):
    """A declaration is not inherited."""


def drawn(seed: int, n: int = 14) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 2, n)


def _errors(y: np.ndarray) -> int:
    return int(len(y) - np.bincount(y, minlength=2).max()) if len(y) else 0


def _tests(X: np.ndarray, columns: list[int]) -> Iterator[np.ndarray]:
    for column in columns:
        for value in np.unique(X[:, column])[:-1]:
            yield X[:, column] <= value


def _subtrees(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, Any]]:
    """Errors of the trees of depth one, and what they are: a class, or None for a test with two classes."""
    for label in (0, 1):
        yield int((y != label).sum()), label
    for left in _tests(X, [0, 1, 2]):
        for label in (0, 1):
            yield int((y[left] != label).sum() + (y[~left] == label).sum()), None


def least_with_first_at_root(X: np.ndarray, y: np.ndarray) -> int:
    """The fewest errors of a tree of depth two whose root tests the first column, by listing all of them."""
    best = len(y) + 1
    for left in _tests(X, [0]):
        for lost, what in _subtrees(X[left], y[left]):
            for other, such in _subtrees(X[~left], y[~left]):
                if what is None or what != such:
                    best = min(best, lost + other)
    return best


@pytest.mark.parametrize("warm", ["auto", None])
@pytest.mark.parametrize("component", [RootUsesFirst, ByColumn], ids=lambda c: c.__name__)
@pytest.mark.parametrize("seed", [1, 3])
def test_rows_that_narrow_the_problem_are_part_of_it(seed: int, component: Any, warm: Any) -> None:
    X, y = drawn(seed)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve(SOLVER, formulation=ODD() + component(), warm_start=warm)
    assert result.status is tf.Status.OPTIMAL
    assert result.errors == least_with_first_at_root(X, y)
    assert result.graph.feature[0] == 0
    assert any("narrowed" in note for note in result.notes)


@pytest.mark.parametrize("name", ["hypergraph-flow", "flow-oct", "benders-oct"])
def test_other_formulations_narrow_likewise(name: str) -> None:
    X, y = drawn(1)
    X[:, 1] = X[:, 0]  # so that tests of two features split alike
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve(SOLVER, formulation=find_formulation(name) + RootUsesFirst(), warm_start=None)
    assert (result.status, result.errors) == (tf.Status.OPTIMAL, least_with_first_at_root(X, y))
    assert result.graph.feature[0] == 0


def test_the_restriction_matters() -> None:
    """Otherwise the test above shows nothing."""
    for seed in (1, 3):
        X, y = drawn(seed)
        assert least_with_first_at_root(X, y) > tf.Problem(X, y, shape=tf.Tree(2)).solve().errors


@pytest.mark.parametrize("shape", [tf.Diagram(1, 2), tf.Tree(2)], ids=str)
def test_models_from_elsewhere_count_where_they_satisfy_the_rows(shape: Any) -> None:
    X, y = drawn(1)
    problem = tf.Problem(X, y, shape=shape)
    narrow = ODD() + RootUsesFirst()
    free = problem.solve()
    cold = problem.solve(SOLVER, formulation=narrow, warm_start=None)
    assert free.errors < cold.errors
    again = problem.solve(SOLVER, formulation=narrow, warm_start=cold.graph)
    assert any(claim.by == "the given warm start" for claim in again.claims)
    assert again.errors == cold.errors
    refused = problem.solve(SOLVER, formulation=narrow, warm_start=free.graph)
    assert all(claim.by != "the given warm start" for claim in refused.claims)
    assert refused.errors == cold.errors


def test_the_certificate_names_the_restriction_and_its_verdict_rests_on_it() -> None:
    X, y = drawn(1)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve(SOLVER, formulation=ODD() + RootUsesFirst(), warm_start=None)
    body = result.certificate()
    assert body["problem"]["restriction"] == {"components": ["RootUsesFirst()"], "formulation": "odd"}
    for independent in (False, True):
        report = tf.check(body, X, y, independent=independent)
        assert str(report.verdict) == "on trust"
        assert "RootUsesFirst()" in " ".join(report.rests_on)
        assert "refuted" not in str(report)
    # The status depends on the restriction: without it, the certificate says another thing, and it is false.
    free = sign({**body, "problem": {k: v for k, v in body["problem"].items() if k != "restriction"}})
    assert str(tf.check(free, X, y).verdict) == "false"


def test_a_bound_that_holds_without_the_rows_is_proved_again() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [0.0, 3.0]]), np.array([0, 1, 0, 1])
    result = tf.Problem(X, y, shape=tf.Tree(1)).solve(SOLVER, formulation=ODD() + RootUsesFirst())
    assert result.errors == 0
    report = tf.check(result.certificate(), X, y)
    assert str(report.verdict) == "on trust"
    assert {str(row.verdict) for row in report.rows if "no model is below" in row.what} == {"verified"}


def test_infeasible_names_the_rows() -> None:
    X, y = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 0])
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve(SOLVER, formulation=ODD() + RootUsesFirst())
    assert result.status is tf.Status.INFEASIBLE
    assert any("RootUsesFirst()" in note and "satisfies" in note for note in result.notes)
    assert str(tf.check(result.certificate(), X, y).verdict) == "on trust"
    with pytest.raises(SpecError, match="RootUsesFirst"):
        result.conflict()


def test_a_wrong_declaration_is_a_contradiction() -> None:
    X, y = drawn(1)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    with pytest.raises(ContradictionError, match=r"Declared\(\)"):
        problem.solve(SOLVER, formulation=ODD() + Declared(), warm_start=problem.solve().graph)
    alone = problem.solve(SOLVER, formulation=ODD() + Declared(), warm_start=None)
    assert any("Declared()" in note for note in alone.notes)
    assert str(tf.check(alone.certificate(), X, y).verdict) == "false"
    with pytest.raises(AssertionError):
        tf.testing.check_formulation(ODD() + Declared(), ["highs"])


def test_what_a_formulation_comes_with_and_what_is_added() -> None:
    for name in formulation_names():
        assert find_formulation(name).restrictions == ()
    assert PaperODD().title == "odd-paper"
    unchanged = (
        ODD() - SymmetryBreaking,
        ODD() + NormalForm(),
        ODD().replace(SymmetryBreaking, SymmetryBreaking("in_degree")),
        PaperODD(),
        ODD() + Declared(),
    )
    for formulation in unchanged:
        assert formulation.restrictions == ()
    own = SatDepth((*SatDepth().components, RootUsesFirst()))
    assert own.restrictions == (RootUsesFirst(),)
    assert (ODD() + Derived()).restrictions == (Derived(),)
    assert (ODD() - SymmetryBreaking).title == "odd without SymmetryBreaking"
    assert ODD().replace(SymmetryBreaking, RootUsesFirst()).title == (
        "odd with RootUsesFirst() without SymmetryBreaking"
    )


class Plugin(ODD):
    """A formulation of another package, which comes with its own rows."""

    name = "plugin"

    def __init__(self) -> None:
        super().__init__()
        self.components = (*self.components, RootUsesFirst())


class Narrow(Component):
    restricts = True


class Vouched(Formulation):
    name = "vouched"

    def __init__(self) -> None:
        super().__init__((RootUsesFirst(), Narrow()))


def test_formulations_of_other_packages() -> None:
    """Rows beside those of the class it derives from narrow; its own are its statement, unless it says otherwise."""
    assert Plugin().restrictions == (RootUsesFirst(),)
    assert Vouched().restrictions == (Narrow(),)
    X, y = drawn(1)
    result = tf.Problem(X, y, shape=tf.Tree(2)).solve(SOLVER, formulation=Plugin)
    assert result.errors == least_with_first_at_root(X, y)


def test_a_requirement_belongs_to_the_problem() -> None:
    with pytest.raises(SpecError, match="problem"):
        ODD() + tf.MaxNodes(2)
    with pytest.raises(SpecError, match="problem"):
        ODD().replace(SymmetryBreaking, tf.MaxNodes(2))


def test_what_compares_questions_refuses_such_rows() -> None:
    X, y = drawn(1)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    how = {"formulation": ODD() + RootUsesFirst()}
    for ask in (
        lambda: problem.size_table("highs", **how),
        lambda: problem.pareto("highs", **how),
        lambda: problem.frontier("highs", over=tf.MaxNodes(2), **how),
        lambda: problem.conflict("highs", **how),
        lambda: problem.near_optimal("highs", **how),
        lambda: problem.minimize(tf.Depth()).solve("highs", **how),
        lambda: problem.minimize(tf.Depth()).solve("sat", formulation=SatDepth() + RootUsesFirst()),
    ):
        with pytest.raises(SpecError, match="RootUsesFirst"):
            ask()


def test_other_objectives_and_requirements() -> None:
    """Objectives that are searched in parts, and requirements that engines support."""
    X, y = drawn(2)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += tf.MinSupport(2)
    for objective in (tf.Error() + 2 * tf.Nodes(), tf.F1Loss(1), tf.Error() + tf.MaxNodes(1).soft(3)):
        problem.minimize(objective)
        warm = problem.solve(SOLVER, formulation=ODD() + RootUsesFirst())
        cold = problem.solve(SOLVER, formulation=ODD() + RootUsesFirst(), warm_start=None)
        free = problem.solve(SOLVER)
        assert warm.status is cold.status is tf.Status.OPTIMAL
        assert warm.objective == cold.objective >= free.objective
        assert warm.graph.feature[0] == cold.graph.feature[0] == 0


def test_explain_names_it() -> None:
    X, y = drawn(0)
    text = str(tf.Problem(X, y, shape=tf.Tree(2)).explain("highs", formulation=ODD() + RootUsesFirst()))
    assert text.startswith("odd with RootUsesFirst() on highs")
    assert "the problem is narrowed by the rows of RootUsesFirst() in odd" in text


def test_results_are_kept_without_the_rows() -> None:
    X, y = drawn(0)
    result = tf.Problem(X, y, shape=tf.Tree(2)).solve(SOLVER, formulation=ODD() + RootUsesFirst())
    again = pickle.loads(pickle.dumps(result))
    assert again.question.restriction == result.question.restriction
    assert again.question.restriction.rows is None


class Endless(SlowRows):
    restricts = None


def test_the_time_limit_holds_while_the_rows_are_built() -> None:
    X, y = drawn(0)
    result = tf.Problem(X, y, shape=tf.Tree(2)).solve(SOLVER, formulation=ODD() + Endless(), time_limit=0.3)
    assert result.status is tf.Status.UNKNOWN
    assert result.limit is tf.Limit.TIME


def test_the_report_names_them(tmp_path: Path) -> None:
    X, y = drawn(1)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve(SOLVER, formulation=ODD() + RootUsesFirst(), warm_start=None)
    path = tmp_path / "report.html"
    report.html(result, path)
    text = path.read_text()
    assert "The problem is narrowed by the rows of RootUsesFirst() in odd" in text
    assert "that satisfies the rows of RootUsesFirst() in odd has fewer than" in text
