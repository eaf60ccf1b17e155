"""Objectives are sums: what is written with a minus is refused."""

from __future__ import annotations

from typing import Any, NoReturn

from treeform.errors import SpecError


class NotSubtracted:
    """Refuses ``-`` with a reason, on either side."""

    def __sub__(self, other: Any) -> NoReturn:
        raise SpecError(
            "terms of an objective are not subtracted",
            cause="everything in it is minimised, and what is not wanted has a price above 0",
            fix="write for example tf.Error() + 2*tf.Nodes()",
        )

    __rsub__ = __sub__
