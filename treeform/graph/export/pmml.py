"""A model as PMML 4.4, the XML format of the Data Mining Group: a TreeModel with compound predicates.

Numbers and dates (days since 1970-01-01) are doubles. Of a missing value every predicate but ``isMissing`` is false
(``missingValueStrategy="none"``), and the last child of a node has the predicate True, so that each row has one way.
Shared nodes of a diagram are written out for each way to them.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from treeform.data.columns import Level
from treeform.errors import SpecError
from treeform.graph.export import pmml_sums
from treeform.graph.export.program import Branch, Condition, Kind, Program, check_size
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph
from treeform.graph.rules import amount_text
from treeform.utils.text import count_of

MOST_NODES = 20_000
NAMESPACE = "http://www.dmg.org/PMML-4_4"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_pmml`."""
    program = Program.of(graph)
    size = check_size(program, "a PMML tree", MOST_NODES)
    root = Element("PMML", {"version": "4.4", "xmlns": NAMESPACE})
    about = SubElement(
        root,
        "Header",
        {"description": f"A decision model of {count_of(size, 'node')}, written out as a tree"},
    )
    SubElement(about, "Application", {"name": "treeform"})
    target = _target_name(program)
    types = {name: _type_of(name, levels) for name, levels in program.levels.items()}
    _dictionary(root, program, types, target)
    model = SubElement(
        root,
        "TreeModel",
        {
            "functionName": "classification" if program.classes else "regression",
            "missingValueStrategy": "none",
            "noTrueChildStrategy": "returnNullPrediction",
            "splitCharacteristic": "binarySplit",
        },
    )
    _mining_schema(model, program, target)
    _output(model, program, target)
    signs = _signs(model, program)
    _tree(model, graph, program, signs)
    indent(root)
    text = tostring(root, encoding="unicode")
    if _NOT_XML.search(text):
        raise SpecError(
            "a name, level or label has a character that XML cannot hold",
            cause="XML has no control characters",
            fix="rename it, or export to Python, C or JavaScript",
        )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _target_name(program: Program) -> str:
    """A name for the label that no column has."""
    name = "label"
    while name in program.columns:
        name += "_"
    return name


def _dictionary(root: Element, program: Program, types: dict[str, str], target: str) -> None:
    fields = SubElement(root, "DataDictionary", {"numberOfFields": str(len(program.columns) + 1)})
    for name, column in program.columns.items():
        if name in program.levels:
            # No list of values: engines take a level that is not on it for missing, which it is not.
            SubElement(fields, "DataField", {"name": name, "optype": "categorical", "dataType": types[name]})
        elif column.kind == "boolean":
            SubElement(fields, "DataField", {"name": name, "optype": "categorical", "dataType": "boolean"})
        else:
            asked = {"name": name, "optype": "continuous", "dataType": "double"}
            if column.kind.startswith("date"):
                asked["displayName"] = f"{name} (days since 1970-01-01)"
            SubElement(fields, "DataField", asked)
    if program.values:
        SubElement(fields, "DataField", {"name": target, "optype": "continuous", "dataType": "double"})
        return
    kind = _label_type(program)
    field = SubElement(fields, "DataField", {"name": target, "optype": "categorical", "dataType": kind})
    for label in program.classes:
        SubElement(field, "Value", {"value": _text(label)})


def _label_type(program: Program) -> str:
    kinds = {type(label) for label in program.classes}
    return "integer" if kinds == {int} else "boolean" if kinds == {bool} else "string"


def _type_of(name: str, levels: tuple[Level, ...]) -> str:
    """The type of a column of levels. Raises SpecError if some are text and others are not."""
    kinds = {
        "string" if isinstance(x, str) else "boolean" if isinstance(x, bool) else "double" for x in levels
    }
    if len(kinds) > 1:
        raise SpecError(
            f"the column {name!r} has levels of different types: {', '.join(sorted(kinds))}",
            cause="a field of PMML has one type",
            fix="make the column text before fitting, or export to Python or JavaScript",
        )
    return kinds.pop() if kinds else "string"


def _mining_schema(model: Element, program: Program, target: str) -> None:
    schema = SubElement(model, "MiningSchema")
    for name in program.columns:
        asked = {"name": name, "invalidValueTreatment": "asIs"}
        if name in program.refusing:
            asked["missingValueTreatment"] = "returnInvalid"
        SubElement(schema, "MiningField", asked)
    SubElement(schema, "MiningField", {"name": target, "usageType": "target"})


def _output(model: Element, program: Program, target: str) -> None:
    """The label, and the shares of training weight at the leaf, one field for each class."""
    output = SubElement(model, "Output")
    if program.values:
        attributes = {"name": f"predicted_{target}", "optype": "continuous", "dataType": "double"}
        SubElement(output, "OutputField", {**attributes, "feature": "predictedValue"})
        return
    attributes = {"name": f"predicted_{target}", "optype": "categorical", "dataType": _label_type(program)}
    SubElement(output, "OutputField", {**attributes, "feature": "predictedValue"})
    for label in program.classes:
        SubElement(
            output,
            "OutputField",
            {
                "name": f"probability({_text(label)})",
                "optype": "continuous",
                "dataType": "double",
                "feature": "probability",
                "value": _text(label),
            },
        )


def _signs(model: Element, program: Program) -> dict[Sum, str]:
    """Derived fields that find the sign of each sum minus its limit; their names."""
    if not program.sums:
        return {}
    prefix = "sum"
    while any(name.startswith(prefix) for name in program.columns):
        prefix += "_"
    place = SubElement(model, "LocalTransformations")
    return {
        asked: pmml_sums.write_sign(place, asked, f"{prefix}{number}")
        for number, asked in enumerate(program.sums)
    }


def _tree(model: Element, graph: FlatGraph, program: Program, signs: dict[Sum, str]) -> None:
    count = 0
    waiting: list[tuple[int, Element, Condition | Sum | None]] = [(program.root, model, None)]
    while waiting:
        node, parent, condition = waiting.pop()
        made = SubElement(parent, "Node", {"id": str(count)})
        count += 1
        made.append(Element("True") if condition is None else _predicate(condition, signs))
        entry = program.nodes[node]
        if isinstance(entry, Branch):
            # The first child whose predicate holds is taken, so the other needs none.
            waiting += [(entry.no, made, None), (entry.yes, made, entry.condition)]
            continue
        made.set("score", _text(program.labels[entry]))
        made.set("recordCount", amount_text(graph.counts[node].sum()))
        if program.values:
            continue
        for label, amount, share in zip(
            program.classes, graph.counts[node].tolist(), graph.shares[node].tolist(), strict=True
        ):
            SubElement(
                made,
                "ScoreDistribution",
                {"value": _text(label), "recordCount": amount_text(amount), "probability": repr(share)},
            )


def _predicate(condition: Condition | Sum, signs: dict[Sum, str]) -> Element:
    """A condition; of a missing value, only ``isMissing`` is true."""
    if isinstance(condition, Sum):
        return _comparison(signs[condition], "lessOrEqual" if condition.includes_limit else "lessThan", "0")
    missing = Element("SimplePredicate", {"field": condition.source, "operator": "isMissing"})
    if condition.kind is Kind.IS_MISSING:
        return missing
    if condition.kind is Kind.IS_TRUE:
        asked = [_comparison(condition.source, "equal", "true")]
    elif condition.kind in (Kind.IS_LEVEL, Kind.AMONG):
        levels = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        asked = [_comparison(condition.source, "equal", _text(level)) for level in levels]
    else:
        sign = "lessThan" if condition.kind is Kind.BEFORE else "lessOrEqual"
        asked = [_comparison(condition.source, sign, repr(condition.value))]
    parts = [missing, *asked] if condition.or_missing else asked
    if len(parts) < 2:
        return parts[0] if parts else Element("False")
    either = Element("CompoundPredicate", {"booleanOperator": "or"})
    either.extend(parts)
    return either


def _comparison(field: str, operator: str, value: str) -> Element:
    return Element("SimplePredicate", {"field": field, "operator": operator, "value": value})


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
