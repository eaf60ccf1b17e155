"""Fuzzing of the native call: whatever arrays arrive, it refuses them or gives a consistent answer.

    python tests/contree_fuzz.py 60        # for a minute, with other seeds each time

`check_call` is one case, drawn from a `random.Random`; the tests run some hundreds, the script as many as there is time
for. Best run on a build with sanitizers, see ``.ci/sanitize``.
"""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import numpy as np

from treeform import _core

RULES = ["neighbourhood", "shrinking", "subinterval", "features"]
PATHS = [path for path in ("auto", "avx512", "avx2", "portable", "plain") if _core.simd_available(path)]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, 1e9, np.nextafter(1e9, 2e9), 1.0]
KINDS = ["float64"] * 6 + ["float32", "int64", "uint8", "bool", "complex128", "object", "str", ">f8"]


def values(pick: random.Random, n: int, features: int) -> Any:
    """A table of random values of some kind; often with ties, sometimes with what floats can be."""
    rng = np.random.default_rng(pick.getrandbits(32))
    x = rng.integers(0, pick.choice([1, 2, 5, 1000]), (n, features)).astype(float)
    if x.size and pick.random() < 0.3:
        for _ in range(pick.randint(1, 5)):
            x[rng.integers(n), rng.integers(features)] = pick.choice(SPECIAL)
    with np.errstate(all="ignore"):
        return x.astype(pick.choice(KINDS))


def disguise(pick: random.Random, array: Any) -> Any:
    """The same values in another layout: strides, order, alignment, read-only, one dimension more or less."""
    way = pick.choice(
        ["as is"] * 6 + ["fortran", "strided", "reversed", "unaligned", "frozen", "list", "flat", "cube"]
    )
    if way == "fortran":
        return np.asfortranarray(array)
    if way == "strided":
        wide = np.repeat(array, 2, axis=0)
        return wide[::2]
    if way == "reversed":
        return array[::-1].copy()[::-1]
    if way == "unaligned" and array.dtype.kind not in "OU":
        raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
        shifted = raw[1:].view(array.dtype).reshape(array.shape)
        shifted[...] = array
        return shifted
    if way == "frozen":
        array = array.copy()
        array.flags.writeable = False
    if way == "list":
        return array.tolist()
    if way == "flat":
        return array.reshape(-1)
    return array[..., None] if way == "cube" else array


def check_call(pick: random.Random) -> bool:
    """One call with random arrays and settings; true when it was accepted."""
    n, features = pick.choice([0, 1, 2, 5, 33, 70]), pick.choice([0, 1, 2, 3])
    classes = pick.choice([1, 2, 2, 3, 9])
    rng = np.random.default_rng(pick.getrandbits(32))
    x = values(pick, n, features)
    y = rng.integers(0, classes, n).astype(pick.choice(["int32"] * 6 + ["int64", "float64", "uint8"]))
    if n and pick.random() < 0.1:
        y[rng.integers(n)] = pick.choice([classes, 100, 255])
    w = (
        None
        if pick.random() < 0.6
        else rng.integers(pick.choice([0, 1, 1, 1]), 10**6, n + pick.choice([0, 0, 0, 1]))
    )
    cost = None if pick.random() < 0.6 else rng.integers(0, 9, (classes, classes + pick.choice([0, 0, 0, 1])))
    given = disguise(pick, x), disguise(pick, y)
    try:
        found = _core.contree(
            *given, w, cost, classes=classes, depth=pick.choice([1, 2, 3, 4]), max_nodes=pick.choice([0, 1, 3, 2**60]),
            min_support=pick.choice([0, 0, 2, 10**7]), node_penalty=pick.choice([0, 0, 1]),
            upper=pick.choice([None, None, 0, 3]), gap=pick.choice([0, 0, 1]), prune=RULES[: pick.choice([0, 4, 4])],
            threads=pick.choice([1, 1, 2]), simd=pick.choice(PATHS), memory_limit=pick.choice([0, 0, 1000]),
            time_limit=pick.choice([0.05, 0.05, 0.0]), poll=None,
            ask=None, callers=1, ahead=32,
            improve=pick.random() < 0.7, prove=pick.random() < 0.7, seed=pick.choice([0, 5]),
            work_limit=pick.choice([0, 10**6]),
        )  # fmt: skip
    except (TypeError, ValueError):
        return False
    consistent(found, np.asarray(given[0], dtype=float), np.asarray(given[1]))
    return True


def consistent(found: dict[str, Any], x: Any, y: Any) -> None:
    """The tree is well formed, its thresholds separate, and the bound is not above its cost."""
    tree = found["tree"]
    if tree is None:
        return
    assert found["lower"] <= tree["cost"]
    tests = tree["feature"] >= 0
    assert (tree["label"][~tests] >= 0).all() and (tree["feature"] < x.shape[1]).all()
    for side in ("left", "right"):
        assert (tree[side][tests] > np.flatnonzero(tests)).all() and (tree[side][tests] < len(tests)).all()
    if not np.isnan(x).any():
        assert (tree["low"][tests] < tree["high"][tests]).all()
        assert np.isin(tree["low"][tests], x).all()
    assert len(x) == len(y)


def main() -> int:
    until, count, accepted = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 10), 0, 0
    while time.monotonic() < until:
        seed = random.SystemRandom().getrandbits(32)
        try:
            accepted += check_call(random.Random(seed))
        except BaseException:
            print(f"seed {seed}", file=sys.stderr)
            raise
        count += 1
    print(f"{count} calls, {accepted} accepted, no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main())
