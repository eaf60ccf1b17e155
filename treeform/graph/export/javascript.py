"""A model as a JavaScript module without dependencies."""

from __future__ import annotations

import json

from treeform.graph.export.nested import Syntax, body
from treeform.graph.export.program import Condition, Kind, Program
from treeform.graph.graph import FlatGraph


def to_javascript(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_javascript`."""
    program = Program.of(graph, "JavaScript code")
    labels = [
        json.dumps(label if isinstance(label, str | bool | int | float) else str(label))
        for label in program.labels
    ]
    syntax = Syntax(
        condition=_condition,
        leaf=lambda code: f"return {labels[code]};",
        call=lambda node: f"return node{node}(row);",
        opening="if ({}) {{",
        otherwise="} else {",
        closing="}",
    )
    lines = [
        "// A decision model: predict(row) takes an object with a property for each column and returns the label.",
        "// Missing values are null, undefined or NaN. Dates are Date objects.",
        '"use strict";',
        "",
        "function missing(value) {",
        "    return value === null || value === undefined || Number.isNaN(value);",
        "}",
        "",
        "function days(value) {",
        "    return value.getTime() / 86400000;",
        "}",
        "",
    ]
    for node in program.bottom_up():
        if node in program.shared and node != program.root:
            lines += [f"function node{node}(row) {{", *body(program, node, syntax), "}", ""]
    checks = [
        f"    if (missing(row[{json.dumps(name)}])) throw new Error({json.dumps(f'column {name} is missing a value')});"
        for name in program.refusing
    ]
    lines += ["function predict(row) {", *checks, *body(program, program.root, syntax), "}", ""]
    lines += ['if (typeof module !== "undefined") module.exports = { predict };']
    return "\n".join(lines) + "\n"


def _condition(condition: Condition) -> str:
    x = f"row[{json.dumps(condition.source)}]"
    if condition.kind is Kind.IS_MISSING:
        return f"missing({x})"
    if condition.kind is Kind.IS_TRUE:
        text = f"{x} == true"
    elif condition.kind in (Kind.IS_LEVEL, Kind.AMONG):
        levels = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        text = " || ".join(f"{x} === {json.dumps(level)}" for level in levels) or "false"
    else:
        read = x if condition.kind is Kind.AT_MOST else f"days({x})"
        sign = "<" if condition.kind is Kind.BEFORE else "<="
        guard = "" if condition.or_missing else f"!missing({x}) && "
        text = f"{guard}{read} {sign} {json.dumps(condition.value)}"
    return f"missing({x}) || {text}" if condition.or_missing else text
