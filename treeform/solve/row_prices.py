"""What better models use of a graph, by prices of the rows that a formulation states over it.

The multipliers that the graph was written out with are of sums that requirements declare. Of any other row, such as
one of a requirement's own ``build``, they know nothing. The linear program of the stated model has a price for each of
its rows, and with these the cheapest tree through an alternative is found in two passes over the graph: reduced-cost
fixing, as in `treeform.engines.graph_fixing`. That linear program has the bound of the Lagrangian relaxation, since a
flow on the graph is integral.

The prices are a guess of floating-point numbers. Rounded to whole multiples of a unit, any prices are a proof: rows
with other coefficients than whole numbers have none, and all sums are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeform.language.objective import Objective
from treeform.model import Linear, Model
from treeform.model.csr import as_matrix
from treeform.utils.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from treeform.engines.relaxation import Relaxation
    from treeform.language.alternatives import AndOrGraph
    from treeform.language.compiled import Compiled
    from treeform.language.question import Question
    from treeform.language.requirement import Requirement

Blocks = Iterator[tuple[str, "csr_array", Floats, Floats]]
"""Name, matrix, lower and upper sides of some rows."""
LARGEST = 2**60
DEAR = 100.0
"""Times the value of a model that is wanted: what it costs to miss a row by one."""
KEPT = 6
"""Prices of earlier graphs that are tried on the next one."""
ENOUGH = 0.7
"""The share that these leave where no linear program is solved over the whole."""
UNIT = 2**20
"""Prices are whole multiples of 1 / UNIT."""


class _Rows(NamedTuple):
    """Rows ``matrix @ x <= high``, the first ``equal`` of them with equality; whole numbers."""

    matrix: csr_array
    high: Floats
    equal: int
    parts: tuple[tuple[str, int], ...]
    """Where they come from, and how many."""


class RowPrices:
    """Prices of the rows over one graph after the other, each of which states more than the one before.

    ``relaxation``: what the sums of a graph mean: cost and constrained sums of each alternative are read off it, and
    need no model. ``lo`` and ``hi``, (R,) int: the sides of its sum constraints.
    """

    def __init__(self, relaxation: Relaxation, lo: Ints, hi: Ints) -> None:
        self.relaxation, self.sides = relaxation, (lo, hi)
        self._known: list[dict[str, Ints]] = []

    def needed(
        self, compiled: Compiled, columns: Ints, graph: AndOrGraph, most: int, seconds: float | None
    ) -> AndOrGraph | None:
        """The part of a graph that models of a value of at most ``most`` use; None where no prices show anything.

        ``compiled``: the model of the rest over the graph; its objective is linear. ``columns``, (A,) int: the column
        of each alternative. ``most``: in units of the question's objective. ``seconds``: for the linear program.
        """
        stated = StatedRows.of(compiled, columns, graph, most, self.relaxation, self.sides)
        if stated is None:
            return None
        part = stated.left(self._earlier(stated.rows))
        if part is not None and part.n_alternatives <= ENOUGH * graph.n_alternatives:
            return part
        prices = stated.prices(seconds)
        if prices is None:
            return part
        parts = stated.rows.parts
        ends = np.cumsum([number for _, number in parts])[:-1]
        pieces = zip(parts, np.split(prices, ends), strict=True)
        self._known = [{name: of for (name, _), of in pieces}, *self._known[: KEPT - 1]]
        return stated.left([prices])

    def _earlier(self, rows: _Rows) -> list[Ints]:
        """What the same rows cost in graphs before; rows of nodes are others there, and cost nothing.

        The last one of a step is of what little the others left, and may say nothing about the next, larger graph.
        """
        out = []
        for known in self._known:
            parts = [known.get(name, np.zeros(0, dtype=np.int64)) for name, _ in rows.parts]
            sizes = [number for _, number in rows.parts]
            fits = [
                of if len(of) == size else np.zeros(size, dtype=np.int64)
                for of, size in zip(parts, sizes, strict=True)
            ]
            out.append(np.concatenate(fits))
        return [prices for prices in out if prices.any()]


class StatedRows(NamedTuple):
    """A model over a graph, and the largest value of a model that is wanted, without its constant."""

    model: Model
    rows: _Rows
    cost: Floats
    columns: Ints
    graph: AndOrGraph
    most: int

    @classmethod
    def of(
        cls,
        compiled: Compiled,
        columns: Ints,
        graph: AndOrGraph,
        most: int,
        relaxation: Relaxation,
        sides: tuple[Ints, Ints],
    ) -> StatedRows | None:
        """The rows over a graph; None where costs are no whole numbers, or there are no rows.

        ``compiled``, ``columns``, ``graph`` and ``most``: as for `RowPrices.needed`. ``sides``: of the sum constraints.
        """
        objective = compiled.linear_objective
        weight = float(Fraction(relaxation.scale, compiled.scale))
        constant = weight * float(np.sum(objective.const)) + float(relaxation.offset)
        cost = np.zeros(compiled.model.n_cols)
        np.add.at(cost, objective.rows.cols, weight * objective.rows.vals)
        np.add.at(cost, columns, float(relaxation.factor) * graph.sums[:, 0])
        rows = _rows(compiled.model, _sums(columns, graph, compiled.model.n_cols, sides))
        if rows is None or not (_whole(cost) and _whole(np.array(constant))):
            return None
        return cls(compiled.model, rows, cost, columns, graph, most - int(constant))

    def prices(self, seconds: float | None) -> Ints | None:
        """Of each row, in 1 / UNIT, by a linear program; None without an optimum."""
        return _prices(self.cost, self.rows, self.model, DEAR * (1.0 + abs(self.most)), seconds)

    def left(self, vectors: list[Ints]) -> AndOrGraph | None:
        """What several prices of the rows leave; None where none of them shows anything."""
        masks = [mask for prices in vectors if (mask := self._kept(prices)) is not None]
        return self.graph.part(self.graph.used(np.logical_and.reduce(masks))) if masks else None

    def _kept(self, prices: Ints) -> NDArray[np.bool_] | None:
        """(A,) whether an alternative is cheap enough; None where sums would not be exact."""
        rows, model, graph = self.rows, self.model, self.graph
        largest = UNIT * np.abs(self.cost) + np.abs(rows.matrix).T @ np.abs(prices).astype(np.float64)
        if largest.max(initial=0.0) * 2 ** (2 + int(graph.depth[0])) >= LARGEST:
            return None
        reduced = UNIT * self.cost.astype(np.int64) - rows.matrix.astype(np.int64).T @ prices
        others = np.ones(model.n_cols, dtype=bool)
        others[self.columns] = False
        least = _least_of_box(reduced[others], model.lb[others], model.ub[others])
        if least is None:
            return None
        below = sum(int(p) * int(h) for p, h in zip(prices.tolist(), rows.high.tolist(), strict=True) if p)
        room = UNIT * self.most - below - least
        return np.asarray(graph.through(reduced[self.columns]) <= max(-LARGEST, min(room, LARGEST)))


def rest_of(
    question: Question, relaxation: Relaxation, dropped: Collection[str]
) -> tuple[Objective, tuple[Requirement, ...]]:
    """The parts of a question that its relaxation does not price: terms of the objective, and requirements."""
    priced = relaxation.part.objective.terms
    terms = Objective(term for term in question.objective.terms if term not in priced)
    pairs = zip(question.labels, question.requirements, strict=True)
    return terms, tuple(requirement for label, requirement in pairs if label in dropped)


def _sums(columns: Ints, graph: AndOrGraph, width: int, sides: tuple[Ints, Ints]) -> Blocks:
    """The sum constraints as rows, where they have whole coefficients."""
    from scipy import sparse

    number, rows = len(sides[0]), len(columns)
    where = (np.repeat(np.arange(number), rows), np.tile(columns, number))
    sums = graph.sums[:, 1:].T.ravel().astype(np.float64)
    if _whole(sums):
        matrix = sparse.csr_array((sums, where), shape=(number, width))
        yield "sums", matrix, sides[0].astype(np.float64), sides[1].astype(np.float64)


def _blocks(model: Model) -> Blocks:
    """The rows of a model that hold always and have whole coefficients."""
    for block in model.blocks:
        if isinstance(block, Linear) and block.when is None and _whole(block.vals):
            yield block.name, as_matrix(block.rows, model.n_cols), block.lo, block.hi


def _rows(model: Model, sums: Blocks) -> _Rows | None:
    """The rows that hold always, have whole coefficients and sides, and can have a price; None without any."""
    equal: list[tuple[str, csr_array, Floats]] = []
    at_most: list[tuple[str, csr_array, Floats]] = []
    for name, matrix, lo, hi in chain(_blocks(model), sums):
        same = (lo == hi) & _whole_each(lo)
        equal.append((f"{name} =", matrix[same], lo[same]))
        for sign, side in ((1.0, hi), (-1.0, -lo)):
            usable = np.isfinite(side) & ~same & _whole_each(side)
            at_most.append((f"{name} {sign}", sign * matrix[usable], side[usable]))
    if not equal:
        return None
    from scipy import sparse

    parts = (*equal, *at_most)
    return _Rows(
        sparse.vstack([matrix for _, matrix, _ in parts]).tocsr(),
        np.concatenate([side for _, _, side in parts]),
        sum(len(side) for _, _, side in equal),
        tuple((name, len(side)) for name, _, side in parts),
    )


def _prices(cost: Floats, rows: _Rows, model: Model, dear: float, seconds: float | None) -> Ints | None:
    """Of each row, in 1 / UNIT: what the value rises by where its side does; None without an optimum.

    An inequality may be missed by an amount that costs ``dear``: where no point satisfies all rows, prices are to show
    that, too.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    here, missed = rows.equal, rows.matrix.shape[0] - rows.equal
    free = np.stack([np.zeros(missed), np.full(missed, np.inf)], axis=1)
    found = linprog(
        np.concatenate([cost, np.full(missed, dear)]),
        A_ub=sparse.hstack([rows.matrix[here:], -sparse.eye_array(missed)], format="csr"),
        b_ub=rows.high[here:],
        A_eq=sparse.hstack([rows.matrix[:here], sparse.csr_array((here, missed))], format="csr"),
        b_eq=rows.high[:here],
        bounds=np.concatenate([np.stack([model.lb, model.ub], axis=1), free]),
        method="highs",
        options={} if seconds is None else {"time_limit": max(seconds, 0.01)},
    )
    if found.status != 0:
        return None
    prices = np.concatenate([found.eqlin.marginals, np.minimum(found.ineqlin.marginals, 0.0)])
    if not np.isfinite(prices).all() or np.abs(prices).max(initial=0) * UNIT >= LARGEST:
        return None
    whole: Ints = np.rint(prices * UNIT).astype(np.int64)
    return whole


def _least_of_box(reduced: Ints, low: Floats, high: Floats) -> int | None:
    """The least of ``reduced @ x`` with entries between their bounds; None where it has none, or is not whole."""
    counts = reduced != 0
    side = np.where(reduced > 0, low, high)[counts]
    if not (np.isfinite(side).all() and _whole(side)):
        return None
    return sum(int(r) * int(s) for r, s in zip(reduced[counts].tolist(), side.tolist(), strict=True))


def _whole(values: Floats) -> bool:
    return bool(_whole_each(values).all())


def _whole_each(values: Floats) -> NDArray[np.bool_]:
    """Whether each is a whole number, small enough to be exact; infinite ones are not."""
    return np.asarray((np.abs(values) < 2**40) & (np.rint(values) == values))
