"""A model as an ONNX graph with one input for each tested column, in double precision.

Numbers, booleans and dates (days since 1970-01-01) are doubles, NaN where one is missing. Levels are strings, looked up
by LabelEncoder; the empty string stands for a missing one. From the matrix of these values the class is found by
`onnx_tree`, an operator of its own for trees, or by `onnx_table`, which keeps shared nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

from treeform.data.columns import Level
from treeform.errors import SpecError, did_you_mean
from treeform.graph.export.onnx_sums import signs_of_sums
from treeform.graph.export.onnx_table import Table
from treeform.graph.export.onnx_tree import Tree, nodes_of_tree
from treeform.graph.export.program import Branch, Condition, OnnxNodes, Program
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph
from treeform.utils.text import count_of

MOST_NODES = 100_000
"""Nodes of a tree that is written out; a model that needs more keeps its shared nodes."""
MISSING = ""


def to_onnx(graph: FlatGraph, nodes: OnnxNodes = "auto") -> Any:
    """See `DecisionGraph.to_onnx`."""
    ways = get_args(OnnxNodes)
    if nodes not in ways:
        raise SpecError(
            f"nodes={nodes!r} is no way to write an ONNX model",
            cause=f"it is one of {', '.join(ways)}",
            fix=did_you_mean(str(nodes), ways) or "leave it out: the smaller one is written",
        )
    program = Program.of(graph)
    if not program.columns:
        raise SpecError(
            "the constant model cannot be written as ONNX",
            cause="it reads no column",
            fix="export it to Python or SQL",
        )
    made = _chosen(_Writer(program), program, nodes)
    checker.check_model(made)
    return made


def _chosen(writer: _Writer, program: Program, nodes: OnnxNodes) -> Any:
    """The model as it is asked for; if that is open, a tree as a tree, and of a diagram the form of fewer bytes."""
    branches = sum(isinstance(entry, Branch) for entry in program.nodes.values())
    size = nodes_of_tree(program)
    if nodes == "tree" and size > MOST_NODES:
        raise SpecError(
            f"the model becomes an ONNX tree of {size} nodes",
            cause=f"each way to a shared node is written out; at most {MOST_NODES} nodes are",
            fix="keep shared nodes: to_onnx(nodes='shared'), --nodes shared",
        )
    as_tree = f"A decision model, written out as a tree of {count_of(size, 'node')}"
    if nodes == "tree" or (nodes == "auto" and size == 2 * branches + 1):
        return writer.tree(as_tree)
    own = count_of(branches + len(program.labels), "node")
    shared = writer.shared(f"A decision model of {own}, shared ones written once; its tree has {size}")
    if nodes == "shared" or size > MOST_NODES:
        return shared
    tree = writer.tree(as_tree)
    return tree if tree.ByteSize() <= shared.ByteSize() else shared


@dataclass(frozen=True)
class _Writer:
    """The parts of an ONNX model that do not depend on how its nodes are written."""

    program: Program

    def tree(self, what: str) -> Any:
        """The model as one operator, which knows trees only."""
        outputs = [self._name("code"), self._name("weights")]
        tree = Tree.of(self.program, self._positions)
        return self._model([tree.node(self._name("values"), outputs, len(self.program.labels))], [], what)

    def shared(self, what: str) -> Any:
        """The model as tables of its nodes."""
        table = Table.of(self.program, self._positions)
        return self._model(*table.nodes(self._name("values"), self._name("code"), self._name("node_")), what)

    def _model(self, nodes: list[Any], constants: list[Any], what: str) -> Any:
        """Inputs, the matrix of values, `nodes`, which find the class code of each row, and the outputs."""
        signs = signs_of_sums(self.program, self._codes)
        read = [self._codes.get(name, name) for name in self.program.columns] + signs.outputs
        matrix = helper.make_node("Concat", read, [self._name("values")], axis=1)
        answer, known = self._answer()
        return helper.make_model(
            helper.make_graph(
                [*self._lookups(), *signs.nodes, matrix, *nodes, *answer],
                "decision_graph",
                self._inputs(),
                self._outputs(),
                [*signs.constants, *constants, *known],
            ),
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)],
            producer_name="treeform",
            doc_string=what,
            ir_version=8,
        )

    def _answer(self) -> tuple[list[Any], list[Any]]:
        """From codes to labels and scores; a row that lacks a value it needs has the code after all classes."""
        program, code, nodes = self.program, "code", []
        constants = {"outcomes": self._outcomes}
        if program.refusing:
            columns = list(program.columns)
            constants["needed"] = np.array([columns.index(name) for name in program.refusing])
            constants["none"] = np.array(len(program.labels))
            code = "answer"
            nodes = [
                self._node("Gather", ["values", "needed"], "asked", axis=1),
                self._node("IsNaN", ["asked"], "lacking"),
                self._node("Cast", ["lacking"], "lacks", to=TensorProto.INT32),
                self._node("ReduceMax", ["lacks"], "most", axes=[1], keepdims=0),
                self._node("Cast", ["most"], "refused", to=TensorProto.BOOL),
                self._node("Where", ["refused", "none", "code"], code),
            ]
        label = "value" if program.values else "label"
        nodes.append(self._node("Gather", ["outcomes", code], label, axis=0))
        if program.classes:  # 1 for the class of the row, 0 for the others
            constants["along"] = np.array([1])
            constants["classes"] = np.arange(len(program.classes))[None, :]
            nodes += [
                self._node("Unsqueeze", [code, "along"], "upright"),
                self._node("Equal", ["upright", "classes"], "is_class"),
                self._node("Cast", ["is_class"], "scores", to=TensorProto.FLOAT),
            ]
        return nodes, [numpy_helper.from_array(array, self._name(name)) for name, array in constants.items()]

    def _node(self, kind: str, inputs: list[str], output: str, **more: Any) -> Any:
        """A node whose inputs and output have names of ours."""
        return helper.make_node(kind, [self._name(name) for name in inputs], [self._name(output)], **more)

    @cached_property
    def _codes(self) -> dict[str, str]:
        """By column of levels, what holds the positions of its levels."""
        return {
            name: self._name(f"code_{at}")
            for at, name in enumerate(self.program.columns)
            if name in self.program.levels
        }

    @cached_property
    def _positions(self) -> dict[Condition | Sum, int]:
        """Where each condition finds its value: columns come first, then the signs of sums."""
        position = {name: at for at, name in enumerate(self.program.columns)}
        made: dict[Condition | Sum, int] = {
            asked: len(position) + at for at, asked in enumerate(self.program.sums)
        }
        for node in self.program.nodes.values():
            if isinstance(node, Branch) and isinstance(node.condition, Condition):
                made[node.condition] = position[node.condition.source]
        return made

    def _inputs(self) -> list[Any]:
        levels = self.program.levels
        return [
            helper.make_tensor_value_info(
                name, TensorProto.STRING if name in levels else TensorProto.DOUBLE, [None, 1]
            )
            for name in self.program.columns
        ]

    def _outputs(self) -> list[Any]:
        if self.program.values:
            return [helper.make_tensor_value_info(self._name("value"), TensorProto.DOUBLE, [None])]
        kind = TensorProto.STRING if self._has_text else TensorProto.INT64
        classes = len(self.program.classes)
        return [
            helper.make_tensor_value_info(self._name("label"), kind, [None]),
            helper.make_tensor_value_info(self._name("scores"), TensorProto.FLOAT, [None, classes]),
        ]

    def _lookups(self) -> list[Any]:
        program = self.program
        return [
            _lookup(name, code, program.levels[name], name in program.refusing)
            for name, code in self._codes.items()
        ]

    @property
    def _outcomes(self) -> Any:
        """What is predicted by class code, and what stands for no answer: NaN, no text, or less than any label."""
        labels: Any = self.program.classes
        if self.program.values:
            return np.array([*self.program.values, np.nan])
        if self._has_text:
            return np.array([*map(str, labels), ""], dtype=object)
        return np.array([*labels, min(labels) - 1], dtype=np.int64)

    @cached_property
    def _has_text(self) -> bool:
        return not all(
            isinstance(label, int) and not isinstance(label, bool) and -(2**63) < label < 2**63
            for label in self.program.classes
        )

    def _name(self, name: str) -> str:
        """A name of ours; underscores are added where a column begins like that, for names must differ."""
        while any(column.startswith(name) for column in self.program.columns):
            name += "_"
        return name


def _lookup(name: str, output: str, levels: tuple[Level, ...], is_needed: bool) -> Any:
    """From levels to codes; the missing one comes after all, or is NaN where one is needed, and -1 is any other."""
    keys = [*(str(level) for level in levels), MISSING]
    if len(set(keys)) < len(keys):
        raise SpecError(
            f"the levels of {name!r} cannot be told apart as text",
            cause="ONNX reads levels as strings, and the empty string is a missing value",
            fix="give the levels other names",
        )
    codes = np.arange(len(keys), dtype=np.float64)
    if is_needed:
        codes[-1] = np.nan
    others = {text: at for at, level in enumerate(levels) for text in _other_texts(level)}
    others = {text: at for text, at in others.items() if text not in keys}
    keys, codes = [*keys, *others], np.append(codes, list(others.values()))
    return helper.make_node(
        "LabelEncoder",
        [name],
        [output],
        domain="ai.onnx.ml",
        keys_tensor=numpy_helper.from_array(np.array(keys, dtype=object), "keys"),
        values_tensor=numpy_helper.from_array(codes, "values"),
        default_tensor=numpy_helper.from_array(np.array([-1.0]), "default"),
    )


def _other_texts(level: Level) -> list[str]:
    """How a whole number is written too: a column of 1 and 2 is one of 1.0 and 2.0 as soon as a value is missing."""
    if isinstance(level, bool) or not isinstance(level, int | float) or level != level // 1:
        return []
    return [str(int(level)), f"{int(level)}.0"]
