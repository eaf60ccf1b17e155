"""ConTree on tables of more features than it looks through one by one for the lowest bound."""

from __future__ import annotations

import numpy as np

from treeform.catalogue.solvers import find_engine
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask


def test_more_features_than_are_looked_through_one_by_one() -> None:
    rng = np.random.default_rng(5)
    for n, columns in ((40, 65), (60, 150)):
        X = rng.integers(0, 2, (n, columns)).astype(float)
        data = Dataset.from_user(X, rng.integers(0, 3, n))
        by_intervals, by_bits = (
            engine.run(data, TreeTask(2), EngineRun()) for engine in (ConTree(), find_engine("dl85"))
        )
        assert by_intervals.proved and by_bits.proved
        assert by_intervals.upper == by_intervals.lower == by_bits.upper
