"""Random arrays of any shape, type, order and content at the native call."""

from __future__ import annotations

import random

from contree_fuzz import check_call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32 - 1))
def test_any_arrays(seed: int) -> None:
    check_call(random.Random(seed))


def test_most_calls_are_accepted() -> None:
    """The fuzzer reaches the search, not only the checks in front of it."""
    assert sum(check_call(random.Random(seed)) for seed in range(100)) >= 15
