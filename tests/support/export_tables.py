"""Tables with every kind of column, models on them, and rows at, just below and just above each threshold."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from repository import ROOT
from step_one import step_one

import treeform as tf
from treeform.engines import TreeTask


@dataclass(frozen=True)
class ExportCase:
    """A model, rows, the rows as Python values (None where one is missing), and its predictions as text."""

    graph: tf.DecisionGraph
    rows: pd.DataFrame
    plain: list[dict[str, object]]
    expected: list[str]


@cache
def export_cases(seed: int) -> list[ExportCase]:
    """The models of a seed with hard rows of their own, and with the seed 1 one of the committed table."""
    table, _ = mixed_table(seed)
    known = [(graph, table) for graph in models(seed)]
    if seed == 1:
        credit = pd.read_csv(ROOT / "examples" / "data" / "german-credit.csv")
        graph = tf.Problem(credit, "creditworthy", shape=tf.Tree(2), exclude=["sex"]).solve().graph
        assert graph is not None
        known.append((graph, credit.drop(columns="creditworthy")))
    found = []
    for graph, table in known:
        rows = hard_rows(graph, table)
        labels = [str(label) for label in graph.predict(rows, unseen="other")]
        found.append(ExportCase(graph, rows, plain_rows(rows), labels))
    return found


def plain_rows(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Rows as Python values, None where one is missing."""
    made = []
    for row in rows.astype(object).to_dict("records"):
        plain: dict[str, object] = {}
        for name, value in row.items():
            if value is None or value is pd.NaT or value != value:
                plain[name] = None
            elif isinstance(value, pd.Timestamp):
                plain[name] = value.to_pydatetime()
            else:
                plain[name] = value.item() if isinstance(value, np.generic) else value
        made.append(plain)
    return made


def mixed_table(seed: int, n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, a boolean, text, ordered levels and dates, with gaps in some; labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "amount, in €": (rng.normal(0, 3, n) * 10.0 ** rng.integers(-3, 4, n)).round(5),
            "age": rng.integers(18, 80, n).astype(float),
            "owner": rng.integers(0, 2, n).astype(bool),
            "job": rng.choice(["cook", "o\"k's", "größe", "clerk"], n),
            "grade": pd.Categorical(rng.choice(list("ABCD"), n), categories=list("ABCD"), ordered=True),
            "opened": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        }
    )
    table["owner"] = table["owner"].astype(object)
    for name in ("age", "owner", "job", "grade", "opened"):
        table.loc[rng.random(n) < 0.15, name] = pd.NaT if name == "opened" else None
    score = (
        (table["amount, in €"] > 0.2).astype(int)
        + 2 * table["age"].isna()
        + (table["job"] == "cook") * 1
        + (table["grade"] > "B").astype(int)
        + (table["opened"] > "2020-11-01").astype(int)
        + table["owner"].eq(True).astype(int)
        + rng.integers(0, 2, n)
    )
    return table, np.where(score > 3, "yes", np.where(score > 1, "per'haps", "no"))


@cache
def models(seed: int) -> list[tf.DecisionGraph]:
    """Trees and diagrams, on random labels too, so that all columns are tested."""
    table, y = mixed_table(seed)
    rng = np.random.default_rng(seed)
    widths = (1, 2, 3, 2)
    noise = tf.Problem(table, rng.integers(0, 3, len(y)), shape=tf.Diagram(*widths), dates="days").data
    found = [
        tf.Problem(table, y, shape=tf.Tree(3), dates="days").solve("contree").graph,
        tf.Problem(table, rng.integers(0, 2, len(y)), shape=tf.Tree(4), dates="days")
        .solve(tf.DeepTreeSearch(work_limit=10**7))
        .graph,
        step_one(noise, TreeTask(4, widths=widths), starts=4).graph,
    ]
    return [graph.canonical() for graph in found if graph is not None]


@cache
def values_case() -> tuple[tf.DecisionGraph, pd.DataFrame, pd.DataFrame, list[float]]:
    """A regression tree, its table, hard rows, and the predictions on these."""
    table, _ = mixed_table(2)
    rng = np.random.default_rng(2)
    y = table["amount, in €"].rank().to_numpy() / 7 + rng.normal(0, 1, len(table)).round(2)
    y += 9.0 * (table["job"] == "cook") + 5.0 * table["age"].isna() + 7.0 * table["owner"].eq(True)
    problem = tf.Problem(table, y, shape=tf.Tree(3), dates="days").minimize(tf.SquaredError(grid="auto"))
    graph = problem.solve().graph
    assert graph is not None
    rows = hard_rows(graph, table)
    return graph, table, rows, graph.predict(rows, unseen="other").tolist()


def hard_rows(graph: tf.DecisionGraph, table: pd.DataFrame) -> pd.DataFrame:
    """The table, and rows with a value at, just below and just above each threshold, unseen levels, and gaps."""
    rows = [table]
    for test in graph.tests():
        if test.column is None:
            continue
        column = graph.columns[test.column]
        values: list[object] = []
        if column.kind == "numeric" and abs(test.threshold) < 1e300:
            t = test.threshold
            values = [t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), -1e300, 1e300, 0.0]
        elif column.kind == "date" and abs(test.threshold) < 1e6:
            day = pd.Timestamp("1970-01-01") + pd.Timedelta(days=int(np.floor(test.threshold)))
            values = [
                day,
                day + pd.Timedelta(days=1),
                day + pd.Timedelta(hours=23),
                day - pd.Timedelta(days=1),
            ]
        elif column.kind == "category":
            values = ["COOK", "cook", ""]
        for value in values:
            row = table.sample(4, random_state=len(rows)).copy()
            row[column.source] = value
            rows.append(row)
    made = pd.concat(rows, ignore_index=True)
    return made.astype({"grade": table["grade"].dtype}) if "grade" in made else made


def javascript_answers(
    graph: tf.DecisionGraph, rows: list[dict[str, object]], folder: Path, shown: str = "predict(row)"
) -> list[object]:
    """What Node predicts for rows of Python values, dates among them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    dates = sorted({k for row in rows for k, v in row.items() if isinstance(v, datetime.datetime)})
    (folder / "model.js").write_text(graph.to_javascript(), encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps([{k: _as_number(v) for k, v in row.items()} for row in rows]))
    (folder / "run.js").write_text(
        "const {predict} = require('./model.js'); const rows = require('./rows.json');\n"
        f"for (const row of rows) for (const d of {json.dumps(dates)})\n"
        "  if (row[d] !== null) row[d] = new Date(row[d] * 1000);\n"
        f"console.log(JSON.stringify(rows.map(row => {shown})));"
    )
    done = subprocess.run([node, "run.js"], cwd=folder, capture_output=True, text=True, check=True)
    answers: list[object] = json.loads(done.stdout)
    return answers


def _as_number(value: object) -> object:
    """A date as seconds since 1970."""
    return value.replace(tzinfo=datetime.UTC).timestamp() if isinstance(value, datetime.datetime) else value
