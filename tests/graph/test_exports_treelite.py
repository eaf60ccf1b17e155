"""treelite: its own predictor decides every row as the model does."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from export_tables import export_cases

import treeform as tf

treelite = pytest.importorskip("treelite")


def predicted(graph: tf.DecisionGraph, rows: object) -> np.ndarray:
    return treelite.gtil.predict(graph.to_treelite(), graph.to_matrix(rows, unseen="other"))[:, 0, :]


@pytest.mark.parametrize("seed", [0, 1])
def test_every_row_alike(seed):
    for case in export_cases(seed):
        scores = predicted(case.graph, case.rows)
        assert [str(case.graph.classes[code]) for code in scores.argmax(axis=1)] == case.expected
        assert (scores.sum(axis=1) == 1).all()


def test_it_reads_back_from_its_file_with_names(tmp_path):
    case = export_cases(0)[0]
    made = case.graph.to_treelite()
    made.serialize(tmp_path / "model.treelite")
    again = treelite.Model.deserialize(tmp_path / "model.treelite")
    matrix = case.graph.to_matrix(case.rows, unseen="other")
    assert (treelite.gtil.predict(again, matrix) == treelite.gtil.predict(made, matrix)).all()
    attributes = json.loads(json.loads(again.dump_as_json())["attributes"])
    assert len(attributes["columns"]) == matrix.shape[1]
    assert attributes["labels"] == case.graph.classes.tolist()


def test_a_row_that_lacks_a_needed_value_has_no_scores():
    graph = tf.Problem(pd.DataFrame({"a": [1.0, 2, 3, 4]}), [0, 0, 1, 1], shape="tree:1").solve().graph
    scores = treelite.gtil.predict(graph.to_treelite(), np.array([[np.nan], [1.0], [4.0]]))[:, 0, :]
    assert scores.tolist() == [[0, 0], [1, 0], [0, 1]]


def test_constant_models_and_hyperplanes():
    problem = tf.Problem([[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, 1, 1], shape=tf.Tree(1, "multivariate"))
    constant = tf.DecisionGraph.leaf(1, problem.data)
    assert treelite.gtil.predict(constant.to_treelite(), np.zeros((1, 1)))[0, 0].tolist() == [0, 1]
    lines = tf.DecisionGraph.build(
        [{"weights": {0: 1, 1: 1}, "threshold": 0.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}],
        problem.data,
    )
    rows = np.array([[0.0, 0], [0, 1], [1, 0], [0.5, 0]])
    assert predicted(lines, rows).argmax(axis=1).tolist() == [0, 1, 1, 0]
