"""A model as a JavaScript module without dependencies."""

from __future__ import annotations

import json

from treeform.data.columns import BOOLEAN, CATEGORY, DATE, DATETIME, ORDERED
from treeform.graph.export.nested import Syntax, body
from treeform.graph.export.program import Condition, Kind, Program
from treeform.graph.export.sums import Sum, Term
from treeform.graph.graph import FlatGraph

_LARGEST_WHOLE = 2**53 - 1  # Number.MAX_SAFE_INTEGER

_SUMS = """\
// A finite number as an integer times a power of two: [integer, exponent].
function parts(value) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    const bits = view.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 2047n);
    const fraction = bits & 0xfffffffffffffn;
    const size = exponent === 0 ? fraction : fraction | 0x10000000000000n;
    return [bits >> 63n ? -size : size, Math.max(exponent, 1) - 1075];
}

// The sign of a sum of products, without rounding.
function signOfSum(products) {
    let sum = 0n;
    for (const [a, b] of products) {
        const [m, i] = parts(a), [n, j] = parts(b);
        sum += (m * n) << BigInt(i + j + 2148);
    }
    return sum < 0n ? -1 : sum > 0n ? 1 : 0;
}
"""


def to_javascript(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_javascript`."""
    program = Program.of(graph)
    labels = [_literal(label) for label in program.labels]
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
    lines += [*_SUMS.splitlines(), ""] if program.sums else []
    for node in program.bottom_up():
        if node in program.shared and node != program.root:
            lines += [f"function node{node}(row) {{", *body(program, node, syntax), "}", ""]
    checks = [
        f"    if (missing(row[{_text(name)}])) throw new Error({_text(f'column {name} is missing a value')});"
        for name in program.refusing
    ]
    lines += ["function predict(row) {", *checks, *body(program, program.root, syntax), "}", ""]
    lines += ['if (typeof module !== "undefined") module.exports = { predict };']
    return "\n".join(lines) + "\n"


def _condition(condition: Condition | Sum) -> str:
    if isinstance(condition, Sum):
        products = [f"[{_text(term.weight)}, {_term(term)}]" for term in condition.terms]
        products += [f"[{_text(-a)}, {_text(b)}]" for a, b in condition.limit]
        return f"signOfSum([{', '.join(products)}]) {'<=' if condition.includes_limit else '<'} 0"
    x = f"row[{_text(condition.source)}]"
    if condition.kind is Kind.IS_MISSING:
        return f"missing({x})"
    if condition.kind is Kind.IS_TRUE:
        text = f"{x} == true"
    elif condition.kind in (Kind.IS_LEVEL, Kind.AMONG):
        levels = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        text = " || ".join(_equal(x, level) for level in levels) or "false"
    else:
        read = x if condition.kind is Kind.AT_MOST else f"days({x})"
        sign = "<" if condition.kind is Kind.BEFORE else "<="
        guard = "" if condition.or_missing else f"!missing({x}) && "
        text = f"{guard}{read} {sign} {_text(condition.value)}"
    return f"missing({x}) || {text}" if condition.or_missing else text


def _term(term: Term) -> str:
    """What a feature reads, as a number."""
    column = term.column
    x = f"row[{_text(column.source)}]"
    if column.kind == BOOLEAN:
        return f"Number({x} == true)"
    if column.kind == CATEGORY:
        return f"Number({f'missing({x})' if column.category is None else _equal(x, column.category)})"
    if column.kind == ORDERED:
        return f"[{', '.join(map(_literal, column.levels))}].indexOf({x})"
    if column.kind == DATE:
        return f"Math.floor(days({x}))"
    return f"days({x})" if column.kind == DATETIME else f"Number({x})"


def _equal(x: str, level: object) -> str:
    """A question about a level; a whole number is the same as a Number and as a BigInt."""
    literal = _literal(level)
    return f'typeof {x} !== "string" && {x} == {literal}' if literal.endswith("n") else f"{x} === {literal}"


def _literal(value: object) -> str:
    """A label or level; a whole number that no Number holds is a BigInt."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_WHOLE:
        return f"{value}n"
    return _text(value if isinstance(value, str | bool | int | float) else str(value))


def _text(value: object) -> str:
    """A value as JavaScript has it; no text in it can end the element of a page that the module stands in."""
    return json.dumps(value).replace("<", "\\u003c")
