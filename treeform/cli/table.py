"""Tables from disk: what a CSV may look like, and what is wrong with one that cannot be used."""

from __future__ import annotations

import csv
import difflib
import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd

from treeform.data.rows import BY_LINE
from treeform.errors import DataError, SpecError, did_you_mean

SUFFIXES = (".csv", ".csv.gz", ".parquet")
# Text that stands for "no value" in a column that otherwise holds numbers only.
MISSING = {"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", "."}
WHERE = BY_LINE.word
# From pandas 3.1 on, numbers are read exactly anyway and asking for it is deprecated.
_EXACT_BY_DEFAULT = [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
EXACT_FLOATS: dict[str, Any] = {} if _EXACT_BY_DEFAULT else {"float_precision": "round_trip"}


def read_table(path: Path, text: Iterable[str] = ()) -> pd.DataFrame:
    """Read a ``.csv``, ``.csv.gz`` or ``.parquet`` file; columns in ``text`` are not read as numbers.

    Empty cells are missing values. Text such as ``NA`` or ``?`` is one only in a column whose other values
    are numbers; elsewhere it is a level like any other.

    Raises
    ------
    DataError
        If the file is missing, unreadable, not UTF-8, empty, ragged, or its header is unusable.
    """
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        raise DataError(
            f"{path} is not a kind of table that treeform reads",
            cause=f"the name ends in none of {', '.join(SUFFIXES)}",
            fix="convert it, or rename it when it is one of these",
        )
    _check_there(path)
    frame = _read_parquet(path) if name.endswith(".parquet") else _read_csv(path, text)
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


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise DataError(
            f"{path} cannot be read",
            cause="no parquet reader is installed",
            fix="pip install 'treeform[parquet]'",
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read", cause=_first_line(error), fix="write the file again"
        ) from error
    frame.columns = [str(column) for column in frame.columns]
    _check_header(path, list(frame.columns))
    return frame


def _read_csv(path: Path, text: Iterable[str]) -> pd.DataFrame:
    try:
        with _open(path) as stream:
            rows = csv.reader(stream, strict=True)
            header = next(rows, None)
            first = next(rows, None)
        if header is None or not any(cell.strip() for cell in header):
            raise DataError(
                f"{path} is empty", cause="it has no header line", fix="give a table with a header"
            )
        _check_header(path, header)
        _check_width(path, header, first)
        with _open(path) as stream, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                stream,
                keep_default_na=False,
                na_values=[""],
                low_memory=False,
                index_col=False,
                **EXACT_FLOATS,
                dtype={column: str for column in text if column in header},
            )
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise DataError(
            f"{path} is not a regular table",
            cause=_first_line(error),
            fix="every line needs as many cells as the header; quote cells that hold a comma",
        ) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is not a whole gzip file", cause=_first_line(error), fix="compress or download it again"
        ) from error
    except OSError as error:
        raise DataError(
            f"{path} cannot be read", cause=error.strerror or str(error), fix="name a file that may be read"
        ) from error
    return _numbers_with_gaps(frame, set(text))


def _open(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _check_header(path: Path, header: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        places = [index + 1 for index, name in enumerate(header) if name == repeated[0]]
        raise DataError(
            f"{path} has {len(places)} columns named {repeated[0]!r}",
            cause=f"columns {', '.join(map(str, places))} have the same name"
            + (f" (also repeated: {', '.join(map(repr, repeated[1:5]))})" if repeated[1:] else ""),
            fix="give every column a name of its own",
        )
    if "" in [name.strip() for name in header]:
        raise DataError(
            f"column {[name.strip() for name in header].index('') + 1} of {path} has no name",
            cause="often this is a row index that was written along with the table",
            fix="drop the column (in pandas: to_csv(..., index=False)) or give it a name",
        )
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        mark = next(mark for mark in ";\t|" if mark in header[0])
        raise DataError(
            f"{path} seems to be separated by {mark!r}",
            cause="the header is a single cell when it is split at commas",
            fix="separate cells by commas",
        )


def _check_width(path: Path, header: Sequence[str], first: Sequence[str] | None) -> None:
    if first and len(first) != len(header):
        raise DataError(
            f"{path} is not a regular table",
            cause=f"the header has {len(header)} cells and the first {WHERE} has {len(first)}",
            fix="every line needs as many cells as the header; quote cells that hold a comma",
        )


def _not_utf8(path: Path) -> DataError:
    """Find the first line that is not UTF-8, since a parser's byte offset helps nobody."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    place = "somewhere"
    with opener(path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                place = f"in line {number}, byte {error.start + 1} (0x{line[error.start]:02x})"
                break
    return DataError(
        f"{path} is not UTF-8",
        cause=f"the first wrong byte is {place}; the file is probably Latin-1 or Windows-1252",
        fix=f"convert it: iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8.csv",
    )


def _numbers_with_gaps(frame: pd.DataFrame, text: set[str]) -> pd.DataFrame:
    """Columns of numbers in which some cells say NA or ? become numbers with missing values."""
    for column in frame.columns:
        values = frame[column]
        if column in text or pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            continue
        gaps = values.astype(str).str.strip().isin(MISSING)
        if not gaps.any() or gaps.all():
            continue
        numbers = pd.to_numeric(values.where(~gaps), errors="coerce")
        if numbers.notna().equals(values.notna() & ~gaps):
            frame[column] = numbers
    return frame


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].removeprefix("Error tokenizing data. C error: ")


def take_column(frame: pd.DataFrame, column: str, role: str, source: Path) -> pd.Series:
    """The column that plays ``role`` (target, weight, …).

    Raises
    ------
    DataError
        If there is none of that name; the message names the closest.
    """
    if column in frame.columns:
        return frame[column]
    raise DataError(
        f"{source} has no column {column!r}",
        cause=f"it was named as the {role}; the columns are {listing(frame.columns)}",
        fix=did_you_mean(column, frame.columns, others=2)
        or f"name the {role} column as the header spells it",
    )


def listing(names: Iterable[Any], limit: int = 12) -> str:
    """Names for a message: the first few, and how many more."""
    shown = [str(name) for name in names]
    more = f", … ({len(shown) - limit} more)" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more


def split(
    frame: pd.DataFrame, *, target: str, weight: str | None, exclude: Sequence[str], source: Path
) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Features, target and weights. Excluded columns stay in the table, since requirements may name them.

    Raises
    ------
    DataError
        If a column that is named does not exist, or target or weight cannot be what they are named for.
    SpecError
        If one column is named for two roles.
    """
    y = take_column(frame, target, "target", source)
    for column in exclude:
        take_column(frame, column, "excluded", source)
    if target in exclude or target == weight:
        raise SpecError(
            f"the column {target!r} is named twice",
            cause=f"it is the target and also {'excluded' if target in exclude else 'the weight'}",
            fix="the target is never a feature: leave it out of the other options",
        )
    _check_target(y, target)
    weights = None if weight is None else _weights(take_column(frame, weight, "weight", source), weight)
    features = frame.drop(columns=[target, *([weight] if weight else [])])
    if not len(features.columns.difference(list(exclude))):
        raise DataError(
            f"{source} has no feature columns",
            cause=f"without {', '.join(c for c in [target, weight, *exclude] if c)} nothing is left",
            fix="give a table with at least one column that tests may use",
        )
    return features, y, weights


def _check_target(y: pd.Series, name: str) -> None:
    """A column of many distinct fractions is a measurement and no class."""
    numeric = pd.api.types.is_float_dtype(y)
    known = y.dropna()
    if numeric and known.nunique() > 20 and (known % 1 != 0).any():
        raise DataError(
            f"the target {name!r} is a measurement, not a class",
            cause=f"it holds {known.nunique()} distinct numbers such as {known.iloc[0]!r}",
            fix="treeform learns classifiers: cut the target into classes, or name another column",
        )


def _weights(values: pd.Series, name: str) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    first = int((numbers.isna()).to_numpy().argmax())
    raise DataError(
        f"the weight column {name!r} is not numeric",
        cause=f"{WHERE} {first + 1} says {values.iloc[first]!r}",
        fix="weights are non-negative numbers",
    )
