"""Parameters with scikit-learn's names, in treeform's terms."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from treeform.data.roles import in_row_order
from treeform.errors import SpecError, did_you_mean, listing
from treeform.language.component import parameters_of
from treeform.language.named import named
from treeform.language.requirement import Requirement
from treeform.requirements import Monotone
from treeform.shape import MAX_DEPTH
from treeform.utils.text import count_of

PREFIX = "requirements__"
ELSEWHERE = {
    "groups": "name them in a requirement, such as tf.StatisticalParity(groups=..., ...); for folds see cross_validate",
    "criterion": "leave it out: errors are minimised; objective=... states another loss",
    "max_features": "use requirements=[tf.FeatureBudget(3)], so that the model tests at most 3 columns",
    "max_leaf_nodes": "use requirements=[tf.MaxLeaves(8)]",
    "min_impurity_decrease": "use ccp_alpha=0.01: a test has to save errors on that share of the rows",
    "min_samples_leaf": "use requirements=[tf.MinSupport(20)]",
    "min_samples_split": "use requirements=[tf.MinSupport(20)], which bounds the rows on each side of a test",
    "random_state": "leave it out: random draws have a fixed seed; for another one use solver=tf.ConTree(seed=1)",
    "splitter": "leave it out: all tests are tried",
}
"""Parameters of scikit-learn's trees that are stated in other ways here."""


def weights_of(class_weight: Any, y: NDArray[Any], sample_weight: Any) -> Any:
    """Sample weights times the weights of their classes; None where neither is given.

    Raises SpecError if ``class_weight`` is neither a mapping from labels nor ``"balanced"``.
    """
    if class_weight is None:
        return sample_weight
    try:
        by_class = compute_sample_weight(class_weight, y)
    except (ValueError, TypeError) as error:
        if isinstance(class_weight, Mapping):
            _refuse_other_types(class_weight, y)
        raise SpecError(
            f"class_weight={class_weight!r} is not possible",
            cause=str(error).splitlines()[0],
            fix="use 'balanced', or a weight for each label, such as {'bad': 5, 'good': 1}",
        ) from None
    return by_class if sample_weight is None else by_class * np.asarray(sample_weight, dtype=np.float64)


def _refuse_other_types(class_weight: Mapping[Any, Any], y: NDArray[Any]) -> None:
    """Raise where a key is no label but reads as one: 1 and "1" are different labels."""
    labels = np.unique(y).tolist()
    by_text = {str(label): label for label in labels}
    for key in class_weight:
        if key not in labels and str(key) in by_text:
            label = by_text[str(key)]
            raise SpecError(
                f"class_weight has a weight for {key!r}, and the label is {label!r}",
                cause=f"the label is of type {type(label).__name__}, the key of type {type(key).__name__}",
                fix=f"write class_weight={{{label!r}: {class_weight[key]!r}, ...}}",
            )


def monotone_of(monotonic_cst: Any, names: Sequence[str], positive: Any) -> list[Requirement]:
    """`Monotone` for each column that has a direction.

    ``monotonic_cst``: 1: the greater class of two is never less likely for greater values; -1 the reverse; 0 no
    condition. ``names``: of the columns. ``positive``: the class that is meant. Raises SpecError if it is none of
    these.
    """
    if monotonic_cst is None:
        return []
    monotonic_cst = in_row_order(monotonic_cst, pd.Index(names), "monotonic_cst", "monotonic_cst")
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise SpecError(
                f"monotonic_cst names {unknown[0]!r}, which is no column",
                cause=f"the columns are {listing(map(repr, names), 20)}",
                fix=did_you_mean(unknown[0], names) or "name columns of the table",
            )
        signs_by_column = dict(monotonic_cst)
    else:
        signs = np.asarray(monotonic_cst).tolist()
        if not isinstance(signs, list) or len(signs) != len(names):
            raise SpecError(
                f"monotonic_cst={monotonic_cst!r} does not fit {count_of(len(names), 'column')}",
                fix="give 1, 0 or -1 for each column, or a mapping from column names",
            )
        signs_by_column = dict(zip(names, signs, strict=True))
    odd = [sign for sign in signs_by_column.values() if sign not in (-1, 0, 1)]
    if odd:
        raise SpecError(f"monotonic_cst has the entry {odd[0]!r}", fix="use 1, 0 or -1 for each column")
    words = {1: "increasing", -1: "decreasing"}
    return [Monotone(str(name), words[sign], positive) for name, sign in signs_by_column.items() if sign]


def nested_parameters(requirements: Any) -> dict[str, Any]:
    """``requirements__NAME__PARAMETER`` for each parameter of each requirement; what is none is refused by ``fit``."""
    by_name: dict[str, Requirement] = {}
    with contextlib.suppress(SpecError):
        by_name = named(requirements)
    return {
        f"{PREFIX}{name}__{parameter}": value
        for name, requirement in by_name.items()
        if isinstance(requirement, Requirement)
        for parameter, value in parameters_of(requirement).items()
    }


def depth_of(max_depth: Any) -> int:
    """``max_depth`` as the depth of a tree.

    Raises SpecError if it is no whole number from 1 to 30.
    """
    whole = isinstance(max_depth, Integral) and not isinstance(max_depth, bool)
    if whole and 1 <= int(max_depth) <= MAX_DEPTH:
        return int(max_depth)
    unlimited = " Without a limit (scikit-learn's None) no tree is the best one." if max_depth is None else ""
    raise SpecError(
        f"max_depth={max_depth!r} is not possible",
        cause=f"it is the largest number of tests on a path, a whole number from 1 to {MAX_DEPTH}.{unlimited}",
        fix="use for example max_depth=3, or OptimalTreeClassifierCV or OptimalTreeRegressorCV, which choose the depth",
    )
