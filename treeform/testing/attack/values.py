"""The least loss of a tree that predicts values: structures one by one, and the best values of their leaves.

Under squared errors the best values under linear equations are a projection; which rows are equations is enumerated,
so that the least feasible one of all is the optimum of the convex problem. Whole values are enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from treeform.testing.attack import slices
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain

Row = tuple[tuple[Fraction, ...], Fraction]
"""Coefficients by leaf, and the side that their sum is at most."""
MOST_TRIED = 3000


class TooMany(Exception):
    """More values than can be tried."""


def target(plain: Plain, row: int) -> Fraction:
    """The exact target of a row."""
    return Fraction(plain.target[row])


def loss(kind: str, m: Facts, values: Sequence[Fraction], plain: Plain) -> Fraction:
    """Of given values of leaves."""
    total = Fraction(0)
    for i in plain.kept:
        gap = target(plain, i) - values[m.predicted[plain.point_of[i]]]
        total += plain.weight(i) * (gap * gap if kind == "squared_error" else abs(gap))
    return total


def rows_of(specs: Sequence[Any], m: Facts, plain: Plain) -> list[Row]:
    """What requirements ask of the values of leaves, by their definitions."""
    leaves = range(max(m.predicted) + 1)
    rows: list[Row] = []
    parts = [(s, part) for s in specs for part in (slices.slices(s, plain) if slices.way(s) else [plain])]
    for spec, part in parts:
        if spec["kind"] == "mean_parity":
            means = _means(part.values_of(spec["groups"]), m, part)
            for a, b in permutations(means, 2):
                rows.append((tuple(means[a][k] - means[b][k] for k in leaves), Fraction(spec["difference"])))
        if spec["kind"] == "monotone":
            for low, high in _sides(spec, m, part):
                rows.append((tuple(Fraction((k == low) - (k == high)) for k in leaves), Fraction(0)))
    return list(dict.fromkeys(row for row in rows if any(row[0])))


def _means(groups: Sequence[Any], m: Facts, plain: Plain) -> dict[Any, list[Fraction]]:
    """The mean of each group, as what each leaf's value counts in it."""
    weight: dict[Any, list[Fraction]] = {}
    for i in plain.kept:
        of = weight.setdefault(groups[i], [Fraction(0)] * (max(m.predicted) + 1))
        of[m.predicted[plain.point_of[i]]] += plain.weight(i)
    return {g: [w / sum(of) for w in of] for g, of in weight.items()}


def _sides(spec: Any, m: Facts, plain: Plain) -> Iterator[tuple[int, int]]:
    """Leaves of which the first may not be above the second."""
    c, rising = plain.tested.index(spec["column"]), spec["direction"] == "increasing"
    for n in m.nodes:
        if plain.features[n.feature].column != spec["column"]:
            continue
        known = [p for p in plain.here if n.reached >> p & 1 and plain.points[p][c] is not None]
        low = {m.predicted[p] for p in known if bool(n.right >> p & 1) != rising}
        yield from product(low, {m.predicted[p] for p in known if bool(n.right >> p & 1) == rising})


def best(
    kind: str, m: Facts, plain: Plain, rows: Sequence[Row], whole: bool, unit: Fraction
) -> Fraction | None:
    """The least loss of a structure; None where no values satisfy the rows."""
    if not rows:
        return loss(kind, m, _free(kind, m, plain), plain)
    if whole:
        return _best_whole(kind, m, plain, rows, unit)
    assert kind == "squared_error"
    return _projected(m, plain, rows)


def _free(kind: str, m: Facts, plain: Plain) -> list[Fraction]:
    """Means or medians."""
    out = []
    for leaf in range(max(m.predicted) + 1):
        rows = [i for i in plain.kept if m.predicted[plain.point_of[i]] == leaf]
        weight = sum((plain.weight(i) for i in rows), Fraction(0))
        if kind == "squared_error":
            out.append(sum((plain.weight(i) * target(plain, i) for i in rows), Fraction(0)) / weight)
            continue
        below = Fraction(0)
        for i in sorted(rows, key=lambda i: target(plain, i)):
            below += plain.weight(i)
            if 2 * below >= weight:
                out.append(target(plain, i))
                break
    return out


def unit_of(plain: Plain) -> Fraction:
    """All targets are multiples of it: the greatest such number."""
    distinct = sorted({target(plain, i) for i in plain.kept})
    scale = math.lcm(*(v.denominator for v in distinct))
    return Fraction(math.gcd(*(int(v * scale) for v in distinct)), scale) or Fraction(1, scale)


def _best_whole(kind: str, m: Facts, plain: Plain, rows: Sequence[Row], unit: Fraction) -> Fraction | None:
    targets = [target(plain, i) for i in plain.kept]
    steps = int((max(targets) - min(targets)) / unit) + 1
    leaves = max(m.predicted) + 1
    if steps**leaves > MOST_TRIED:
        raise TooMany
    grid = [min(targets) + k * unit for k in range(steps)]
    each = [[Fraction(0)] * steps for _ in range(leaves)]
    for i in plain.kept:
        for k, value in enumerate(grid):
            gap = target(plain, i) - value
            each[m.predicted[plain.point_of[i]]][k] += plain.weight(i) * (
                gap * gap if kind == "squared_error" else abs(gap)
            )
    least: Fraction | None = None
    for chosen in product(range(steps), repeat=leaves):
        value = sum((each[leaf][k] for leaf, k in enumerate(chosen)), Fraction(0))
        if (least is None or value < least) and all(
            sum(c * grid[k] for c, k in zip(coef, chosen, strict=True)) <= side for coef, side in rows
        ):
            least = value
    return least


def _projected(m: Facts, plain: Plain, rows: Sequence[Row]) -> Fraction | None:
    """The least squared loss over all sets of rows that hold with equality."""
    free = _free("squared_error", m, plain)
    weight = [
        sum((plain.weight(i) for i in plain.kept if m.predicted[plain.point_of[i]] == k), Fraction(0))
        for k in range(len(free))
    ]
    least: Fraction | None = None
    for size in range(min(len(rows), len(free)) + 1):
        for some in combinations(rows, size):
            values = _onto(free, weight, some)
            if values is None or any(
                sum(c * v for c, v in zip(coef, values, strict=True)) > side for coef, side in rows
            ):
                continue
            value = loss("squared_error", m, values, plain)
            least = value if least is None else min(least, value)
            if size == 0:
                return least
    return least


def _onto(free: Sequence[Fraction], weight: Sequence[Fraction], rows: Sequence[Row]) -> list[Fraction] | None:
    """The nearest values on which the rows are equations; None where these depend on each other."""
    # v = v0 - W^-1 C' l,   (C W^-1 C') l = C v0 - b
    gram = [[_sum(a * b / w for a, b, w in zip(p, q, weight, strict=True)) for q, _ in rows] for p, _ in rows]
    side = [_sum(c * v for c, v in zip(coef, free, strict=True)) - b for coef, b in rows]
    solved = solve_system(gram, side)
    if solved is None:
        return None
    return [
        v - sum(x * coef[k] for x, (coef, _) in zip(solved, rows, strict=True)) / weight[k]
        for k, v in enumerate(free)
    ]


def _sum(parts: Iterable[Fraction]) -> Fraction:
    return sum(parts, Fraction(0))


def solve_system(matrix: Sequence[Sequence[Fraction]], side: Sequence[Fraction]) -> list[Fraction] | None:
    """Gauss and Jordan, in fractions; None where the matrix is singular."""
    size = len(side)
    work = [[*row, b] for row, b in zip(matrix, side, strict=True)]
    for k in range(size):
        pivot = next((r for r in range(k, size) if work[r][k]), None)
        if pivot is None:
            return None
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [x / work[k][k] for x in work[k]]
        for r in range(size):
            if r != k and work[r][k]:
                work[r] = [x - work[r][k] * y for x, y in zip(work[r], work[k], strict=True)]
    return [row[-1] for row in work]
