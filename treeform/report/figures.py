"""Figures for people, as every form of a report writes them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.shape import Shape, Tree
from treeform.solve.result import Number
from treeform.utils.text import count_of, rounded_text


def size_text(graph: DecisionGraph) -> str:
    """``5 tests, 6 leaves, depth 3``."""
    return f"{count_of(graph.n_nodes, 'test')}, {count_of(graph.n_leaves, 'leaf')}, depth {graph.depth}"


def shape_text(shape: Shape) -> str:
    """The models of a shape in words: "decision tree of depth 3 or less"."""
    hyperplanes = " with weighted sums as tests" if shape.splits == "multivariate" else ""
    if isinstance(shape, Tree):
        return f"decision tree of depth {shape.depth} or less{hyperplanes}"
    layers = ", ".join(map(str, shape.widths))
    return f"decision diagram with layers of at most {layers} tests{hyperplanes}"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Both ends of an interval of a share, in percent; nothing where there is none."""
    if interval is None:
        return ""
    low, high = interval
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def gap_text(gap: float | None) -> str:
    """A relative gap as a percentage."""
    if gap is None:
        return "-"
    return "0 % (proved)" if gap == 0 else "unbounded" if gap == float("inf") else f"{100 * gap:.2f} %"


def percent(value: Fraction | float | None) -> str:
    """A share as a percentage with one digit; a dash where there is none."""
    return "–" if value is None else f"{100 * float(value):.1f} %"


def number_of(text: str | None) -> Number | None:
    """A number as a certificate writes it."""
    return None if text is None else Fraction(text)


def target_text(data: Dataset) -> tuple[str, str]:
    """What the target is, and its classes or its range."""
    if data.quantity is None:
        counts = (f"{label} ({int((data.y == k).sum())})" for k, label in enumerate(data.classes))
        return "classes", ", ".join(counts)
    values = data.quantity.values
    return (
        "target",
        f"from {rounded_text(values.min())} to {rounded_text(values.max())}, "
        f"in multiples of {rounded_text(float(data.quantity.unit))}",
    )


LEVEL = 0.95
Interval = tuple[float, float]


@lru_cache(maxsize=4096)
def exact_interval(count: int, of: int) -> Interval:
    """The Clopper-Pearson interval of a share, ``count`` of ``of``, at the level `LEVEL`.

    Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika
    1934. Its ends are quantiles of beta distributions, so that `scipy.special` is enough, without the import of
    `scipy.stats`, which takes a second.
    """
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    low = betaincinv(count, of - count + 1, tail) if count else 0.0
    high = betaincinv(count + 1, of - count, 1 - tail) if count < of else 1.0
    return float(low), float(high)


def counts_rows(data: Dataset) -> bool:
    """Whether weights are rows: a share of other weights has no binomial distribution."""
    return data.weight_unit == 1 and bool((data.weights == 1).all())


def interval_of(part: Fraction, total: Fraction, data: Dataset) -> Interval | None:
    """The interval of ``part`` of ``total`` rows; None without rows, or where rows have weights."""
    return exact_interval(int(part), int(total)) if total and counts_rows(data) else None
