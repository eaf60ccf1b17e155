"""What losses of one class against all others have in common: its name, and its false positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from treeform.data.exact import plain
from treeform.language.classes import positive_code, refuse_no_label
from treeform.language.composed import Count
from treeform.language.objective import Term
from treeform.language.objective_text import only, quoted, settings_in

if TYPE_CHECKING:
    from treeform.data import Dataset


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

    def _mistakes(
        self, data: Dataset, *, false_positive: int = 0, false_negative: int = 0, constant: int = 0
    ) -> Count:
        """So much for each false positive and each false negative."""
        code, classes = self._code(data), range(data.n_classes)
        cells = (
            tuple(
                false_positive * (truth != code and guess == code)
                + false_negative * (truth == code and guess != code)
                for guess in classes
            )
            for truth in classes
        )
        return Count(tuple(cells), constant)

    @classmethod
    def from_text(cls, inside: str | None) -> Self:
        settings = only(settings_in(inside, cls.name), ("positive",), cls.name)
        return cls(settings.get("positive"))

    def __str__(self) -> str:
        return self.name if self.positive is None else f"{self.name}[positive={quoted(str(self.positive))}]"
