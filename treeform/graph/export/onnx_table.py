"""A model as tables of its nodes, which keep shared nodes: each row of the data has a node, and steps to the next one.

With the node n(i) of row i, the value v that its condition reads, and the columns of the table,

    n(i) <- yes[n(i)]  if low[n(i)] <= v <= high[n(i)], or v is NaN and missing[n(i)],  and  no[n(i)]  otherwise

is repeated as often as the longest path has conditions. Leaves lead to themselves. If of ONNX takes one condition for
all rows of a batch; Loop, Gather and Where are the standard operators that take one for each row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from treeform.data.columns import Level
from treeform.graph.export.program import Branch, Condition, Kind, Program
from treeform.graph.export.sums import Sum
from treeform.utils.arrays import Bools, Floats

# The sign of a sum that is not 0 is no smaller: its terms are products of doubles of a size from 2**-300 on.
_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Table:
    """Nodes by number: the leaves by class code, then the branches, the root last."""

    column: NDArray[np.int32]
    """(N,) int32: which of the values each condition reads."""
    low: Floats
    high: Floats
    """(N,) float64: the condition holds from one to the other, both included; nowhere if ``low > high``."""
    missing: Bools
    """(N,) bool: whether it holds for NaN."""
    yes: NDArray[np.int32]
    no: NDArray[np.int32]
    """(N,) int32"""
    leaves: int
    steps: int
    """Conditions on the longest path."""

    @classmethod
    def of(cls, program: Program, position: Mapping[Condition | Sum, int]) -> Table:
        """Read a program; `position` says which of the values each condition reads."""
        leaves = len(program.labels)
        rows: list[tuple[int, float, float, bool, int, int]] = [
            (0, 0.0, 0.0, False, code, code) for code in range(leaves)
        ]
        number: dict[int, int] = {}
        steps: dict[int, int] = {}
        for node in program.bottom_up():
            entry = program.nodes[node]
            if not isinstance(entry, Branch):
                number[node], steps[node] = entry, 0
                continue
            number[node] = len(rows)
            steps[node] = 1 + max(steps[entry.yes], steps[entry.no])
            asked = entry.condition
            rows.append(
                (position[asked], *_interval(asked, program.levels), number[entry.yes], number[entry.no])
            )
        column, low, high, missing, yes, no = zip(*rows, strict=True)
        return cls(
            np.array(column, dtype=np.int32),
            np.array(low),
            np.array(high),
            np.array(missing),
            np.array(yes, dtype=np.int32),
            np.array(no, dtype=np.int32),
            leaves,
            steps[program.root],
        )

    def nodes(self, values: str, code: str, prefix: str) -> tuple[list[Any], list[Any]]:
        """Nodes of ONNX that find the class code (m,) int64 of each row of a matrix of doubles, and their constants.

        ``values`` and ``code`` are the names of matrix and result; the other names begin with ``prefix``.
        """
        names = ("column", "low", "high", "missing", "yes", "no")
        tables = [numpy_helper.from_array(getattr(self, name), f"{prefix}{name}") for name in names]
        counts = {
            "steps": np.array(self.steps),
            "always": np.array(True),
            "axis": np.array([1]),
            "root": np.array([len(self.low) - 1], dtype=np.int32),
        }
        constants = [numpy_helper.from_array(array, prefix + name) for name, array in counts.items()]

        def node(kind: str, inputs: str, output: str, **more: Any) -> Any:
            return helper.make_node(
                kind, [prefix + name for name in inputs.split()], [prefix + output], **more
            )

        body = helper.make_graph(
            [
                *(node("Gather", f"{name} at", f"at_{name}", axis=0) for name in names),
                node("Unsqueeze", "at_column axis", "which"),
                helper.make_node("GatherElements", [values, f"{prefix}which"], [f"{prefix}read"], axis=1),
                node("Squeeze", "read axis", "value"),
                node("GreaterOrEqual", "value at_low", "above"),
                node("LessOrEqual", "value at_high", "below"),
                node("And", "above below", "within"),
                node("IsNaN", "value", "is_nan"),
                node("And", "is_nan at_missing", "without"),
                node("Or", "within without", "holds"),
                node("Where", "holds at_yes at_no", "next"),
                node("Identity", "go", "on"),
            ],
            f"{prefix}step",
            [
                helper.make_tensor_value_info(f"{prefix}turn", TensorProto.INT64, []),
                helper.make_tensor_value_info(f"{prefix}go", TensorProto.BOOL, []),
                helper.make_tensor_value_info(f"{prefix}at", TensorProto.INT32, [None]),
            ],
            [
                helper.make_tensor_value_info(f"{prefix}on", TensorProto.BOOL, []),
                helper.make_tensor_value_info(f"{prefix}next", TensorProto.INT32, [None]),
            ],
        )
        whole = [
            helper.make_node("Shape", [values], [f"{prefix}rows"], start=0, end=1),
            node("Expand", "root rows", "start"),
            node("Loop", "steps always start", "last", body=body),
            helper.make_node("Cast", [f"{prefix}last"], [code], to=TensorProto.INT64),
        ]
        return whole, [*tables, *constants]


def _interval(condition: Condition | Sum, levels: dict[str, tuple[Level, ...]]) -> tuple[float, float, bool]:
    """From where to where the condition holds, and whether for NaN; levels are codes, a missing one the last."""
    if isinstance(condition, Sum):
        return -math.inf, 0.0 if condition.includes_limit else -_SMALLEST, False
    if condition.source in levels:
        known = levels[condition.source]
        first, last = len(known), len(known) if condition.or_missing else len(known) - 1
        if condition.kind is Kind.IS_MISSING:
            last = first
        elif condition.kind is Kind.IS_LEVEL:
            assert not condition.or_missing
            first = last = known.index(condition.value)
        elif isinstance(condition.value, tuple) and condition.value:  # the levels from one on
            first = known.index(condition.value[0])
            assert condition.value == known[first:]
        return float(first), float(last), False
    if condition.kind is Kind.IS_MISSING:
        return math.inf, -math.inf, True
    if condition.kind is Kind.IS_TRUE:
        return math.nextafter(0.5, 1.0), math.inf, condition.or_missing
    assert isinstance(condition.value, float)
    before = condition.kind is Kind.BEFORE
    return (
        -math.inf,
        math.nextafter(condition.value, -math.inf) if before else condition.value,
        condition.or_missing,
    )
