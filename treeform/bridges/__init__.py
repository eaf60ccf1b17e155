"""Rewrites between the kinds of rows, and the router that chains them."""

from __future__ import annotations

from treeform.bridges.base import (
    CARDINALITY,
    CLAUSE,
    ENFORCED_CARDINALITY,
    ENFORCED_CLAUSE,
    ENFORCED_LINEAR,
    FORMS,
    LINEAR,
    Bridge,
)
from treeform.bridges.router import BRIDGES, Lowered, Plan, Row, route
from treeform.bridges.scaling import integer_rows, whole_objective

__all__ = [
    "BRIDGES",
    "CARDINALITY",
    "CLAUSE",
    "ENFORCED_CARDINALITY",
    "ENFORCED_CLAUSE",
    "ENFORCED_LINEAR",
    "FORMS",
    "LINEAR",
    "Bridge",
    "Lowered",
    "Plan",
    "Row",
    "integer_rows",
    "route",
    "whole_objective",
]
