"""What a bridge is: a stateless rewrite of one form of rows into others.

A bridge declares its source and its targets as data, so that the router can plan without running anything.
Applied to a block it returns blocks that have the same solutions on the columns that exist; it may append
columns to the model, never change or remove one. A solution is therefore read back by leaving columns out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from treeform.model import Block, Form, Kind, Model

LINEAR, ENFORCED_LINEAR = Form(Kind.LINEAR, False), Form(Kind.LINEAR, True)
CLAUSE, ENFORCED_CLAUSE = Form(Kind.CLAUSE, False), Form(Kind.CLAUSE, True)
CARDINALITY, ENFORCED_CARDINALITY = Form(Kind.CARDINALITY, False), Form(Kind.CARDINALITY, True)
FORMS = (LINEAR, ENFORCED_LINEAR, CLAUSE, ENFORCED_CLAUSE, CARDINALITY, ENFORCED_CARDINALITY)


class Bridge(ABC):
    """A rewrite of blocks."""

    source: Form
    """The form of blocks that :meth:`apply` takes."""
    target: frozenset[Form]
    """All forms that it may return."""
    cost: float = 1.0
    """What the router adds up, positive: small for a change of notation, larger for a relaxation that is weaker than
    the original, largest for an encoding with new columns."""

    of_both: ClassVar[tuple[tuple[Form, set[Form]], tuple[Form, set[Form]]] | None] = None
    """Source and target of plain rows, and those of enforced ones, where a class rewrites both."""

    def __init__(self, enforced: bool = False) -> None:
        if self.of_both is not None:
            self.source, target = self.of_both[enforced]
            self.target = frozenset(target)

    @property
    def name(self) -> str:
        """How plans and tables call the rewrite."""
        return str(type(self).__module__).rpartition(".")[2]

    @abstractmethod
    def apply(self, block: Any, model: Model) -> list[Block]:
        """Rewrite ``block``, whose columns are columns of ``model``.

        Raises RouteError if this block cannot be rewritten, naming its rows and columns.
        """

    def __repr__(self) -> str:
        return f"<bridge {self.name}: {self.source} -> {', '.join(sorted(map(str, self.target)))}>"
