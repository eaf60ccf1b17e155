"""Limits: the plain bounds on a model that engines and formulations know without rows.

A requirement that is such a bound and nothing else gives it in `Requirement.limits`; several are tightened to one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """Bounds on weights and sizes; weights in units of ``data.weight_unit``.

    Attributes
    ----------
    min_support : int
        Least weight of each side of a test (of each leaf of a tree); 0 is no bound.
    min_flow : int
        Least weight that reaches a test; 0 is no bound.
    max_nodes : int or None
        Most tests; None is no bound.
    max_errors : int or None
        Most weight that is misclassified; None is no bound.
    max_features : int or None
        Most columns of the table that tests use; None is no bound.
    max_depth : int or None
        Most tests on a path; None is no bound.
    """

    min_support: int = 0
    min_flow: int = 0
    max_nodes: int | None = None
    max_errors: int | None = None
    max_features: int | None = None
    max_depth: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """Which of the bounds are set."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    def tighten(self, other: Limits) -> Limits:
        """What satisfies both: the larger of least values, the smaller of largest ones."""
        return Limits(
            min_support=max(self.min_support, other.min_support),
            min_flow=max(self.min_flow, other.min_flow),
            max_nodes=_smaller(self.max_nodes, other.max_nodes),
            max_errors=_smaller(self.max_errors, other.max_errors),
            max_features=_smaller(self.max_features, other.max_features),
            max_depth=_smaller(self.max_depth, other.max_depth),
        )

    @classmethod
    def all_of(cls, many: Iterable[Limits | None]) -> Limits:
        """What satisfies all of them; None is no bound."""
        out = cls()
        for limits in many:
            out = out if limits is None else out.tighten(limits)
        return out


def _smaller(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)
