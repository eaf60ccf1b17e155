"""The clashes of meetings, written out for each test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from treeform.engines.contributions import Clashes


@pytest.mark.parametrize("seed", range(20))
def test_each_test_has_the_clashes_of_its_feature(seed: int) -> None:
    pick = np.random.default_rng(seed)
    features = pick.integers(0, 4, size=pick.integers(0, 12)).astype(np.int32)
    clashes = [
        SimpleNamespace(feature=int(pick.integers(5)), masks=(int(pick.integers(9)), int(pick.integers(9))))
        for _ in range(pick.integers(0, 6))
    ]
    meetings: Any = SimpleNamespace(masks=np.eye(3, dtype=np.int64), clashes=clashes)
    made = Clashes(meetings, np.array([2, 0]), 3, features)
    assert made.mark.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert made.begin[0] == 0 and made.begin[-1] == len(made.low) == len(made.high)
    for test, feature in enumerate(features):
        own = slice(made.begin[test], made.begin[test + 1])
        pairs = list(zip(made.low[own].tolist(), made.high[own].tolist(), strict=True))
        assert pairs == [one.masks for one in clashes if one.feature == feature]


def test_tests_without_clashes() -> None:
    made = Clashes(None, np.array([0]), 2, np.zeros(3, dtype=np.int32))
    assert made.begin.tolist() == [0, 0, 0, 0] and not len(made.low) and not made.mark.any()
