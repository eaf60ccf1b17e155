"""Targets as whole multiples of one unit, beside fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from treeform.data import quantity
from treeform.data.exact import common_unit, digits_of, exact_number, unit_of_decimals
from treeform.data.quantity import read_quantity


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("grid", [Fraction(1, 4), Fraction(3, 7), "auto"])
def test_targets_are_rounded_as_fractions_are(seed: int, grid: Fraction | str) -> None:
    pick = np.random.default_rng(seed)
    labels = np.unique(pick.normal(size=9) * 10.0 ** pick.integers(-3, 4))
    labels = labels if seed % 2 else np.unique(np.round(labels * 8) / 8)  # halves of a quarter among them
    codes, weights = np.arange(len(labels)), pick.integers(1, 9, len(labels))
    for _ in range(2):  # the second time from memory
        made = read_quantity(labels, codes, weights, grid)
        exact = [Fraction(Decimal(str(label))) for label in labels.tolist()]
        if grid == "auto" and not made.note:
            assert [(made.centre + int(d)) * made.unit for d in made.deviations] == exact
            continue
        assert [made.centre + int(d) for d in made.deviations] == [round(value / made.unit) for value in exact]
        assert made.unit == grid or grid == "auto"


def test_targets_are_remembered_for_their_grid_codes_and_weights_only() -> None:
    labels, codes, weights = np.array([0.1, 0.26, 7.0]), np.array([0, 1, 2]), np.array([1, 1, 1])
    first = read_quantity(labels, codes, weights, Fraction(1, 10))
    assert read_quantity(labels.copy(), codes, weights, Fraction(1, 10)) is first
    assert read_quantity(labels, codes, weights, Fraction(1, 5)).unit == Fraction(1, 5)
    swapped = read_quantity(labels, codes[::-1], weights, Fraction(1, 10))
    assert swapped.deviations.tolist() == first.deviations.tolist()[::-1]
    assert read_quantity(labels, codes, np.array([1, 1, 9]), Fraction(1, 10)).centre > first.centre
    assert len(quantity._known) == 2


@pytest.mark.parametrize("seed", range(6))
def test_the_unit_of_floats_is_that_of_their_decimals(seed: int) -> None:
    """Decimals of one kind, and of sizes that no common unit leaves within 64 bits."""
    pick = np.random.default_rng(seed)
    for size in range(1, 9):
        for floats in (
            pick.integers(-50, 50, size) / 4,
            np.round(pick.normal(size=size) * 100, 2),
            pick.integers(-(10**15), 10**15, size).astype(float),
            pick.normal(size=size) * 10.0 ** pick.integers(-320, 300, size),
            np.full(size, -0.0),
        ):
            exact = [exact_number(value) for value in floats.tolist()]
            units, unit = unit_of_decimals(*digits_of(floats.tolist()))
            assert (list(units), unit) == common_unit([value for value in exact if value is not None])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("grid", [Fraction(1, 4), Fraction(3, 7), Fraction(10) ** 9, "auto"])
def test_reading_quickly_gives_what_their_common_unit_gives(
    seed: int, grid: Fraction | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of targets of all sizes, far from 0, and with ties on the grid."""
    pick = np.random.default_rng(seed)
    quickly = 0
    for drawn in (
        pick.normal(size=300) * pick.normal(size=300),
        1e9 + pick.normal(size=300),
        pick.normal(size=300) * 10.0 ** pick.integers(-40, 8, 300),
        pick.integers(-99, 99, 300) / 8,
        np.append(pick.normal(size=300), [0.0, 5e-324]),
    ):
        labels, codes = np.unique(drawn, return_inverse=True)
        weights = pick.integers(1, 5, len(codes))
        found = []
        for read in (quantity._read_quickly, lambda *_: None):
            with monkeypatch.context() as patch:
                patch.setattr(quantity, "_read_quickly", read)
                patch.setattr(quantity, "_known", {})
                found.append(read_quantity(labels, codes, weights, grid))
        one, other = found
        assert (one.centre, one.unit, one.note) == (other.centre, other.unit, other.note)
        assert np.array_equal(one.deviations, other.deviations)
        decimals = quantity._digits_of(labels)
        assert decimals.unit() == unit_of_decimals(decimals.digits.tolist(), decimals.powers.tolist())[1]
        each = np.bincount(codes, weights=weights)
        quickly += quantity._read_quickly(labels, decimals, codes, each, each.astype(int).tolist(), grid) is not None
    assert quickly >= 3
