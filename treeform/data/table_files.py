"""Table files: CSV in the user's form, Parquet and Feather, from disk or from stdin; and tables as output files.

A table that is too large is refused before it is parsed.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import pandas as pd

from treeform.data.text_numbers import NO_VALUE
from treeform.errors import DataError, SpecError, TreeformWarning
from treeform.utils.files import is_special, reason, write_bytes
from treeform.utils.machine import physical_memory
from treeform.utils.rows import BY_LINE
from treeform.utils.text import count_of

CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SUFFIXES = (*CSV_SUFFIXES, ".parquet", ".feather")
STDIN = "-"
# From pandas 3.1 on, numbers are read exactly anyway and asking for it is deprecated.
_EXACT_BY_DEFAULT = [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
EXACT_FLOATS: dict[str, Any] = {} if _EXACT_BY_DEFAULT else {"float_precision": "round_trip"}
_PART = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class CsvForm:
    """How CSV files are written."""

    sep: str | None = None
    """What stands between cells; None: a comma, and a tab where the name ends in ``.tsv``."""
    decimal: str = "."
    encoding: str | None = None
    """None: UTF-8, and UTF-16 where the file begins with its mark."""

    @classmethod
    def of(cls, sep: str | None, decimal: str | None, encoding: str | None) -> CsvForm:
        """Check the options of the command line. Raises SpecError if one of them is not possible."""
        sep = {"tab": "\t", "\\t": "\t", "space": " "}.get(sep or "", sep)
        if sep is not None and len(sep) != 1:
            raise SpecError(
                f"--sep {sep!r} is not one character", fix="use for example --sep ';' or --sep tab"
            )
        if decimal not in (None, ".", ","):
            raise SpecError(f"--decimal {decimal!r} is not known", fix="use . or ,")
        if decimal == "," and sep in (None, ","):
            raise SpecError(
                "--decimal , needs another separator of cells",
                cause="a comma cannot be both",
                fix="add --sep ';' or --sep tab",
            )
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise SpecError(
                    f"--encoding {encoding!r} is not known", fix="use for example latin-1, cp1252 or utf-16"
                ) from None
        return cls(sep, decimal or ".", encoding)

    def separator(self, path: Path) -> str:
        """What stands between cells of this file."""
        return self.sep or ("\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ",")


USUAL = CsvForm()
_form: ContextVar[CsvForm] = ContextVar("csv form", default=USUAL)


@contextmanager
def csv_form(form: CsvForm) -> Iterator[None]:
    """Within the block, CSV files are read like this."""
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)


def read_table(path: Path, text: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table from a file, or CSV from stdin for ``-``; columns in ``text`` are not read as numbers.

    Empty cells are missing values. Text such as ``NA`` or ``?`` is one only in a column whose other values
    are numbers; elsewhere it is a level like any other.

    Raises DataError if the file is missing, unreadable, in another encoding, empty, ragged, or its header is unusable.
    """
    name = path.name.lower()
    if str(path) != STDIN:
        if not name.endswith(SUFFIXES):
            raise DataError(
                f"{path} is not a kind of table that treeform reads",
                cause=f"the name ends in none of {', '.join(SUFFIXES)}",
                fix="convert it, or rename it when it is one of these; - reads CSV from stdin",
            )
        try:
            _check_there(path)
        except OSError as error:
            raise _refused(path, error) from error
    arrow = name.endswith((".parquet", ".feather"))
    frame = _read_arrow(path) if arrow else _read_csv(path, text, _form.get())
    if frame.empty:
        raise DataError(
            f"{path} holds no {'columns' if not len(frame.columns) else 'rows'}",
            cause="there is nothing below the header" if len(frame.columns) else "the table is empty",
            fix="give a table with one line for each sample",
        )
    return frame


def _check_there(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder", cause="a table is a file", fix="name a file in it")
    if path.exists():
        return
    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1)
    raise DataError(
        f"there is no file {path}",
        cause=None if path.parent.is_dir() else f"there is no folder {path.parent}",
        fix=f"did you mean {path.with_name(close[0])}?" if close else "check the path",
    )


def _read_arrow(path: Path) -> pd.DataFrame:
    read = pd.read_parquet if path.name.lower().endswith(".parquet") else pd.read_feather
    try:
        frame = read(path)
    except ImportError as error:
        raise DataError(
            f"{path} cannot be read",
            cause="no reader of Parquet and Feather is installed",
            fix="pip install 'treeform[parquet]'",
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read", cause=_first_line(error), fix="write the file again"
        ) from error
    frame.columns = [str(column) for column in frame.columns]
    _check_header(path, list(frame.columns), None)
    return frame


def _read_csv(path: Path, text: Iterable[str], form: CsvForm) -> pd.DataFrame:
    sep, header = form.separator(path), None
    try:
        with _open_bytes(path) as raw:
            check_size(path, raw)
        _refuse_nul(path, form)
        with _open(path, form) as stream:
            rows = csv.reader(stream, strict=True, delimiter=sep)
            header = next(rows, None)
            first = next(rows, None)
        if header is None or not any(cell.strip() for cell in header):
            raise DataError(
                f"{path} is empty", cause="it has no header line", fix="give a table with a header"
            )
        _check_header(path, header, sep)
        _check_width(path, header, first, sep)
        with _open(path, form) as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                stream,
                sep=sep,
                decimal=form.decimal,
                keep_default_na=False,
                na_values=[""],
                low_memory=False,
                index_col=False,
                **EXACT_FLOATS,
                dtype={column: str for column in text if column in header},
            )
    except UnicodeError as error:
        raise _wrong_encoding(path, form, error) from error
    except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise _irregular(path, _first_line(error), header, sep) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is not a whole gzip file", cause=_first_line(error), fix="compress or download it again"
        ) from error
    except OSError as error:
        raise _refused(path, error) from error
    return _numbers_with_gaps(frame, set(text))


def _refused(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be read", cause=reason(error), fix="name a file that may be read")


def _refuse_nul(path: Path, form: CsvForm) -> None:
    """Refuse the character of code 0, which parsers drop, and what follows it in the cell with it."""
    line = 1
    with _open(path, form) as stream:
        while part := stream.read(_PART):
            at = part.find("\0")
            if at >= 0:
                line += part.count("\n", 0, at)
                raise DataError(
                    f"{path} holds a NUL byte in line {line}",
                    cause="text has none: the file is damaged, or in UTF-16 without a mark",
                    fix="write the file again, or name its encoding with --encoding utf-16",
                )
            line += part.count("\n")


def _open(path: Path, form: CsvForm) -> IO[str]:
    with _open_bytes(path) as stream:
        mark = stream.read(2)
    encoding = form.encoding or _MARKS.get(mark, "utf-8-sig")
    return io.TextIOWrapper(_open_bytes(path), encoding=encoding, newline="")


def _open_bytes(path: Path) -> IO[bytes]:
    if str(path) == STDIN:
        return io.BytesIO(_stdin())
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


@cache
def _stdin() -> bytes:
    """All of stdin, which can be read only once."""
    return sys.stdin.buffer.read()


def _check_header(path: Path, header: Sequence[str], sep: str | None) -> None:
    check_columns(path, len(header))
    if "" in [name.strip() for name in header]:
        raise DataError(
            f"column {[name.strip() for name in header].index('') + 1} of {path} has no name",
            cause="often this is a row index that was written along with the table",
            fix="drop the column (in pandas: to_csv(..., index=False)) or give it a name",
        )
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        places = [index + 1 for index, name in enumerate(header) if name == repeated[0]]
        raise DataError(
            f"{path} has {count_of(len(places), 'column')} named {repeated[0]!r}",
            cause=f"columns {', '.join(map(str, places))} have the same name"
            + (f" (also repeated: {', '.join(map(repr, repeated[1:5]))})" if repeated[1:] else ""),
            fix="give every column a name of its own",
        )
    other = _other_separator(header, sep)
    if sep is not None and len(header) == 1 and other:
        raise DataError(
            f"{path} seems to be separated by {other!r}",
            cause=f"the header is a single cell when it is split at {sep!r}",
            fix=f"add --sep {_word(other)}",
        )


def _other_separator(header: Sequence[str], sep: str | None) -> str | None:
    """A mark that the cells of the header hold at least as often as there are cells."""
    text = "".join(header)
    return next((mark for mark in ",;\t|" if mark != sep and text.count(mark) >= len(header)), None)


def _word(sep: str) -> str:
    return "tab" if sep == "\t" else repr(sep)


def _check_width(path: Path, header: Sequence[str], first: Sequence[str] | None, sep: str) -> None:
    if first and len(first) != len(header):
        cause = f"the header has {count_of(len(header), 'cell')} and the first {BY_LINE.word} has {len(first)}"
        raise _irregular(path, cause, header, sep)


def _irregular(path: Path, cause: str, header: Sequence[str] | None, sep: str) -> DataError:
    other = _other_separator(header, sep) if header else None
    fix = "every line needs as many cells as the header; quote cells that hold the separator"
    fix += f", or add --sep {_word(other)}" if other else ""
    return DataError(f"{path} is not a regular table", cause=cause, fix=fix)


def _wrong_encoding(path: Path, form: CsvForm, error: UnicodeError) -> DataError:
    """Find the first line that is not UTF-8, since a parser reports a byte offset only."""
    if form.encoding is not None:
        return DataError(
            f"{path} is not {form.encoding}", cause=str(error), fix="name its encoding with --encoding"
        )
    place = "somewhere"
    with _open_bytes(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as found:
                place = f"in line {number}, byte {found.start + 1} (0x{line[found.start]:02x})"
                break
    return DataError(
        f"{path} is not UTF-8",
        cause=f"the first wrong byte is {place}; the file is probably Latin-1 or Windows-1252",
        fix="name its encoding, such as --encoding cp1252 or --encoding utf-16",
    )


def _numbers_with_gaps(frame: pd.DataFrame, text: set[str]) -> pd.DataFrame:
    """Columns of numbers in which some cells say NA or ? become numbers with missing values."""
    for column in frame.columns:
        values = frame[column]
        if column in text or pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            continue
        gaps = values.astype(str).str.strip().isin(NO_VALUE)
        if not gaps.any() or gaps.all():
            continue
        numbers = pd.to_numeric(values.where(~gaps), errors="coerce")
        if numbers.notna().equals(values.notna() & ~gaps):
            frame[column] = numbers
    return frame


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].removeprefix("Error tokenizing data. C error: ")


LONGEST_LINE = 1 << 26
"""Bytes of a line."""
MOST_COLUMNS = 100_000
MEMORY_PER_BYTE = 3
"""Bytes of memory that a byte of CSV needs at least while it is read: the text, its cells, and the columns."""


def check_columns(path: Path, columns: int) -> None:
    """Refuse a table of more than `MOST_COLUMNS`. Raises DataError."""
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{path} has {columns:,} columns",
            cause=f"treeform reads tables of at most {MOST_COLUMNS:,}",
            fix="keep the columns that tests may use",
        )


def check_size(path: Path, stream: IO[bytes]) -> None:
    """Refuse what would fill the memory before it is parsed: one endless line, or more than the machine holds.

    ``path``: for messages. ``stream``: the text, unpacked. Raises DataError.
    """
    total, line, here = 0, 0, physical_memory()
    while chunk := stream.read(1 << 20):
        total += len(chunk)
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        longest = line + (first if first >= 0 else len(chunk))
        line = line + len(chunk) if first < 0 else len(chunk) - 1 - last
        if longest > LONGEST_LINE:
            raise DataError(
                f"{path} is not a regular table",
                cause=f"it has a line of more than {LONGEST_LINE >> 20} megabytes",
                fix="write one line for each row",
            )
        if total * MEMORY_PER_BYTE > here:
            raise DataError(
                f"{path} is too large for this machine",
                cause=f"it holds more than {total >> 20} megabytes of text, which take at least "
                f"{MEMORY_PER_BYTE} times as much to read, and the machine has {here >> 20} megabytes",
                fix="leave out columns, draw some of its rows, or use a machine with more memory",
            )


def check_kind(path: Path) -> None:
    """Check, before the work begins, that a table can be written in the format of the name.

    Raises SpecError if the name ends otherwise, or nothing here writes Parquet.
    """
    name = path.name.lower()
    if is_special(path.resolve()):
        return
    if not name.endswith(SUFFIXES):
        named = path.with_suffix(".csv") if path.stem.strip("-") else "table.csv"
        raise SpecError(
            f"{path} is not a kind of table that treeform writes",
            cause=f"the name ends in none of {', '.join(SUFFIXES)}",
            fix=f"write to {named}",
        )
    if name.endswith((".parquet", ".feather")) and not (find_spec("pyarrow") or find_spec("fastparquet")):
        raise SpecError(
            f"{path} cannot be written",
            cause="no writer of Parquet and Feather is installed",
            fix="pip install 'treeform[parquet]', or write a .csv",
        )


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table whose name `check_kind` has accepted.

    Text that a spreadsheet would run as a formula is kept, so that it can be read again; a warning names its columns.
    Raises SpecError if it cannot be written, or holds values that the format cannot.
    """
    name = path.name.lower()
    if name.endswith((".parquet", ".feather")):
        stream = io.BytesIO()
        try:
            table.to_parquet(stream, index=False) if name.endswith(".parquet") else table.to_feather(stream)
        except (ValueError, TypeError) as error:  # labels of several types in one column
            raise SpecError(
                f"{path} cannot be written",
                cause=f"the format cannot hold these labels: {str(error).splitlines()[0]}",
                fix="write a .csv",
            ) from error
        write_bytes(path, stream.getvalue())
        return
    if run := [str(name) for name, cells in table.items() if any(map(_is_formula, (name, *cells.unique())))]:
        what = f"{path} holds text that a spreadsheet runs as a formula, in {', '.join(run)}: import it as text"
        warnings.warn(what, TreeformWarning, stacklevel=2)
    sep = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    raw = table.to_csv(index=False, lineterminator="\n", sep=sep).encode("utf-8")
    write_bytes(path, gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)


def _is_formula(cell: object) -> bool:
    """Whether a spreadsheet runs this text when it opens the file: a sign before a number is none, nor one alone."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return False
    if not any(map(str.isalnum, cell)):
        return False
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return True
    return False
