"""Every model of a small shape, one by one: what its tests do to the points, and what it predicts.

Trees, and layered diagrams with pass-throughs, by the definition of ``docs/design/admissible-models.rst``. Two models
are one here when their tests receive, and part, the same points by the same features and all points have the same
prediction; thresholds between the same two values are not told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from treeform.testing.attack.plain import Plain

MOST_MODELS = 6000


class TooMany(Exception):
    """The table has more models than can be listed."""


class Node(NamedTuple):
    """A test: its layer, the feature (-1 of a pass-through), and masks of points."""

    layer: int
    feature: int
    reached: int
    right: int


@dataclass(frozen=True)
class Facts:
    """A model."""

    nodes: tuple[Node, ...]
    """Its tests, parents before children."""
    predicted: tuple[int, ...]
    """The code of the prediction of each point: a class, or the number of a leaf."""

    @property
    def tests(self) -> int:
        return len(self.nodes)

    @cached_property
    def paths(self) -> tuple[tuple[Node, ...], ...]:
        """The tests that each point passes, in order."""
        return tuple(
            tuple(node for node in self.nodes if node.reached >> p & 1) for p in range(len(self.predicted))
        )

    @cached_property
    def depth(self) -> int:
        return max((node.layer + 1 for node in self.nodes), default=0)

    def columns(self, plain: Plain) -> set[str]:
        """The columns that some test reads."""
        return {plain.features[n.feature].column for n in self.nodes if n.feature >= 0}

    def mask_of(self, code: int) -> int:
        """The points that are predicted so."""
        return sum(1 << p for p, one in enumerate(self.predicted) if one == code)


def trees(plain: Plain, depth: int, n_classes: int, most: int = MOST_MODELS) -> list[Facts]:
    """All trees of at most this depth; with ``n_classes`` 0, structures whose leaves are numbered.

    Raises
    ------
    TooMany
    """
    size = len(plain.points)
    known: dict[tuple[int, int], list[tuple[tuple[Node, ...], tuple[tuple[int, int], ...]]]] = {}

    def below(mask: int, left: int) -> list[tuple[tuple[Node, ...], tuple[tuple[int, int], ...]]]:
        """(tests, leaves as (mask, class)) of all subtrees on the points of a mask."""
        if (mask, left) in known:
            return known[mask, left]
        out: list[tuple[tuple[Node, ...], tuple[tuple[int, int], ...]]] = [
            ((), ((mask, k),)) for k in range(max(1, n_classes))
        ]
        if left:
            for feature, right in plain.parting(mask):
                node = Node(depth - left, feature, mask, right)
                lows, highs = below(mask & ~right, left - 1), below(right, left - 1)
                if len(out) + len(lows) * len(highs) > most:
                    raise TooMany
                out += [((node, *a, *c), (*b, *d)) for a, b in lows for c, d in highs]
        known[mask, left] = out
        return out

    models: dict[tuple[tuple[Node, ...], tuple[int, ...]], None] = {}
    for nodes, leaves in below(plain.everything, depth):
        predicted = [0] * size
        for number, (mask, code) in enumerate(leaves):
            for p in range(size):
                if mask >> p & 1:
                    predicted[p] = code if n_classes else number
        models[nodes, tuple(predicted)] = None
    return [Facts(nodes, predicted) for nodes, predicted in models]


def diagrams(plain: Plain, widths: tuple[int, ...], n_classes: int, most: int = MOST_MODELS) -> list[Facts]:
    """All layered diagrams of these widths, pass-throughs among them.

    Raises
    ------
    TooMany
    """
    size = len(plain.points)
    found: dict[tuple[tuple[Node, ...], tuple[int, ...]], None] = {}

    def choices(mask: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """(feature, parts by arc): one part of a pass-through, two of a test."""
        yield -1, (mask,)
        for feature, right in plain.parting(mask):
            yield feature, (mask & ~right, right)

    def arcs(
        parts: tuple[int, ...], heads: tuple[int, ...], ended: tuple[int, ...], room: int
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Different heads for the parts: classes (``ended``), nodes of the next layer, or a new one of these."""
        taken: set[int] = set()

        def put(
            index: int, heads: tuple[int, ...], ended: tuple[int, ...]
        ) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
            if index == len(parts):
                yield heads, ended
                return
            for k in range(n_classes):
                if ~k not in taken:
                    taken.add(~k)
                    yield from put(index + 1, heads, (*ended[:k], ended[k] | parts[index], *ended[k + 1 :]))
                    taken.discard(~k)
            for j in range(min(room, len(heads) + 1)):
                if j not in taken:
                    taken.add(j)
                    grown = (
                        (*heads, parts[index])
                        if j == len(heads)
                        else (*heads[:j], heads[j] | parts[index], *heads[j + 1 :])
                    )
                    yield from put(index + 1, grown, ended)
                    taken.discard(j)

        yield from put(0, heads, ended)

    def layer(
        at: int, masks: tuple[int, ...], index: int, heads: tuple[int, ...], ended: tuple[int, ...],
        nodes: tuple[Node, ...],
    ) -> None:  # fmt: skip
        if index == len(masks):
            if heads:
                layer(at + 1, heads, 0, (), ended, nodes)
                return
            predicted = tuple(next(k for k in range(n_classes) if ended[k] >> p & 1) for p in range(size))
            found[tuple(sorted(nodes)), predicted] = None
            if len(found) > most:
                raise TooMany
            return
        room = widths[at + 1] if at + 1 < len(widths) else 0
        for feature, parts in choices(masks[index]):
            node = Node(at, feature, masks[index], 0 if feature < 0 else parts[1])
            for grown, done in arcs(parts, heads, ended, room):
                layer(at, masks, index + 1, grown, done, (*nodes, node))

    for k in range(n_classes):
        found[(), (k,) * size] = None
    layer(0, (plain.everything,), 0, (), (0,) * n_classes, ())
    return [Facts(nodes, predicted) for nodes, predicted in found]
