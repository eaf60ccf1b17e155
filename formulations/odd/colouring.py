"""Colours for points so that none of the given sets has a single colour, by a search of our own: no solver is believed.

The sets are few and grow from call to call; a colouring is looked for next to the last one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeform.utils.arrays import Ints

DECISIONS = 3000
"""Of one search; the tables that are decided at all need some hundreds."""


class GaveUp(Exception):
    """The search has used up its decisions."""


@dataclass
class Colouring:
    """Points 0, 1, ... in so many colours."""

    colour: list[int]
    """The last colouring; at first the one to begin with."""
    colours: int
    sets: list[list[int]] = field(default_factory=list)
    """None may have a single colour. A set of one point refutes all colourings."""
    used: set[int] = field(default_factory=set)
    """Sets that a refutation rests on: none of the others has forbidden a colour anywhere."""

    def __post_init__(self) -> None:
        self.sets_of: list[list[int]] = [[] for _ in self.colour]
        self.weight = np.zeros(len(self.colour))

    def add(self, points: Ints) -> None:
        """One more set."""
        for point in points.tolist():
            self.sets_of[point].append(len(self.sets))
        self.weight[points] += 1
        self.sets.append(points.tolist())

    def solve(self) -> bool:
        """Whether there is a colouring; it is in ``colour`` then. Raises GaveUp after `DECISIONS`."""
        self.used = {j for j, points in enumerate(self.sets) if len(points) == 1}
        if self.used:
            return False
        search = _Search(self)
        if not search.run():
            return False
        self.colour = [new if new >= 0 else old for new, old in zip(search.colour, self.colour, strict=True)]
        return True


class _Search:
    """Depth-first search with forward checking; points of many sets, and of sets that failed, come first."""

    def __init__(self, problem: Colouring) -> None:
        self.problem, self.k = problem, problem.colours
        self.colour = [-1] * len(problem.colour)
        self.count = [[0] * self.k for _ in problem.sets]
        self.forbidden = [[0] * self.k for _ in problem.colour]
        self.left = np.where(problem.weight > 0, 0.0, -np.inf)  # -inf: coloured, or in no set
        self.forbids: list[list[tuple[int, int]]] = []  # per point coloured, what it forbids
        self.trail: list[int] = []

    def run(self) -> bool:
        """Whether there is a colouring."""
        decisions = 0
        stack: list[tuple[int, int, list[int]]] = []  # length of the trail, point, colours not tried
        while True:
            point = int((self.left + self.problem.weight).argmax())
            if self.left[point] != 0:
                return True
            decisions += 1
            if decisions > DECISIONS:
                raise GaveUp
            last = self.problem.colour[point]
            free = [c for c in range(self.k) if not self.forbidden[point][c]]
            free.sort(key=lambda c: c == last)  # the last one comes first
            # Colours are alike: the first point needs only one of them.
            stack.append((len(self.trail), point, free if stack else free[-1:]))
            while True:
                length, point, free = stack[-1]
                self._undo(length)
                if not free:
                    stack.pop()
                    if not stack:
                        return False
                    continue
                if self._assign(point, free.pop()):
                    break

    def _assign(self, point: int, colour: int) -> bool:
        """Colour a point and all that follows; False when a point has no colour left."""
        queue = [(point, colour)]
        while queue:
            point, colour = queue.pop()
            if self.colour[point] >= 0:
                continue
            if self.forbidden[point][colour]:  # since it was queued
                return False
            self.colour[point], self.left[point] = colour, -np.inf
            self.trail.append(point)
            self.forbids.append([])
            for j in self.problem.sets_of[point]:
                self.count[j][colour] += 1
            for j in self.problem.sets_of[point]:
                if self.count[j][colour] != len(self.problem.sets[j]) - 1:
                    continue
                other = next((i for i in self.problem.sets[j] if self.colour[i] != colour), None)
                if other is None or self.colour[other] >= 0:
                    continue
                self.problem.used.add(j)
                self.forbidden[other][colour] += 1
                self.forbids[-1].append((other, colour))
                free = [c for c in range(self.k) if not self.forbidden[other][c]]
                if not free:
                    self.problem.weight[self.problem.sets[j]] += 1
                    return False
                if len(free) == 1:
                    queue.append((other, free[0]))
        return True

    def _undo(self, length: int) -> None:
        """Take back the last points coloured, until so many are left."""
        while len(self.trail) > length:
            point = self.trail.pop()
            for other, colour in self.forbids.pop():
                self.forbidden[other][colour] -= 1
            for j in self.problem.sets_of[point]:
                self.count[j][self.colour[point]] -= 1
            self.colour[point], self.left[point] = -1, 0.0
