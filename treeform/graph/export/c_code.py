"""A model as C99 without dependencies."""

from __future__ import annotations

import json
import re

from treeform.data.columns import BOOLEAN, CATEGORY, DATE, ORDERED, Level
from treeform.errors import SpecError
from treeform.graph.export.names import identifiers
from treeform.graph.export.nested import Syntax, body
from treeform.graph.export.program import Condition, Kind, Program
from treeform.graph.export.sums import Sum, Term
from treeform.graph.graph import FlatGraph

_WORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while""".split()  # noqa: SIM905
)

_MACROS = re.compile(
    r"NULL|NAN|INFINITY|math_errhandling|linux|unix|i386|(M|FP|HUGE|MATH)_\w+|"
    r"(U?INT\w*|PTRDIFF|SIZE|SIG_ATOMIC|WCHAR|WINT)_(MIN|MAX)|DOMAIN|SING|OVERFLOW|UNDERFLOW|PLOSS|TLOSS|MAXFLOAT"
)
"""Names that the headers below and compilers replace, wherever they stand."""

_IS = "is(row->"

_SUMS = """\
/* The sign of a sum of products a[i] * b[i], without rounding: the products are added up in units of 2^-2254, as
   a whole number in digits of 32 bits. */
static void add_digits(int64_t *digits, int sign, uint64_t value, int position) {
    uint64_t low = (value & 0xffffffffu) << position % 32, high = (value >> 32) << position % 32;
    int64_t *at = digits + position / 32;
    at[0] += sign * (int64_t)(low & 0xffffffffu);
    at[1] += sign * (int64_t)((low >> 32) + (high & 0xffffffffu));
    at[2] += sign * (int64_t)(high >> 32);
}

static int sign_of_sum(int n, const double *a, const double *b) {
    int64_t digits[140] = {0}, carry = 0;
    int i, differs = 0;
    for (i = 0; i < n; ++i) {
        int p, q, sign = (a[i] < 0) != (b[i] < 0) ? -1 : 1;
        uint64_t x = (uint64_t)ldexp(frexp(fabs(a[i]), &p), 53), y = (uint64_t)ldexp(frexp(fabs(b[i]), &q), 53);
        uint64_t x0 = x & 0x7ffffff, x1 = x >> 27, y0 = y & 0x7ffffff, y1 = y >> 27;
        int position = p + q - 106 + 2254; /* at least 0: p and q are at least -1073 */
        if (x == 0 || y == 0) continue;
        add_digits(digits, sign, x0 * y0, position);
        add_digits(digits, sign, x0 * y1 + x1 * y0, position + 27);
        add_digits(digits, sign, x1 * y1, position + 54);
    }
    for (i = 0; i < 140; ++i) {
        int64_t digit = digits[i] + carry, rest = digit & 0xffffffff;
        carry = (digit - rest) / 4294967296;
        differs |= rest != 0;
    }
    return carry < 0 ? -1 : differs || carry > 0;
}
"""


def to_c(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_c`."""
    program = Program.of(graph)
    names = identifiers(program.columns, lambda word: word in _WORDS or bool(_MACROS.fullmatch(word)))
    text = {name for name, levels in program.levels.items() if _is_text(name, levels)}
    values = bool(program.values)
    syntax = Syntax(
        condition=lambda condition: _condition(condition, names, text),
        leaf=lambda code: f"return {_literal(program.labels[code]) if values else code};",
        call=lambda node: f"return node_{node}(row);",
        opening="if ({}) {{",
        otherwise="} else {",
        closing="}",
    )
    labels = ", ".join(_quoted(str(label)) for label in program.labels)
    types = {name: "const char *" if name in text else "double " for name in program.columns}
    kind, none = ("double", "NAN") if values else ("int", "-1")
    returned = "a number, or NAN" if values else "a position in model_labels, or -1"
    lines = [
        f"/* A decision model: predict() returns {returned} for a row that lacks a value in a",
        "   column that had none missing in training. Missing values: NaN in numbers, NULL in text. Booleans are",
        "   0 or 1, dates are days since 1970-01-01. */",
        "#include <math.h>",
        *(["#include <stdint.h>"] if program.sums else []),
        "#include <string.h>",
        "",
        *([] if values else [f"const char *const model_labels[] = {{{labels}}};", ""]),
        "struct model_row {",
        *(f"    {types[name]}{names[name]}; /* {json.dumps(name).replace('*/', '* /')} */" for name in program.columns),
        *(["    char unused;"] if not program.columns else []),
        "};",
        "",
    ]
    functions: list[str] = []
    for node in program.bottom_up():
        if node in program.shared and node != program.root:
            functions += [
                f"static {kind} node_{node}(const struct model_row *row) {{",
                *body(program, node, syntax),
                "}",
                "",
            ]
    checks = [f"    if ({_missing(names[name], name in text)}) return {none};" for name in program.refusing]
    body_lines = body(program, program.root, syntax)
    lines += [*_SUMS.splitlines(), ""] if program.sums else []
    if any(_IS in line for line in (*functions, *body_lines)):
        lines += [
            "static int is(const char *value, const char *level) {",
            "    return value != NULL && strcmp(value, level) == 0;",
            "}",
            "",
        ]
    lines += functions
    lines += [f"{kind} predict(const struct model_row *row) {{", "    (void)row;", *checks, *body_lines, "}"]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    """A double in hexadecimal: exactly this number."""
    assert isinstance(value, float)
    return value.hex()


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


def _missing(name: str, text: bool) -> str:
    return f"row->{name} == NULL" if text else f"isnan(row->{name})"


def _condition(condition: Condition | Sum, names: dict[str, str], text_columns: set[str]) -> str:
    if isinstance(condition, Sum):
        return _sum(condition, names, text_columns)
    name, text = names[condition.source], condition.source in text_columns
    if condition.kind is Kind.IS_MISSING:
        return _missing(name, text)
    if condition.kind is Kind.IS_TRUE:
        asked = f"row->{name} == 1"
    elif condition.kind in (Kind.IS_LEVEL, Kind.AMONG):
        levels = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        asked = " || ".join(_equal(name, level) for level in levels) or "0"
    else:
        sign = "<" if condition.kind is Kind.BEFORE else "<="
        asked = f"row->{name} {sign} {_literal(condition.value)}"
    return f"{_missing(name, text)} || {asked}" if condition.or_missing else asked


def _sum(condition: Sum, names: dict[str, str], text: set[str]) -> str:
    """Two arrays of factors: of the terms, and of what they are compared with."""
    terms = [_term(term, names[term.column.source], term.column.source in text) for term in condition.terms]
    values = [*terms, *(b.hex() for _, b in condition.limit)]
    weights = [*(term.weight.hex() for term in condition.terms), *((-a).hex() for a, _ in condition.limit)]
    arrays = [f"(const double[]){{{', '.join(numbers)}}}" for numbers in (weights, values)]
    return f"sign_of_sum({len(weights)}, {', '.join(arrays)}) {'<=' if condition.includes_limit else '<'} 0"


def _term(term: Term, name: str, text: bool) -> str:
    """What a feature reads, as a number."""
    column = term.column
    if column.kind == BOOLEAN:
        return f"row->{name} == 1"
    if column.kind == CATEGORY:
        return _missing(name, text) if column.category is None else _equal(name, column.category)
    if column.kind == ORDERED:
        positions = [f"{_equal(name, level)} ? {at}" for at, level in enumerate(column.levels)]
        return " : ".join([*positions, "-1"])
    return f"floor(row->{name})" if column.kind == DATE else f"row->{name}"


def _equal(name: str, level: object) -> str:
    if isinstance(level, str):
        return f"{_IS}{name}, {_quoted(level)})"
    if isinstance(level, bool | int | float) and float(level) == level:
        return f"row->{name} == {float(level).hex()}"
    raise SpecError(
        f"the level {level!r} has no C literal",
        cause="columns of numbers are doubles in C, and no double is this level",
        fix="make the column text before fitting, or export to Python or JavaScript",
    )


def _quoted(text: str) -> str:
    """A C string: UTF-8, with everything beyond ASCII as octal bytes."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SpecError(
            f"{text!r} cannot be written in C",
            cause=f"UTF-8 has no {error.reason}",
            fix="rename it before fitting",
        ) from None
    return '"' + "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in content
    ) + '"'  # fmt: skip
