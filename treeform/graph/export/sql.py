"""A model as an SQL expression, in the dialect of a database."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
from sqlglot import Dialect, errors, exp
from sqlglot.dialects.dialect import Dialects

from treeform.data.columns import ORIGIN
from treeform.errors import SpecError, did_you_mean
from treeform.graph.export import sql_sums
from treeform.graph.export.program import Branch, Condition, Kind, Program, check_size
from treeform.graph.export.sums import Sum
from treeform.graph.graph import FlatGraph
from treeform.utils.arrays import Floats
from treeform.utils.rows import setting_text

_SHOWN = 10
_TRANSACT_SQL = ("tsql", "fabric")
_EXACT = "Latin1_General_100_BIN2"  # a collation of SQL Server that compares code points
MOST_NODES = 20_000  # of an expression, in which shared nodes are written out for each way to them


def to_sql(
    graph: FlatGraph,
    table: str | None,
    dialect: str,
    keep: tuple[str, ...],
    column: str,
    encoded: Floats | None,
) -> str:
    """See `DecisionGraph.to_sql`; the rows are encoded."""
    program = Program.of(graph)
    if encoded is not None:
        _check_decided(graph, encoded)
    known = _dialects()
    if dialect not in known:
        raise SpecError(
            f"the SQL dialect {dialect!r} is not known",
            cause=f"known are {', '.join(sorted(known))}",
            fix=did_you_mean(dialect, known) or f"use for example {setting_text('dialect', 'postgres')}",
        )
    for name, what in [(table, "table"), (column, "column"), *((name, "keep") for name in keep)]:
        if not isinstance(name, str) and not (name is None and what == "table"):
            raise SpecError(f"{what}={name!r} is no name", fix=f"give text, for example {what}='applicants'")
    try:
        source = None if table is None else _source(table, dialect)
    except errors.SqlglotError as error:
        raise SpecError(
            f"{setting_text('table', table)} is no name of a table",
            cause=str(error).splitlines()[0],
            fix=f"give for example {setting_text('table', 'applicants')} or {setting_text('table', 'bank.applicants')}",
        ) from None
    check_size(program, "an SQL expression", MOST_NODES)
    made: dict[int, Any] = {}
    present = program.present()
    for node in program.bottom_up():
        entry = program.nodes[node]
        if isinstance(entry, Branch):
            yes, no = made[entry.yes].copy(), made[entry.no].copy()
            made[node] = _choice(entry.condition, yes, no, present[node])
        else:
            made[node] = _literal(program.labels[entry], dialect)
    answer = made[program.root]
    if dialect in _TRANSACT_SQL:
        answer = _in_transact_sql(answer)
    elif dialect == "sqlite":
        answer = _in_sqlite(answer)
    if program.refusing:
        lacking = exp.or_(*(_column(name).is_(exp.null()) for name in program.refusing))
        answer = exp.Case(ifs=[exp.If(this=lacking, true=exp.null())], default=answer)
    if source is None:
        return str(answer.sql(dialect=dialect, pretty=True)) + "\n"
    chosen = [*(_column(name) for name in keep), exp.alias_(answer, column, quoted=True)]
    return str(exp.select(*chosen).from_(source).sql(dialect=dialect, pretty=True)) + "\n"


def _source(table: str, dialect: str) -> Any:
    """The table, its reserved words in quotes: in the case that the database gives to names without quotes."""
    source = exp.to_table(table)
    read = Dialect.get_or_raise(dialect)
    for name in source.parts:
        if name.this.lower() in _reserved():
            read.normalize_identifier(name).set("quoted", True)
    return source


def _check_decided(graph: FlatGraph, encoded: Floats) -> None:
    """Refuse a model for whose hyperplanes rounding could decide about some of the rows."""
    reached = graph.route(encoded)
    open_rows: set[int] = set()
    for test in graph.tests():
        if test.form is None or test.passes:
            continue
        asked = Sum.of(0, test.form, graph.columns, test.threshold)
        rows = np.flatnonzero(reached[:, test.node])
        open_rows |= set(rows[sql_sums.undecided(asked, encoded[rows][:, list(test.form.features)])].tolist())
    if open_rows:
        raise SpecError(
            f"SQL has no answer for {len(open_rows)} of the rows",
            cause="their weighted sums are so close to a threshold that double precision could decide otherwise; "
            f"rows (counted from 0): {', '.join(map(str, sorted(open_rows)[:_SHOWN]))}",
            fix="export to Python, C, JavaScript or ONNX, which add up exactly",
        )


def _choice(condition: Condition | Sum, yes: Any, no: Any, present: frozenset[str]) -> Any:
    if not isinstance(condition, Sum):
        return exp.Case(ifs=[exp.If(this=_condition(condition, present), true=yes)], default=no)
    sides = [exp.If(this=exp.Literal.number(at), true=way) for at, way in ((1, yes), (0, no))]
    return exp.Case(this=sql_sums.side(condition), ifs=sides)


def _condition(condition: Condition, present: frozenset[str]) -> Any:
    x = _column(condition.source)
    absent = x.is_(exp.null())
    if condition.kind is Kind.IS_MISSING:
        return absent
    if condition.kind is Kind.IS_TRUE:
        asked: Any = exp.EQ(this=x, expression=exp.true())
    elif condition.kind is Kind.IS_LEVEL:
        asked = exp.EQ(this=x, expression=exp.convert(condition.value))
    elif condition.kind is Kind.AMONG:
        assert isinstance(condition.value, tuple)
        asked = x.isin(*condition.value) if condition.value else exp.false()
    elif condition.kind in (Kind.BEFORE, Kind.UNTIL):
        assert isinstance(condition.value, float)
        asked = _date(x, condition.kind, condition.value)
    else:
        asked = exp.LTE(this=x, expression=exp.cast(exp.Literal.number(repr(condition.value)), "double"))
    may_lack = condition.or_missing and condition.source not in present
    return exp.or_(absent, asked) if may_lack else asked


def _date(x: Any, kind: Kind, days: float) -> Any:
    if kind is Kind.BEFORE:
        return exp.LT(
            this=x, expression=exp.cast(exp.Literal.string(_moment(days).date().isoformat()), "date")
        )
    # Not "<=" with the last one: SQLite compares dates as text, in which 12:00:00 comes before 12:00:00.000.
    moment = _after(days).isoformat(sep=" ")
    return exp.LT(this=x, expression=exp.cast(exp.Literal.string(moment), "timestamp"))


def _in_transact_sql(answer: Any) -> Any:
    """Text compared letter by letter, since most collations take A for a; text beyond ASCII with the prefix N.

    Without the prefix, characters that the database's code page does not have become question marks.
    """
    answer = answer.copy()
    for asked in list(answer.find_all(exp.EQ, exp.In)):
        levels = asked.expressions if isinstance(asked, exp.In) else [asked.expression]
        if isinstance(asked.this, exp.Column) and all(level.is_string for level in levels):
            asked.set("this", exp.Collate(this=asked.this.copy(), expression=exp.var(_EXACT)))

    def national(node: Any) -> Any:
        beyond = isinstance(node, exp.Literal) and node.is_string and not node.this.isascii()
        return exp.National(this=node.this) if beyond else node

    return answer.transform(national)


def _in_sqlite(answer: Any) -> Any:
    """Dates as text, for its functions drop fractions of seconds; 1 and 0, for a column may be called "true"."""

    def plain(node: Any) -> Any:
        if isinstance(node, exp.Boolean):
            return exp.Literal.number(int(node.this))
        is_date = isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string
        return node.this if is_date else node

    return answer.transform(plain)


def _moment(days: float) -> datetime:
    """So many days after 1970-01-01, to the nearest microsecond, or the first or last moment that has a date."""
    try:
        return ORIGIN + timedelta(days=days)
    except OverflowError:
        return datetime.max if days > 0 else datetime.min


def _after(days: float) -> datetime:
    """The first microsecond that is later than so many days after 1970-01-01."""
    microsecond = timedelta(microseconds=1)
    moment = max(_moment(days), datetime.min + microsecond) - microsecond
    while moment < datetime.max and (moment - ORIGIN) / timedelta(days=1) <= days:
        moment += microsecond
    return moment


def _column(name: str) -> Any:
    return exp.column(name, quoted=True)


def _literal(label: object, dialect: str) -> Any:
    """A label; a double is cast, since databases read decimals as exact numbers of another type."""
    if isinstance(label, bool) and dialect in _TRANSACT_SQL:  # true is no value that a query can return
        return exp.cast(exp.Literal.number(int(label)), "bit")
    if isinstance(label, float):
        return exp.cast(exp.Literal.number(repr(label)), "double")
    return exp.convert(label if isinstance(label, str | bool | int) else str(label))


@cache
def _reserved() -> frozenset[str]:
    """The words that some database reserves; sqlglot lists none for PostgreSQL, SQLite, Snowflake and T-SQL."""
    words = (Dialect.get_or_raise(name).generator_class.RESERVED_KEYWORDS for name in _dialects())
    return frozenset(word.strip().lower() for one in words for word in one)


def _dialects() -> set[str]:
    return {dialect.value for dialect in Dialects if dialect.value}
