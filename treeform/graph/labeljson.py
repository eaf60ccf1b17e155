"""Class labels in JSON: text, numbers and booleans as they are, other types under a tag, tuples part by part."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from treeform.errors import SpecError

# tag: the exact type, to text, and from text.
_TAGGED: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "datetime64": (np.datetime64, str, np.datetime64),
    "timestamp": (pd.Timestamp, pd.Timestamp.isoformat, pd.Timestamp),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
}


def label_to_json(label: Any) -> Any:
    """One label as JSON. Raises SpecError if its type has no form in JSON that can be read back."""
    for tag, (kind, write, _) in _TAGGED.items():
        if type(label) is kind:
            return {tag: write(label)}
    # A timedelta64 counts as an integer for NumPy, and its item() would forget the unit.
    scalar = isinstance(label, np.generic) and not isinstance(label, np.timedelta64)
    plain = label.item() if scalar else label
    if isinstance(plain, tuple):
        return {"tuple": [label_to_json(part) for part in plain]}
    if type(plain) in (str, bool, int) or (type(plain) is float and math.isfinite(plain)):
        return plain
    if type(plain) is bytes:
        return {"bytes": plain.hex()}
    raise SpecError(
        f"the label {label!r} of type {type(label).__name__} cannot be written to JSON",
        fix="use text, numbers, booleans, bytes, dates, decimals, or tuples of them as labels",
    )


def label_from_json(value: Any) -> Any:
    """The label that `label_to_json` wrote. Raises ValueError if it wrote nothing of the kind."""
    if isinstance(value, dict) and len(value) == 1:
        tag, body = next(iter(value.items()))
        if tag == "tuple" and isinstance(body, list):
            return tuple(label_from_json(part) for part in body)
        if tag in _TAGGED and isinstance(body, str):
            try:
                return _TAGGED[tag][2](body)
            except ArithmeticError:  # what Decimal and Fraction raise for texts that are no numbers
                raise ValueError(f"{body!r} is no {tag}") from None
    if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{value!r} is no label")
