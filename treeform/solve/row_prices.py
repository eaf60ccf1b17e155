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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeform.model import Linear, Model
from treeform.model.csr import as_matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from treeform.language.alternatives import AndOrGraph
    from treeform.language.formulation import Compiled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LARGEST = 2**60
DEAR = 100.0
"""Times the value of a model that is wanted: what it costs to miss a row by one."""
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
    """Prices of the rows over one graph after the other, each of which states more than the one before."""

    def __init__(self) -> None:
        self._known: dict[str, Ints] = {}

    def needed(
        self, compiled: Compiled, columns: Ints, graph: AndOrGraph, most: int, seconds: float | None
    ) -> AndOrGraph | None:
        """The part of a graph that models of a value of at most ``most`` use; None where no prices show anything.

        Parameters
        ----------
        compiled : Compiled
            The model over the graph; its objective is linear.
        columns : (A,) int
            The column of each alternative.
        most : int
            In units of the objective.
        seconds : float, optional
            For the linear program.
        """
        objective = compiled.linear_objective
        cost, constant = np.zeros(compiled.model.n_cols), float(np.sum(objective.const))
        np.add.at(cost, objective.rows.cols, objective.rows.vals)
        rows = _rows(compiled.model)
        if rows is None or not (_whole(cost) and _whole(np.array(constant))):
            return None
        stated = _Stated(compiled.model, rows, cost, columns, graph, most - int(constant))
        earlier = self._earlier(rows)
        if earlier is not None:
            part = stated.left(earlier)
            if part is not None and 2 * part.n_alternatives < graph.n_alternatives:
                return part
        prices = _prices(cost, rows, compiled.model, DEAR * (1.0 + abs(most)), seconds)
        if prices is None:
            return None
        at = 0
        for name, number in rows.parts:
            self._known[name] = prices[at : at + number]
            at += number
        return stated.left(prices)

    def _earlier(self, rows: _Rows) -> Ints | None:
        """The prices that the same rows had over the graph before; rows of nodes are others, and have none."""
        out = np.zeros(len(rows.high), dtype=np.int64)
        at = 0
        for name, number in rows.parts:
            known = self._known.get(name)
            if known is not None and len(known) == number:
                out[at : at + number] = known
            at += number
        return out if out.any() else None


class _Stated(NamedTuple):
    """A model over a graph, and the largest value of a model that is wanted."""

    model: Model
    rows: _Rows
    cost: Floats
    columns: Ints
    graph: AndOrGraph
    most: int

    def left(self, prices: Ints) -> AndOrGraph | None:
        """What the prices of the rows leave; None where sums would not be exact."""
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
        kept = graph.through(reduced[self.columns]) <= max(-LARGEST, min(room, LARGEST))
        return graph.part(graph.used(kept))


def _rows(model: Model) -> _Rows | None:
    """The rows that hold always, have whole coefficients and sides, and can have a price; None without any."""
    equal: list[tuple[str, csr_array, Floats]] = []
    at_most: list[tuple[str, csr_array, Floats]] = []
    for block in model.blocks:
        if not isinstance(block, Linear) or block.when is not None or not _whole(block.vals):
            continue
        matrix = as_matrix(block.rows, model.n_cols)
        same = (block.lo == block.hi) & _whole_each(block.lo)
        equal.append((f"{block.name} =", matrix[same], block.lo[same]))
        for sign, side in ((1.0, block.hi), (-1.0, -block.lo)):
            usable = np.isfinite(side) & ~same & _whole_each(side)
            at_most.append((f"{block.name} {sign}", sign * matrix[usable], side[usable]))
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
