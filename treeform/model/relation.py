"""A comparison of expressions, before a model stores it as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from treeform.errors import ModelError

if TYPE_CHECKING:
    from treeform.model.expr import Expr

Sense = Literal["<=", ">=", "=="]


@dataclass(frozen=True, eq=False)
class Relation:
    """``expr (sense) 0`` for each entry of ``expr``.

    Parameters
    ----------
    expr : Expr
        Left side minus right side, broadcast.
    sense : {"<=", ">=", "=="}
    """

    expr: Expr
    sense: Sense

    @property
    def shape(self) -> tuple[int, ...]:
        return self.expr.shape

    def __bool__(self) -> NoReturn:
        raise ModelError(
            "a comparison of expressions has no truth value",
            cause="it states rows for the solver; its truth is known only after solving",
            fix="pass it to model.add(...); write a chain a <= e <= b as two comparisons",
        )

    def __repr__(self) -> str:
        return f"Relation({self.expr!r} {self.sense} 0)"
