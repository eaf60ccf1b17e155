"""The rows that a certificate is about: the same in another order, some of them, or others, and what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.certify.groups import digest_with
from treeform.certify.schema import DataPart, RowsPart
from treeform.data import Dataset
from treeform.data.columns import CATEGORY
from treeform.data.prints import Prints, order_like, prints_of, shared
from treeform.errors import CertificateError
from treeform.requirements.groups import Groups
from treeform.utils.rows import SHOWN, numbers_text, rows_note, rows_word
from treeform.utils.text import count_of, plural

DIGITS = 16
"""Hexadecimal ones of a print."""


def rows_part(data: Dataset, groups: Mapping[str, Groups]) -> dict[str, Any]:
    """What a certificate says of its rows, so that they are known again in any order."""
    prints = prints_of(data)
    return {
        "rows": {
            "in_table": data.table.n_rows,
            "digest": _in_any_order(data, groups, prints),
            "prints": prints.rows.astype(">u8").tobytes().hex(),
            "columns": {name: f"{value:0{DIGITS}x}" for name, value in prints.columns.items()},
            "of_target": prints.of_target,
        }
    }


def _in_any_order(data: Dataset, groups: Mapping[str, Groups], prints: Prints) -> str:
    """The digest of data and groups with their rows in an order of their own."""
    keys = [data.weights, data.y, prints.rows, *(one.codes for one in groups.values())]
    keys += [] if data.quantity is None else [data.quantity.deviations]
    keys += [] if data.rounding is None else [data.rounding.codes]
    keys += [np.unique(data.column(name).astype(str), return_inverse=True)[1] for name in data.exclude]
    order = np.lexsort(keys)
    return digest_with(data.taken(order), {name: one.taken(order) for name, one in groups.items()})


def in_order_of_training(
    stated: DataPart, data: Dataset, groups: dict[str, Groups]
) -> tuple[Dataset, dict[str, Groups]] | None:
    """Data and groups with their rows in the order of the certificate; None where they are not the same rows.

    Rows that agree in features and target are interchangeable: whatever else they have goes with them.

    Raises CertificateError if the rows are the same in another order, and the certificate does not tell at which
    positions they were.
    """
    if digest_with(data, groups) == stated.digest:
        return data, groups
    rows = stated.rows
    if rows is None or stated.n_samples != data.n_samples:
        return None
    prints = prints_of(data)
    if _in_any_order(data, groups, prints) != rows.digest:
        return None
    if rows.in_table != stated.n_samples:
        raise CertificateError(
            "the rows are those of the certificate in another order",
            cause="some rows of the table have weight 0, and a certificate does not tell at which positions they were",
            fix="give the table in the order in which the model was fitted on it",
        )
    order = order_like(prints.rows, words_of(rows))
    return data.taken(order).with_own_table(), {name: one.taken(order) for name, one in groups.items()}


def rows_of_training(rows: RowsPart | None, data: Dataset) -> int | None:
    """How many of these rows are equal to rows of training; None where the certificate does not tell."""
    if rows is None:
        return None
    prints = prints_of(data, rows.of_target)
    if rows.of_target and not prints.of_target:
        return None
    return int(shared(prints.rows, words_of(rows)).sum())


def words_of(rows: RowsPart) -> NDArray[np.uint64]:
    """The prints that a certificate holds."""
    return np.frombuffer(bytes.fromhex(rows.prints), dtype=">u8").astype(np.uint64)


def changes(stated: DataPart, data: Dataset) -> list[str]:
    """What differs from the rows of a certificate: rows and columns, by name. Nothing where only groups are others."""
    out = []
    if stated.n_samples != data.n_samples:
        out.append(f"{count_of(stated.n_samples, 'sample')} there, {data.n_samples} here")
    rows = stated.rows
    if rows is None:
        if stated.features != [column.name for column in data.columns]:
            out.append("other features")
        return out
    prints = prints_of(data, rows.of_target)
    here, there = ({name.removeprefix("column ") for name in one} for one in (prints.columns, rows.columns))
    out += [f"{name} is only there" for name in sorted(there - here)]
    out += [f"{name} is only here" for name in sorted(here - there)]
    out += _read_otherwise(stated.features, data)
    if out:
        return out
    new = np.flatnonzero(~shared(prints.rows, words_of(rows)))
    odd = [name for name, value in prints.columns.items() if f"{value:0{DIGITS}x}" != rows.columns[name]]
    if len(new):
        word = rows_word() if len(new) == 1 else plural(rows_word())
        places = f"{word} {numbers_text(data.kept_rows[new].tolist())}"
        what = f"in {_listed(odd)}" if odd else "since values were exchanged between rows"
        out.append(f"{count_of(len(new), 'row', 'differ')} {what} ({places}{rows_note()})")
    elif odd:
        out.append(f"other values of {_listed(odd)}")
    return out


def _read_otherwise(features: Collection[str], data: Dataset) -> Iterator[str]:
    """Columns that are one feature here and one for each level there, or the other way round."""
    for source in data.encoder.sources:
        whole = source.name in features or f"{source.name} (missing below)" in features
        if whole and source.kind == CATEGORY:
            yield (
                f"column {source.name!r} has levels without an order here, and numbers or ordered levels there: a .csv "
                "file keeps no order of levels, .parquet and .feather do"
            )
        elif not whole and source.kind != CATEGORY:
            yield f"column {source.name!r} is {source.kind} here, and has levels without an order there"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
