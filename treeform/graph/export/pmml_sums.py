"""The tests of hyperplanes in PMML: derived fields that find the sign of a sum minus its limit in double precision."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from treeform.data.columns import BOOLEAN, CATEGORY, DATE, ORDERED, Column
from treeform.graph.export.exact_steps import Operand, Step, sign_steps
from treeform.graph.export.sums import Sum


def write_sign(place: Element, asked: Sum, prefix: str) -> str:
    """Write the derived fields of one sum; the name of the last one, which has the sign."""
    inputs = [_value(place, term.column, f"{prefix}_x{at}") for at, term in enumerate(asked.terms)]
    for step in sign_steps(asked, inputs, prefix):
        _derived(place, step.name).append(_step(step))
    return step.name


def _value(place: Element, column: Column, name: str) -> str:
    """The field that holds what an encoded feature is, as a number."""
    if column.kind in (BOOLEAN, CATEGORY):
        _derived(place, name).append(_indicator(column))
    elif column.kind == ORDERED:
        _derived(place, name).append(_position(column))
    elif column.kind == DATE:
        _derived(place, name).append(_apply("floor", _field(column.source)))
    else:
        return column.source
    return name


def _indicator(column: Column) -> Element:
    """1 where the column is true, or has the level; functions of missing values are missing, so that is asked first."""
    absent = _apply("isMissing", _field(column.source))
    if column.category is None and column.kind == CATEGORY:
        return _choice(absent, _number(1.0), _number(0.0))
    level = True if column.kind == BOOLEAN else column.category
    same = _apply("equal", _field(column.source), _constant(level))
    return _choice(absent, _number(0.0), _choice(same, _number(1.0), _number(0.0)))


def _position(column: Column) -> Element:
    made = _number(-1.0)
    for at in reversed(range(len(column.levels))):
        same = _apply("equal", _field(column.source), _constant(column.levels[at]))
        made = _choice(same, _number(float(at)), made)
    return made


def _step(step: Step) -> Element:
    left, right = _operand(step.left), _operand(step.right)
    if step.operator == "first":
        return _choice(_apply("notEqual", left, _number(0.0)), _operand(step.left), right)
    return _apply(step.operator, left, right)


def _operand(operand: Operand) -> Element:
    return _field(operand) if isinstance(operand, str) else _number(operand)


def _derived(place: Element, name: str) -> Element:
    return SubElement(place, "DerivedField", {"name": name, "optype": "continuous", "dataType": "double"})


def _choice(condition: Element, yes: Element, no: Element) -> Element:
    return _apply("if", condition, yes, no)


def _apply(function: str, *arguments: Element) -> Element:
    made = Element("Apply", {"function": function})
    made.extend(arguments)
    return made


def _field(name: str) -> Element:
    return Element("FieldRef", {"field": name})


def _number(value: float) -> Element:
    made = Element("Constant", {"dataType": "double"})
    made.text = repr(value)
    return made


def _constant(level: object) -> Element:
    kind = "boolean" if isinstance(level, bool) else "string" if isinstance(level, str) else "double"
    made = Element("Constant", {"dataType": kind})
    made.text = ("true" if level else "false") if isinstance(level, bool) else str(level)
    return made
