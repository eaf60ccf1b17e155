"""What requirements and objectives count of a model, by their definitions and in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from treeform.testing.attack.models import Facts, Node
from treeform.testing.attack.plain import Plain

Weights = dict[Any, Fraction]


def guess(m: Facts, plain: Plain, row: int) -> Any:
    """The label that a row is predicted; None where the model decides nothing."""
    code = m.predicted[plain.point_of[row]]
    return plain.classes[code] if code < len(plain.classes) else None


def wrong(m: Facts, plain: Plain) -> Fraction:
    """The weight that is misclassified; what is left undecided is not right."""
    return sum((plain.weight(i) for i in plain.kept if guess(m, plain, i) != plain.target[i]), Fraction(0))


def shares(
    groups: Sequence[Any], rows: Sequence[int], counts: Callable[[int], bool], plain: Plain
) -> list[Fraction]:
    """The share of the weight of each group, among some rows, that counts."""
    whole: Weights = {}
    part: Weights = {}
    for i in rows:
        whole[groups[i]] = whole.get(groups[i], Fraction(0)) + plain.weight(i)
        part[groups[i]] = part.get(groups[i], Fraction(0)) + plain.weight(i) * counts(i)
    return [part[g] / whole[g] for g in whole]


def confusion(m: Facts, plain: Plain, positive: Any) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """TP, FP, FN, TN of a class against all others."""
    cells = {(a, b): Fraction(0) for a in (True, False) for b in (True, False)}
    for i in plain.kept:
        cells[plain.target[i] == positive, guess(m, plain, i) == positive] += plain.weight(i)
    return cells[True, True], cells[False, True], cells[True, False], cells[False, False]


def cost(m: Facts, plain: Plain, matrix: Sequence[Sequence[str]], abstain: str = "0") -> Fraction:
    """What predictions cost by true and predicted class; undecided rows the other price."""
    total = Fraction(0)
    for i in plain.kept:
        truth, label = plain.classes.index(plain.target[i]), guess(m, plain, i)
        price = abstain if label is None else matrix[truth][plain.classes.index(label)]
        total += plain.weight(i) * Fraction(price)
    return total


def reads(node: Node, plain: Plain) -> str | None:
    """The column that a test reads; None of a pass-through."""
    return None if node.feature < 0 else plain.features[node.feature].column


def different_paths(m: Facts) -> list[tuple[Node, ...]]:
    """The paths that some row takes."""
    return list(dict.fromkeys(m.paths))


def smallest_side(m: Facts, plain: Plain) -> Fraction:
    """Of all tests; the weight of all rows where there is none. A pass-through has an empty side."""
    weight = plain.weight_of
    return (
        min(
            (w for n in m.nodes for w in (weight[n.right], weight[n.reached & ~n.right])), default=plain.total
        )
        if all(n.feature >= 0 for n in m.nodes)
        else Fraction(0)
    )


def smallest_flow(m: Facts, plain: Plain) -> Fraction:
    """The least weight that reaches a test."""
    return min((plain.weight_of[n.reached] for n in m.nodes), default=plain.total)


def broken_order(m: Facts, plain: Plain, column: str, rising: bool, rank: Callable[[int], Any]) -> int:
    """The tests of a column with a point on the lower side that ranks above one on the upper side."""
    broken = 0
    for n in m.nodes:
        if reads(n, plain) != column:
            continue
        c = plain.tested.index(column)
        known = [p for p in plain.here if n.reached >> p & 1 and plain.points[p][c] is not None]
        low = [rank(p) for p in known if bool(n.right >> p & 1) != rising]
        high = [rank(p) for p in known if bool(n.right >> p & 1) == rising]
        broken += bool(low and high and max(low) > min(high))
    return broken


def thresholds(m: Facts, plain: Plain, column: str) -> int:
    """The fewest thresholds that part the points of all tests of a column as they do."""
    count = 0
    for f, feature in enumerate(plain.features):
        tests = [n for n in m.nodes if n.feature == f]
        if feature.column != column or not tests:
            continue
        cuts = sorted(set(feature.values))[:-1]
        part = [sum(1 << p for p, v in enumerate(feature.values) if v > cut) for cut in cuts]
        fits = [{c for c, right in enumerate(part) if right & n.reached == n.right} for n in tests]
        count += next(
            size
            for size in range(1, len(cuts) + 1)
            if any(all(set(some) & fit for fit in fits) for some in combinations(range(len(cuts)), size))
        )
    return count


def unit_of_weights(plain: Plain) -> Fraction:
    """All weights are multiples of it: the greatest such number."""
    weights = [plain.weight(i) for i in plain.weighed]
    scale = math.lcm(*(w.denominator for w in weights))
    return Fraction(math.gcd(*(int(w * scale) for w in weights)), scale)


def prices_of_path(columns: set[str | None], prices: dict[str, str]) -> Fraction:
    """What the columns cost, each once."""
    return sum((Fraction(prices[c]) for c in columns if c in prices), Fraction(0))
