"""Shares of time."""

from __future__ import annotations

import pytest

from treeform.solve import Budget, schedule
from treeform.utils.budget import Share

SHARES = {name: value for name, value in vars(schedule).items() if isinstance(value, Share)}


def test_a_share_of_what_is_left() -> None:
    share = Share(0.25, most=10.0, least=1.0, unlimited=7.0)
    assert [share.seconds(left) for left in (100.0, 20.0, 2.0, 1.0, None)] == [10.0, 5.0, 1.0, 0.5, 7.0]
    assert Share(0.5).seconds(None) is None


def test_a_share_of_no_time_is_a_time_limit() -> None:
    for share in SHARES.values():
        assert Budget(share.seconds(0.0)).limit


def test_a_share_ends_with_its_budget() -> None:
    budget = Budget(60.0)
    part = Share(0.5, most=20.0).of(budget)
    assert part.remaining is not None
    assert 19.0 < part.remaining <= 20.0
    budget.interrupt()
    assert part.stop()


LARGER = {
    "PROOF_OF_FEW_TESTS": 0.6, "LESS_DEPTH_OF_ALL_LEAVES": 0.75, "DEEP_TREES_AMONG_MANY_TESTS": 0.8,
    "NEARLY_PROVED": 1.0,
}  # fmt: skip
"""What comes after these seldom proves anything, or finds better trees."""


@pytest.mark.parametrize("name", SHARES)
def test_every_share_leaves_time_for_those_after_it(name: str) -> None:
    share = SHARES[name]
    assert 0 < share.part < 0.5 or share.part == LARGER[name]
    assert share.most is None or share.unlimited == share.most


def test_equal_parts() -> None:
    assert [schedule.equal_part(left, 4) for left in (8.0, 0.1, None)] == [2.0, 0.1, None]
