"""What ``treeform predict`` writes: a row for each sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from treeform.cli.stored import features_of
from treeform.cli.table import take_column
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.graph.rules import leaves_in_order


def predictions(
    graph: DecisionGraph, path: Path, keep: Sequence[str], unseen: str, *, proba: bool, rule: bool
) -> pd.DataFrame:
    """Predictions for a table, with the columns to keep in front, and ``unseen`` as for `DecisionGraph.predict`.

    On demand, the share of each class at the leaf reached, and the number of the rule, counted from 1 in the order of
    `DecisionGraph.rules`.

    Raises DataError if a column is missing, or a value cannot be read, and SpecError if a column to keep has the name
    of a column that is added.
    """
    frame, features = features_of(graph, path)
    encoded = graph.encode(features, unseen)
    leaf = graph.apply(encoded)
    if graph.values and proba:
        raise SpecError(
            "--proba is not possible: the model predicts values",
            cause="a regression model has no shares of classes",
            fix="leave out --proba",
        )
    made = {"prediction": graph.leaf_values[leaf] if graph.values else graph.classes[graph.label[leaf]]}
    if rule:
        number = np.zeros(len(graph.feature), dtype=np.int64)
        leaves = leaves_in_order(graph)
        number[leaves] = np.arange(1, len(leaves) + 1)
        made["rule"] = number[leaf]
    if proba:
        shares = graph.shares[leaf]
        made |= {f"share {label}": shares[:, k] for k, label in enumerate(graph.classes)}
    kept = {name: take_column(frame, name, "identifier", path).to_numpy() for name in keep}
    twice = [name for name in kept if name in made]
    if twice:
        raise SpecError(
            f"--id {twice[0]} has the name of a column that predict writes",
            fix="rename the column in the table",
        )
    return pd.DataFrame({**kept, **made})
