"""Columns of other libraries: decimals, dates and sparse tables."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import DataError

PRICES = [Decimal("1.10"), Decimal("2.20"), Decimal("1.30"), Decimal("4"), None, Decimal("0.30")]


def decimal_tables() -> dict[str, Any]:
    arrow = pa.table({"a": pa.array(PRICES, pa.decimal128(10, 2))})
    return {
        "objects": pd.DataFrame({"a": PRICES}),
        "arrow": arrow,
        "arrow in pandas": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "256 bits": pa.table({"a": pa.array(PRICES, pa.decimal256(40, 3))}),
        "polars": pl.DataFrame({"a": PRICES}),
    }


@pytest.mark.parametrize("kind", decimal_tables())
def test_decimals_are_read_as_the_floats_that_print_alike(kind: str) -> None:
    table, y = decimal_tables()[kind], [0, 1, 0, 1, 1, 0]
    problem = tf.Problem(table, y, shape=tf.Tree(1))
    same = tf.Problem(pd.DataFrame({"a": [1.1, 2.2, 1.3, 4.0, np.nan, 0.3]}), y, shape=tf.Tree(1))
    assert problem.data.X.tobytes() == same.data.X.tobytes() and problem.data.columns == same.data.columns
    graph = problem.solve().graph
    assert graph.predict(table).tolist() == same.solve().graph.predict(table).tolist() == y


def test_decimals_keep_their_order_or_are_refused() -> None:
    near = [
        Decimal("0.1") + Decimal(k) * Decimal("1e-18") for k in range(9)
    ]  # a float64 is 1.4e-17 from the next
    with pytest.raises(DataError, match="which float64 cannot tell apart") as caught:
        tf.Problem(pd.DataFrame({"a": near}), [0, 1] * 4 + [0], shape="tree:1")
    assert "0.1" in caught.value.what and "row" in caught.value.what and caught.value.fix
    apart = sorted(Decimal("0.1") + Decimal(k) * Decimal("1e-15") for k in range(9))
    X = tf.Problem(pd.DataFrame({"a": apart}), [0, 1] * 4 + [0], shape="tree:1").data.X[:, 0]
    assert (np.diff(X) > 0).all()
    with pytest.raises(DataError, match="infinite"):
        tf.Problem(pd.DataFrame({"a": [Decimal("Infinity"), *PRICES[1:]]}), [0, 1] * 3, shape="tree:1")


def test_decimals_of_a_parquet_file(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array(PRICES * 4, pa.decimal128(10, 2)), "y": [0, 1, 0, 1, 1, 0] * 4})
    pq.write_table(table, tmp_path / "t.parquet")
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "t.parquet"), "--target", "y", "--shape", "tree:1"])
    assert done.exit_code == 0 and "a <= 1.8" in done.stdout, done.output


@pytest.mark.parametrize("how", ["arrow", "arrow in pandas", "polars", "objects"])
def test_dates_of_other_libraries(how: str) -> None:
    arrow = pa.table({"d": pa.array([1, 2, None, 4, 5, 6], pa.date32())})
    table = {
        "arrow": arrow,
        "arrow in pandas": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(arrow),
        "objects": arrow.to_pandas(),
    }[how]
    y = [0, 0, 1, 1, 1, 1]
    with pytest.raises(DataError, match="dates or times"):
        tf.Problem(table, y, shape="tree:1")
    problem = tf.Problem(table, y, shape="tree:1", dates="days")
    assert {column.kind for column in problem.data.columns} == {"date"}
    graph = problem.solve().graph
    assert graph.predict(table).tolist() == y
    assert graph.rules()[0].startswith("if d <= 1970-01-04 then 0")


@pytest.mark.parametrize("make", ["csr_matrix", "csc_array", "coo_array", "pandas"])
def test_sparse_tables(make: str) -> None:
    dense = np.array([[0, 1.5], [0, 0], [2, 0], [0, 3.5], [1, 0], [0, 1]])
    if make == "pandas":
        sparse: Any = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(dense), columns=["a", "b"])
    else:
        sparse = getattr(scipy.sparse, make)(dense)
    problem = tf.Problem(sparse, [0, 0, 1, 0, 1, 0], shape=tf.Tree(1))
    assert (dense == problem.data.X).all()
    result = problem.solve()
    assert result.errors == 0 and tf.check(result.certificate(), sparse, [0, 0, 1, 0, 1, 0]).ok
