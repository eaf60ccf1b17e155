"""A problem as a model, and how it is built: components in the order of their ports, then requirements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.errors import PortError, SpecError
from treeform.language.component import Component
from treeform.language.objective import Objective
from treeform.language.ports import Ports, SharedValues, derivable
from treeform.language.requirement import Requirement
from treeform.model import Expr, Model, Quadratic
from treeform.model.expr import Relation
from treeform.shape import Shape
from treeform.utils.arrays import Floats


@dataclass
class Compiled:
    """A problem as a model, with what is needed to read its points."""

    model: Model
    """Columns, rows and the objective, ``scale`` times the stated one."""
    ports: Ports
    """Everything that was published."""
    data: Dataset
    shape: Shape
    objective: Objective
    requirements: tuple[Requirement, ...]
    objective_expr: Expr | Quadratic
    """The objective as a scalar expression with whole coefficients, or with squares."""
    scale: int
    """Model value = ``scale`` times the objective in the user's units."""
    restricting: frozenset[str] = frozenset()
    """Names of the blocks of rows by components that narrow the problem."""

    @property
    def linear_objective(self) -> Expr:
        """The objective for rows that bound it, which none with squares have."""
        assert isinstance(self.objective_expr, Expr)
        return self.objective_expr

    @property
    def shared(self) -> SharedValues:
        """What the formulation's components published for each other, and for `decode` and `encode`."""
        return self.ports.shared


def put(x: Floats, columns: Expr, values: Any) -> None:
    """Write the values of a family of columns into a point."""
    x[columns.rows.cols] = np.asarray(values, dtype=np.float64).ravel()


def add_rows(component: Component, model: Model, ports: Ports) -> None:
    """Build a component or requirement, and refuse what would state something else than its author means.

    Raises SpecError if rows are returned in place of added, or a requirement adds continuous columns without saying so.
    """
    before, _ = model.mark()
    with ports.used_by(component):
        returned: object = component.build(model, ports)  # type: ignore[func-returns-value]
    if isinstance(returned, Relation):
        raise SpecError(
            f"build of {component!r} returns rows, and does not add them",
            cause="only what model.add() is given is part of the model",
            fix="write model.add(...) in place of return ...",
        )
    if isinstance(component, Requirement):
        _check_columns(component, model, before)


def _check_columns(requirement: Requirement, model: Model, before: int) -> None:
    """Refuse continuous columns that a requirement does not declare: the usual solver depends on them."""
    whole = model.is_integer[before:] | model.is_relaxed[before:]
    if requirement.continuous or bool(whole.all()):
        return
    kind = type(requirement).__name__
    raise SpecError(
        f"{kind} adds continuous columns, which it does not declare",
        cause="the solver is chosen before anything is built, and some take whole numbers only",
        fix=f"set continuous = True in {kind}",
    )


def in_order(components: Sequence[Component]) -> list[Component]:
    """Components such that each comes after those that publish what it reads; else in the order given.

    Raises PortError if components need each other's ports in a cycle.
    """
    waiting, done, out = list(components), set[str](), list[Component]()
    offered = frozenset().union(*(c.offers for c in components))
    while waiting:
        ready = next((c for c in waiting if derivable(done) >= (c.needs & offered) - c.offers), None)
        if ready is None:
            names = ", ".join(type(c).__name__ for c in waiting)
            raise PortError(f"{names} wait for each other's ports", fix="split one of them in two")
        waiting = [c for c in waiting if c is not ready]
        done |= ready.offers
        out.append(ready)
    return out
