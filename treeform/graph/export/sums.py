"""Hyperplanes in exports: weighted sums of what encoded features read in the user's table, and their exact limits.

A model sends a row left where the double nearest to the exact sum is at most the threshold t. That is so where the sum
lies below the middle between t and the next double, or on it if t is the even one of the two. A program that adds up
exactly compares with this middle, and need not round.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from treeform.data.columns import BOOLEAN, CATEGORY, ORDERED, Column
from treeform.errors import SpecError
from treeform.graph.forms import LinearForm


@dataclass(frozen=True)
class Term:
    """A weight and the feature it is multiplied with.

    ``column``: of the kind "numeric", "date" or "datetime": its value. Of the kind "boolean" or "category": 1 where it
    is true or the level, else 0. Of the kind "ordered": the position of the level from 0 on, -1 of an unknown one.
    """

    weight: float
    column: Column

    @property
    def is_small_whole(self) -> bool:
        """Whether the feature has few whole numbers as values, whatever the row."""
        return self.column.kind in (BOOLEAN, CATEGORY, ORDERED)

    @property
    def what(self) -> str:
        """How lists of rules name what is read: "number", "days", "true", "level" or "position"."""
        return {BOOLEAN: "true", CATEGORY: "level", ORDERED: "position"}.get(
            self.column.kind, "days" if self.column.kind.startswith("date") else "number"
        )

    def to_json(self) -> dict[str, Any]:
        """Its JSON in lists of rules and in reports."""
        read: dict[str, Any] = {"weight": self.weight, "column": self.column.source, "of": self.what}
        if self.what == "level":
            read["level"] = self.column.category
        elif self.what == "position":
            read["levels"] = list(self.column.levels)
        return read


@dataclass(frozen=True)
class Sum:
    """The test of a hyperplane: whether the double nearest to the sum of the terms is at most the threshold.

    ``form``: which of the linear forms of the model it is.
    """

    form: int
    terms: tuple[Term, ...]
    threshold: float

    @classmethod
    def of(cls, index: int, form: LinearForm, columns: tuple[Column, ...], threshold: float) -> Sum:
        """From a linear form over encoded features and its number.

        Raises SpecError if one of them had missing values in training.
        """
        terms = tuple(
            Term(w, columns[feature]) for feature, w in zip(form.features, form.weights, strict=True)
        )
        for term in terms:
            if term.column.missing:
                raise SpecError(
                    f"a hyperplane reads the column {term.column.source!r}, which had missing values in training",
                    cause="a missing value has no place in a weighted sum",
                    fix="fill in the values and fit again, or use graph.to_json()",
                )
        return cls(index, terms, threshold)

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of the user's table that it reads, each once."""
        return tuple(dict.fromkeys(term.column.source for term in self.terms))

    def to_json(self) -> dict[str, Any]:
        """Its JSON in lists of rules."""
        return {"sum": [term.to_json() for term in self.terms], "is": "at most", "value": self.threshold}

    @cached_property
    def gap(self) -> float:
        """From the threshold to the next double; beyond the largest one, as far as to the one before."""
        following = math.nextafter(self.threshold, math.inf)
        return following - self.threshold if math.isfinite(following) else math.ulp(self.threshold)

    @cached_property
    def limit(self) -> tuple[tuple[float, float], ...]:
        """Products that add up to what the sum is compared with: the threshold and half the gap above it."""
        return (self.threshold, 1.0), (self.gap, 0.5)

    @cached_property
    def includes_limit(self) -> bool:
        """Whether a sum on the limit itself rounds to the threshold: where its last bit is 0."""
        (bits,) = struct.unpack("<q", struct.pack("<d", self.threshold))
        return bool(bits % 2 == 0)
