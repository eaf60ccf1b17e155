"""A table of finite numbers is read at one look, with the same outcome as column by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeform.data import Dataset
from treeform.data.encode import Encoder
from treeform.data.roles import TableOptions
from treeform.data.sources import recognise
from treeform.data.table import read_table
from treeform.errors import DataError

X = np.array([[0.0, 1.5, 2], [1, 2.5, 3], [1, -0.0, 2]])
FRAMES = {
    "matrix of float64": (X, True),
    "matrix of int32": (X.astype(np.int32), True),
    "matrix of float32": (X.astype(np.float32), True),
    "matrix of truth values": (X > 1, False),
    "frame": (pd.DataFrame(X, columns=["a", "b", "c"]), True),
    "frame of mixed numbers": (pd.DataFrame({"a": [0, 1, 2], "b": [0.5, 1, 2]}), True),
    "frame with truth values": (pd.DataFrame({"a": [0.5, 1, 2], "b": [True, False, True]}), False),
    "frame with text": (pd.DataFrame({"a": [0.5, 1, 2], "b": ["x", "y", "x"]}), False),
    "frame of nullable numbers": (pd.DataFrame({"a": pd.array([1, 2, None], "Int64")}), False),
    "frame with a gap": (pd.DataFrame({"a": [0.5, np.nan, 2]}), False),
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("categorical", [(), ("b",)])
def test_both_ways_recognise_the_same(name: str, categorical: tuple[str, ...]) -> None:
    given, finite = FRAMES[name]
    table, options = read_table(given), TableOptions(categorical=categorical)
    assert table.finite is finite
    one_by_one = [recognise(table.column(column), column, options) for column in table.names]
    assert list(Encoder.fit(table, (), options=options).sources) == one_by_one


@pytest.mark.parametrize("odd", [np.inf, -np.inf])
def test_infinite_values_are_still_refused(odd: float) -> None:
    for given in (np.array([[0.0, odd], [1, 2]]), pd.DataFrame({"a": [0, 1], "b": [odd, 2]})):
        assert not read_table(given).finite
        with pytest.raises(DataError, match="infinite"):
            Dataset.from_user(given, [0, 1])
