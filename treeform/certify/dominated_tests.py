"""Tests that a cheapest tree does without: dominance over two leaves, as a count of its own.

At a node with one test left, two trees that add the same to every row can take each other's place in a tree that
satisfies the rows, so that the cheapest of them is enough; of equal ones, a leaf or the first test. The rule is that of
`treeform.engines.and_or_graph.GraphOfTrees.up_to`. Here all trees of at most one test are written out and sorted, with
nothing of the native search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treeform.certify.prices import Prices
from treeform.data import Dataset
from treeform.engines.and_or_graph import most_columns
from treeform.engines.relaxation import Relaxation


def may_be_left_out(data: Dataset, relaxation: Relaxation) -> bool:
    """Whether rows, minimum support and flow are all that a tree has to satisfy: then a cheapest one is enough."""
    task = relaxation.task
    one_set = len(task.features or ()) <= 1 and most_columns(data, task) is None
    return relaxation.exact and one_set and not task.paths and task.meetings is None


def undominated(
    prices: Prices, points: NDArray[np.intp], tests: NDArray[np.intp], room: float
) -> NDArray[np.intp]:
    """Of some tests over two leaves those that, within the room of a node, are the first of the cheapest of their kind.
    """
    table = prices.table
    classes, kinds = table.leaf.shape
    whole = table.amounts[points].sum(axis=0)
    # Sums of whole numbers below 2**53: exact in float64.
    flat = table.amounts[points].reshape(len(points), -1).astype(np.float64)
    right = table.on_right(points, flat)[:, tests].T.astype(np.int64).reshape(-1, classes, kinds)
    low, high = (one + table.leaf for one in (whole - right, right))
    pairs = low[:, :, None] + high[:, None, :] + table.test[tests][:, None, None]
    trees = np.concatenate([whole + table.leaf, pairs.reshape(-1, kinds)])
    of = np.concatenate([np.full(classes, -1), np.repeat(tests, classes**2)])
    cheap = trees @ np.array(prices.factor, dtype=np.int64) <= room
    trees, of = trees[cheap], of[cheap]
    order = np.lexsort((of, *trees.T))  # by rows, then by cost, then by place
    rows = trees[order, 1:]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.setdiff1d(of[order[first]], [-1])
