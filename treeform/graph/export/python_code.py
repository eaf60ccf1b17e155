"""A model as a Python module that needs nothing but Python."""

from __future__ import annotations

import keyword

from treeform.data.columns import BOOLEAN, CATEGORY, DATE, ORDERED
from treeform.errors import SpecError
from treeform.graph.export.names import identifiers
from treeform.graph.export.nested import Syntax, body
from treeform.graph.export.program import Condition, Kind, Program
from treeform.graph.export.sums import Sum, Term
from treeform.graph.graph import FlatGraph

_TAKEN = frozenset(("row", "LABELS", "predict", "datetime", "Fraction", "float", "math"))

_DATES = '''
def _days(value):
    """Days since 1970-01-01 of a date or datetime."""
    moment = value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)
    return (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)

'''

_SUMS = '''
def _sum_at_most(threshold, *terms):
    """Whether the float nearest to the exact sum of the products (weight, value) is at most a threshold."""
    exact = sum(Fraction(weight) * Fraction(float(value)) for weight, value in terms)
    try:
        return float(exact) <= threshold
    except OverflowError:
        return exact < 0

'''


def to_python(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_python`."""
    program = Program.of(graph)
    labels = [_literal(label) for label in program.labels]
    names = identifiers(program.columns, lambda word: keyword.iskeyword(word) or word in _TAKEN)
    syntax = Syntax(
        condition=lambda condition: _condition(condition, names),
        leaf=lambda code: f"return {labels[code]}",
        call=lambda node: f"return _node_{node}(row)",
        opening="if {}:",
        otherwise="else:",
        closing="",
    )
    dates = any(column.kind.startswith("date") for column in program.columns.values())
    lines = [
        '"""A decision model. predict(row) takes a mapping from column names to values and returns the label."""',
        "",
    ]
    lines += ["import datetime"] if dates else []
    lines += ["import math", "from fractions import Fraction"] if program.sums else []
    lines += [""] if dates or program.sums else []
    lines += ["", f"LABELS = [{', '.join(labels)}]", ""]
    lines += _DATES.splitlines() if dates else []
    lines += _SUMS.splitlines() if program.sums else []
    lines += [
        "",
        "def _value(row, name, refuse):",
        '    """A value of a row; None for a missing one."""',
        "    value = row[name]",
        "    if value is None or value != value:",
        "        if refuse:",
        '            raise ValueError(f"column {name!r} is missing a value, and had none missing in training")',
        "        return None",
        "    return value",
        "",
    ]
    for node in program.bottom_up():
        if node in program.shared and node != program.root:
            lines += [
                "",
                f"def _node_{node}(row):",
                *_reading(program, node, names),
                *body(program, node, syntax),
                "",
            ]
    checks = [f"    _value(row, {name!r}, True)" for name in program.refusing]
    reading = _reading(program, program.root, names)
    lines += [
        "",
        "def predict(row):",
        '    """The label of one row."""',
        *checks,
        *reading,
        *body(program, program.root, syntax),
    ]
    return "\n".join(lines) + "\n"


def _reading(program: Program, node: int, names: dict[str, str]) -> list[str]:
    """Read the columns that are tested from a node on, up to shared nodes."""
    used = program.tested_from(node)
    lines = [f"    {names[name]} = _value(row, {name!r}, False)" for name in used]
    dates = [name for name in used if program.columns[name].kind.startswith("date")]
    return lines + [
        f"    {names[name]} = None if {names[name]} is None else _days({names[name]})" for name in dates
    ]


def _condition(condition: Condition | Sum, names: dict[str, str]) -> str:
    if isinstance(condition, Sum):
        terms = [f"({term.weight!r}, {_term(term, names[term.column.source])})" for term in condition.terms]
        return f"_sum_at_most({condition.threshold!r}, {', '.join(terms)})"
    x = names[condition.source]
    if condition.kind is Kind.IS_MISSING:
        return f"{x} is None"
    if condition.kind is Kind.IS_TRUE:
        text = f"{x} == True"
    elif condition.kind is Kind.IS_LEVEL:
        text = f"{x} == {condition.value!r}"
    elif condition.kind is Kind.AMONG:
        text = f"{x} in {condition.value!r}"
    else:
        guard = "" if condition.or_missing else f"{x} is not None and "
        text = f"{guard}{x} {'<' if condition.kind is Kind.BEFORE else '<='} {condition.value!r}"
    return f"{x} is None or {text}" if condition.or_missing else text


def _term(term: Term, x: str) -> str:
    """What a feature reads, as a number."""
    column = term.column
    if column.kind == BOOLEAN:
        return f"{x} == True"
    if column.kind == CATEGORY:
        return f"{x} is None" if column.category is None else f"{x} == {column.category!r}"
    if column.kind == ORDERED:
        return f"{dict(zip(column.levels, range(len(column.levels)), strict=True))!r}.get({x}, -1)"
    return f"math.floor({x})" if column.kind == DATE else x


def _literal(label: object) -> str:
    if isinstance(label, str | bool | int | float | None) or (
        isinstance(label, tuple) and all(isinstance(part, str | bool | int | float) for part in label)
    ):
        return repr(label)
    raise SpecError(
        f"the label {label!r} has no Python literal",
        cause=f"it is of type {type(label).__name__}",
        fix="fit with labels that are text, numbers or booleans",
    )
