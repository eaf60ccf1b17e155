"""Why a search of treeform's own ends without an answer."""

from __future__ import annotations

from treeform.errors import TreeformError


class OutOfReach(TreeformError):
    """The search would take too long, or hold too much, on this problem."""


class Stopped(TreeformError):
    """The search was stopped before its end."""

    def __init__(self, what: str = "the search was stopped") -> None:
        super().__init__(what)
