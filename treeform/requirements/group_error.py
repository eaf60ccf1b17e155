"""A bound on the error rate of every group."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.forms import Rows, Sum
from treeform.language.numbers import as_fraction
from treeform.requirements.amount import percent_text
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.counted import SumsAtMost
from treeform.requirements.groups import Groups, of_groups
from treeform.utils.arguments import renamed


class GroupErrorAtMost(SumsAtMost, ByGroups):
    """In every group at most this share of the weight is misclassified.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    at_most : float, str or Fraction
        Within [0, 1]; taken as the decimal that it is written as.

    Raises
    ------
    SpecError
        If the rate is not given or not within [0, 1], or there are no groups.
    DataError
        When bound to data: as `StatisticalParity`.

    See Also
    --------
    treeform.MaxGroupError : minimises the largest of these rates.

    Notes
    -----
    Diana et al., Minimax group fairness: algorithms and experiments, AIES 2021, the constrained form.
    """

    name: ClassVar[str] = "group_error_at_most"
    samples: ClassVar[tuple[str, ...]] = ("group_error_at_most:groups=group,at_most=0.3",)
    example: ClassVar[str] = "at_most=0.2"
    told: ClassVar[tuple[str, ...]] = ("at_most",)
    needs = frozenset({"correct"})

    @renamed(rate="at_most")
    def __init__(self, groups: Any = None, at_most: Fraction | float | str | None = None) -> None:
        if at_most is None:
            raise self._without_bound("every group's error rate is bounded by it")
        self.groups = groups
        self.at_most = as_fraction(at_most, f"the rate of {self.name}")
        if not 0 <= self.at_most <= 1:
            raise SpecError(
                f"{self.name} with rate {self.at_most} is not possible",
                cause="a rate is within [0, 1]",
                fix="use 0.2",
            )

    def bind(self, data: Dataset, **context: Any) -> GroupErrorAtMost:
        kept, _ = self._resolved_groups(data, context)
        return self._copy(groups=kept)

    def sums(self, rows: Rows) -> Iterator[Sum]:
        return error_rates(Groups.of(self.groups, rows.data), rows)

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def bound_name(self) -> str:
        return "largest group error"

    @property
    def measure(self) -> str:
        return "the largest error rate of a group is {}"

    def in_words(self) -> str:
        where = f"in every group{of_groups(self.groups)}"
        return f"{where} at most {percent_text(self.at_most)} of the rows are misclassified"


def error_rates(groups: Groups, rows: Rows) -> Iterator[Sum]:
    """The error rate of every group that has a row."""
    for g, label in enumerate(groups.labels):
        own = (groups.codes, g)
        if weight := rows.weight(own):
            yield rows.errors(own, name=f"errors of group {label}") / weight
