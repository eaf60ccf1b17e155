"""The search for deep trees is no worse than the search for one level less with a part of the same work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawing import Draw

from treeform.data import Dataset
from treeform.engines import ConTree, TreeTask

SHARE, SHARE_UNDER_RULES = 64, 16
"""The search for one level less has at least such a part of the work, as ``docs/engines/deep_trees.rst`` says."""


def searched(case: dict[str, int], depth: int, work_limit: int) -> tuple[int, int]:
    """The cost of the tree, and the work that was done."""
    from treeform import _core

    rng = np.random.default_rng(case["seed"])
    x = rng.normal(size=(case["rows"], case["columns"])).round(1)
    y = (np.sin(2 * x[:, 0]) * x[:, 1] + x[:, -1] + rng.normal(size=len(x)) > 0).astype(np.int32)
    data = Dataset.from_user(x, y)
    task = TreeTask(depth=depth, min_support=case["support"], node_penalty=case["price"])
    asked = ConTree(seed=case["seed"])._keywords(data, task) | {"prove": False, "work_limit": work_limit}
    watched = {"upper": None, "time_limit": 250.0, "poll": None, "ask": None, "callers": 1}
    found: dict[str, Any] = _core.contree(data.X, data.y.astype(np.int32), None, None, **asked, **watched)
    return found["tree"]["cost"], found["work"]


def no_worse(case: dict[str, int], depth: int, work_limit: int) -> bool:
    less, work = searched(case, depth - 1, work_limit)
    rules = case["price"] > 0 or case["support"] > 1
    return searched(case, depth, (SHARE_UNDER_RULES if rules else SHARE) * work)[0] <= less


@pytest.mark.parametrize(
    ("seed", "rows", "depth", "support", "columns", "work"),
    [(138784, 305, 6, 2, 3, 455286), (525412, 216, 5, 20, 6, 152137), (584766, 379, 7, 8, 6, 209920)],
)
def test_one_level_less_was_better(
    seed: int, rows: int, depth: int, support: int, columns: int, work: int
) -> None:
    """A search at the greater depth alone ended with one to three units more."""
    case = {"seed": seed, "rows": rows, "columns": columns, "support": support, "price": 3}
    assert no_worse(case, depth, work)


@pytest.mark.parametrize("block", range(4))
def test_one_level_less_is_no_better(block: int, draw: Draw) -> None:
    for seed in draw(range(100 * block, 100 * block + 100), 12):
        rng = np.random.default_rng(seed)
        case = {
            "seed": seed,
            "rows": int(rng.integers(40, 200)),
            "columns": int(rng.integers(2, 5)),
            "support": int(rng.choice([0, 2, 8, 20])),
            "price": int(rng.integers(0, 4)),
        }
        assert no_worse(case, int(rng.integers(5, 8)), int(10 ** rng.uniform(5, 6))), case
