"""The router: from what a model holds to what a solver takes, by the cheapest chain of bridges.

Forms are nodes; a bridge leads from one form to all of its targets at once, so that the cost of a form is 0
where the solver takes it and otherwise the least, over its bridges, of the bridge's cost plus those of its
targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from treeform.bridges.base import FORMS, Bridge
from treeform.bridges.cardinality_to_clauses import CardinalityToClauses
from treeform.bridges.cardinality_to_linear import CardinalityToLinear
from treeform.bridges.clause_to_linear import ClauseToLinear
from treeform.bridges.enforced_clause_to_clause import EnforcedClauseToClause
from treeform.bridges.enforced_linear_to_big_m import EnforcedLinearToBigM
from treeform.bridges.linear_to_clauses import LinearToClauses
from treeform.bridges.lowered import Lowered
from treeform.errors import RouteError
from treeform.model import Block, Form, Model
from treeform.model.stopping import look_up

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
    """What the router reads of a solver's capabilities."""

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
    """Which bridge each form takes next.

    Attributes
    ----------
    forms : frozenset of Form
        What the solver takes.
    steps : dict of Form to Bridge
        The next bridge of each form that the solver does not take and that can be turned.
    continuous, integer : bool
        Whether the solver takes continuous columns, and integer ones beyond 0/1.
    squares : bool
        Whether it takes squares of columns in the objective.
    """

    forms: frozenset[Form]
    steps: dict[Form, Bridge]
    continuous: bool
    integer: bool
    squares: bool = False
    bridges: tuple[Bridge, ...] = BRIDGES

    def apply(self, model: Model) -> Lowered:
        """The model rewritten to the rows that the solver accepts; see :class:`Lowered`.

        Raises
        ------
        RouteError
            If a block or a variable cannot be turned, saying which, and what would be needed.
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
    """The cheapest chains of bridges to what a solver takes.

    Parameters
    ----------
    capabilities : Capabilities
        Of a backend; ``forms``, ``continuous``, ``integer`` and ``squares`` are read.
    bridges : sequence of Bridge
        The rewrites to choose from.
    """
    forms = frozenset(Form(*form) for form in capabilities.forms)
    steps = _cheapest(forms, bridges)
    return Plan(
        forms, steps, capabilities.continuous, capabilities.integer, capabilities.squares, tuple(bridges)
    )


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
