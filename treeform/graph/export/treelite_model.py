"""A model for treelite's runtimes: a tree over a matrix of the tested columns, in double precision.

The matrix has one column for each tested column of the user's table, NaN where a value is missing, and after them one
for each hyperplane: the double nearest to its exact sum. Dates are days
since 1970-01-01, truth values 0 and 1, levels their position in the list of levels, and -1 a level that training did
not have. The names, levels and labels stand in the model's attributes. Shared nodes of a diagram are written out for
each way to them.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from treeform.data.columns import CATEGORY
from treeform.graph.export.program import Branch, Condition, Kind, Program, check_size, needing
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph
from treeform.graph.labeljson import label_to_json
from treeform.utils.arrays import Floats

MOST_NODES = 100_000


def to_treelite(graph: FlatGraph) -> Any:
    """See `DecisionGraph.to_treelite`."""
    with needing("treelite", "for treelite"):
        from treelite import model_builder
    program = Program.of(graph)
    check_size(program, "a treelite tree", MOST_NODES)
    builder = _builder(model_builder, program)
    builder.start_tree()
    _Nodes(builder, program).write()
    builder.end_tree()
    return builder.commit()


def matrix(graph: FlatGraph, encoded: Floats) -> Floats:
    """The tested columns of encoded rows, as the module says: (m, C) float64."""
    program = Program.of(graph)
    forms = _forms(program)
    made = np.empty((len(encoded), len(program.columns) + len(forms)))
    if forms:
        made[:, len(program.columns) :] = graph.tested(encoded)[:, [len(graph.columns) + f for f in forms]]
    for j, name in enumerate(program.columns):
        features = [f for f, column in enumerate(graph.columns) if column.source == name]
        column = graph.columns[features[0]]
        if column.kind != CATEGORY:
            values = encoded[:, features[0]]
            made[:, j] = np.where(column.missing_values(values), np.nan, values)
            continue
        levels = program.levels[name]
        made[:, j] = -1.0
        for feature in features:
            level = graph.columns[feature].category
            made[encoded[:, feature] == 1, j] = np.nan if level is None else levels.index(level)
    return made


def _builder(module: Any, program: Program) -> Any:
    classes = len(program.classes) or 1
    task, link = ("kMultiClf", "identity_multiclass") if program.classes else ("kRegressor", "identity")
    return module.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=module.Metadata(
            num_feature=max(1, len(program.columns) + len(_forms(program))),
            task_type=task,
            average_tree_output=False,
            num_target=1,
            num_class=[classes],
            leaf_vector_shape=(1, classes),
        ),
        tree_annotation=module.TreeAnnotation(
            num_tree=1, target_id=[0], class_id=[-1 if program.classes else 0]
        ),
        postprocessor=module.PostProcessorFunc(name=link),
        base_scores=[0.0] * classes,
        attributes={
            "columns": list(program.columns),
            "levels": {name: list(levels) for name, levels in program.levels.items()},
            "sums": [
                [
                    {"weight": t.weight, "column": t.column.source, "of": t.what, "level": t.column.category}
                    for t in asked.terms
                ]
                for asked in _forms(program).values()
            ],
            "labels": [label_to_json(label) for label in program.labels],
            "never_missing": list(program.refusing),
        },
    )


def _forms(program: Program) -> dict[int, Sum]:
    """The linear forms that are tested, each with one of its tests."""
    made: dict[int, Sum] = {}
    for asked in program.sums:
        made.setdefault(asked.form, asked)
    return made


class _Nodes:
    """Writes the nodes one after the other; a node is named by its number."""

    def __init__(self, builder: Any, program: Program) -> None:
        self.builder = builder
        self.program = program
        self.position = {name: j for j, name in enumerate(program.columns)}
        self.forms = {form: len(self.position) + at for at, form in enumerate(_forms(program))}
        self.count = 1

    def write(self) -> None:
        """All nodes: first whether a value is there that has to be, then the model."""
        node = 0
        for name in self.program.refusing:
            present, absent = self._two()
            self.builder.start_node(node)
            self._number(self.position[name], sys.float_info.max, "<=", False, present, absent)
            self.builder.end_node()
            self._leaf(absent, None)
            node = present
        self._model(node)

    def _model(self, top: int) -> None:
        waiting = [(self.program.root, top)]
        while waiting:
            node, number = waiting.pop()
            entry = self.program.nodes[node]
            if not isinstance(entry, Branch):
                self._leaf(number, entry)
                continue
            yes, no = self._two()
            self.builder.start_node(number)
            self._test(entry.condition, yes, no)
            self.builder.end_node()
            waiting += [(entry.yes, yes), (entry.no, no)]

    def _two(self) -> tuple[int, int]:
        self.count += 2
        return self.count - 2, self.count - 1

    def _leaf(self, number: int, code: int | None) -> None:
        """A leaf with the scores of the classes or a value; without a code, where there is no answer."""
        classes, values = self.program.classes, self.program.values
        self.builder.start_node(number)
        if values:
            self.builder.leaf(math.nan if code is None else values[code])
        else:
            self.builder.leaf([float(code == each) for each in range(len(classes))])
        self.builder.end_node()

    def _test(self, condition: Condition | Sum, yes: int, no: int) -> None:
        if isinstance(condition, Sum):
            self._number(self.forms[condition.form], condition.threshold, "<=", False, yes, no)
            return
        at = self.position[condition.source]
        missing = condition.or_missing or condition.kind is Kind.IS_MISSING
        if condition.source in self.program.levels:
            known = self.program.levels[condition.source]
            asked = condition.value if isinstance(condition.value, tuple) else (condition.value,)
            self.builder.categorical_test(
                at,
                default_left=missing,
                category_list=[] if condition.kind is Kind.IS_MISSING else [known.index(x) for x in asked],
                category_list_right_child=False,
                left_child_key=yes,
                right_child_key=no,
            )
        elif condition.kind is Kind.IS_MISSING:
            self._number(at, -sys.float_info.max, "<", True, yes, no)
        elif condition.kind is Kind.IS_TRUE:
            self._number(at, 0.5, ">", missing, yes, no)
        else:
            assert isinstance(condition.value, float)
            sign = "<" if condition.kind is Kind.BEFORE else "<="
            self._number(at, condition.value, sign, missing, yes, no)

    def _number(self, at: int, threshold: float, sign: str, missing: bool, yes: int, no: int) -> None:
        self.builder.numerical_test(
            at, threshold, default_left=missing, opname=sign, left_child_key=yes, right_child_key=no
        )
