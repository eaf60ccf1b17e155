"""All admissible models of a tiny shape, by what can be seen of them: the reference of the differential driver.

Independent of every engine, formulation and of `treeform.testing.brute`: models are enumerated by the sets of
distinct rows (bit masks) that their tests receive, equal outcomes are kept once, and requirements are read off
the outcomes. Admissible are the models of Florio et al. (AAAI 2023) with pass-throughs: a test that reads no
column and whose samples all leave by its one arc. A pass-through counts as a test everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from treeform.testing.differential.table import Split, Table

FAR = 10**9
"""Stands for "no test": no requirement on the tests of a model without tests."""


class TooLarge(Exception):
    """The shape has more models on these data than the reference is willing to enumerate."""


class Outcome(NamedTuple):
    """What requirements and objectives can see of a model; 0 where the question does not ask."""

    predicted: int
    """Masks of the rows predicted each class, side by side: class k from bit ``k * points``."""
    tests: int
    depth: int
    """Most tests on a path."""
    side: Fraction | int
    """Least weight on a side of a test."""
    flow: Fraction | int
    """Least weight that reaches a test."""
    columns: int
    """Mask of the columns that tests read."""
    broken: int
    """Which of the watched directions some test breaks."""


Choice = tuple[tuple[int, ...], int, Fraction | int, Fraction | int, int, "tuple[tuple[Split, int, int], ...]"]
"""Of a layer: rows at the next one, ended rows, least side and flow, columns, and what the tests part."""


@dataclass(frozen=True)
class Watch:
    """A direction that tests of a column may break: greater values are for (rising) or against the class."""

    column: int
    label: int
    rising: bool


@dataclass(frozen=True)
class Tracked:
    """Which parts of an outcome a question reads; the fewer, the fewer outcomes there are."""

    depth: bool = False
    side: bool = False
    flow: bool = False
    columns: bool = False
    watches: tuple[Watch, ...] = ()


class Reference:
    """Outcomes of all admissible models over one table and shape.

    Parameters
    ----------
    widths : tuple of int or None
        Of a diagram; None for a tree.
    hyperplanes : bool
        Whether tests are weighted sums of columns.
    most_steps : int
        Combinations after which `TooLarge` is raised.
    """

    def __init__(
        self,
        table: Table,
        widths: tuple[int, ...] | None,
        depth: int,
        hyperplanes: bool = False,
        tracked: Tracked | None = None,
        most_steps: int = 150_000,
    ) -> None:
        self.table = table
        self.widths = widths
        self.depth = depth
        self.tracked = tracked or Tracked()
        self.n = len(table.points)
        self.splits = table.hyperplanes if hyperplanes else table.univariate
        self._left_over = most_steps
        self._subtrees: dict[tuple[int, int], set[Outcome]] = {}
        self._layers: dict[tuple[int, tuple[int, ...]], set[Outcome]] = {}
        self._effective: dict[int, list[Split]] = {}

    @cached_property
    def outcomes(self) -> frozenset[Outcome]:
        """All outcomes, those of constant models included."""
        everything = self.table.everything
        if self.widths is None:
            return frozenset(self._subtree(everything, self.depth))
        constants = {self._leaf(everything, k) for k in range(len(self.table.classes))}
        return frozenset(constants | self._from(0, (everything,)))

    # -- what a single test adds ------------------------------------------------------------------------

    def _leaf(self, mask: int, label: int) -> Outcome:
        return Outcome(mask << label * self.n, 0, 0, self._none, self._none_flow, 0, 0)

    @property
    def _none(self) -> int:
        return FAR if self.tracked.side else 0

    @property
    def _none_flow(self) -> int:
        return FAR if self.tracked.flow else 0

    def _spend(self, steps: int) -> None:
        self._left_over -= steps
        if self._left_over < 0:
            raise TooLarge

    def parting(self, mask: int) -> list[Split]:
        """The tests that part the rows of ``mask``, once for each difference that the question can see."""
        if mask not in self._effective:
            seen: dict[Split, None] = {}
            for split in self.splits:
                right = split.right & mask
                if right and right != mask:
                    columns = split.columns if self.tracked.columns else 0
                    rising = split.rising if self.tracked.watches else 0
                    falling = split.falling if self.tracked.watches else 0
                    seen[Split(right, columns, rising, falling)] = None
            self._effective[mask] = list(seen)
        return self._effective[mask]

    def broken(self, split: Split, low: int, high: int, predicted: int) -> int:
        """The watched directions that a test breaks, with the rows of its left and right side."""
        out = 0
        for bit, watch in enumerate(self.tracked.watches):
            if split.rising >> watch.column & 1:
                lower, upper = low, high
            elif split.falling >> watch.column & 1:
                lower, upper = high, low
            else:
                continue
            if not watch.rising:
                lower, upper = upper, lower
            favoured = predicted >> watch.label * self.n & self.table.everything
            if lower & favoured and upper & ~favoured:
                out |= 1 << bit
        return out

    def _least(self, split_sides: tuple[int, ...], mask: int) -> tuple[Fraction | int, Fraction | int]:
        weight = self.table.weight_of
        side = min(weight[part] for part in split_sides) if self.tracked.side else 0
        return side, weight[mask] if self.tracked.flow else 0

    # -- trees --------------------------------------------------------------------------------------------

    def _subtree(self, mask: int, depth: int) -> set[Outcome]:
        key = (mask, depth)
        if key in self._subtrees:
            return self._subtrees[key]
        out = {self._leaf(mask, k) for k in range(len(self.table.classes))}
        if depth:
            out |= self._passing(mask, depth)
            for split in self.parting(mask):
                low, high = mask & ~split.right, split.right
                side, flow = self._least((low, high), mask)
                lefts, rights = self._subtree(low, depth - 1), self._subtree(high, depth - 1)
                self._spend(len(lefts) * len(rights))
                out |= {self._joined(a, b, split, low, high, side, flow) for a in lefts for b in rights}
        self._subtrees[key] = out
        return out

    def _passing(self, mask: int, depth: int) -> set[Outcome]:
        """A pass-through above everything of one depth less: its other side is empty."""
        _, flow = self._least((mask,), mask)
        return {
            a._replace(
                tests=a.tests + 1,
                depth=a.depth + self.tracked.depth,
                side=0,
                flow=min(a.flow, flow),
            )
            for a in self._subtree(mask, depth - 1)
        }

    def _joined(
        self,
        a: Outcome,
        b: Outcome,
        split: Split,
        low: int,
        high: int,
        side: Fraction | int,
        flow: Fraction | int,
    ) -> Outcome:
        predicted = a.predicted | b.predicted
        broken = a.broken | b.broken
        if self.tracked.watches:
            broken |= self.broken(split, low, high, predicted)
        return Outcome(
            predicted,
            a.tests + b.tests + 1,
            max(a.depth, b.depth) + self.tracked.depth,
            min(a.side, b.side, side),
            min(a.flow, b.flow, flow),
            a.columns | b.columns | split.columns,
            broken,
        )

    # -- diagrams -----------------------------------------------------------------------------------------

    def _from(self, layer: int, masks: tuple[int, ...]) -> set[Outcome]:
        """Outcomes on the rows of ``masks``, which arrive at the tests of a layer."""
        if not masks:
            return {Outcome(0, 0, 0, self._none, self._none_flow, 0, 0)}
        key = (layer, masks)
        if key in self._layers:
            return self._layers[key]
        assert self.widths is not None
        width = self.widths[layer + 1] if layer + 1 < len(self.widths) else 0
        out: set[Outcome] = set()
        for below, ended, side, flow, columns, parted in set(self._choices(masks, width)):
            rest = self._from(layer + 1, below)
            self._spend(len(rest))
            for a in rest:
                predicted = a.predicted | ended
                broken = a.broken
                for split, low, high in parted:
                    broken |= self.broken(split, low, high, predicted)
                out.add(
                    Outcome(
                        predicted,
                        a.tests + len(masks),
                        0,
                        min(a.side, side),
                        min(a.flow, flow),
                        a.columns | columns,
                        broken,
                    )
                )
        self._layers[key] = out
        return out

    def _choices(
        self, masks: tuple[int, ...], width: int
    ) -> Iterator[Choice]:
        """Tests and arcs for all nodes of a layer: the rows at the next layer, and what the tests add."""

        def arcs(
            parts: tuple[int, ...], below: tuple[int, ...], ended: int
        ) -> Iterator[tuple[tuple[int, ...], int]]:
            """Different heads for the parts: nodes of the next layer (new ones in order), or terminals."""

            def heads(
                index: int, below: tuple[int, ...], ended: int, taken: frozenset[int]
            ) -> Iterator[tuple[tuple[int, ...], int]]:
                if index == len(parts):
                    yield below, ended
                    return
                part = parts[index]
                for k in range(len(self.table.classes)):
                    if -1 - k not in taken:
                        yield from heads(index + 1, below, ended | part << k * self.n, taken | {-1 - k})
                for j in range(min(width, len(below) + 1)):
                    if j not in taken:
                        grown = (
                            (*below, part)
                            if j == len(below)
                            else (*below[:j], below[j] | part, *below[j + 1 :])
                        )
                        yield from heads(index + 1, grown, ended, taken | {j})

            yield from heads(0, below, ended, frozenset())

        def nodes(
            index: int,
            below: tuple[int, ...],
            ended: int,
            side: Fraction | int,
            flow: Fraction | int,
            columns: int,
            parted: tuple[tuple[Split, int, int], ...],
        ) -> Iterator[Choice]:
            if index == len(masks):
                yield tuple(sorted(below)), ended, side, flow, columns, parted
                return
            mask = masks[index]
            _, reaching = self._least((mask,), mask)
            for after, done in arcs((mask,), below, ended):
                self._spend(1)
                yield from nodes(index + 1, after, done, 0, min(flow, reaching), columns, parted)
            for split in self.parting(mask):
                low, high = mask & ~split.right, split.right
                least, _ = self._least((low, high), mask)
                noted = (*parted, (split, low, high)) if self.tracked.watches else parted
                for after, done in arcs((low, high), below, ended):
                    self._spend(1)
                    yield from nodes(
                        index + 1,
                        after,
                        done,
                        min(side, least),
                        min(flow, reaching),
                        columns | split.columns,
                        noted,
                    )

        yield from nodes(0, (), 0, self._none, self._none_flow, 0, ())
