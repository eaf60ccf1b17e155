"""The narrow waist: arrays of affine expressions, three kinds of rows, and nothing about trees or solvers."""

from __future__ import annotations

from treeform.model.blocks import Block, Cardinality, Clause, Form, Kind, Linear, concatenate_linear
from treeform.model.columns import VariableBlock, VariableKind, exact
from treeform.model.expr import (
    Expr,
    Quadratic,
    Relation,
    Squares,
    concatenate,
    constant,
    stack,
    sum_of_squares,
)
from treeform.model.model import Model, Objective, Watermark
from treeform.model.specs import (
    CardinalitySpec,
    ClauseSpec,
    SignedClauses,
    any_of,
    at_least,
    at_most,
    clauses,
    exactly,
)

__all__ = [
    "Block",
    "Cardinality",
    "CardinalitySpec",
    "Clause",
    "ClauseSpec",
    "Expr",
    "Form",
    "Kind",
    "Linear",
    "Model",
    "Objective",
    "Quadratic",
    "Relation",
    "SignedClauses",
    "Squares",
    "VariableBlock",
    "VariableKind",
    "Watermark",
    "any_of",
    "at_least",
    "at_most",
    "clauses",
    "concatenate",
    "concatenate_linear",
    "constant",
    "exact",
    "exactly",
    "stack",
    "sum_of_squares",
]
