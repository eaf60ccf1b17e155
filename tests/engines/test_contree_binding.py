"""The native call itself: odd arrays are refused or copied right, and the reference solver agrees."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from treeform import _core

ASKED: dict[str, Any] = {
    "max_nodes": 2**60, "min_support": 0, "node_penalty": 0, "upper": None, "gap": 0,
    "prune": ["neighbourhood", "shrinking", "subinterval", "features"], "threads": 1, "simd": "auto",
    "memory_limit": 0, "time_limit": 10.0, "poll": None,
    "ask": None, "callers": 1, "ahead": 32,
    "improve": True, "prove": True, "seed": 0, "work_limit": 0,
}  # fmt: skip


def call(
    x: Any, y: Any, w: Any = None, classes: int = 2, cost: Any = None, depth: int = 2, **more: Any
) -> Any:
    return _core.contree(x, y, w, cost, classes=classes, depth=depth, **(ASKED | more))


def table(n: int = 40, features: int = 3, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.random((n, features)), rng.integers(0, classes, n).astype(np.int32)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: call(x[0], y),
        lambda x, y: call(x[:, :, None], y),
        lambda x, y: call(x, y[:-1]),
        lambda x, y: call(x, y[:, None]),
        lambda x, y: call(x, y - 1),
        lambda x, y: call(x, y + 1),
        lambda x, y: call(x, y.astype(str)),
        lambda x, y: call(x.astype(object), y),
        lambda x, y: call(x[:0], y[:0]),
        lambda x, y: call(x, y, classes=0),
        lambda x, y: call(x, y, classes=70_000),
        lambda x, y: call(x, y, w=np.zeros(len(y), dtype=np.int64)),
        lambda x, y: call(x, y, w=np.ones(len(y) - 1, dtype=np.int64)),
        lambda x, y: call(x, y, cost=np.ones((3, 3), dtype=np.int64)),
        lambda x, y: call(x, y, supporting=np.ones(len(y), dtype=np.int64)),  # without weights
        lambda x, y: call(x, y, w=np.full(len(y), 2), supporting=np.ones(len(y) - 1, dtype=np.int64)),
        lambda x, y: call(x, y, w=np.full(len(y), 2), supporting=np.full(len(y), 3)),
        lambda x, y: call(x, y, w=np.full(len(y), 2), supporting=np.full(len(y), -1)),
        lambda x, y: call(x, y, simd="mmx"),
        lambda x, y: call(None, y),
        lambda x, y: call(x, None),
        lambda x, y: call(x, y, depth=2**40),
        lambda x, y: call(x, y, threads="two"),
        lambda x, y: call(x, y, unknown=1),
        lambda x, y: _core.contree(x, y, None, None, **ASKED),
    ],
)
def test_refused(wrong: Any) -> None:
    x, y = table()
    with pytest.raises((TypeError, ValueError)):
        wrong(x, y)


@pytest.mark.parametrize("n", [600, 1024])
def test_a_lane_of_the_heaviest_row_beyond_64_bits(n: int) -> None:
    """All weights add up within 64 bits; the largest one times the rows along a lane does not."""
    x, y = table(n)
    weight = np.where(np.arange(n) == 5, 2**59, 1)
    answer = call(x, y, weight)
    assert answer["width"] == "huge"
    light = call(x, y, np.minimum(weight, 10**6))
    assert answer["tree"]["cost"] == answer["lower"] == light["lower"] < n


def test_memory_order_and_strides() -> None:
    x, y = table(200, 6)
    expected = call(x[:, ::2].copy(), y)["tree"]["cost"]
    wide = np.zeros((400, 6))
    wide[::2] = x
    for view in (x[:, ::2], np.asfortranarray(x[:, ::2]), wide[::2, ::2]):
        assert call(np.ascontiguousarray(view), y)["tree"]["cost"] == expected
        try:
            found = call(view, y)
        except TypeError:  # refused is as good as copied
            continue
        assert found["tree"]["cost"] == expected


def test_without_features() -> None:
    _, y = table(30)
    found = call(np.zeros((30, 0)), y)
    assert found["tree"]["cost"] == min((y == 0).sum(), (y == 1).sum())
    assert found["complete"]


def test_random_calls() -> None:
    """No combination of settings crashes, and every answer is consistent."""
    pick = random.Random(1)
    for seed in range(150):
        classes = pick.choice([1, 2, 3, 17])
        x, y = table(pick.randint(1, 80), pick.randint(1, 4), classes, seed)
        x = np.round(x, pick.choice([1, 2, 15])) * pick.choice([1.0, 1e300, 1e-310, -1e9])
        cost = np.random.default_rng(seed).integers(0, 9, (classes, classes)) if pick.random() < 0.4 else None
        w = (
            np.random.default_rng(seed).integers(1, 10 ** pick.randint(1, 12), len(y))
            if pick.random() < 0.4
            else None
        )
        found = call(
            x, y, w, classes, cost, pick.choice([1, 2, 3, 30]), max_nodes=pick.choice([0, 1, 4, 2**60]),
            min_support=pick.choice([0, 0, 3, 10**6]), node_penalty=pick.choice([0, 1, 10**15]),
            upper=pick.choice([None, None, 0, 5]), gap=pick.choice([0, 0, 2, 10**15]), threads=pick.choice([1, 3]),
            time_limit=pick.choice([0.0, 0.05]), memory_limit=pick.choice([0, 0, 1, 10**5]),
        )  # fmt: skip
        tree = found["tree"]
        if tree is not None:
            assert found["lower"] <= tree["cost"]
            assert ((tree["feature"] < 0) == (tree["label"] >= 0)).all()
            tests = tree["feature"] >= 0
            assert (tree["low"][tests] < tree["high"][tests]).all()


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_reference(seed: int) -> None:
    pycontree = pytest.importorskip("pycontree", reason="the reference implementation is not installed")
    rng = np.random.default_rng(seed)
    n, features, classes = int(rng.integers(30, 250)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    x = rng.integers(0, int(rng.integers(3, 60)), (n, features)) / 60.0
    y = ((x[:, 0] + x[:, -1] > 0.7).astype(np.int64) + (rng.random(n) < 0.2)) % classes
    for depth in (2, 3):
        reference = pycontree.ConTree(max_depth=depth).fit(x, y)
        errors = int((reference.predict(x) != y).sum())
        ours = call(x, y.astype(np.int32), classes=classes, depth=depth)["tree"]["cost"]
        assert ours == errors


@pytest.mark.parametrize("classes", [2, 3])
def test_sides_too_light_for_two_leaves_are_not_scanned(classes: int) -> None:
    """Two leaves of more than a third leave no room for a third one: only whole tables are scanned once more."""
    for seed in range(4):
        x, y = table(60, 3, classes, seed)
        w = np.random.default_rng(seed).integers(1, 4, 60) if seed % 2 else None
        total = 60 if w is None else int(w.sum())
        loose, tight = (
            call(x, y, w, classes=classes, improve=False, min_support=support)
            for support in (0, total // 3 + 1)
        )
        assert tight["tree"]["cost"] > loose["tree"]["cost"]
        assert tight["counters"]["scans"] <= loose["counters"]["scans"] + 24
