"""Class labels: any hashable values to codes and back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.exact import plain
from treeform.data.text_dates import date_orders
from treeform.errors import DataError
from treeform.utils.arrays import Ints
from treeform.utils.rows import row_text, rows_note, setting_text
from treeform.utils.text import count_of

_NATIVE_KINDS = "biufUS"
_FEW_CLASSES = 20


def encode_labels(values: Any, n_rows: int, *, allow_quantities: bool = False) -> tuple[Ints, NDArray[Any]]:
    """Turn labels into codes.

    ``values``: any hashable labels; one column. ``allow_quantities``: accept labels that look like a quantity. Returns
    codes, (n_rows,) int64, and the classes that they number: the distinct labels, sorted where they can be sorted, else
    by type name and text. Raises DataError if labels are missing, unhashable, two-dimensional, of another length, or
    look like a quantity to be regressed.
    """
    labels = _one_dimensional(values)
    if len(labels) != n_rows:
        raise DataError(
            f"the table has {count_of(n_rows, 'row')}, the target has {len(labels)}",
            fix="pass one label for each row"
            + (f", or the column's name alone: {str(labels[0])!r}" if len(labels) == 1 else ""),
        )
    refuse_missing(labels)
    if labels.dtype.kind in _NATIVE_KINDS:
        classes, codes = np.unique(labels, return_inverse=True)
        if not allow_quantities:
            refuse_quantities(classes, n_rows)
        return codes.reshape(-1).astype(np.int64), classes
    return _encode_objects(labels)


def codes_among(values: Any, n_rows: int, classes: NDArray[Any]) -> Ints:
    """Turn labels into codes of classes that are known already, such as those of a model.

    ``classes``, (K,): a label that equals none of them is compared as text: a file holds no types. Returns (n_rows,)
    int64. Raises DataError if labels are missing or none of the classes, or their number is wrong.
    """
    codes, levels = encode_labels(values, n_rows)
    known = classes.tolist()
    by_text = {str(label): code for code, label in enumerate(known)}
    place: list[int] = []
    for label in levels.tolist():
        code = known.index(label) if label in known else by_text.get(str(label))
        if code is None:
            row = int(np.flatnonzero(codes == len(place))[0])
            raise DataError(
                f"the label {label!r} in {row_text(row)} is none of the model's classes{rows_note()}",
                cause=f"the classes are {', '.join(map(repr, known[:20]))}",
                fix="name the column of the target, or leave these rows out",
            )
        place.append(code)
    return np.array(place, dtype=np.int64)[codes]


def is_label(value: Any) -> bool:
    """Whether a value can be a label: hashable, and there (not NaN, ``pd.NA`` or ``pd.NaT``)."""
    try:
        hash(value)
    except TypeError:  # arrays, lists, tables
        return False
    return value is not pd.NA and value is not pd.NaT and not (isinstance(value, float) and np.isnan(value))


def label_array(labels: Iterable[Any]) -> NDArray[Any]:
    """One-dimensional array of labels that keeps each label as it is (tuples, mixed types)."""
    items = list(labels)
    if items and {type(item) for item in items} in ({str}, {int}, {float}, {bool}, {int, float}):
        array = np.asarray(items)
        if array.dtype.kind in _NATIVE_KINDS and (array.dtype.kind == "f" or array.tolist() == items):
            return array
    return np.fromiter(items, dtype=object, count=len(items))


def of_one_type(labels: Any) -> Any:
    """Objects that are all truth values, or whole numbers, in an array of their type: pandas has them where a label was
    missing."""
    if getattr(getattr(labels, "dtype", None), "kind", "") != "O" or labels.ndim != 1:
        return labels
    return label_array(labels) if {type(label) for label in labels} in ({bool}, {int}) else labels


def _one_dimensional(values: Any) -> NDArray[Any]:
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise DataError(f"the target is a single value ({values!r})", fix="pass one label for each row as y")
    if not hasattr(values, "__array__"):
        return label_array(values)
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"the target has shape {array.shape}", cause="there has to be one label for each row",
            fix="pass a single column as y",
        )  # fmt: skip
    return array


def refuse_missing(labels: NDArray[Any]) -> None:
    """Raise where a target is missing, or infinite. Raises DataError."""
    missing = np.asarray(pd.isna(labels))
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise DataError(
            f"the target of {row_text(row)} is missing (NaN or None){rows_note()}",
            cause="models are learnt from, and judged by, labels",
            fix="drop the rows without a label, or give them one of their own",
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise DataError(
            f"the target of {row_text(row)} is infinite{rows_note()}",
            fix="use finite numbers or text as labels",
        )


def refuse_quantities(classes: NDArray[Any], n_rows: int) -> None:
    """Raise where the distinct labels of so many rows look like a quantity: many numbers, and not all are whole.

    Raises DataError.
    """
    if _many_numbers(classes) and classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
        raise DataError(
            f"the target has {len(classes)} distinct fractional values in {count_of(n_rows, 'row')}",
            cause="it looks like a quantity to be regressed, and the objective is that of a classifier",
            fix="minimise tf.SquaredError() or tf.AbsoluteError(), use tf.OptimalTreeRegressor, or put the values into "
            "classes first, for example with pandas.cut",
        )


def many_classes_note(classes: NDArray[Any]) -> list[str]:
    """Whether the labels are dates, or so many numbers or texts of numbers that they may be a quantity."""
    if _are_dates(classes):
        return [
            f"each of the {len(classes)} dates in the target is a class of its own; to predict a date, make it "
            "a number, such as days, and minimise tf.SquaredError() or tf.AbsoluteError()"
        ]
    as_text = len(classes) > _FEW_CLASSES and all(map(_is_number_text, classes.tolist()))
    if not _many_numbers(classes) and not as_text:
        return []
    convert = ", with the target as numbers (pandas.to_numeric)" if as_text else ""
    return [
        f"each of the {len(classes)} numbers in the target is a class of its own; to predict quantities minimise "
        f"tf.SquaredError() or tf.AbsoluteError(){convert}"
    ]


def _are_dates(classes: NDArray[Any]) -> bool:
    labels = list(classes) if classes.dtype.kind in "OUM" else []
    if labels and all(isinstance(label, str) for label in labels):
        return bool(date_orders(labels, 1.0))
    return bool(labels) and all(isinstance(label, date | np.datetime64) for label in labels)


def _is_number_text(label: Any) -> bool:
    if not isinstance(label, str):
        return False
    try:
        float(label)
    except ValueError:
        return False
    return True


def _many_numbers(classes: NDArray[Any]) -> bool:
    return classes.dtype.kind in "iuf" and len(classes) > _FEW_CLASSES


def _encode_objects(labels: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    items = labels.tolist() if labels.dtype.kind == "O" else list(labels)
    try:
        distinct = list(dict.fromkeys(items))
    except TypeError:
        kinds = ", ".join(sorted({type(item).__name__ for item in items}))
        raise DataError(
            f"the target holds labels that cannot be compared by hash (types: {kinds})",
            fix="use text, numbers or tuples as labels",
        ) from None
    ordered = _in_order(distinct)
    position = {label: code for code, label in enumerate(ordered)}
    codes = np.fromiter((position[item] for item in items), dtype=np.int64, count=len(items))
    return codes, np.fromiter(ordered, dtype=object, count=len(ordered))


def _in_order(labels: list[Any]) -> list[Any]:
    # Sets "sort" by inclusion, which is no order: only values of one well-known type are sorted as such.
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and not issubclass(next(iter(kinds)), set | frozenset):
        try:
            return sorted(labels)
        except TypeError:
            pass
    if all(issubclass(kind, int | float | np.number) for kind in kinds):
        return sorted(labels)
    return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def with_abstention(classes: NDArray[Any], label: str) -> NDArray[Any]:
    """The classes with one more at the end, which stands for no decision.

    Raises DataError if some row has that label.
    """
    known = classes.tolist()
    if label in map(str, known):
        raise DataError(
            f"{setting_text('abstain', label)} is a class of the target",
            cause="it is predicted where the model decides nothing, and no row has it",
            fix="use another word",
        )
    kind = object if classes.dtype.kind not in "US" else None
    return np.array([*known, label], dtype=kind)


def single_class(label: Any, target: str | None) -> DataError:
    """The refusal of a target whose rows are all of one class."""
    what = "value" if isinstance(plain(label), float) else "class"
    return DataError(
        f"the target{'' if target is None else f' {target!r}'} has one {what} only ({plain(label)!r})",
        cause="nothing is to be told apart (the number of classes has to be greater than one; got 1 class)",
        fix="check the target column, and the rows that were filtered out or have weight 0",
    )
