"""Linear forms: what multivariate tests compare with a threshold, evaluated exactly.

A test on feature ``F + h`` of a graph over F columns reads its form ``h``, and goes left when the float64
nearest to ``sum_j weight_j * x_j`` (in exact arithmetic) is at most the threshold. No order of summation and
no machine can change that.

The empty form has the value 0 everywhere. It is the test of a *pass-through*: a node with one arc, which all
samples take. In the arrays of a graph its threshold is 0 and both children are the same node.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import Column, number_text
from treeform.errors import SpecError
from treeform.utils.arrays import Bools, Floats

_SLACK = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class LinearForm:
    """A weighted sum of encoded features, in the user's units."""

    features: tuple[int, ...]
    """Encoded features, increasing; none in the form of a pass-through."""
    weights: tuple[float, ...]
    """Their weights, none of them 0."""

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> LinearForm:
        """From ``{feature: weight}``; weights of 0 are left out.

        Raises SpecError if no weight is left, or one is not finite.
        """
        kept = {int(f): float(w) for f, w in sorted(weights.items()) if w != 0}
        if not kept or not all(map(math.isfinite, kept.values())):
            raise SpecError(
                f"the weights {dict(weights)} make no linear form",
                cause="a multivariate test needs a finite weight other than 0",
                fix="write {feature: weight, ...} with encoded features",
            )
        return cls(tuple(kept), tuple(kept.values()))

    def text(self, columns: Sequence[Column]) -> str:
        """``2*age - 0.5*income``, with the display names of the columns; ``0`` for the empty form."""
        if not self.features:
            return "0"
        parts: list[str] = []
        for feature, weight in zip(self.features, self.weights, strict=True):
            column = columns[feature]
            name = column.name if not column.is_indicator else f"[{column.question(0.5)[0]}]"
            size = "" if abs(weight) == 1 else f"{number_text(abs(weight))}*"
            sign = ("-" if weight < 0 else "") if not parts else (" - " if weight < 0 else " + ")
            parts.append(f"{sign}{size}{name}")
        return "".join(parts)

    def exact(self, row: Sequence[float] | Floats) -> Fraction:
        """The value on one row of encoded features, in rationals."""
        return sum(
            (Fraction(w) * Fraction(float(row[f])) for f, w in zip(self.features, self.weights, strict=True)),
            Fraction(0),
        )

    def nearest(self, row: Sequence[float] | Floats) -> float:
        """The float64 nearest to the exact value on one row."""
        value = self.exact(row)
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf

    def values(self, X: Floats, thresholds: Floats) -> Floats:
        """Values (m,) on encoded rows that compare with ``thresholds`` as the nearest ones do.

        Rows whose rounded sum is too close to a threshold to be sure are summed in rationals.
        """
        if not self.features:
            return np.zeros(len(X))
        features, weights = list(self.features), np.array(self.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = X[:, features] * weights
            rough = terms.sum(axis=1)
            doubt = _SLACK * (len(weights) + 2) * np.abs(terms).sum(axis=1) + 1e-300
            near = np.abs(rough[:, None] - thresholds[None, :]).min(axis=1) if thresholds.size else rough
            unsure = ~(near > doubt)  # also where something overflowed
        for row in np.flatnonzero(unsure).tolist():
            rough[row] = self.nearest(X[row])
        return np.asarray(rough)

    def column(self, columns: Sequence[Column]) -> Column:
        """The form as a column, for texts."""
        return Column(self.text(columns))

PASS = LinearForm((), ())
"""The form of a pass-through."""


def extended(
    forms: Sequence[LinearForm], feature: NDArray[np.int32], threshold: Floats, n_features: int, X: Floats
) -> Floats:
    """The encoded matrix (m, F) with one column more for each form, as tests on (feature, threshold) read it."""
    parts = [form.values(X, threshold[feature == n_features + h]) for h, form in enumerate(forms)]
    return np.column_stack([X, *parts]) if parts else X


def renumbered(
    feature: NDArray[np.int32], forms: Sequence[LinearForm], n_features: int
) -> tuple[NDArray[np.int32], tuple[LinearForm, ...]]:
    """Forms in the order of their first use, equal ones once, and none that no test reads."""
    new: dict[LinearForm, int] = {}
    out = feature.copy()
    for node in np.flatnonzero(feature >= n_features).tolist():
        index = int(feature[node]) - n_features
        if index >= len(forms):
            return feature, tuple(forms)  # the check of the arrays reports the error
        out[node] = n_features + new.setdefault(forms[index], len(new))
    return out, tuple(new)


def fault(forms: Sequence[LinearForm], n_features: int) -> str | None:
    """What is wrong with the linear forms of a graph over so many columns, or None."""
    for form in forms:
        if len(form.features) != len(form.weights):
            return "a linear form does not have one weight for each feature"
        if list(form.features) != sorted(set(form.features)) or not all(
            0 <= feature < n_features for feature in form.features
        ):
            return f"a linear form reads the features {form.features}, of {n_features} known ones"
        if not all(math.isfinite(w) and w != 0 for w in form.weights):
            return "a linear form has a weight that is 0 or not finite"
    return None


def passing(feature: NDArray[np.int32], forms: Sequence[LinearForm], n_features: int) -> Bools:
    """(N,) bool: which nodes are pass-throughs."""
    numbers = [n_features + index for index, form in enumerate(forms) if not form.features]
    return np.isin(feature, numbers) if numbers else np.zeros(len(feature), dtype=bool)


def fault_of_passes(
    passes: Bools, threshold: Floats, left: NDArray[np.int32], right: NDArray[np.int32]
) -> str | None:
    """Which pass-through does not have one child and the threshold 0, or None."""
    wrong = passes & ((left != right) | (threshold != 0.0))
    if not wrong.any():
        return None
    node = int(np.flatnonzero(wrong)[0])
    return f"node {node} reads no column, and a pass-through has one child (twice) and the threshold 0"


def taken_out(nodes: Any, n_features: int) -> tuple[Any, tuple[LinearForm, ...]]:
    """Nodes with ``"weights"`` or ``"pass"`` turned into nodes with ``"feature"``, and the forms that these read."""
    forms: list[LinearForm] = []

    def plain(node: Any) -> Any:
        if isinstance(node, Mapping) and set(node) == {"pass"}:
            forms.append(PASS)
            child = node["pass"]
            return {"feature": n_features + len(forms) - 1, "threshold": 0.0, "left": child, "right": child}
        if not isinstance(node, Mapping) or "weights" not in node:
            return node
        forms.append(LinearForm.of(node["weights"]))
        kept = {key: value for key, value in node.items() if key != "weights"}
        return {**kept, "feature": n_features + len(forms) - 1}

    if isinstance(nodes, Mapping):
        return {key: plain(node) for key, node in nodes.items()}, tuple(forms)
    if isinstance(nodes, Sequence):
        return [plain(node) for node in nodes], tuple(forms)
    return nodes, ()
