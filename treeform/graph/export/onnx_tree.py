"""A model as TreeEnsembleClassifier: the tree of all paths, in which shared nodes are written out for each way to them.

The operator of the opset ai.onnx.ml 3 holds doubles and sends NaN to a stated side, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from onnx import TensorProto, helper

from treeform.data.columns import Level
from treeform.graph.export.program import Branch, Condition, Kind, Program, unrolled_size
from treeform.graph.export.sums import Sum


@dataclass
class Tree:
    """The attributes of TreeEnsembleClassifier, node by node."""

    mode: list[str] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    missing_is_yes: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, program: Program, position: Mapping[Condition | Sum, int]) -> Tree:
        """The tree of all paths; conditions on levels are comparisons of codes, one after the other.

        ``position``: which of the values each condition reads.
        """
        tree = cls()
        waiting: list[tuple[int, list[tuple[list[int], int]]]] = [(program.root, [])]
        while waiting:
            node, arcs = waiting.pop()
            entry = program.nodes[node]
            if not isinstance(entry, Branch):
                at = tree._add("LEAF", 0, 0.0, False, entry)
                for side, parent in arcs:
                    side[parent] = at
                continue
            # A condition on k levels has k comparisons, whose yes is the same; the no of each is the next one.
            to_yes: list[tuple[list[int], int]] = []
            for mode, value, missing_is_yes in _comparisons(entry.condition, program.levels):
                at = tree._add(mode, position[entry.condition], value, missing_is_yes)
                for side, parent in arcs:
                    side[parent] = at
                to_yes.append((tree.yes, at))
                arcs = [(tree.no, at)]
            waiting.append((entry.no, arcs))
            waiting += [(entry.yes, [arc]) for arc in to_yes]
        return tree

    def _add(self, mode: str, feature: int, value: float, missing_is_yes: bool, code: int = -1) -> int:
        """A new node; where it leads to is set later."""
        self.mode.append(mode)
        self.feature.append(feature)
        self.value.append(value)
        self.missing_is_yes.append(int(missing_is_yes))
        self.code.append(code)
        self.yes.append(0)
        self.no.append(0)
        return len(self.mode) - 1

    def node(self, values: str, outputs: list[str], classes: int) -> Any:
        """The operator: from a matrix of doubles to class codes (m,), int64, and weights that are not read."""
        count = len(self.mode)
        leaves = [node for node in range(count) if self.mode[node] == "LEAF"]
        # Every leaf weighs every class: with one weight each, onnxruntime takes two classes for a margin, and with one
        # class alone it answers which side of a margin a row lies on.
        classes = max(2, classes)
        pairs = [(leaf, code) for leaf in leaves for code in range(classes)]
        shares = [float(self.code[leaf] == code) for leaf, code in pairs]
        return helper.make_node(
            "TreeEnsembleClassifier",
            [values],
            outputs,
            domain="ai.onnx.ml",
            nodes_treeids=[0] * count,
            nodes_nodeids=list(range(count)),
            nodes_featureids=self.feature,
            nodes_modes=self.mode,
            nodes_values_as_tensor=helper.make_tensor("values", TensorProto.DOUBLE, [count], self.value),
            nodes_truenodeids=self.yes,
            nodes_falsenodeids=self.no,
            nodes_missing_value_tracks_true=self.missing_is_yes,
            class_treeids=[0] * len(pairs),
            class_nodeids=[leaf for leaf, _ in pairs],
            class_ids=[code for _, code in pairs],
            class_weights_as_tensor=helper.make_tensor("weights", TensorProto.DOUBLE, [len(pairs)], shares),
            post_transform="NONE",
            classlabels_int64s=list(range(classes)),
        )


def nodes_of_tree(program: Program) -> int:
    """Nodes that `Tree.of` makes, counted without making it."""
    return unrolled_size(program, lambda branch: sum(1 for _ in _comparisons(branch.condition, program.levels)))


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
