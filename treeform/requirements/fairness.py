"""Fairness between groups of samples: which samples' rates of positive predictions are compared."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.classes import plain_label
from treeform.language.forms import Rows, Sum
from treeform.language.objective_text import quoted
from treeform.language.requirement import Requirement
from treeform.requirements.groups import Groups, by_name, groups_text
from treeform.requirements.rates import GroupRate, RateParity
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Bools, Ints
from treeform.utils.rows import worded

__all__ = [
    "AccuracyParity",
    "ConditionalParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "GroupRate",
    "PredictiveEquality",
    "StatisticalParity",
]

Masks = Sequence[tuple[str, Bools]]


def _sets(what: str, labels: Sequence[Any], codes: Ints) -> Masks:
    """The samples of each label, and what they are; the number 1 and the text "1" are told apart."""
    texts = [str(label) for label in labels]
    texts = texts if len(set(texts)) == len(texts) else [repr(label) for label in labels]
    return [(f"{what} {text}", np.asarray(codes == code)) for code, text in enumerate(texts)]


class StatisticalParity(RateParity):
    """Every group is predicted the positive class at a similar rate.

    With rate(g) the weighted share of group g that is predicted positive, for every ordered pair of groups:
    ``rate(a) >= ratio * rate(b)``, or ``rate(a) - rate(b) <= difference``. ``ratio=0.8`` is the four-fifths
    rule. A constant model always satisfies it.

    Parameters
    ----------
    groups : str, list of str, array, Series, DataFrame or None
        The name of a column, or one entry per row of the table as passed. Several columns are crossed:
        ``["sex", "age"]``, ``"sex & age"``, or a frame.
        None: the ``sensitive_features`` given to the problem or to an estimator's ``fit``.
    ratio : float, str or Fraction, optional
        Within (0, 1]; taken as the decimal that it is written as.
    difference : float, str or Fraction, optional
        Within [0, 1). Exactly one of ``ratio`` and ``difference`` is given.
    positive : label, optional
        The positive class. By default, with two classes, the greater label (the second of the
        sorted labels, scikit-learn's positive class); with more it has to be given.

    Raises
    ------
    SpecError
        If ratio or difference is out of range, both or none are given, or the positive class is unknown.
    DataError
        When bound to data: one group only, missing values, wrong length, unknown column.

    Notes
    -----
    Florio et al. (AAAI 2023), equation (19), with rates in place of counts so that groups of unequal size
    compare, and rows scaled to whole coefficients.
    """

    name: ClassVar[str] = "statistical_parity"
    samples: ClassVar[tuple[str, ...]] = (
        "statistical_parity:groups=group,ratio=0.8,positive=1",
        "statistical_parity:difference=0.2,positive=0",
    )


class EqualOpportunity(RateParity):
    """Among samples of the positive class, every group is predicted it at a similar rate.

    The rates compared are true positive rates. A group without such samples has no rate and is compared with no other
    one. A constant model always satisfies it.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    ratio : float, str or Fraction, optional
        Within (0, 1]: ``rate(a) >= ratio * rate(b)`` for every ordered pair of groups.
    difference : float, str or Fraction, optional
        Within [0, 1): ``rate(a) - rate(b) <= difference``. Exactly one of the two is given.
    positive : label, optional
        The positive class. By default, with two classes, the greater label.

    Notes
    -----
    Hardt, Price and Srebro, Equality of opportunity in supervised learning, NeurIPS 2016, definition 2.2, with rates
    that may differ by a bound.
    """

    name: ClassVar[str] = "equal_opportunity"
    samples: ClassVar[tuple[str, ...]] = ("equal_opportunity:groups=group,difference=0.2,positive=1",)
    of: ClassVar[str] = "of the rows that are {positive}, "

    def among(self, data: Dataset, positive: int) -> Masks:
        return [(f"samples of class {data.classes[positive]}", np.asarray(data.y == positive))]


class PredictiveEquality(RateParity):
    """Among samples of the other classes, every group is predicted the positive class at a similar rate.

    The rates compared are false positive rates. A group without such samples is compared with no other one. A constant
    model always satisfies it.

    Parameters
    ----------
    groups, ratio, difference, positive
        See `EqualOpportunity`.

    Notes
    -----
    Chouldechova, Fair prediction with disparate impact, Big Data 2017; Corbett-Davies et al., Algorithmic decision
    making and the cost of fairness, KDD 2017.
    """

    name: ClassVar[str] = "predictive_equality"
    samples: ClassVar[tuple[str, ...]] = ("predictive_equality:groups=group,ratio=0.8,positive=1",)
    of: ClassVar[str] = "of the rows that are not {positive}, "

    def among(self, data: Dataset, positive: int) -> Masks:
        return [(f"samples not of class {data.classes[positive]}", np.asarray(data.y != positive))]


class EqualizedOdds(RateParity):
    """Within each true class, every group is predicted the positive class at a similar rate.

    Parameters
    ----------
    groups, ratio, difference, positive
        See `EqualOpportunity`.

    Notes
    -----
    Hardt, Price and Srebro, NeurIPS 2016, definition 2.1, with rates that may differ by a bound. With more than two
    classes the rate of the positive prediction is compared within each true class.
    """

    name: ClassVar[str] = "equalized_odds"
    samples: ClassVar[tuple[str, ...]] = ("equalized_odds:difference=0.3,positive=0",)
    of: ClassVar[str] = "of the rows that are {positive}, and of those that are not, "

    def among(self, data: Dataset, positive: int) -> Masks:
        return _sets("samples of class", [plain_label(label) for label in data.classes], data.y)


class AccuracyParity(RateParity):
    """Every group is classified correctly at a similar rate.

    With rate(g) the weighted share of group g that is classified correctly, for every ordered pair of groups:
    ``rate(a) >= ratio * rate(b)``, or ``rate(a) - rate(b) <= difference``. A constant model need not satisfy it.

    Parameters
    ----------
    groups, ratio, difference
        See `StatisticalParity`.

    Notes
    -----
    Overall accuracy equality in Berk et al., Fairness in criminal justice risk assessments, Sociological Methods and
    Research 2018, with rates that may differ by a bound.
    """

    name: ClassVar[str] = "accuracy_parity"
    samples: ClassVar[tuple[str, ...]] = ("accuracy_parity:groups=group,difference=0.2",)
    wording: ClassVar[str] = "classified correctly"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"correct"})

    def __init__(
        self,
        groups: Any = None,
        ratio: Fraction | float | str | None = None,
        difference: Fraction | float | str | None = None,
    ) -> None:
        super().__init__(groups, ratio, difference)

    def bind(self, data: Dataset, **context: Any) -> AccuracyParity:
        bound: AccuracyParity = super().bind(data, **context)
        return bound._copy(positive=None)

    def _positive_code(self, data: Dataset) -> int:
        return 0  # no class is favoured

    def counted(self, rows: Rows, label: str, *where: Any) -> Sum:
        return rows.right(*where, name=f"{label}: classified correctly")


class ConditionalParity(RateParity):
    """Statistical parity within each stratum: among samples that agree in other columns, similar rates.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    given : str, array, Series or DataFrame
        The strata: the name of a column, or one entry per row of the table as passed.
    ratio, difference, positive
        See `EqualOpportunity`.

    Raises
    ------
    SpecError, DataError
        As `StatisticalParity`; or if the strata are not given.

    Notes
    -----
    Kamiran, Zliobaite and Calders, Quantifying explainable discrimination, KAIS 2013; conditional statistical parity in
    Corbett-Davies et al., KDD 2017.
    """

    name: ClassVar[str] = "conditional_parity"
    samples: ClassVar[tuple[str, ...]] = ("conditional_parity:groups=group,ratio=0.5,positive=1,given=owner",)

    @renamed(favourable="positive")
    def __init__(
        self,
        groups: Any = None,
        given: Any = None,
        ratio: Fraction | float | str | None = None,
        difference: Fraction | float | str | None = None,
        positive: Any = None,
    ) -> None:
        super().__init__(groups, ratio, difference, positive)
        if given is None:
            raise SpecError(
                "conditional parity does not say within what rates are compared",
                cause="the strata are not given",
                fix="write for example "
                + worded(
                    "ConditionalParity(groups='sex', given='department', difference=0.05)",
                    "conditional_parity:groups=sex,given=department,difference=0.05",
                ),
            )
        self.given = given

    def bind(self, data: Dataset, **context: Any) -> ConditionalParity:
        given = by_name(self.given, data)
        resolved = Groups.of(given, data)
        kept = given if isinstance(given, str) else resolved
        bound: ConditionalParity = super(ConditionalParity, self._copy(given=kept)).bind(data, **context)
        return bound

    def on_positions(self, positions: Ints, data: Dataset) -> Requirement:
        given = Groups.of(self.given, data).taken(positions)
        return super(ConditionalParity, self._copy(given=given)).on_positions(positions, data)

    def among(self, data: Dataset, positive: int) -> Masks:
        strata = Groups.of(self.given, data)
        return _sets("samples with", strata.labels, strata.codes)

    def __str__(self) -> str:
        return f"{super().__str__()},given={quoted(groups_text(self.given))}"

    def in_words(self) -> str:
        given = (
            self.given if isinstance(self.given, str) else getattr(self.given, "name", None) or "the strata"
        )
        return f"within each value of {given}, {super().in_words()}"
