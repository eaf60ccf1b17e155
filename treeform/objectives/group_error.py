"""Error rates of groups as objectives: their weighted sum, and the largest of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.composed import LargestTerm
from treeform.language.costs import LARGEST_COST, SampleCost, too_large
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import as_fraction
from treeform.language.objective import Term
from treeform.language.objective_text import only, quoted, settings_in
from treeform.language.requirement import Requirement
from treeform.requirements.group_error import error_rates
from treeform.requirements.groups import Groups, resolved
from treeform.shape import Shape

T = TypeVar("T", bound="OfGroups")
AT = "@"
"""Groups given as an array are called @NAME in text: they have to be given beside it."""


class OfGroups(Term):
    """What objectives share that are about groups of samples."""

    def __init__(self, groups: Any = None) -> None:
        self.groups = groups

    def bind(self: T, data: Dataset, **context: Any) -> T:
        groups = self.groups
        if isinstance(groups, str) and groups.startswith(AT):
            groups = (context.get("arrays") or {}).get(groups.removeprefix(AT))
        if groups is None:
            groups = context.get("sensitive_features")
        written = f"{type(self).__name__}(groups='sex')"
        bound = copy.copy(self)
        bound.groups, _ = resolved(groups, data, f"the objective {self}", "objective", written)
        return bound

    def of(self, data: Dataset) -> Groups:
        """The groups of ``data``."""
        return Groups.of(self.groups, data)

    def called(self, name: str) -> str:
        return self._text(AT + name)

    def _text(self, groups: str) -> str:
        return f"{self.name}[groups={quoted(groups)}]"

    def __str__(self) -> str:
        if self.groups is None:
            return self.name
        if isinstance(self.groups, str):
            return self._text(self.groups)
        return self._text(f"{AT}{getattr(self.groups, 'name', None) or 'groups'}")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, OfGroups) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[Any, ...]:
        known = isinstance(self.groups, str | Groups) or self.groups is None
        return (self.groups if known else id(self.groups),)


class GroupError(OfGroups, SampleCost):
    """The weighted sum of the groups' error rates; each counts alike unless weights are given.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        The name of a column, or one entry per row of the table as passed; the columns of a frame are crossed. None: the
        ``sensitive_features`` given to the problem.
    weights : mapping of group to number, optional
        The weight of each group's error rate; groups that are left out have none. Without it all have 1 / G.

    Raises
    ------
    SpecError
        If a weight is negative, or when bound, there is no such group.
    """

    name: ClassVar[str] = "group_error"

    def __init__(self, groups: Any = None, weights: Mapping[Any, Any] | None = None) -> None:
        super().__init__(groups)
        self.weights = None if weights is None else tuple((k, _weight(k, v)) for k, v in weights.items())
        if self.weights is not None and min((w for _, w in self.weights), default=Fraction(0)) < 0:
            raise SpecError("the weight of a group is negative", fix="give weights of at least 0")

    def bind(self, data: Dataset, **context: Any) -> GroupError:
        bound = super().bind(data, **context)
        bound._of_group(data)
        return bound

    def _of_group(self, data: Dataset) -> list[Fraction]:
        """The weight of each group's rate."""
        labels = self.of(data).labels
        if self.weights is None:
            return [Fraction(1, len(labels))] * len(labels)
        by_label = {str(label): weight for label, weight in self.weights}
        unknown = sorted(set(by_label) - set(map(str, labels)))
        if unknown:
            raise SpecError(
                f"there is no group {unknown[0]!r}",
                cause=f"the groups are {', '.join(map(repr, labels))}",
                fix="give weights to these",
            )
        return [by_label.get(str(label), Fraction(0)) for label in labels]

    def _prices(self, data: Dataset) -> list[Fraction]:
        """Of a unit of weight that is misclassified, by group."""
        weight = self.of(data).weights(data)
        return [w / total for w, total in zip(self._of_group(data), weight, strict=True)]

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1, math.lcm(*(price.denominator for price in self._prices(data))))

    def per_sample(self, data: Dataset) -> np.ndarray:
        unit = self.unit(data)
        price = np.array([int(price / unit) for price in self._prices(data)], dtype=np.int64)
        wrong = 1 - np.eye(data.n_classes, dtype=np.int64)[np.asarray(data.y)]
        return np.asarray(wrong * price[self.of(data).codes][:, None])

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        dearest = max(self._prices(data)) / self.unit(data)
        return too_large(dearest, data) if dearest * data.total_weight >= LARGEST_COST else None

    @classmethod
    def from_text(cls, inside: str | None) -> GroupError:
        settings = settings_in(inside, cls.name)
        groups = settings.pop("groups", None)
        return cls(groups, settings or None)

    def _text(self, groups: str) -> str:
        weights = "".join(f",{quoted(str(k))}={w}" for k, w in self.weights or ())
        return f"{self.name}[groups={quoted(groups)}{weights}]"

    def _key(self) -> tuple[Any, ...]:
        return (*super()._key(), self.weights)


def _weight(group: Any, value: Any) -> Fraction:
    instead = "give a number, such as 1/2; the column of the groups stands after groups="
    return as_fraction(value, f"the weight of the group {group}", instead)


class MaxGroupError(OfGroups, LargestTerm):
    """The largest error rate of a group (minimax fairness).

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `GroupError`.

    Notes
    -----
    Diana et al., Minimax group fairness: algorithms and experiments, AIES 2021; Martinez, Bertran and Sapiro, Minimax
    Pareto fairness, ICML 2020. Solved exactly, group by group: the least error rate of group g over the models in which
    no other group has a larger one. Multipliers for these conditions add up to 1 with what is left for g.
    """

    name: ClassVar[str] = "max_group_error"

    def members(self, data: Dataset) -> Sequence[tuple[SampleCost, Requirement]]:
        groups = self.of(data)
        return [(GroupError(groups, {label: 1}), WorstGroup(groups, g)) for g, label in enumerate(groups.labels)]

    @classmethod
    def from_text(cls, inside: str | None) -> MaxGroupError:
        return cls(only(settings_in(inside, cls.name), ("groups",), cls.name).get("groups"))


class WorstGroup(LinearRequirement, listed=False):
    """No group has a larger error rate than this one: a part of `MaxGroupError`."""

    name: ClassVar[str] = "worst_group"
    needs = frozenset({"correct"})

    def __init__(self, groups: Groups, group: int) -> None:
        self.groups = groups
        self.group = group

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        rate = list(error_rates(self.groups, rows))
        for g, other in enumerate(rate):
            if g != self.group:
                yield other <= rate[self.group]

    def __str__(self) -> str:
        return f"{self.name}:{self.groups.labels[self.group]}"
