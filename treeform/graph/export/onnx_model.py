"""A model as an ONNX graph with one input for each tested column, in double precision.

Numbers, booleans and dates (days since 1970-01-01) are doubles, NaN where one is missing. Levels are strings, looked up
by LabelEncoder; the empty string stands for a missing one. TreeEnsembleClassifier of the opset ai.onnx.ml 3 holds
doubles and sends NaN to a stated side, so that nothing is rounded. Shared nodes of a diagram are written out for each
way to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeform.data.columns import Level
from treeform.errors import SpecError
from treeform.graph.export.onnx_sums import signs_of_sums
from treeform.graph.export.program import Branch, Condition, Kind, Program
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph
from treeform.plural import count_of

MOST_NODES = 100_000
MISSING = ""


@dataclass
class _Trees:
    """The attributes of TreeEnsembleClassifier, node by node."""

    mode: list[str] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    missing_is_yes: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)

    def add(self, mode: str, feature: int, value: float, missing_is_yes: bool, code: int = -1) -> int:
        """A new node; where it leads to is set later."""
        self.mode.append(mode)
        self.feature.append(feature)
        self.value.append(value)
        self.missing_is_yes.append(int(missing_is_yes))
        self.code.append(code)
        self.yes.append(0)
        self.no.append(0)
        if len(self.mode) > MOST_NODES:
            raise SpecError(
                f"the model becomes an ONNX tree of more than {MOST_NODES} nodes",
                cause="ONNX trees have no shared nodes, so each way to one is written out",
                fix="export it to Python, C or JavaScript",
            )
        return len(self.mode) - 1


def to_onnx(graph: FlatGraph) -> Any:
    """See `DecisionGraph.to_onnx`."""
    try:
        from onnx import TensorProto, checker, helper
    except ImportError as error:
        raise SpecError(
            "the model cannot be written as ONNX",
            cause=f"the package onnx cannot be loaded: {error}",
            fix="pip install 'treeform[export]'",
        ) from None

    program = Program.of(graph)
    position = {name: j for j, name in enumerate(program.columns)}
    trees = _unrolled(program, position)
    inputs, nodes = [], []
    for name, j in position.items():
        levels = program.levels.get(name)
        kind = TensorProto.DOUBLE if levels is None else TensorProto.STRING
        inputs.append(helper.make_tensor_value_info(name, kind, [None, 1]))
        if levels is not None:
            nodes.append(_lookup(helper, TensorProto, name, f"code_{j}", levels))
    read = [f"code_{j}" if name in program.levels else name for name, j in position.items()]
    if not read:
        raise SpecError(
            "the constant model cannot be written as ONNX",
            cause="it reads no column",
            fix="export it to Python or SQL",
        )
    signs = signs_of_sums(program, {name: f"code_{j}" for name, j in position.items()})
    nodes += signs.nodes
    read += signs.outputs
    nodes.append(helper.make_node("Concat", read, ["values"], axis=1))
    nodes.append(_classifier(helper, TensorProto, trees, program))
    constants = [*signs.constants]
    if program.is_regression:  # the classes are positions in the list of values, which keeps all digits
        constants.append(
            helper.make_tensor(
                "outcomes", TensorProto.DOUBLE, [len(program.labels)], np.array(program.labels)
            )
        )
        nodes.append(helper.make_node("Gather", ["outcomes", "label"], ["value"], axis=0))
        outputs = [helper.make_tensor_value_info("value", TensorProto.DOUBLE, [None])]
    else:
        kind = TensorProto.STRING if _text_labels(program) else TensorProto.INT64
        outputs = [
            helper.make_tensor_value_info("label", kind, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, len(program.labels)]),
        ]
    made = helper.make_model(
        helper.make_graph(nodes, "decision_graph", inputs, outputs, constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 4)],
        producer_name="treeform",
        doc_string=f"A decision model of {count_of(len(trees.mode), 'node')}, written out as a tree",
        ir_version=8,
    )
    checker.check_model(made)
    return made


def _unrolled(program: Program, position: dict[str, int]) -> _Trees:
    """The tree of all paths, in which conditions on levels are comparisons of codes, one after the other."""
    trees = _Trees()
    read = _positions(program, position)
    waiting: list[tuple[int, list[tuple[list[int], int]]]] = [(program.root, [])]
    while waiting:
        node, arcs = waiting.pop()
        entry = program.nodes[node]
        if not isinstance(entry, Branch):
            at = trees.add("LEAF", 0, 0.0, False, entry)
            for side, parent in arcs:
                side[parent] = at
            continue
        # A condition on k levels has k comparisons, whose yes is the same; the no of each is the next one.
        to_yes: list[tuple[list[int], int]] = []
        for mode, value, missing_is_yes in _comparisons(entry.condition, program.levels):
            at = trees.add(mode, read[entry.condition], value, missing_is_yes)
            for side, parent in arcs:
                side[parent] = at
            to_yes.append((trees.yes, at))
            arcs = [(trees.no, at)]
        waiting.append((entry.no, arcs))
        waiting += [(entry.yes, [arc]) for arc in to_yes]
    return trees


def _positions(program: Program, position: dict[str, int]) -> dict[Condition | Sum, int]:
    """Where each condition finds its value: columns come first, then the signs of sums."""
    made: dict[Condition | Sum, int] = {asked: len(position) + at for at, asked in enumerate(program.sums)}
    for node in program.nodes.values():
        if isinstance(node, Branch) and isinstance(node.condition, Condition):
            made[node.condition] = position[node.condition.source]
    return made


def _comparisons(
    condition: Condition | Sum, levels: dict[str, tuple[Level, ...]]
) -> Iterator[tuple[str, float, bool]]:
    """Mode, value, and whether NaN is yes; the condition holds where one of the comparisons does."""
    if isinstance(condition, Sum):
        yield "BRANCH_LEQ" if condition.includes_limit else "BRANCH_LT", 0.0, False
    elif condition.source in levels:
        known = levels[condition.source]
        if condition.kind is Kind.IS_MISSING or condition.or_missing:
            yield "BRANCH_EQ", float(len(known)), False
        if condition.kind is not Kind.IS_MISSING:
            asked = condition.value if isinstance(condition.value, tuple) else (condition.value,)
            yield from (("BRANCH_EQ", float(known.index(level)), False) for level in asked)
            if not asked and not condition.or_missing:
                yield "BRANCH_EQ", -2.0, False  # no level at all
    elif condition.kind is Kind.IS_MISSING:
        yield "BRANCH_GT", float("inf"), True
    elif condition.kind is Kind.IS_TRUE:
        yield "BRANCH_GT", 0.5, condition.or_missing
    else:
        assert isinstance(condition.value, float)
        yield (
            "BRANCH_LT" if condition.kind is Kind.BEFORE else "BRANCH_LEQ",
            condition.value,
            condition.or_missing,
        )


def _lookup(helper: Any, types: Any, name: str, output: str, levels: tuple[Level, ...]) -> Any:
    """From levels to codes; the missing one comes after all, and -1 is any other."""
    keys = [*(str(level) for level in levels), MISSING]
    if len(set(keys)) < len(keys):
        raise SpecError(
            f"the levels of {name!r} cannot be told apart as text",
            cause="ONNX reads levels as strings, and the empty string is a missing value",
            fix="give the levels other names",
        )
    values = helper.make_tensor("values", types.DOUBLE, [len(keys)], np.arange(len(keys), dtype=np.float64))
    key = helper.make_tensor("keys", types.STRING, [len(keys)], [text.encode("utf-8") for text in keys])
    default = helper.make_tensor("default", types.DOUBLE, [1], [-1.0])
    return helper.make_node(
        "LabelEncoder",
        [name],
        [output],
        domain="ai.onnx.ml",
        keys_tensor=key,
        values_tensor=values,
        default_tensor=default,
    )


def _classifier(helper: Any, types: Any, trees: _Trees, program: Program) -> Any:
    count = len(trees.mode)
    leaves = [node for node in range(count) if trees.mode[node] == "LEAF"]
    labels: dict[str, Any]
    if program.is_regression:
        labels = {"classlabels_int64s": list(range(len(program.labels)))}
    elif _text_labels(program):
        labels = {"classlabels_strings": [str(label) for label in program.labels]}
    else:
        labels = {"classlabels_int64s": [int(label) for label in program.labels]}  # type: ignore[call-overload]
    values = helper.make_tensor("values", types.DOUBLE, [count], trees.value)
    # Every leaf weighs every class: with one weight each, onnxruntime takes two classes for a margin.
    classes = range(len(program.labels))
    pairs = [(leaf, code) for leaf in leaves for code in classes]
    shares = [float(trees.code[leaf] == code) for leaf, code in pairs]
    weights = helper.make_tensor("weights", types.DOUBLE, [len(pairs)], shares)
    return helper.make_node(
        "TreeEnsembleClassifier",
        ["values"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * count,
        nodes_nodeids=list(range(count)),
        nodes_featureids=trees.feature,
        nodes_modes=trees.mode,
        nodes_values_as_tensor=values,
        nodes_truenodeids=trees.yes,
        nodes_falsenodeids=trees.no,
        nodes_missing_value_tracks_true=trees.missing_is_yes,
        class_treeids=[0] * len(pairs),
        class_nodeids=[leaf for leaf, _ in pairs],
        class_ids=[code for _, code in pairs],
        class_weights_as_tensor=weights,
        post_transform="NONE",
        **labels,
    )


def _text_labels(program: Program) -> bool:
    return not all(isinstance(label, int) and not isinstance(label, bool) for label in program.labels)
