"""Tables as output files: CSV, compressed CSV and Parquet, by the end of the name."""

from __future__ import annotations

import gzip
import io
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from treeform.data.table_files import SUFFIXES
from treeform.errors import SpecError
from treeform.utils.files import is_special, write_bytes


def check_kind(path: Path) -> None:
    """Make sure, before the work begins, that a table can be written in the format of the name.

    Raises SpecError if the name ends otherwise, or nothing here writes Parquet.
    """
    name = path.name.lower()
    if is_special(path.resolve()):
        return
    if not name.endswith(SUFFIXES):
        raise SpecError(
            f"{path} is not a kind of table that treeform writes",
            cause=f"the name ends in none of {', '.join(SUFFIXES)}",
            fix=f"write to {path.with_suffix('.csv')}",
        )
    if name.endswith((".parquet", ".feather")) and not (find_spec("pyarrow") or find_spec("fastparquet")):
        raise SpecError(
            f"{path} cannot be written",
            cause="no writer of Parquet and Feather is installed",
            fix="pip install 'treeform[parquet]', or write a .csv",
        )


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table whose name `check_kind` has accepted.

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
    sep = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    raw = table.to_csv(index=False, lineterminator="\n", sep=sep).encode("utf-8")
    write_bytes(path, gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
