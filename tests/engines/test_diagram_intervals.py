"""DiagramSearch refutes neighbouring thresholds together: the same costs as one by one, and as by brute force."""

from __future__ import annotations

import numpy as np
from diagram_reference import NEVER, least_costs
from drawing import Draw

from treeform.data import Dataset
from treeform.engines import DiagramSearch, TreeTask
from treeform.engines.diagram import TECHNIQUES
from treeform.shape import parse_shape

TOGETHER = ("intervals", "transpositions")
"""Without bounds of trees intervals come first, on small tables too."""

ONE_BY_ONE = tuple(one for one in TECHNIQUES if one != "intervals")
SHAPES = ("diagram:1,2,2,2", "diagram:1,2,4", "diagram:1,2,3,3", "diagram:1,1,2", "diagram:1,2,1,2", "tree:3")


def numeric(seed: int) -> Dataset:
    """A table of columns with many thresholds, its label noise or bands of them."""
    rng = np.random.default_rng(seed)
    n, values, classes = int(rng.integers(8, 15)), int(rng.integers(4, 16)), int(rng.integers(2, 4))
    X = rng.integers(0, values, (n, int(rng.integers(1, 4)))).astype(float)
    bands = sum((X[:, column] > cut * values).astype(int) for column, cut in ((0, 0.3), (-1, 0.5), (0, 0.7)))
    y = (bands + (rng.random(n) < 0.15) if rng.random() < 0.5 else rng.integers(0, classes, n)) % classes
    y[:classes] = range(classes)
    return Dataset.from_user(X, y, rng.integers(1, 4, n) / 2 if rng.random() < 0.3 else None)


def test_together_as_one_by_one(draw: Draw) -> None:
    """Every number of tests, on every shape."""
    refuted = 0
    for seed in draw(range(600), 40):
        data, shape = numeric(seed), parse_shape(SHAPES[seed % len(SHAPES)])
        most = 4 if seed % 2 else 5
        together = DiagramSearch(parts=TOGETHER).size_table(data, shape, max_nodes=most)
        single = DiagramSearch(parts=ONE_BY_ONE).size_table(data, shape, max_nodes=most)
        assert together.upper == single.upper == together.lower, seed
        assert single.counters["intervals"] == 0
        refuted += together.counters["intervals_refuted"]
    assert refuted > 0


def test_a_band_between_thresholds() -> None:
    """Samples of the band are left out of the intervals around it; what remains passes two tests to one node."""
    x = np.repeat(np.arange(6.0), 2)
    other = np.tile([0.0, 1.0], 6)
    y = np.where((x == 2) | (x == 3), 1, other).astype(int)
    data = Dataset.from_user(np.column_stack([x, other]), y)
    task = TreeTask(3, widths=(1, 2, 1))
    table = DiagramSearch(parts=TOGETHER).size_table(data, parse_shape("diagram:1,2,1"))
    assert table.counters["intervals"] > 0
    expected = least_costs(data, task)
    assert [NEVER if cost is None else cost for cost in table.upper] == expected[: len(table.upper)]
    assert expected[4] == 0


def test_one_by_one_where_weights_have_to_be_reached() -> None:
    """A side without the samples between two tests weighs less than it would."""
    table = DiagramSearch().size_table(numeric(3), parse_shape("diagram:1,2,2"), min_support=2)
    assert table.counters["intervals"] == 0
