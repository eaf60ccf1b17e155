"""The model rewritten to the rows that one solver accepts; it grows with the model that it was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from treeform.errors import RouteError
from treeform.model import Block, Linear, Model, Objective, VariableBlock, VariableKind
from treeform.model.csr import Floats, Ints
from treeform.utils.progress import report_step


class Rewrite(Protocol):
    """How blocks are rewritten for a solver, and which columns it takes; `treeform.bridges.router.Plan` is one."""

    @property
    def continuous(self) -> bool: ...
    @property
    def integer(self) -> bool: ...
    @property
    def squares(self) -> bool: ...
    def lower(self, block: Block, model: Model, /) -> tuple[list[Block], list[str]]:
        """The blocks that ``block`` becomes, columns being appended to ``model``, and the bridges taken."""


class Lowered(Model):
    """The columns of a source model, the columns that bridges appended, and blocks that the solver takes.

    It is a `Model`: a backend loads ``lb, ub, is_integer, blocks, objective`` and remembers a
    `Watermark`. The source is left as it is, so that several solvers may work on it at once.

    Parameters
    ----------
    source : Model
    plan : Rewrite
    blocks : bool
        Whether blocks are rewritten at once.

    Attributes
    ----------
    columns : ndarray of int64, shape (source.n_cols,)
        Where each source column is here. As long as the source has not grown, ``columns[i] == i``.
    """

    def __init__(self, source: Model, plan: Rewrite, blocks: bool = True) -> None:
        super().__init__(source.name)
        self.source = source
        self.plan = plan
        self.columns: Ints = np.zeros(0, dtype=np.int64)
        self._n_variables = 0
        self._n_blocks = 0
        self._objective_seen: Objective | None = None
        self._extend_columns()
        if blocks:
            self.extend()

    def extend(self) -> None:
        """Take over what was added to the source since: columns, blocks, and the objective.

        New columns and blocks come after the ones that exist here. A block that cannot be turned raises and
        is tried again by the next call.
        """
        self._extend_columns()
        while self._n_blocks < len(self.source.blocks):
            self.state(self.source.blocks[self._n_blocks])
            self._n_blocks += 1
            report_step(self._n_blocks, "blocks of rows for the solver", len(self.source.blocks))
        goal = self.source.objective
        if goal is not self._objective_seen:
            self.objective = self._goal(goal)
            self._objective_seen = goal

    def _goal(self, goal: Objective) -> Objective:
        if len(goal.squares) and not self.plan.squares:
            raise RouteError(
                "the solver cannot take the objective",
                cause="it holds squares of columns, and the solver takes linear objectives",
                fix="use a solver that takes them, such as tf.MathOpt('scip')",
            )
        squares = replace(goal.squares, cols=self.columns[goal.squares.cols])
        return replace(goal, cols=self.columns[goal.cols], squares=squares)

    def state(self, block: Block) -> list[Block]:
        """Add a block over source columns here only, such as a cutoff for one solver; what it became."""
        blocks, _ = self.plan.lower(self.translate(block), self)
        self.blocks.extend(blocks)
        return blocks

    def translate(self, block: Block) -> Block:
        """A block over source columns as one over the columns here."""
        if len(self.columns) == 0 or int(self.columns[-1]) == len(self.columns) - 1:
            return block
        when = None if block.when is None else self.literals(block.when)
        if isinstance(block, Linear):
            return replace(block, cols=self.columns[block.cols], when=when)
        return replace(block, lits=self.literals(block.lits), when=when)

    def literals(self, lits: Any) -> Ints:
        """Signed literals over source columns as literals over the columns here."""
        source_literals = np.asarray(lits, dtype=np.int64)
        out: Ints = np.sign(source_literals) * (self.columns[np.abs(source_literals) - 1] + 1)
        return out

    def to_source(self, x: Any) -> Floats:
        """A point ``(n_cols,)`` of this model as a point of the source: the appended columns left out."""
        return np.asarray(x, dtype=np.float64)[self.columns]

    def from_source(self, x: Any) -> Floats:
        """A point of the source, perhaps shorter, as a point here; NaN where nothing is known."""
        point = np.asarray(x, dtype=np.float64)
        out = np.full(self.n_cols, np.nan)
        out[self.columns[: len(point)]] = point
        return out

    def _extend_columns(self) -> None:
        new = self.source.variables[self._n_variables :]
        places = [self.columns]
        for var in new:
            self._refuse(var)
            start = self.n_cols
            self._declare(var.name, var.shape, *self._bounds(var), self._kind(var))
            places.append(np.arange(start, self.n_cols, dtype=np.int64))
        self._n_variables += len(new)
        if new:
            self.columns = np.concatenate(places)

    def _bounds(self, var: VariableBlock) -> tuple[Floats, Floats]:
        span = slice(var.start, var.start + var.size)
        return self.source.lb[span].reshape(var.shape), self.source.ub[span].reshape(var.shape)

    def _kind(self, var: VariableBlock) -> VariableKind:
        # A relaxed column is 0/1 in some optimal solution: a solver without continuous columns loses nothing.
        if var.kind is VariableKind.RELAXED and not self.plan.continuous:
            return VariableKind.BOOL
        return var.kind

    def _refuse(self, var: VariableBlock) -> None:
        span = slice(var.start, var.start + var.size)
        beyond = var.kind is VariableKind.INTEGER and not bool(self.source.is_binary[span].all())
        if var.kind is VariableKind.CONTINUOUS and not self.plan.continuous:
            raise self._column_error(var, "continuous")
        if beyond and not self.plan.integer:
            raise self._column_error(var, "an integer beyond 0 and 1")

    def _column_error(self, var: VariableBlock, what: str) -> RouteError:
        return RouteError(
            f"the solver cannot take the variable {var.name!r}",
            cause=f"it is {what}",
            fix="use a solver that takes such columns, or a formulation without them",
        )
