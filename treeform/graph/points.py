"""What a graph predicts for the merged points of a data set, which are mostly fewer than its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.graph.routing import leaf_of_point

if TYPE_CHECKING:
    from treeform.data.dataset import Dataset
    from treeform.graph.decision import DecisionGraph


def codes_of_points(graph: DecisionGraph, data: Dataset) -> NDArray[np.int64]:
    """Class code of each of the merged points of the data: (P,) int64; see `Dataset.points`."""
    return graph.label[leaf_of_point(graph, data)].astype(np.int64)
