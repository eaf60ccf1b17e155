"""Bad input to decision diagrams: an error that says what to do, or a stated result, before a solver's own words."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.odd import ODD, paper_objective
from treeform.shape import parse_shape
from treeform.solve.choice import choose
from treeform.solve.result import SolveOptions

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, (40, 2)).astype(float)
Y = RNG.integers(0, 4, 40)
DATA = Dataset.from_user(X, Y)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("diagram:1,2,5", "layer 2"),
        ("diagram:2,2", "first layer"),
        ("diagram:1,0,1", "at least 1"),
        ("diagram:", "not understood"),
        ("diagram:1,2:diagonal", "diagonal"),
        ("tree:0:multivariate", "depth 0"),
    ],
)
def test_skeletons(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_shape(text)


@pytest.mark.parametrize("alpha", [-0.1, "-1", float("nan"), float("inf"), "much"])
def test_alpha(alpha: object) -> None:
    with pytest.raises(SpecError):
        paper_objective(alpha, DATA, tf.Diagram(1, 2))


@pytest.mark.parametrize("solver", [None, "highs", "cp-sat"])
def test_more_classes_than_terminals_are_stated(solver: str | None) -> None:
    result = tf.Problem(DATA, None, shape="diagram:1,1").solve(solver, formulation="odd")
    assert any("at most 3 of 4 classes" in note for note in result.notes)
    assert result.bound >= np.bincount(Y).min()
    assert tf.check(result.certificate(), X, Y).ok


def test_the_bound_by_classes_alone_can_prove() -> None:
    y = np.array([0] * 8 + [1] * 8 + [2] * 3)
    x = np.arange(19.0)[:, None]
    problem = tf.Problem(x, y, shape="diagram:1,2:multivariate").minimize(tf.Error() + 5 * tf.Nodes())
    result = problem.solve()
    assert (result.objective, str(result.status)) == (8, "optimal")  # one test, class 2 given up
    assert tf.check(result.certificate(), x, y).ok


def test_stability_that_no_node_can_meet() -> None:
    problem = tf.Problem(DATA, None, shape="diagram:1,2")
    beyond = tf.Problem(DATA, None, shape="diagram:1,2").add(tf.Stability(41))
    assert beyond.solve(tf.HiGHS()).graph.n_nodes == 0
    with pytest.raises(SpecError, match="fraction"):
        tf.Stability(1.5)
    with pytest.raises(SpecError):
        tf.Stability(-1)
    problem.add(tf.Stability(40))
    result = problem.solve(tf.HiGHS())
    assert result.graph.n_nodes <= 1  # every sample reaches the root, and no other test
    assert result.violations["stability:40"] == 0


@pytest.mark.parametrize("shape", ["diagram:1,2,4,4", "tree:3:multivariate"])
@pytest.mark.parametrize("solver", ["highs", "cp-sat", "mathopt:scip"])
def test_a_time_limit_shorter_than_the_build(shape: str, solver: str) -> None:
    if solver == "cp-sat" and "multi" in shape:
        pytest.skip("CP-SAT takes no continuous columns")
    x = np.random.default_rng(1).normal(size=(300, 4))
    result = tf.Problem(x, np.arange(300) % 3, shape=shape).solve(solver, formulation="odd", time_limit=0.05)
    assert (str(result.status), str(result.limit)) == ("feasible", "time")
    assert result.graph is not None
    assert result.bound <= result.objective


def test_cp_sat_refuses_hyperplanes_before_it_starts() -> None:
    with pytest.raises(tf.TreeformError, match="continuous"):
        tf.Problem(DATA, None, shape="tree:2:multivariate").solve(tf.CPSAT(), formulation=ODD(), time_limit=5)


def test_the_command_line_says_the_same(tmp_path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(12)))
    for arguments, says in (
        (["--shape", "diagram:1,2,5"], "layer 2"),
        (["--shape", "diagram:1,2", "--require", "stability:1.5"], "fraction"),
        (["--shape", "diagram:1,2", "--time-limit", "-1"], "time"),
    ):
        done = CliRunner().invoke(app, ["fit", str(table), "--target", "y", *arguments])
        assert done.exit_code in (2, 3)
        assert says in done.output
        assert "Traceback" not in done.output


class Own(tf.Requirement):
    """A requirement of a user that declares columns which are not whole numbers."""

    continuous = True
    needs = frozenset({"active"})

    def build(self, model, ports) -> None:
        model.add(ports.active.sum() <= 2, "own")

    def violation(self, graph, data) -> int:
        return max(0, graph.n_nodes - 2)


@pytest.mark.parametrize(
    ("shape", "formulation", "own", "name"),
    [
        ("diagram:1,2", "odd", False, "cp-sat"),
        ("diagram:1,2", "odd", True, "highs"),
        ("diagram:1,2:multivariate", "odd", False, "highs"),
        ("diagram:1,2", "odd-paper", False, "highs"),
    ],
)
def test_the_solver_when_none_is_named(shape: str, formulation: str, own: bool, name: str) -> None:
    problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=shape)
    if own:
        problem += Own()
    plan = choose(problem.question, SolveOptions(formulation=formulation))
    assert plan.backend is not None
    assert plan.backend.name == name
    assert any(note.startswith(f"solver: {name}") for note in plan.notes)
