"""The command ``treeform export``: a model as a program that runs elsewhere."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable
from treeform.cli.progress import err_console
from treeform.cli.stored import features_of, load_model, with_policy
from treeform.errors import SpecError, did_you_mean
from treeform.graph import DecisionGraph
from treeform.graph.export.program import OnnxNodes
from treeform.utils.files import write_bytes, write_text
from treeform.utils.text import count_of

Options = dict[str, Any]
FORMATS: dict[str, Callable[[DecisionGraph, Options], str | bytes]] = {
    "python": lambda graph, _: graph.to_python(),
    "c": lambda graph, _: graph.to_c(),
    "javascript": lambda graph, _: graph.to_javascript(),
    "sql": lambda graph, given: graph.to_sql(**given["sql"], X=_features(graph, given["data"])),
    "json-rules": lambda graph, _: json.dumps(graph.to_json_rules(), indent=1) + "\n",
    "onnx": lambda graph, given: _onnx_file(graph, given["nodes"]),
    "pmml": lambda graph, _: graph.to_pmml(),
    "treelite": lambda graph, _: bytes(graph.to_treelite().serialize_bytes()),
    "sklearn": lambda graph, given: _sklearn_file(graph, given["data"]),
    "svg": lambda graph, _: graph.to_svg(),
    "dot": lambda graph, _: graph.to_dot(),
}

BINARY = {"onnx": "model.onnx", "treelite": "model.treelite", "sklearn": "model.joblib"}
"""Formats that are no text, with a name for their file."""


def export(
    model: Annotated[Path, typer.Argument(help="Model file that fit wrote.", show_default=False)],
    to: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.", metavar="FORMAT")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of stdout.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="SQL: select from this table; without it, the expression alone.")
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="SQL: sqlite, duckdb, postgres, bigquery, tsql, ...")
    ] = "postgres",
    id_column: Annotated[
        list[str] | None,
        typer.Option("--id", help="SQL: select this column, too. Repeatable.", metavar="COLUMN"),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="sklearn: the table that the model was fitted on; thresholds are placed between its rows. "
            "SQL: rows for which hyperplanes must have an answer.",
            show_default=False,
        ),
    ] = None,
    nodes: Annotated[
        str,
        typer.Option(
            help="ONNX: a diagram as a tree, in which shared nodes are repeated, or as tables of its nodes (shared); "
            "auto takes the smaller one.",
            metavar="auto|tree|shared",
        ),
    ] = "auto",
    missing: opt.MissingAtPrediction = "error",
) -> None:
    """Write a model as a program that decides every row as the model does.

    For example: treeform export model.json --to sql --table applicants --dialect duckdb --id customer
    """
    if to not in FORMATS:
        raise SpecError(
            f"there is no format {to!r}",
            cause=f"models are exported to {', '.join(FORMATS)}",
            fix=did_you_mean(to, FORMATS) or "use for example --to python",
        )
    if output is not None:
        check_writable([output], inputs=[model, data])
    elif to in BINARY:
        raise SpecError(
            f"the format {to} is no text",
            cause="it would be written to the terminal",
            fix=f"add -o {BINARY[to]}",
        )
    given = {
        "sql": {"table": table, "dialect": dialect, "keep": id_column or []},
        "data": data,
        "nodes": nodes,
    }
    made = FORMATS[to](with_policy(load_model(model), missing), given)
    if output is None:
        sys.stdout.write(str(made))
    elif isinstance(made, bytes):
        write_bytes(output, made)
    else:
        write_text(output, made)


def _features(graph: DecisionGraph, data: Path | None) -> Any:
    return None if data is None else features_of(graph, data)[1]


def _onnx_file(graph: DecisionGraph, nodes: str) -> bytes:
    """The file, and on stderr how the model is written and how large that is."""
    made = graph.to_onnx(cast(OnnxNodes, nodes))  # any other is refused there
    written = bytes(made.SerializeToString())
    err_console().print(f"{made.doc_string}: {count_of(len(written), 'byte')}", soft_wrap=True)
    return written


def _sklearn_file(graph: DecisionGraph, data: Path | None) -> bytes:
    """A joblib file, as scikit-learn's documentation stores models; loading one runs code of its writer."""
    import joblib

    if data is None:
        raise SpecError(
            "no table is given",
            cause="scikit-learn reads single precision, and thresholds are placed between the rows of training",
            fix="add --data TRAINING.csv",
        )
    _, features = features_of(graph, data)
    file = io.BytesIO()
    joblib.dump(graph.to_sklearn(features), file)
    return file.getvalue()
