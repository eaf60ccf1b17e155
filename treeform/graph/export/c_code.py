"""A model as C99 without dependencies."""

from __future__ import annotations

import json

from treeform.data.columns import Level
from treeform.errors import SpecError
from treeform.graph.export.names import identifiers
from treeform.graph.export.nested import Syntax, body
from treeform.graph.export.program import Condition, Kind, Program
from treeform.graph.graph import FlatGraph

_WORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while""".split()  # noqa: SIM905
)

_IS = "is(row->"


def to_c(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_c`."""
    program = Program.of(graph, "C code")
    names = identifiers(program.columns, _WORDS)
    text = {name for name, levels in program.levels.items() if _is_text(name, levels)}
    syntax = Syntax(
        condition=lambda condition: _condition(condition, names, condition.source in text),
        leaf=lambda code: f"return {code};",
        call=lambda node: f"return node_{node}(row);",
        opening="if ({}) {{",
        otherwise="} else {",
        closing="}",
    )
    labels = ", ".join(_quoted(str(label)) for label in program.labels)
    lines = [
        "/* A decision model: predict() returns a position in model_labels, or -1 for a row that lacks a value in a",
        "   column that had none missing in training. Missing values: NaN in numbers, NULL in text. Booleans are",
        "   0 or 1, dates are days since 1970-01-01. */",
        "#include <math.h>",
        "#include <string.h>",
        "",
        f"static const char *const model_labels[] = {{{labels}}};",
        "",
        "struct model_row {",
        *(f"    {_type(name in text)}{names[name]}; /* {_comment(name)} */" for name in program.columns),
        *(["    char unused;"] if not program.columns else []),
        "};",
        "",
    ]
    functions: list[str] = []
    for node in program.bottom_up():
        if node in program.shared and node != program.root:
            functions += [
                f"static int node_{node}(const struct model_row *row) {{",
                *body(program, node, syntax),
                "}",
                "",
            ]
    checks = [f"    if ({_missing(names[name], name in text)}) return -1;" for name in program.refusing]
    body_lines = body(program, program.root, syntax)
    if any(_IS in line for line in (*functions, *body_lines)):
        lines += [
            "static int is(const char *value, const char *level) {",
            "    return value != NULL && strcmp(value, level) == 0;",
            "}",
            "",
        ]
    lines += functions
    lines += ["int predict(const struct model_row *row) {", "    (void)row;", *checks, *body_lines, "}"]
    return "\n".join(lines) + "\n"


def _is_text(name: str, levels: tuple[Level, ...]) -> bool:
    """Whether a column is text in C: categories are, unless their levels are numbers."""
    kinds = {isinstance(level, str) for level in levels}
    if len(kinds) > 1:
        raise SpecError(
            f"the column {name!r} has levels that are text and levels that are numbers",
            cause="a member of a C struct has one type",
            fix="make the column text before fitting, or export to Python or JavaScript",
        )
    return True in kinds


def _type(text: bool) -> str:
    return "const char *" if text else "double "


def _missing(name: str, text: bool) -> str:
    return f"row->{name} == NULL" if text else f"isnan(row->{name})"


def _condition(condition: Condition, names: dict[str, str], text: bool) -> str:
    name = names[condition.source]
    if condition.kind is Kind.IS_MISSING:
        return _missing(name, text)
    if condition.kind is Kind.IS_TRUE:
        asked = f"row->{name} == 1"
    elif condition.kind in (Kind.IS_LEVEL, Kind.AMONG):
        levels = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        asked = " || ".join(_equal(name, level) for level in levels) or "0"
    else:
        assert isinstance(condition.value, float)
        sign = "<" if condition.kind is Kind.BEFORE else "<="
        asked = f"row->{name} {sign} {condition.value.hex()}"  # hexadecimal: exactly this number
    return f"{_missing(name, text)} || {asked}" if condition.or_missing else asked


def _equal(name: str, level: object) -> str:
    if isinstance(level, str):
        return f"{_IS}{name}, {_quoted(level)})"
    if isinstance(level, bool | int | float):
        return f"row->{name} == {float(level).hex()}"
    raise SpecError(f"the level {level!r} has no C literal", fix="use levels that are text or numbers")


def _quoted(text: str) -> str:
    """A C string: UTF-8, with everything beyond ASCII as octal bytes."""
    return '"' + "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode("utf-8")
    ) + '"'  # fmt: skip


def _comment(name: str) -> str:
    return json.dumps(name).replace("*/", "* /")
