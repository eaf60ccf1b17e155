"""Requirements that are asked of some of the rows: which rows these are, by the definition, and how treeform is asked.

A sliced specification has ``on`` (a condition as text with the rows that it names, or the mask beside the table) or
``each`` (a column), or both.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from treeform.testing.attack.plain import Plain

Spec = Mapping[str, Any]
SUMS = frozenset(
    (
        "statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds", "conditional_parity",
        "accuracy_parity", "group_error_at_most", "min_precision", "min_recall", "min_specificity",
        "max_false_positive_rate", "must_classify_right", "max_cost", "max_errors", "min_coverage", "stay_close_to",
    )
)  # fmt: skip
"""Requirements that are sums over rows."""
OTHERS = frozenset(("monotone", "mean_parity"))
"""Others that are about rows."""
WAYS = ("condition", "mask", "each", "condition and each")


def way(spec: Spec) -> str:
    """One of `WAYS`; empty where all rows are asked."""
    if "on" not in spec:
        return "each" if "each" in spec else ""
    named = "mask" if spec["on"] == "mask" else "condition"
    return f"{named} and each" if "each" in spec else named


def whole(spec: Spec) -> Spec:
    """The requirement that is asked of each slice."""
    return {key: value for key, value in spec.items() if key not in ("on", "each")}


def slices(spec: Spec, plain: Plain) -> list[Plain]:
    """The table with no other rows than those of a slice, for each slice."""
    rows = plain.kept
    if "on" in spec:
        rows = tuple(i for i in rows if (plain.mask[i] if spec["on"] == "mask" else i in spec["on"][1]))
    if "each" not in spec:
        return [plain.slice(rows)]
    values = plain.columns[spec["each"]]
    apart = [tuple(i for i in rows if values[i] == one) for one in dict.fromkeys(values[i] for i in rows)]
    return [plain.slice(some) for some in apart]


def asked(requirement: Any, spec: Spec, mask: Any) -> Any:
    """The requirement of treeform on the rows of the specification."""
    if "on" in spec:
        requirement = requirement.on(mask if spec["on"] == "mask" else spec["on"][0])
    return requirement.each(spec["each"]) if "each" in spec else requirement


def sliced(
    rng: random.Random, pool: Sequence[Spec], plain: Plain, kinds: frozenset[str] = SUMS
) -> list[Spec]:
    """The same requirements; those of some kinds mostly on slices."""
    return [_drawn(rng, one, plain) if one["kind"] in kinds and rng.random() < 0.75 else one for one in pool]


def _drawn(rng: random.Random, spec: Spec, plain: Plain) -> Spec:
    known = [name for name, values in plain.columns.items() if None not in values]
    chosen, out = rng.choice(WAYS), dict(spec)
    if chosen == "mask" and any(plain.mask[i] for i in plain.kept):
        out["on"] = "mask"
    if chosen.startswith("condition"):
        out["on"] = _condition(rng, plain)
    if chosen.endswith("each") and known:
        out["each"] = rng.choice(known)
    return out


def _condition(rng: random.Random, plain: Plain) -> tuple[str, tuple[int, ...]]:
    """A comparison that some row satisfies, as text, and the rows that do."""
    name = rng.choice(list(plain.columns))
    values = plain.columns[name]
    value = rng.choice([values[i] for i in plain.kept if values[i] is not None] or [None])
    if value is None:  # a column of gaps
        return _condition(rng, plain)
    signs = ["=="] if isinstance(value, str | bool) else ["==", "<=", ">="]
    sign = rng.choice(signs)
    holds: Callable[[Any, Any], Any] = {"==": operator.eq, "<=": operator.le, ">=": operator.ge}[sign]
    rows = tuple(i for i, one in enumerate(values) if one is not None and holds(one, value))
    return f"{name} {sign} {value!r}", rows
