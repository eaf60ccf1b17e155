"""scikit-learn's decision trees as decision graphs that decide every row alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treeform.data.columns import BOOLEAN, NUMERIC
from treeform.data.dataset import Dataset
from treeform.errors import SpecError, listing
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.text import count_of

_BEYOND = (
    2.0**1010
)  # beyond all values that columns with gaps may hold, and short of what stands for missing ones


def arrays_of(tree: Any, data: Dataset) -> dict[str, Any]:
    """The arrays of a fitted tree; see `DecisionGraph.from_sklearn`.

    Raises SpecError if it is none, or was fitted on other columns or classes.
    """
    inner, classes = getattr(tree, "tree_", None), getattr(tree, "classes_", None)
    wanted = "DecisionTreeClassifier" if data.quantity is None else "DecisionTreeRegressor"
    given = type(tree).__name__
    if inner is None or (classes is None) != (data.quantity is not None):
        raise SpecError(
            f"{given} is not fitted" if given == wanted else f"{given} is no fitted {wanted}",
            cause="it has no attribute tree_"
            if inner is None
            else f"the data have {'classes' if data.quantity is None else 'numbers'} as their target",
            fix="fit it first; of a pipeline or a forest, pass one tree"
            if inner is None
            else f"pass a {wanted}",
        )
    if isinstance(classes, list):
        raise _several(len(classes), "labels")
    features = _features(tree, inner, data)
    leaf = np.asarray(inner.children_left) < 0
    threshold = in_double(np.asarray(inner.threshold, dtype=np.float64))
    return {
        "feature": np.where(leaf, -1, features),
        # An infinite one asks whether a value is missing.
        "threshold": np.where(leaf, np.nan, np.clip(threshold, -_BEYOND, _BEYOND)),
        "left": np.where(leaf, -1, inner.children_left),
        "right": np.where(leaf, -1, inner.children_right),
        **(_values(inner, leaf) if classes is None else _labels(inner, leaf, classes, data)),
    }


def _values(inner: Any, leaf: Bools) -> dict[str, Any]:
    """The predictions of a regressor: doubles, taken as they are."""
    if inner.value.shape[1] != 1:
        raise _several(inner.value.shape[1], "numbers")
    known, label = np.unique(inner.value[:, 0, 0], return_inverse=True)
    return {"label": np.where(leaf, label.reshape(-1), -1), "values": tuple(map(Fraction, known.tolist()))}


def _several(count: int, what: str) -> SpecError:
    return SpecError(
        f"the tree predicts {count} {what} for each row",
        cause="the target is one column",
        fix="fit a tree for each of them",
    )


def _labels(inner: Any, leaf: Bools, classes: Any, data: Dataset) -> dict[str, Any]:
    """The most frequent class of each leaf, as a class code of the data."""
    codes = {label: code for code, label in enumerate(data.classes.tolist())}
    unknown = [label for label in classes.tolist() if label not in codes]
    if unknown:
        raise SpecError(
            f"the tree predicts {unknown[0]!r}, which is no class of the data",
            cause=f"the classes are {', '.join(map(repr, codes))}",
            fix="use the labels with which the tree was fitted",
        )
    of_class = np.array([codes[label] for label in classes.tolist()])
    return {"label": np.where(leaf, of_class[inner.value[:, 0, :].argmax(axis=1)], -1)}


def in_double(thresholds: Floats) -> Floats:
    """Thresholds for values in double precision.

    scikit-learn rounds every value x to single precision before it compares. The largest double that rounds to at most
    t is halfway between the largest single f <= t and the next one; exactly halfway, x rounds to the even one.
    """
    single = thresholds.astype(np.float32)
    above = single.astype(np.float64) > thresholds
    single = np.where(above, np.nextafter(single, np.float32(-np.inf)), single).astype(np.float32)
    following = np.nextafter(single, np.float32(np.inf))
    with np.errstate(over="ignore", invalid="ignore"):
        halfway = single.astype(np.float64) / 2 + following.astype(np.float64) / 2
    even = single.view(np.uint32) % 2 == 0
    inside = np.where(even, halfway, np.nextafter(halfway, -np.inf))
    return np.where(np.isfinite(inside), inside, thresholds) + 0.0


def _features(tree: Any, inner: Any, data: Dataset) -> Ints:
    """The feature of the data that each test reads: by name where both have names, else by position.

    A column of numbers with gaps has two features: missing values stand below all others in one, above in the other.

    Raises SpecError if a test reads what is neither a feature of the data nor a column of numbers.
    """
    named = getattr(tree, "feature_names_in_", None)
    features = [column.name for column in data.columns]
    sources = list(dict.fromkeys(column.source for column in data.columns))
    if named is None or data.frame is None:
        known = [names for names in (features, sources) if len(names) == inner.n_features]
        if not known:
            raise _other_columns(f"it reads {count_of(inner.n_features, 'feature')}", features)
        named = known[0]
    of_side = {(name, ""): at for at, name in enumerate(features)}
    of_side |= {
        (column.source, column.missing): at
        for at, column in enumerate(data.columns)
        if column.kind in (BOOLEAN, NUMERIC)
    }
    both = [[of_side.get((name, side), of_side.get((name, ""), -1)) for name in named] for side in ("above", "below")]
    is_known = (inner.feature >= 0) & (inner.feature < len(named))  # a damaged file may have any number
    read = np.where(is_known, inner.feature, 0)
    found = np.asarray(both, dtype=np.int64)[(np.asarray(inner.missing_go_to_left) != 0).astype(np.int64), read]
    lacking = np.flatnonzero(is_known & (found < 0))
    if lacking.size:
        raise _other_columns(f"it reads {named[read[lacking[0]]]}", features)
    return np.where(is_known, found, len(features))


def _other_columns(reads: str, features: list[str]) -> SpecError:
    return SpecError(
        "the tree was fitted on other columns",
        cause=f"{reads}, and the data have {count_of(len(features), 'feature')}: {listing(features, 8)}",
        fix="fit it on data.X, or on columns of numbers",
    )
