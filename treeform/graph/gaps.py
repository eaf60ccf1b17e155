"""Models for rows that lack a value where no training row did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import CATEGORY, LARGEST_PRESENT, Column
from treeform.errors import DataError, SpecError
from treeform.graph.forms import LinearForm
from treeform.graph.routing import Nodes
from treeform.utils.rows import setting_text

MISSING = ("error", "majority")


def checked_policy(missing: Any) -> str:
    """What to do about values that are missing where training had none: one of `MISSING`.

    Raises DataError if it is none of them.
    """
    if not isinstance(missing, str) or missing not in MISSING:
        raise DataError(
            f"{setting_text('missing', missing)} is not known at prediction", fix="use 'error' or 'majority'"
        )
    return missing


def accepting(graph: Nodes) -> dict[str, Any]:
    """What changes in a graph when every test sends missing values to the child of more training weight.

    These are ``feature``, ``columns``, ``encoder`` and ``forms``. A column without gaps becomes one with gaps: two
    features, missing values below all others in one and above all others in the other. Each test reads the one that
    sends them to the heavier child, the left one where both weigh the same. Columns that hyperplanes read stay as they
    are, and so do columns with thresholds beyond 2**1000.

    Raises SpecError if the graph knows neither the columns of tables nor the training weight at its nodes.
    """
    encoder, weight = graph.encoder, graph.counts.sum(axis=1)
    if encoder is None or not weight.any():
        raise SpecError(
            "this model cannot say where missing values go",
            cause="it knows no columns of a table"
            if encoder is None
            else "it holds no counts of training rows",
            fix="fit it from a table" if encoder is None else "use graph.with_counts(data) first",
        )
    fixed = _fixed(graph)
    sources = tuple(
        source
        if source.kind == CATEGORY or source.gaps or source.name in fixed
        else replace(source, gaps=True)
        for source in encoder.sources
    )
    made = replace(encoder, sources=sources)
    heavier_left = weight[graph.left] >= weight[graph.right]
    below, above = _positions(graph.columns, made.columns)
    feature = graph.feature.copy()
    single = (feature >= 0) & (feature < len(graph.columns))
    old = feature[single]
    feature[single] = np.where(heavier_left[single], below[old], above[old])
    feature[graph.feature >= len(graph.columns)] += len(made.columns) - len(graph.columns)
    forms = tuple(LinearForm(tuple(int(below[f]) for f in one.features), one.weights) for one in graph.forms)
    return {"feature": feature, "columns": made.columns, "encoder": made, "forms": forms}


def _fixed(graph: Nodes) -> set[str]:
    """The columns of the table that cannot get missing values."""
    columns = graph.columns
    single = (graph.feature >= 0) & (graph.feature < len(columns))
    with np.errstate(invalid="ignore"):
        huge = graph.feature[single & (np.abs(graph.threshold) > LARGEST_PRESENT)].tolist()
    return {columns[f].source for f in huge} | {
        columns[f].source for one in graph.forms for f in one.features
    }


def _positions(old: Sequence[Column], new: Sequence[Column]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each old feature, the new one with missing values below, and the one with them above; or the same twice."""
    at = {column: position for position, column in enumerate(new)}

    def positions(side: Any) -> NDArray[np.int32]:
        return np.array(
            [at[column] if column in at else at[replace(column, missing=side)] for column in old],
            dtype=np.int32,
        )

    return positions("below"), positions("above")
