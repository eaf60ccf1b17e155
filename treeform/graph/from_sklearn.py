"""scikit-learn's decision trees as decision graphs that classify every row alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data.dataset import Dataset


def arrays_of(tree: Any, data: Dataset) -> dict[str, Any]:
    """The arrays of a fitted DecisionTreeClassifier; see `DecisionGraph.from_sklearn`.

    Raises
    ------
    SpecError
        If it is none, or was fitted on other columns or classes.
    """
    inner, classes = getattr(tree, "tree_", None), getattr(tree, "classes_", None)
    if inner is None or classes is None:
        raise SpecError(
            f"{type(tree).__name__} is no fitted DecisionTreeClassifier",
            cause="it has no attributes tree_ and classes_",
            fix="fit it first; of a pipeline or a forest, pass one tree",
        )
    _check_columns(tree, inner, data)
    codes = {label: code for code, label in enumerate(data.classes.tolist())}
    unknown = [label for label in classes.tolist() if label not in codes]
    if unknown:
        raise SpecError(
            f"the tree predicts {unknown[0]!r}, which is no class of the data",
            cause=f"the classes are {', '.join(map(repr, codes))}",
            fix="use the labels with which the tree was fitted",
        )
    of_class = np.array([codes[label] for label in classes.tolist()])
    leaf = np.asarray(inner.children_left) < 0
    return {
        "feature": np.where(leaf, -1, inner.feature),
        "threshold": np.where(leaf, np.nan, in_double(np.asarray(inner.threshold, dtype=np.float64))),
        "left": np.where(leaf, -1, inner.children_left),
        "right": np.where(leaf, -1, inner.children_right),
        "label": np.where(leaf, of_class[inner.value[:, 0, :].argmax(axis=1)], -1),
    }


def in_double(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _check_columns(tree: Any, inner: Any, data: Dataset) -> None:
    named = getattr(tree, "feature_names_in_", None)
    names = [column.name for column in data.columns]
    if inner.n_features != len(names) or (
        named is not None and data.frame is not None and list(named) != names
    ):
        raise SpecError(
            "the tree was fitted on other columns",
            cause=f"it reads {inner.n_features} features, and the data have {len(names)}: {', '.join(names[:8])}",
            fix="fit it on data.X, or on a table of numbers without missing values",
        )
