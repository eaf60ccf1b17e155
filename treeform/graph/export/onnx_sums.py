"""The tests of hyperplanes as ONNX nodes over doubles: a column for each, with the sign of its sum minus its limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onnx import TensorProto, helper

from treeform.data.columns import CATEGORY, DATE, ORDERED, Column
from treeform.graph.export.exact_steps import sign_steps
from treeform.graph.export.program import Program
from treeform.graph.export.sums import Sum

_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "min": "Min", "max": "Max"}


@dataclass
class Signs:
    """Nodes and constants, and the name of the column (m, 1) of each sum."""

    program: Program
    codes: Mapping[str, str]
    """By column of levels, what holds the positions of its levels."""
    prefix: str
    """What names begin with, and no column's does."""
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def add(self, asked: Sum) -> None:
        """The nodes of one sum."""
        name = f"{self.prefix}{len(self.outputs)}"
        inputs = [self._value(term.column, f"{name}_x{at}") for at, term in enumerate(asked.terms)]
        for step in sign_steps(asked, inputs, name):
            operands = [x if isinstance(x, str) else self._constant(x) for x in (step.left, step.right)]
            if step.operator == "first":
                some = self._cast(operands[0], f"{step.name}_some", "BOOL")
                self._node("Where", [some, *operands], step.name)
            else:
                self._node(_OPERATORS[step.operator], operands, step.name)
        self.outputs.append(step.name)

    def _value(self, column: Column, name: str) -> str:
        """What an encoded feature is, as a double."""
        if column.kind == ORDERED:
            return self.codes[column.source]
        if column.kind == CATEGORY:
            known = [*self.program.levels[column.source], None]  # the code of a missing level comes last
            code = self._constant(float(known.index(column.category)))
            return self._cast(
                self._node("Equal", [self.codes[column.source], code], f"{name}_is"), name, "DOUBLE"
            )
        return self._node("Floor", [column.source], name) if column.kind == DATE else column.source

    def _node(self, kind: str, inputs: list[str], output: str, **more: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **more))
        return output

    def _cast(self, given: str, output: str, to: str) -> str:
        return self._node("Cast", [given], output, to=getattr(TensorProto, to))

    def _constant(self, value: float) -> str:
        name = f"{self.prefix}constant{len(self.constants)}"
        self.constants.append(helper.make_tensor(name, TensorProto.DOUBLE, [1, 1], [value]))
        return name


def signs_of_sums(program: Program, codes: Mapping[str, str]) -> Signs:
    """The nodes of all hyperplanes of a model; `codes` as in `Signs`."""
    prefix = "sum"
    while any(name.startswith(prefix) for name in program.columns):
        prefix += "_"
    signs = Signs(program, codes, prefix)
    for asked in program.sums:
        signs.add(asked)
    return signs
