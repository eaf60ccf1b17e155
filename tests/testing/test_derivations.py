"""Each statement of a requirement or objective that something proves with, against its definition on models.

``--nightly`` runs many more tables; the figures of a large run are in ``docs/design/trust.rst``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from derivation_cases import (
    MAKERS,
    OF_VALUES,
    Drawn,
    Make,
    bound_requirements,
    drawn_for,
    models_of,
    telling,
    with_values,
)
from derivation_table import tables
from drawing import Draw
from objective_definitions import OBJECTIVES, drawn_objective, value_of
from objective_definitions import OF_VALUES as LOSSES

import treeform as tf
from treeform.backends import Backend, by_name
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement, registered
from treeform.language.values import ValueRow, ValueRule
from treeform.shape import Limits
from treeform.testing import all_models
from treeform.testing.derivations import disagreements
from treeform.testing.engine_tasks import task_disagreements
from treeform.testing.objective_derivations import objective_disagreements
from treeform.utils.extensions import OBJECTIVES as REGISTERED
from treeform.utils.extensions import extensions

SEEDS = range(60)
POOL = 150
"""Models that are drawn; the most telling of them are compared."""
CELLS = [(name, False) for name in MAKERS] + [(name, True) for name in OF_VALUES]


@pytest.fixture(scope="module")
def backend() -> Backend:
    return by_name("cp-sat")


def cases(
    name: str, seed: int, of_values: bool, models: int
) -> Iterator[tuple[Drawn, Requirement, list[DecisionGraph]]]:
    """Bound requirements of one table, each with the models that it is compared on."""
    makers: dict[str, Make] = OF_VALUES if of_values else MAKERS
    rng, case = drawn_for(name, seed, of_values)
    graphs = models_of(case, rng, POOL)
    for requirement in bound_requirements(name, rng, case, graphs, makers):
        if of_values:
            some = graphs[: 1 + models // 4]
            yield case, requirement, [g for one in some for g in with_values(case, one, rng, requirement)]
        else:
            yield case, requirement, telling(requirement, case, graphs, models)


@pytest.mark.parametrize(("name", "of_values"), CELLS)
def test_rows_are_satisfied_exactly_where_nothing_is_violated(
    name: str, of_values: bool, backend: Backend, draw: Draw, nightly: bool
) -> None:
    moves = issubclass(registered()[name], Bounded)  # then each table makes several requirements
    for seed in draw(SEEDS, 3 if moves else 8):
        for case, requirement, graphs in cases(name, seed, of_values, 40 if nightly else 8):
            solves = 16 if nightly else 1
            for graph, wrong in disagreements(requirement, case.data, case.shape, graphs, backend, solves):
                pytest.fail(f"{wrong}\n{graph.to_text()}\n{graph.values}\n{case.code(requirement)}")


@pytest.mark.parametrize(("name", "seed"), [("fix", 6)])
def test_what_disagreed_once(name: str, seed: int, backend: Backend) -> None:
    """A hyperplane was taken for the given test of one column by rows, and not by `violation`."""
    for case, requirement, graphs in cases(name, seed, False, 16):
        assert not list(disagreements(requirement, case.data, case.shape, graphs, backend))


# What few drawn tables have: a column that is tested twice on a path, and amounts and ratios that are no whole units.
PATH = pd.DataFrame({"a": [0, 1, 2, 3, 4], "b": [0, 1, 0, 1, 0]})
SHARP: dict[str, tuple[Requirement, list[int] | None]] = {
    "once_per_path": (tf.OncePerPath(), None),
    "max_tests_per_path": (tf.MaxTestsPerPath("a", 1), None),
    "min_support": (tf.MinSupport(fraction="1/3"), [3, 1, 1, 2, 1]),
    "stability": (tf.Stability(fraction="5/8"), [1, 1, 1, 1, 1]),
    "max_errors": (tf.MaxErrors(fraction="1/3"), [1, 1, 1, 1, 1]),
    "min_recall": (tf.MinRecall("0.6667", 1), None),
    "min_precision": (tf.MinPrecision("0.501", 1), None),
    "max_false_positive_rate": (tf.MaxFalsePositiveRate("0.499", 1), None),
    "statistical_parity": (tf.StatisticalParity(["p", "q", "p", "q", "p"], ratio="0.7499", positive=1), None),
}


@pytest.mark.parametrize("name", SHARP)
def test_what_lies_between_two_whole_units_is_stated_exactly(name: str, backend: Backend) -> None:
    """Trees of depth two on five rows: some test a column twice on a path, some lack a part of a unit."""
    asked, weights = SHARP[name]
    problem = tf.Problem(PATH, [0, 1, 0, 1, 1], shape=tf.Tree(2), sample_weight=weights)
    bound = (problem + asked).requirements[0]
    graphs = list(all_models(problem.data, problem.shape, rng=np.random.default_rng(0)))[:60]
    lacking = [bound.violation(graph, problem.data) for graph in graphs]
    assert any(lacking) and not all(lacking)
    for graph, wrong in disagreements(bound, problem.data, problem.shape, graphs, backend, 0):
        pytest.fail(f"{wrong}\n{graph.to_text()}")


def test_the_tasks_of_engines_say_what_all_requirements_say_together(draw: Draw) -> None:
    for seed in draw(range(600), 25):
        of_values = seed % 4 == 0
        rng, case = drawn_for("joint", seed, of_values)
        graphs, makers = models_of(case, rng, 12), OF_VALUES if of_values else MAKERS
        several: list[Requirement] = []
        for name in rng.choice(list(makers), int(rng.integers(1, 4))):
            several += list(bound_requirements(str(name), rng, case, graphs, makers))[-1:]
        goal = tf.AbsoluteError() if of_values else [tf.Error(), tf.Nodes()][int(rng.integers(2))]
        question = Question(case.data, case.shape, Objective.of(goal), tuple(several))
        for graph in graphs:
            for wrong in task_disagreements(question, graph):
                pytest.fail(f"{wrong}\n{graph.to_text()}\n{case.code(several)}")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_objectives_have_one_value(name: str, backend: Backend, draw: Draw, nightly: bool) -> None:
    for seed in draw(SEEDS, 3):
        rng, case = drawn_for(name, seed, name in LOSSES)
        try:
            goal = drawn_objective(name, rng, case)
            goal.check(case.data, case.shape)
        except TreeformError:
            continue  # leaves of a diagram; costs beyond exact arithmetic
        graphs = models_of(case, rng, 16 if nightly else 5)
        if name in LOSSES:
            none = tf.MaxNodes(0)
            graphs = [valued for one in graphs for valued in with_values(case, one, rng, none)]
        for graph in graphs:
            meant = sum((w * value_of(term, case, graph) for w, term in goal.terms), Fraction(0))
            assert goal.evaluate(graph, case.data) == meant, case.code(goal)
        for graph, wrong in objective_disagreements(goal, case.data, case.shape, graphs, backend):
            pytest.fail(f"{wrong}\n{graph.to_text()}\n{case.code(goal)}")


def test_every_requirement_and_objective_is_compared() -> None:
    ours = {
        name for name, kind in registered().items() if kind.__module__.startswith("treeform.requirements")
    }
    assert ours - {"rate_parity", "by_groups"} == set(MAKERS) | set(OF_VALUES)
    assert {one.name for one in extensions(REGISTERED)} <= set(OBJECTIVES)


class Rounded(tf.MeanParity, listed=False):
    """Right-hand sides rounded down: right for whole values only."""

    def value_rule(self, data: Dataset) -> ValueRule:
        rule = super().value_rule(data)
        rows = tuple(ValueRow(row.coef, int(row.side // 1)) for row in rule.rows)
        return ValueRule(rows, whole=rule.whole)


class OneMore(tf.MaxErrors, listed=False):
    """A row that allows one unit of weight too much."""

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        return [(coef, most + 1) for coef, most in super().prediction_rows(data)]


class Sloppy(tf.MaxNodes, listed=False):
    """A limit that is one test too low."""

    def limits(self, data: Dataset) -> Limits:
        return Limits(max_nodes=max(0, self.at_most - 1))


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [(OneMore, "max_errors", "linear constraints over predictions"), (Sloppy, "max_nodes", "limits")],
)
def test_a_wrong_statement_is_seen(wrong: type[Requirement], right: str, said: str, backend: Backend) -> None:
    found: list[str] = []
    for seed in range(3):
        for case, requirement, graphs in cases(right, seed, False, 6):
            false = wrong.__new__(wrong)
            false.__dict__.update(requirement.__dict__)
            found += [text for _, text in disagreements(false, case.data, case.shape, graphs, backend, 0)]
    assert any(text.startswith(said) for text in found)
    assert not any(text.startswith(("check", "rows over ports")) for text in found)


def test_a_rounded_row_over_values_is_seen(backend: Backend) -> None:
    table, y = pd.DataFrame({"x": [2, 2, 0, 1, 2], "g": list("AABBB")}), [3, 0, 0, 3, 2]
    problem = tf.Problem(table, y, shape=tf.Tree(1), exclude=["g"]).minimize("squared_error")
    problem += tf.MeanParity("g", "0.1")
    best = problem.solve().graph
    for kind, said in ((tf.MeanParity, []), (Rounded, ["leaf values"])):
        requirement = kind("g", "0.1", whole=False).bind(problem.data)
        found = disagreements(requirement, problem.data, problem.shape, [best], backend)
        assert [text.split(":")[0] for _, text in found] == said


def test_the_page_says_which_statements_there_are() -> None:
    requirements, objectives = tables()
    rows = {row[0]: row[1:] for row in (*requirements, *objectives)}
    assert rows["``min_recall``"][:5] == ("totals", "", "", "shortfall", "totals")
    assert rows["``max_depth``"][1::3] == ("limits", "limits")
    assert rows["``f1_loss``"] == ("", "", "costs at a ratio", "models")
    assert {len(row) for row in requirements} == {7} and {len(row) for row in objectives} == {5}
