"""Runs that end at a chosen moment, without a clock: when the work has asked so often whether it has to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from treeform.solve import Limit, Progress
from treeform.utils.budget import Budget


class Looks:
    """How often the work has looked at its budget, and after how many looks that is spent."""

    def __init__(self, most: int, reason: Limit) -> None:
        self.most, self.reason, self.count = most, reason, 0

    @property
    def ended(self) -> bool:
        return self.count >= self.most

    def look(self) -> bool:
        self.count += 1
        return self.ended


@contextmanager
def ended_after(most: int, reason: Limit) -> Iterator[Looks]:
    """Every budget is spent, or Ctrl-C was pressed, from the look of that number on."""
    looks = Looks(most, reason)
    usual_reason, usual_remaining = Budget.reason, Budget.remaining

    def reason_now(self: Budget) -> Limit | None:
        return looks.reason if looks.look() else usual_reason.fget(self)

    def remaining(self: Budget) -> float | None:
        return 0.0 if looks.ended and looks.reason is Limit.TIME else usual_remaining.fget(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "reason", property(reason_now))
        patch.setattr(Budget, "remaining", property(remaining))
        yield looks


def pressed_when(condition: Callable[[Progress], bool]) -> Callable[[Progress], None]:
    """For ``on_progress``: Ctrl-C as soon as the progress is such."""
    pressed = []

    def look(progress: Progress) -> None:
        if not pressed and condition(progress):  # a second time would end at once
            pressed.append(progress)
            signal.raise_signal(signal.SIGINT)

    return look


def moments() -> Iterator[int]:
    """1, 2, 3, 4, 6, 9, 13, ...: the numbers of looks after which a run is ended."""
    at = 1
    while True:
        yield at
        at += max(1, at // 2)


def ends(run: Callable[[], Any]) -> Iterator[tuple[Limit | None, Any]]:
    """What the run returns when it is ended at each moment, and at last what it returns undisturbed (None)."""
    for reason in (Limit.TIME, Limit.INTERRUPTED):
        for most in moments():
            with ended_after(most, reason) as looks:
                result = run()
            if not looks.ended:
                break
            yield reason, result
    yield None, result
