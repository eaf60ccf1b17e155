"""What losses of one class against all others have in common: its name, and its false positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.language.classes import positive_code, refuse_no_label
from treeform.language.forms import Rows, Sum
from treeform.language.objective import Term


@dataclass(frozen=True)
class OfClass(Term):
    """A loss of the class ``positive``; with two classes it may be left out."""

    positive: Any = None

    def __post_init__(self) -> None:
        refuse_no_label(self.positive, "positive")

    def bind(self, data: Dataset, **context: Any) -> Self:
        return replace(self, positive=plain(data.classes[self._code(data)]))

    def _code(self, data: Dataset) -> int:
        return positive_code(self.positive, data, self)

    def _positives(self, data: Dataset) -> int:
        """The weight of the class."""
        return int(data.class_weights[self._code(data)])

    def _mistakes(self, rows: Rows) -> tuple[Sum, Sum]:
        """False positives and false negatives."""
        is_it = np.arange(rows.data.n_classes) == self._code(rows.data)
        return rows.weight(truth=~is_it, predicted=is_it), rows.weight(truth=is_it, predicted=~is_it)
