"""Thresholds between neighbouring values, compared with a plain rule in rationals. Quick: for mutation testing."""

from __future__ import annotations

import math
import random
import struct
import sys
from fractions import Fraction

import numpy as np
import pytest

from treeform.data.midpoints import midpoint, midpoints
from treeform.errors import DataError

HUGE = sys.float_info.max


def expected(lo: float, hi: float) -> float:
    """The coarsest decimal grid with a point in the middle half gives the nearest point to the mean; else the mean."""
    mean = lo / 2 + hi / 2 if math.isinf(lo + hi) else (lo + hi) / 2
    if not lo <= mean < hi:
        mean = lo
    half = Fraction(hi) / 2 - Fraction(lo) / 2
    chosen = mean
    finest = math.floor(math.log10(hi / 2 - lo / 2)) if hi / 2 - lo / 2 else None
    if finest is not None and abs(finest) <= 22:
        for exponent in (finest + 1, finest):
            if abs(exponent) > 22:
                continue
            step = Fraction(10) ** exponent
            count = round(Fraction(mean) / step)
            if abs(count) < 2**53 and abs(Fraction(float(count * step)) - Fraction(mean)) <= half / 2:
                chosen = float(count * step)
                break
    return (chosen if lo <= chosen < hi else mean) + 0.0


KNOWN = [
    (37.0, 38.0, 37.5),
    (10.0, 30.0, 20.0),
    (0.1, 0.2, 0.15),
    (0.0, 1.0, 0.5),
    (0.0, 10.0, 5.0),
    (0.0, 7.0, 4.0),
    (1.0, 4.0, 2.0),
    (1.0, 2.0, 1.5),
    (-38.0, -37.0, -37.5),
    (-1.0, 1.0, 0.0),
    (-2.0, 1.0, 0.0),
    (37.0, 37.0001, 37.00005),
    (1e5, 3e5, 2e5),
    (123456.0, 123459.0, 123458.0),
    (99.0, 1001.0, 600.0),
    (1e-3, 2e-3, 0.0015),
    (1e-30, 3e-30, 2e-30),
    (1e300, 3e300, 2e300),
    (0.1, 0.1 + 2.0**-56, 0.1),
    (-HUGE, HUGE, 0.0),
    (0.0, HUGE, HUGE / 2),
    (HUGE / 2, HUGE, HUGE / 4 + HUGE / 2),
    (5e-324, 1e-323, 5e-324),
    (0.0, 5e-324, 0.0),
    (-5e-324, 0.0, -5e-324),
    (1e22, 1e22 + 2.0**23, 1e22 + 2.0**22),
    (5e-324, 2.5e-323, 1.5e-323),  # halves of denormals are rounded: the sum comes first
    (-1e-30, 2e-30, 5e-31),  # finer than float64 holds powers of ten: the mean, not 0
    (1.1e22, 3.5e22, 2e22),
    (1.1e-22, 3.5e-22, 2e-22),
    (4.0, 12.0, 10.0),  # at the very edge of the middle half
]


@pytest.mark.parametrize(("lo", "hi", "threshold"), KNOWN)
def test_known(lo, hi, threshold):
    assert midpoint(lo, hi) == threshold
    assert math.copysign(1.0, midpoint(lo, hi)) == math.copysign(1.0, threshold) or threshold != 0.0


def drawn():
    rng = random.Random(7)
    for _ in range(400):
        a = rng.choice(
            (rng.randint(-50, 50), rng.uniform(-10, 10), rng.uniform(0, 1) * 10.0 ** rng.randint(-30, 30))
        )
        gap = rng.choice(
            (
                1,
                2,
                3,
                0.1,
                0.25,
                rng.uniform(0, 5),
                10.0 ** rng.randint(-28, 28),
                rng.uniform(0, 1) * 10.0 ** rng.randint(-12, 12),
            )
        )
        if float(a) < float(a) + gap:
            yield float(a), float(a) + gap
    for _ in range(200):
        x = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(63)))[0]
        if math.isfinite(x) and x < HUGE:
            x *= rng.choice((1, -1))
            yield x, math.nextafter(x, math.inf)


def test_drawn_thresholds_follow_the_rule_and_part_the_two_values():
    pairs = list(drawn())
    lows, highs = (np.array(side) for side in zip(*pairs, strict=True))
    found = midpoints(lows, highs)
    assert found.dtype == np.float64
    assert found.shape == (len(pairs),)
    for (lo, hi), threshold in zip(pairs, found.tolist(), strict=True):
        assert lo <= threshold < hi
        assert threshold == midpoint(lo, hi)
        assert threshold == expected(lo, hi), (lo, hi)
        assert not (threshold == 0 and math.copysign(1, threshold) < 0)


@pytest.mark.parametrize(
    ("lo", "hi"),
    [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.nan), (-math.inf, 0.0), (0.0, math.inf)],
)
def test_no_threshold_between_values_that_are_not_in_order(lo, hi):
    with pytest.raises(DataError, match=r"^there is no threshold between two values that") as caught:
        midpoint(lo, hi)
    assert caught.value.fix == "pass finite values with lo < hi"
    with pytest.raises(DataError):
        midpoints([0.0, lo], [1.0, hi])


def test_no_warning_reaches_the_user():
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        for lo, hi, threshold in KNOWN:
            assert midpoint(lo, hi) == threshold


def test_whole_numbers_are_read_as_float64():
    near = np.array([2**31 - 3], dtype=np.int32), np.array([2**31 - 1], dtype=np.int32)
    assert midpoints(*near).tolist() == [2.0**31 - 2]
    assert midpoints([1], np.array([2.0])).tolist() == [1.5]
    assert midpoints([2**70], [2**71]).tolist() == [midpoint(2.0**70, 2.0**71)]
    assert (
        midpoints(np.array([2.0**70]), [2**71]).tolist() == midpoints([2**70], np.array([2.0**71])).tolist()
    )
