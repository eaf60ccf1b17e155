"""Results predict, certificates save themselves, and a check takes paths; what prints is short or whole."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import treeform as tf


@pytest.fixture
def fitted(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40).round(2), "job": rng.choice(["cook", "clerk"], 40)})
    table["y"] = np.where(table["x"] > 0, "good", "bad")
    table.to_csv(tmp_path / "table.csv", index=False)
    problem = tf.Problem(table, "y", shape=tf.Tree(1))
    return table, problem, problem.solve(), tmp_path


def test_a_certificate_and_its_table_are_checked_by_their_paths(fitted):
    table, _, result, folder = fitted
    certificate = result.certificate()
    certificate.save(folder / "c.json")
    assert json.loads((folder / "c.json").read_text()) == certificate
    by_paths = tf.check(folder / "c.json", folder / "table.csv")
    assert by_paths.ok and str(by_paths) == str(tf.check(certificate, table))
    assert tf.check(str(folder / "c.json"), table.drop(columns="y"), table["y"]).ok
    table.loc[0, "x"] = 99.0
    table.to_csv(folder / "other.csv", index=False)
    with pytest.raises(tf.errors.CertificateError):
        tf.check(folder / "c.json", folder / "other.csv")


def test_a_column_of_weights_is_found_by_its_name(fitted):
    from typer.testing import CliRunner

    from treeform.cli.app import app

    table, _, _, folder = fitted
    table["w"] = np.where(table["job"] == "cook", 2, 1)
    table.to_csv(folder / "weighted.csv", index=False)
    words = ["fit", folder / "weighted.csv", "--target", "y", "--weight", "w", "--shape", "tree:1"]
    done = CliRunner().invoke(app, [*map(str, words), "--certificate", str(folder / "w.json")])
    assert done.exit_code == 0
    assert tf.check(folder / "w.json", folder / "weighted.csv").ok


def test_files_that_are_not_there_or_no_certificates_are_refused(fitted):
    table, _, _, folder = fitted
    with pytest.raises(tf.errors.SpecError, match="there is no certificate file"):
        tf.check(folder / "none.json", table)
    with pytest.raises(tf.errors.CertificateError, match="not JSON"):
        tf.check(folder / "table.csv", table)
    with pytest.raises(tf.errors.SpecError, match="cannot be written"):
        tf.Problem(table, "y", shape=tf.Tree(1)).solve().certificate().save(folder / "none" / "c.json")


def test_a_result_predicts(fitted):
    table, problem, result, _ = fitted
    assert (result.predict(table) == table["y"]).all()
    problem += [tf.MinSupport(0.4), tf.MaxErrors(0), tf.NoTestOn("x")]
    with pytest.raises(
        tf.errors.SpecError, match="there is no model to predict with: the answer is infeasible"
    ):
        problem.solve().predict(table)


def test_a_drawing_is_one_line_and_a_summary_is_whole(fitted):
    _, _, result, _ = fitted
    drawing = result.graph.plot()
    assert "\n" not in repr(drawing) and len(repr(drawing)) < 100
    wide = pd.DataFrame({f"column_{j}": range(3) for j in range(80)})
    summary = tf.Problem(wide, ["a", "b", "a"], shape=tf.Tree(1)).data.summary()
    assert (
        "..." not in repr(summary) and "column_79" in repr(summary) and "column_40" in summary._repr_html_()
    )
    assert type(summary.loc[["column_1"]]) is pd.DataFrame
