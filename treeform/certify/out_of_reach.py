"""Why a reference search ends without an answer."""

from __future__ import annotations

from treeform.errors import TreeformError


class OutOfReach(TreeformError):
    """The reference search would take too long on this problem."""


class Stopped(TreeformError):
    """The reference search was stopped before its end."""
