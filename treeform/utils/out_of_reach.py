"""Why a search of treeform's own ends without an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from treeform.errors import TreeformError
from treeform.utils.budget import Budget

SURE = 2
"""So many times the time left is what a loop needs that is given up: no two steps of one take quite the same."""
TRIED = 0.05
"""The part of the time after which this is judged."""

T = TypeVar("T")


class OutOfReach(TreeformError):
    """The search would take too long, or hold too much, on this problem."""


class Stopped(TreeformError):
    """The search was stopped before its end."""

    def __init__(self, what: str = "the search was stopped") -> None:
        super().__init__(what)


def each_in_time(items: Sequence[T], budget: Budget) -> Iterator[T]:
    """Each item of a loop whose steps are of about the same work. Raises Stopped once it is sure not to end in time."""
    before = budget.remaining
    for done, item in enumerate(items):
        left = budget.remaining
        if before is not None and left is not None and done:
            used = before - left
            if used > TRIED * before and used / done * (len(items) - done) > SURE * left:
                raise Stopped
        yield item
