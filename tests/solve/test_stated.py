"""A problem as rows: shown, written to files that another reader solves alike, and with rows of one's own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import treeform as tf


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).integers(0, 4, (24, 3)).astype(float)
    return X, np.where((X[:, 0] > 1) ^ (X[:, 1] > 1), "yes", "no")


@pytest.fixture(scope="module")
def problem(table):
    stated = tf.Problem(*table, shape=tf.Tree(depth=2))
    stated.minimize(tf.Error() + tf.Nodes())
    stated += tf.MinSupport(2 / 24)
    return stated


def few(model, active):
    model.add(active.sum() <= 1, "few")


def test_rows_are_shown(problem, capsys):
    stated = problem.model("odd")
    stated.show(rows_per_block=1)
    shown = capsys.readouterr().out
    assert "minimize" in shown.lower() and "min_support" in shown
    assert str(stated) == stated.model.stats()
    assert repr(stated).startswith("<StatedModel: error + nodes over tree:2 by odd")
    assert problem.model().formulation == stated.formulation


def optimum_of(path):
    """By highspy's own reader, in a process of its own: here it would be loaded before OR-Tools."""
    code = (
        "import sys, highspy; reader = highspy.Highs(); reader.setOptionValue('output_flag', False); "
        "reader.readModel(sys.argv[1]); reader.run(); print(reader.getInfo().objective_function_value)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


@pytest.mark.parametrize("formulation", ["odd", "sat-depth"])
@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_a_written_model_has_the_same_optimum(problem, table, tmp_path, formulation, suffix):
    if formulation == "sat-depth":
        X, y = table
        problem = tf.Problem(X[6:14], y[6:14], shape=tf.Tree(2))
    stated = problem.model(formulation)
    path = tmp_path / f"model.{suffix}"
    getattr(stated, f"to_{suffix}")(path)
    optimum = problem.solve().objective
    scale = problem.question.scale
    assert optimum_of(path) == pytest.approx(float(optimum * scale))


def test_a_file_of_another_name_or_place_is_refused(problem, tmp_path):
    stated = problem.model("odd")
    with pytest.raises(tf.errors.SpecError, match=r"does not end in \.lp"):
        stated.to_lp(tmp_path / "model.mps")
    with pytest.raises(tf.errors.SpecError, match="cannot be written"):
        stated.to_lp(tmp_path / "none" / "model.lp")


def test_rows_of_ones_own_narrow_the_problem(problem, table):
    stated = problem.model("odd")
    narrowed = stated.add(few)
    assert len(narrowed.model.blocks) == len(stated.model.blocks) + 1
    result = problem.solve("highs", formulation=narrowed.formulation)
    assert result.graph.n_nodes <= 1 < problem.solve().graph.n_nodes
    other = tf.Problem(*table, shape=tf.Tree(2))
    other.minimize("error + nodes")
    other += [tf.MinSupport(2 / 24), tf.MaxNodes(1)]
    assert result.objective == other.solve().objective
    assert any("few in odd" in note for note in result.notes)

    class Twice(tf.Component):
        needs = frozenset({"active"})

        def build(self, model, ports):
            few(model, ports.active)

    assert len(stated.add([few, Twice()]).model.blocks) == len(stated.model.blocks) + 2


def test_what_is_no_port_or_no_model_is_refused(problem):
    with pytest.raises(tf.errors.SpecError, match="names the port 'unpublished'"):
        problem.model("odd").add(lambda model, unpublished: None)
    with pytest.raises(tf.errors.SpecError, match="names no port"):
        problem.model("odd").add(lambda: None)
    with pytest.raises(tf.errors.SpecError, match="while it is solved"):
        problem.model("hypergraph-flow")
    with pytest.raises(tf.errors.SpecError, match="there is no formulation"):
        problem.model("oddd")


def test_rows_that_are_returned_or_no_rows_are_refused(problem):
    """What a function returns would be lost without a word."""
    stated = problem.model("odd")
    with pytest.raises(tf.errors.SpecError, match="returns rows, and does not add them"):
        stated.add(lambda model, active: active.sum() <= 1)
    for rows in (3, stated.ports.active.sum() <= 1, [few, 3]):
        with pytest.raises(tf.errors.SpecError, match="states no rows"):
            stated.add(rows)


def test_forms_of_a_plain_requirement_name_the_base_that_reads_them():
    with pytest.raises(tf.errors.SpecError, match=r"write class Share\(tf.LinearRequirement\)"):

        class Share(tf.Requirement):
            def forms(self, rows):
                yield rows.weight() <= 3
