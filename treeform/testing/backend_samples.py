"""Random tiny models with all their solutions, for comparing solvers with the truth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.backends.run import Capabilities
from treeform.model import (
    Block,
    Clause,
    Expr,
    Linear,
    Model,
    Quadratic,
    any_of,
    at_least,
    at_most,
    concatenate,
    exact,
    exactly,
    sum_of_squares,
)


class Sample:
    """A random model, and its optimum by enumeration.

    Attributes
    ----------
    model : Model
        A few 0/1 columns; integer columns and one continuous column where the solver takes them.
    objective : Expr
    rng : numpy.random.Generator
    """

    def __init__(self, rng: np.random.Generator, number: int, capabilities: Capabilities) -> None:
        self.rng = rng
        self._known: dict[Any, tuple[Fraction, np.ndarray] | None] = {}
        self.model = Model(f"sample {number}")
        self.binary: Expr = self.model.bool("b", int(rng.integers(2, 6)))
        self.columns: Expr = self.binary
        if capabilities.integer and rng.random() < 0.6:
            low = int(rng.integers(-2, 1))
            self.columns = concatenate([self.columns, self.model.integer("k", 2, lb=low, ub=low + 3)], axis=0)
        self.continuous = None
        if capabilities.continuous and rng.random() < 0.6:
            self.continuous = self.model.continuous("c", 1, lb=-1.0, ub=2.0)
            self.columns = concatenate([self.columns, self.continuous], axis=0)
        elif rng.random() < 0.3:
            self._tied_relaxed()
        # Decimals are hard on floating point; they are left to those that optimise, since others count in whole steps.
        self.decimals = capabilities.objective and number % 3 == 2
        for step in range(int(rng.integers(1, 5))):
            self._add_rows((number + step) % 6)
        self.objective = self._objective() if number % 5 else 0 * self.binary.sum()
        self.model.minimize(
            self._with_squares() if capabilities.squares and number % 4 == 1 else self.objective
        )

    def grow(self) -> None:
        """Add a column and rows."""
        new = self.model.bool("late")
        self.columns = concatenate([self.columns, new.reshape(1)], axis=0)
        self.binary = concatenate([self.binary, new.reshape(1)], axis=0)
        self._add_rows(int(self.rng.integers(6)))

    def optimum(self, literals: Sequence[int] = ()) -> float | None:
        """The least objective value under assumptions, None where nothing is feasible."""
        points = self._enumerate(literals)
        return None if points is None else float(points[0])

    def best_point(self) -> np.ndarray | None:
        """A point of that value."""
        points = self._enumerate(())
        return None if points is None else points[1]

    # -- drawing --------------------------------------------------------------------------------

    def _tied_relaxed(self) -> None:
        """A relaxed column that equals a 0/1 column in every solution, so that it may be relaxed."""
        relaxed = self.model.bool("r", 1, relax=True)
        self.model.add(relaxed == self.binary[:1], "relaxed")
        self.columns = concatenate([self.columns, relaxed], axis=0)

    def _add_rows(self, form: int) -> None:
        rng, when = self.rng, None
        if form >= 3:
            when = self._literals(1)
        if form % 3 == 0:
            self.model.add(self._relation(), when=when)
        elif form % 3 == 1:
            self.model.add(
                any_of(self._literals(int(rng.integers(1, 4))).reshape((1, -1)), axis=1), when=when
            )
        else:
            lits = self._literals(int(rng.integers(1, self.binary.size + 1)))
            count = int(rng.integers(0, lits.size + 1))
            kind = (at_most, at_least, exactly)[int(rng.integers(3))]
            self.model.add(kind(lits.reshape((1, -1)), count), when=when)

    def _literals(self, size: int) -> Expr:
        chosen = self.rng.choice(self.binary.size, size=min(size, self.binary.size), replace=False)
        return concatenate([self._signed(self.binary[[int(i)]]) for i in chosen], axis=0)

    def _signed(self, expr: Expr) -> Expr:
        return ~expr if self.rng.random() < 0.5 else expr

    def _relation(self) -> Any:
        rng = self.rng
        coefs = rng.integers(-3, 4, self.columns.size).astype(np.float64)
        coefs[rng.random(coefs.size) < 0.3] = 0.0
        if self.decimals:
            coefs = coefs / 10
        # A side that a random point meets, so that few models are infeasible and many are tight.
        corner = np.round(rng.uniform(self.model.lb, self.model.ub))
        cols = self.columns.rows.cols
        side = float(round(float(coefs @ corner[cols]), 6))
        left = (coefs * self.columns).reshape((1, -1)).sum(axis=1)
        kind = rng.random()
        if kind < 0.2:
            return left == side
        return left <= side if kind < 0.6 else left >= side

    def _objective(self) -> Expr:
        coefs = self.rng.integers(-4, 5, self.columns.size).astype(np.float64)
        if self.decimals:
            coefs = coefs / 4
        goal: Expr = (coefs * self.columns).sum() + float(self.rng.integers(-2, 3))
        return goal

    def _with_squares(self) -> Quadratic:
        weights = self.rng.integers(1, 9, self.columns.size) / 4
        return (
            sum_of_squares(self.columns - self.rng.integers(-1, 2, self.columns.size), weights)
            + self.objective
        )

    # -- enumerating ----------------------------------------------------------------------------

    def _enumerate(self, literals: Sequence[int]) -> tuple[Fraction, np.ndarray] | None:
        key = (tuple(literals), self.model.mark())
        if key not in self._known:
            self._known[key] = self._search(literals)
        return self._known[key]

    def _search(self, literals: Sequence[int]) -> tuple[Fraction, np.ndarray] | None:
        model = self.model
        free = [int(c) for c in (self.continuous.rows.cols if self.continuous is not None else [])]
        ranges = [
            [0] if c in free else range(int(model.lb[c]), int(model.ub[c]) + 1) for c in range(model.n_cols)
        ]
        best: tuple[Fraction, np.ndarray] | None = None
        for point in itertools.product(*ranges):
            if not all((point[abs(lit) - 1] == 1) == (lit > 0) for lit in literals):
                continue
            for x in self._completions([Fraction(v) for v in point], free):
                value = exact(model.objective.const)
                for col, coef in zip(
                    model.objective.cols.tolist(), model.objective.vals.tolist(), strict=True
                ):
                    value += exact(coef) * x[col]
                squares = model.objective.squares
                for col, coef in zip(squares.cols.tolist(), squares.vals.tolist(), strict=True):
                    value += exact(coef) * x[col] ** 2
                if best is None or value < best[0]:
                    best = value, np.array([float(v) for v in x])
        return best

    def _completions(self, x: list[Fraction], free: list[int]) -> list[list[Fraction]]:
        """The feasible points that agree with ``x`` but for the continuous column: its ends and the best."""
        if not free:
            return [x] if all(row_range(block, r, x, None) for block, r in self._rows()) else []
        col = free[0]
        low, high = exact(float(self.model.lb[col])), exact(float(self.model.ub[col]))
        for block, r in self._rows():
            span = row_range(block, r, x, col)
            if span is None:
                return []
            low, high = max(low, span[0]), min(high, span[1])
        ends = [low, high, min(max(self._vertex(col), low), high)]
        return [[*x[:col], end, *x[col + 1 :]] for end in ends] if low <= high else []

    def _vertex(self, col: int) -> Fraction:
        """Where the objective is least along a column; 0 where it is linear, and the ends of the range decide."""
        goal = self.model.objective
        square = sum(map(exact, goal.squares.vals[goal.squares.cols == col].tolist()), Fraction(0))
        slope = sum(map(exact, goal.vals[goal.cols == col].tolist()), Fraction(0))
        return -slope / (2 * square) if square else Fraction(0)

    def _rows(self) -> list[tuple[Block, int]]:
        return [(block, r) for block in self.model.blocks for r in range(block.n_rows)]


FAR = Fraction(10**9)


def row_range(block: Block, r: int, x: list[Fraction], col: int | None) -> tuple[Fraction, Fraction] | None:
    """Between which values of column ``col`` a row holds, all others as in ``x``; None where it cannot."""

    def true(lit: int) -> bool:
        return (x[abs(lit) - 1] == 1) == (lit > 0)

    everything = (-FAR, FAR)
    if block.when is not None and not true(int(block.when[r])):
        return everything
    terms = slice(int(block.indptr[r]), int(block.indptr[r + 1]))
    if not isinstance(block, Linear):
        count = sum(true(lit) for lit in block.lits[terms].tolist())
        within = count >= 1 if isinstance(block, Clause) else bool(block.lo[r] <= count <= block.hi[r])
        return everything if within else None
    coefs = dict(zip(block.cols[terms].tolist(), map(exact, block.vals[terms].tolist()), strict=True))
    coefficient = coefs.pop(col, Fraction(0)) if col is not None else Fraction(0)
    rest = sum((coef * x[c] for c, coef in coefs.items()), Fraction(0))
    low, high = (side if abs(side) < np.inf else None for side in (float(block.lo[r]), float(block.hi[r])))
    below = -FAR if low is None else exact(low) - rest
    above = FAR if high is None else exact(high) - rest
    if coefficient == 0:
        return everything if below <= 0 <= above else None
    ends = sorted((below / coefficient, above / coefficient))
    return ends[0], ends[1]


def draw(rng: np.random.Generator, number: int, capabilities: Capabilities) -> Sample:
    """A random model for a solver with these capabilities; its number decides which forms it holds."""
    return Sample(rng, number, capabilities)
