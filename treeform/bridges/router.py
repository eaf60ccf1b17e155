"""The router: from what a model holds to what a solver takes, by the cheapest chain of bridges.

Forms are nodes; a bridge leads from one form to all of its targets at once, so that the cost of a form is 0
where the solver takes it and otherwise the least, over its bridges, of the bridge's cost plus those of its
targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from treeform.bridges.base import FORMS, Bridge
from treeform.bridges.cardinality_to_clauses import CardinalityToClauses
from treeform.bridges.cardinality_to_linear import CardinalityToLinear
from treeform.bridges.clause_to_linear import ClauseToLinear
from treeform.bridges.enforced_clause_to_clause import EnforcedClauseToClause
from treeform.bridges.enforced_linear_to_big_m import EnforcedLinearToBigM
from treeform.bridges.linear_to_clauses import LinearToClauses
from treeform.errors import RouteError
from treeform.model import Block, Form, Linear, Model, Objective, VariableBlock, VariableKind
from treeform.model.lower import look_up
from treeform.utils.arrays import Floats, Ints
from treeform.utils.budget import report_step

BRIDGES: tuple[Bridge, ...] = (
    ClauseToLinear(),
    CardinalityToLinear(enforced=False),
    CardinalityToLinear(enforced=True),
    EnforcedLinearToBigM(),
    EnforcedClauseToClause(),
    CardinalityToClauses(enforced=False),
    CardinalityToClauses(enforced=True),
    LinearToClauses(enforced=False),
    LinearToClauses(enforced=True),
)


class Accepts(Protocol):
    """What the router reads of a solver's capabilities: which rows, columns and objectives it takes."""

    @property
    def forms(self) -> frozenset[Form]: ...
    @property
    def continuous(self) -> bool: ...
    @property
    def integer(self) -> bool: ...
    @property
    def squares(self) -> bool: ...


class Row(NamedTuple):
    """A line of :meth:`Plan.explain`."""

    block: str
    kind: str
    route: str
    rows_in: int
    rows_out: int


@dataclass(frozen=True)
class Plan:
    """Which bridge each form takes next."""

    forms: frozenset[Form]
    """What the solver takes."""
    steps: dict[Form, Bridge]
    """The next bridge of each form that the solver does not take and that can be turned."""
    takes: Accepts
    """Which columns and objectives the solver takes."""
    bridges: tuple[Bridge, ...] = BRIDGES

    def apply(self, model: Model) -> Lowered:
        """The model rewritten to the rows that the solver accepts; see :class:`Lowered`.

        Raises RouteError if a block or a variable cannot be turned, saying which, and what would be needed.
        """
        return Lowered(model, self)

    def lower(self, block: Block, model: Model) -> tuple[list[Block], list[str]]:
        """Rewrite one block of ``model`` (columns may be appended): the blocks, and the bridges taken."""
        todo, out, taken = [block], [], []
        while todo:
            look_up()
            part = todo.pop(0)
            if part.form in self.forms:
                out.append(part)
                continue
            step = self.steps.get(part.form)
            if step is None:
                raise self._no_way(part)
            taken.append(step.name)
            todo = [*step.apply(part, model), *todo]
        return out, list(dict.fromkeys(taken))

    def explain(self, model: Model) -> list[Row]:
        """For each block its kind, its route, and how many rows become how many.

        The bridges run on a scratch copy, so that sizes are exact; a block that cannot be turned is listed
        with the reason and no rows.
        """
        scratch = Lowered(model, self, blocks=False)
        table = []
        for block in model.blocks:
            try:
                blocks, taken = self.lower(scratch.translate(block), scratch)
                route, rows = " > ".join(taken) or "as it is", sum(b.n_rows for b in blocks)
            except RouteError as error:
                route, rows = f"impossible: {error.what}", 0
            table.append(Row(block.name, str(block.form), route, block.n_rows, rows))
        return table

    def _no_way(self, block: Block) -> RouteError:
        accepted = ", ".join(sorted(map(str, self.forms))) or "nothing"
        enough = [
            str(form)
            for form in FORMS
            if form == block.form or block.form in _cheapest(self.forms | {form}, self.bridges)
        ]
        return RouteError(
            f"the solver cannot take the {block.form} rows {block.name!r}",
            cause=f"it takes {accepted}, and no chain of bridges leads from {block.form} there",
            fix=f"use a solver that takes {' or '.join(enough)} rows",
        )


def route(capabilities: Accepts, bridges: Sequence[Bridge] = BRIDGES) -> Plan:
    """The cheapest chains of these bridges to what a solver takes: ``forms``, ``continuous``, ``integer`` and
    ``squares`` of its capabilities.
    """
    forms = frozenset(Form(*form) for form in capabilities.forms)
    return Plan(forms, _cheapest(forms, bridges), capabilities, tuple(bridges))


def _cheapest(forms: frozenset[Form], bridges: Sequence[Bridge]) -> dict[Form, Bridge]:
    """The next bridge of each form that can be turned into ``forms``."""
    cost = dict.fromkeys(forms, 0.0)
    steps: dict[Form, Bridge] = {}
    for _ in FORMS:
        for bridge in bridges:
            if not all(form in cost for form in bridge.target):
                continue
            total = bridge.cost + sum(cost[form] for form in bridge.target)
            if total < cost.get(bridge.source, float("inf")):
                cost[bridge.source], steps[bridge.source] = total, bridge
    return steps


class Lowered(Model):
    """The columns of a source model, the columns that bridges appended, and blocks that the solver takes.

    It is a `Model`: a backend loads ``lb, ub, is_integer, blocks, objective`` and remembers a
    `Watermark`. The source is left as it is, so that several solvers may work on it at once.

    Parameters
    ----------
    blocks : bool
        Whether blocks are rewritten at once.

    Attributes
    ----------
    columns : ndarray of int64, shape (source.n_cols,)
        Where each source column is here. As long as the source has not grown, ``columns[i] == i``.
    """

    def __init__(self, source: Model, plan: Plan, blocks: bool = True) -> None:
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
        if len(goal.squares) and not self.plan.takes.squares:
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
        if var.kind is VariableKind.RELAXED and not self.plan.takes.continuous:
            return VariableKind.BOOL
        return var.kind

    def _refuse(self, var: VariableBlock) -> None:
        span = slice(var.start, var.start + var.size)
        beyond = var.kind is VariableKind.INTEGER and not bool(self.source.is_binary[span].all())
        if var.kind is VariableKind.CONTINUOUS and not self.plan.takes.continuous:
            raise self._column_error(var, "continuous")
        if beyond and not self.plan.takes.integer:
            raise self._column_error(var, "an integer beyond 0 and 1")

    def _column_error(self, var: VariableBlock, what: str) -> RouteError:
        return RouteError(
            f"the solver cannot take the variable {var.name!r}",
            cause=f"it is {what}",
            fix="use a solver that takes such columns, or a formulation without them",
        )
