"""The model: columns, blocks of rows, and an objective, all as flat arrays.

A model knows neither trees nor solvers. It only grows: columns and blocks keep their numbers, so that a
loaded solver needs only what came after a :class:`Watermark`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treeform.errors import ModelError
from treeform.model import csr, lower, show
from treeform.model.blocks import TOLERANCE, Block, violated_rows
from treeform.model.columns import Columns, VariableBlock, VariableKind, bounds, shape_of
from treeform.model.csr import Rows
from treeform.model.expr import Expr, Quadratic, Relation, Squares, as_expr, common_owner
from treeform.model.lower import look_up
from treeform.model.specs import CardinalitySpec, ClauseSpec, SignedClauses
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.budget import report_step
from treeform.utils.text import count_of


class Watermark(NamedTuple):
    """How far a model had grown: what comes later is new."""

    n_cols: int
    n_blocks: int


def _no_ints() -> Ints:
    return np.zeros(0, dtype=np.int64)


def _no_floats() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Objective:
    """``sum(vals * x[cols]) + const``, minimised; columns are distinct and sorted. Some have squares as well."""

    cols: Ints = field(default_factory=_no_ints)
    vals: Floats = field(default_factory=_no_floats)
    const: float = 0.0
    squares: Squares = field(default_factory=Squares)

    def value(self, x: Any) -> float:
        """The objective at a point ``(n_cols,)``."""
        linear = float(self.vals @ np.asarray(x, dtype=np.float64)[self.cols]) + self.const
        return linear + self.squares.value(x) if len(self.squares) else linear


class Model:
    """Variables, rows and an objective.

    Examples
    --------
    >>> from treeform.model import Model, any_of
    >>> m = Model()
    >>> x = m.bool("x", (2, 3))
    >>> y = m.bool("y", 3)
    >>> _ = m.add(x <= y, "x only where y")
    >>> _ = m.add(any_of(x, axis=1), "one in each row")
    >>> m.minimize(y.sum())
    >>> m.n_cols, [b.n_rows for b in m.blocks]
    (9, [6, 2])
    """

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.blocks: list[Block] = []
        self._n_rows = 0
        self.objective = Objective()
        self._columns = Columns()
        # Names in use, with the last number given to a repeated one.
        self._taken: dict[str, dict[str, int]] = {"variable": {}, "block": {}}
        # An empty expression that stands for the model in checks of ownership.
        nothing = Rows(np.zeros(1, np.int64), _no_ints(), _no_floats())
        self._own = Expr((0,), nothing, _no_floats(), self, name)

    # -- variables -------------------------------------------------------------------------------------------

    def bool(self, name: str, shape: Any = (), relax: bool = False) -> Expr:
        """Declare 0/1 variables.

        Parameters
        ----------
        name : str
            Used in messages; a name that is taken gets a number appended.
        shape : int or tuple of int
            () for a single variable.
        relax : bool
            The caller guarantees that some optimal solution is 0/1 even when a solver takes [0, 1]: the columns
            are continuous, no literals are made of them, and a purely Boolean solver still takes them as 0/1.
        """
        kind = VariableKind.RELAXED if relax else VariableKind.BOOL
        return self._declare(name, shape, 0.0, 1.0, kind)

    def integer(self, name: str, shape: Any = (), lb: Any = 0, ub: Any = np.inf) -> Expr:
        """Declare integer variables.

        Parameters
        ----------
        name, shape
            As in `bool`.
        lb, ub : array of numbers
            Bounds; they are broadcast to the shape.
        """
        return self._declare(name, shape, lb, ub, VariableKind.INTEGER)

    def continuous(self, name: str, shape: Any = (), lb: Any = 0.0, ub: Any = 1.0) -> Expr:
        """Declare continuous variables.

        Parameters
        ----------
        name, shape
            As in `bool`.
        lb, ub : array of numbers
            Bounds; they are broadcast to the shape.
        """
        return self._declare(name, shape, lb, ub, VariableKind.CONTINUOUS)

    def _declare(self, name: str, shape: Any, lb: Any, ub: Any, kind: VariableKind) -> Expr:
        look_up()
        sizes = shape_of(name, shape)
        low, high = bounds(name, sizes, lb, ub, kind is VariableKind.INTEGER)
        block = VariableBlock(self._unique(name, "variable"), self.n_cols, sizes, kind)
        self._take("variable", block.name)
        self._columns.append(block, low, high)
        return self.expr(block)

    def expr(self, block: VariableBlock) -> Expr:
        """The variables of a family as an expression."""
        size = block.size
        cols = np.arange(block.start, block.start + size, dtype=np.int64)
        rows = Rows(np.arange(size + 1, dtype=np.int64), cols, np.ones(size))
        return Expr(block.shape, rows, np.zeros(size), self, block.name)

    @property
    def n_cols(self) -> int:
        return self._columns.n_cols

    @property
    def variables(self) -> list[VariableBlock]:
        """The families of variables in order of declaration."""
        return self._columns.variables

    @property
    def lb(self) -> Floats:
        """Lower bounds, ``(n_cols,)``, read-only like all arrays over columns."""
        return self._columns.arrays()[0]

    @property
    def ub(self) -> Floats:
        """Upper bounds, ``(n_cols,)``."""
        return self._columns.arrays()[1]

    @property
    def is_integer(self) -> Bools:
        """Columns that take whole numbers only, ``(n_cols,)``."""
        return self._columns.arrays()[2]

    @property
    def is_relaxed(self) -> Bools:
        """Columns declared with ``relax=True``, ``(n_cols,)``."""
        return self._columns.arrays()[3]

    @property
    def is_binary(self) -> Bools:
        """Integer columns within [0, 1], ``(n_cols,)``."""
        return self._columns.arrays()[4]

    def column_name(self, col: int) -> str:
        """``flow[3, 0]``."""
        return self._columns.family(col).entry_name(col)

    def variables_in(self, cols: Ints) -> list[str]:
        """Names of the families that columns belong to."""
        return [v.name for v in self._columns.families_of(cols)]

    # -- rows and objective ----------------------------------------------------------------------------------

    def add(
        self, thing: Relation | ClauseSpec | SignedClauses | CardinalitySpec, name: str = "", when: Any = None
    ) -> Block:
        """Store a family of rows.

        Parameters
        ----------
        thing : Relation, ClauseSpec, SignedClauses or CardinalitySpec
            A comparison of expressions, or what ``any_of``, ``clauses``, ``at_most``, ``at_least`` or
            ``exactly`` return.
        name : str
            What the rows say; used in messages and tables.
        when : Expr, optional
            Literals broadcast to the rows: a row has to hold only where its literal is true.

        Returns
        -------
        Linear, Clause or Cardinality
            The block as stored. Rows without variables are dropped if true and kept, empty, if false.

        Raises
        ------
        ModelError
            If shapes do not fit, an entry of a clause is not a literal, or ``thing`` is nothing of the kind.
        """
        if not isinstance(thing, Relation | ClauseSpec | SignedClauses | CardinalitySpec):
            raise ModelError(
                f"model.add() was given {type(thing).__name__}, which states no rows",
                cause="a comparison of plain numbers or arrays is decided at once and holds no variables",
                fix="pass a comparison of expressions, any_of(), at_most(), at_least() or exactly()",
            )
        look_up()
        label = self._unique(name or f"rows {len(self.blocks)}", "block")
        block = lower.to_block(thing, label, None if when is None else as_expr(when), self)
        self._take("block", label)
        self.blocks.append(block)
        self._n_rows += block.n_rows
        report_step(self._n_rows, "rows built")
        return block

    def minimize(self, expr: Any) -> None:
        """Set the objective; an earlier one is replaced.

        Parameters
        ----------
        expr : Expr or Quadratic
            One number, or one with squares.

        Raises
        ------
        ModelError
            If it has several entries, or belongs to another model.
        """
        squares = expr.squares if isinstance(expr, Quadratic) else Squares()
        scalar = as_expr(expr.linear if isinstance(expr, Quadratic) else expr)
        if scalar.owner is not None:
            common_owner(self._own, scalar)
        if scalar.size != 1:
            raise ModelError(
                f"the objective is not a scalar: {scalar.describe()}",
                cause="one number is minimised",
                fix="add the entries up with .sum()",
            )
        rows = csr.coalesce(scalar.rows)
        self.objective = Objective(rows.cols, rows.vals, float(scalar.const[0]), squares)

    def _unique(self, name: str, space: str) -> str:
        taken = self._taken[space]
        count, out = taken.get(name, 0), name
        while out in taken:
            count += 1
            out = f"{name} #{count}"
        return out

    def _take(self, space: str, name: str) -> None:
        taken = self._taken[space]
        taken[name] = 1
        base, _, number = name.rpartition(" #")
        if base in taken and number.isdigit():
            taken[base] = int(number)

    def mark(self) -> Watermark:
        """How far the model has grown."""
        return Watermark(self.n_cols, len(self.blocks))

    # -- reading ---------------------------------------------------------------------------------------------

    def check(self, x: Any) -> dict[str, int]:
        """Count the rows that a point violates, exactly.

        Parameters
        ----------
        x : array of float, shape (n_cols,)
            Values of integer columns are rounded first. Rows over integer columns are then decided exactly,
            coefficients read as the decimals that they are written as; rows with other columns up to 1e-6.

        Returns
        -------
        dict of str to int
            For each block the number of violated rows (not those whose ``when`` literal is false), and an
            entry ``"range of NAME"`` for each family of variables with values outside its bounds.
        """
        point = np.array(x, dtype=np.float64)
        if point.shape != (self.n_cols,):
            raise ModelError(
                f"a point of shape {point.shape} cannot be checked",
                cause=f"the model has {count_of(self.n_cols, 'column')}",
                fix="pass one value for each column",
            )
        point[self.is_integer] = np.rint(point[self.is_integer])
        out = self.violated_variables(point)
        for block in self.blocks:
            out[block.name] = int(violated_rows(block, point, self.is_integer).sum())
        return out

    def stats(self) -> str:
        """A table of variables and blocks with their sizes."""
        return show.stats(self)

    def show(self, rows_per_block: int = 3) -> str:
        """The model written out.

        Parameters
        ----------
        rows_per_block : int
            So many rows of each block, the first ones.
        """
        return show.text(self, rows_per_block)

    def __repr__(self) -> str:
        rows = sum(b.n_rows for b in self.blocks)
        size = f"{count_of(self.n_cols, 'column')}, {count_of(rows, 'row')} in {count_of(len(self.blocks), 'block')}"
        return f"Model({self.name!r}, {size})"

    def violated_variables(self, x: Floats) -> dict[str, int]:
        """For each family with values outside its range: how many."""
        slack = np.where(self.is_integer, 0.0, TOLERANCE)
        outside = ~((x >= self.lb - slack) & (x <= self.ub + slack))
        if not bool(outside.any()):
            return {}
        counts = {f"range of {v.name}": int(outside[v.start : v.start + v.size].sum()) for v in self.variables}
        return {name: count for name, count in counts.items() if count}
