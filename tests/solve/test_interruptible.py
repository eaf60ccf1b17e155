"""Ctrl-C while work is under way: the first is noted, the second ends it and says so."""

from __future__ import annotations

import signal

import pytest

from treeform.utils.budget import Budget, has_begun, interruptible


def press_twice(budget: Budget) -> None:
    with interruptible(budget):
        assert has_begun()
        signal.raise_signal(signal.SIGINT)
        assert budget.interrupted
        signal.raise_signal(signal.SIGINT)


def test_a_second_ctrl_c_says_so() -> None:
    with pytest.raises(KeyboardInterrupt, match="a second time"):
        press_twice(Budget())
