"""Model files and certificates, and the tables that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from treeform.certify.certificate import read, read_any
from treeform.certify.check import question_from
from treeform.certify.files import read_json_file
from treeform.certify.groups import parameters_of
from treeform.certify.rows import rows_of_training
from treeform.certify.schema import FAMILY, DataPart, FamilyPart
from treeform.certify.statements import data_of as read_as_stated
from treeform.cli.foreign import foreign_model, is_foreign
from treeform.cli.table import split, take_groups
from treeform.data import Dataset
from treeform.data.exact import AUTO
from treeform.data.table_files import read_table
from treeform.errors import CertificateError, DataError, SpecError, listing
from treeform.graph import DecisionGraph
from treeform.graph.gaps import checked_policy
from treeform.graph.structure import levels
from treeform.language.objective import Error, Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.objectives.regression import SquaredError
from treeform.shape import Diagram, Shape, Tree, shape_from_json
from treeform.utils.text import count_of


def load_model(path: Path) -> DecisionGraph:
    """Read a model file, or the model of a certificate.

    Raises SpecError if there is none, and CertificateError if it is damaged or was edited.
    """
    return _stored_model(read_json(path, "model"))


def model_of(value: Any, rows: Dataset) -> DecisionGraph:
    """The model of a model file, a certificate, or a description, on these rows.

    Raises SpecError if it is a model of other columns, or no model, and CertificateError if it is damaged or was
    edited.
    """
    if isinstance(value, dict) and str(value.get("format")).startswith("treeform."):
        graph = _stored_model(value)
        if graph.columns != rows.columns or graph.classes.tolist() != rows.classes.tolist():
            raise SpecError(
                "the model was fitted on another table",
                cause=_difference(graph, rows),
                fix="give the table that it was fitted on, with the same --exclude, or describe the model "
                "(DecisionGraph.to_dict)",
            )
        return graph
    return DecisionGraph.from_dict(value, rows)


def _difference(graph: DecisionGraph, rows: Dataset) -> str:
    """What the table of a model has and these rows have not, or the other way round."""
    theirs, ours = ({column.source: None for column in columns} for columns in (graph.columns, rows.columns))
    if missing := [repr(name) for name in theirs if name not in ours]:
        return f"here is no column {listing(missing)}"
    if more := [repr(name) for name in ours if name not in theirs]:
        return f"it was fitted without the column {listing(more)}"
    return "its levels or labels, or the order of its columns, are not those of this one"


def read_model(path: Path, rows: Dataset) -> DecisionGraph:
    """The model of any file that holds one, on these rows; as `model_of` and `foreign_model`."""
    return foreign_model(path, rows) if is_foreign(path) else model_of(read_json(path, "model"), rows)


def columns_read(path: Path) -> frozenset[str] | None:
    """The columns that a model file names; None where the file does not say, as a description of a tree."""
    if is_foreign(path):
        return None
    value = read_json(path, "model")
    if not (isinstance(value, dict) and str(value.get("format")).startswith("treeform.")):
        return None
    encoder = _stored_model(value).encoder
    return None if encoder is None else frozenset(source.name for source in encoder.sources)


def with_policy(graph: DecisionGraph, missing: str) -> DecisionGraph:
    """The model with what ``--missing`` says about values that were never missing in training.

    Raises DataError if it is neither ``error`` nor ``majority``.
    """
    return graph.accepting if checked_policy(missing) == "majority" else graph


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate file; it has to be as it was written.

    Raises SpecError if there is none, and CertificateError if it is damaged or was edited.
    """
    body: dict[str, Any] = read_json(path, "certificate")
    read_any(body)
    return body


def read_json(path: Path, what: str) -> Any:
    return read_json_file(path, what, f"treeform fit --{what}")


def features_of(graph: DecisionGraph, path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table, and the columns of it that the model reads, as it knows them.

    Raises DataError if the table lacks one; the message lists those missing.
    """
    if graph.encoder is None:
        raise SpecError(
            "the model does not know the columns of tables",
            cause="it was made from an encoded matrix, without an encoder",
            fix="fit it again from a table",
        )
    sources = graph.encoder.sources
    frame = read_table(path, text=_text_columns(graph))
    missing = [source.name for source in sources if source.name not in frame.columns]
    if missing:
        raise DataError(
            f"{path} lacks {len(missing)} of the model's columns: {listing(missing)}",
            cause=f"the model reads {count_of(len(sources), 'column')} by name",
            fix="give a table with the columns that the model was fitted on",
        )
    return frame, frame[[source.name for source in sources]]


def _text_columns(graph: DecisionGraph) -> list[str]:
    """Columns that were text in training: a level such as "1" stays text where all others look like numbers too."""
    sources = () if graph.encoder is None else graph.encoder.sources
    return [s.name for s in sources if s.levels and all(isinstance(level, str) for level in s.levels)]


def data_of(
    body: dict[str, Any], path: Path, target: str | None, weight: str | None, groups: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.Series, pd.Series | None, Any]:
    """Features, target, weights and groups as the certificate's fit had them, from a table.

    Raises SpecError if neither the certificate nor the caller names the column of the target or the weight.
    """
    stated = read_any(body)
    target = target or stated.metadata.target
    weight = weight or stated.metadata.weight
    for name, column, needed in (("target", target, True), ("weight", weight, stated.data.weighted)):
        if needed and column is None:
            raise SpecError(
                f"the certificate does not name the {name} column",
                cause="it was made from arrays",
                fix=f"name it with --{name} COLUMN",
            )
    assert target is not None
    sensitive, frame = take_groups(groups, stated.data, read_table(path), path)
    X, y, weights = split(
        frame,
        target=target,
        weight=weight,
        exclude=stated.data.exclude,
        source=path,
        regression=stated.data.quantity is not None,
        learnt=True,
    )
    return X, y, weights, sensitive


def read_model_or_certificate(path: Path) -> tuple[DecisionGraph, dict[str, Any] | None]:
    """A model file, or the model in a certificate, which comes with it.

    Raises SpecError if there is no such file, or the certificate holds no model, and CertificateError if it is
    damaged or was edited.
    """
    value = read_json(path, "model")
    certificate = isinstance(value, dict) and str(value.get("format")).startswith("treeform.certificate/")
    return _stored_model(value), value if certificate else None


def family_in(path: Path) -> dict[str, Any] | None:
    """The certificate of a size table, Pareto curve or frontier; None where the file holds something else."""
    value = read_json(path, "model")
    return value if isinstance(value, dict) and value.get("format") == FAMILY else None


def read_family(certificate: dict[str, Any]) -> FamilyPart:
    """The parts of the certificate of a family. Raises CertificateError if it is damaged."""
    body = read_any(certificate)
    assert isinstance(body, FamilyPart)
    return body


def _stored_model(value: Any) -> DecisionGraph:
    if isinstance(value, dict) and value.get("format") == FAMILY:
        raise SpecError(
            "the certificate holds several models",
            cause="it is that of a size table, a Pareto curve or a frontier",
            fix="treeform check verifies it, treeform report shows each; for one model, give what fit --model wrote",
        )
    if not (isinstance(value, dict) and str(value.get("format")).startswith("treeform.certificate/")):
        return DecisionGraph.from_json(value)
    read(value)
    if value["model"] is None:
        raise SpecError(
            "the certificate holds no model",
            cause="the search that it certifies found none",
            fix="give a certificate with a model",
        )
    return DecisionGraph.from_json(value["model"])


def question_for(
    graph: DecisionGraph,
    body: dict[str, Any] | None,
    path: Path,
    target: str | None,
    weight: str | None,
    groups: Sequence[str] = (),
) -> tuple[Question, str, int | None]:
    """What the model answers: from its certificate, or else errors on the target named; and which rows the table has.

    These are "training" when they are those of the certificate, in any order; "held-out" when none is equal to one of
    them; else "given". Last comes how many are equal to rows of training; None where that is not known.

    Raises CertificateError if the certificate belongs to another model.
    """
    if body is None:
        counted = Objective.of(SquaredError() if graph.values else Error())
        return Question(_model_rows(graph, path, target, weight), own_shape(graph), counted), "given", None
    if body["model"] is None or DecisionGraph.from_json(body["model"]) != graph:
        raise CertificateError("the certificate belongs to another model", fix="give the two of one fit")
    stated = read(body)
    X, y, weights, sensitive = data_of(body, path, target, weight, groups)
    try:
        data = read_as_stated(stated, X, y, weights)
    except DataError:  # for example one class only
        data = None
    if data is not None and _are_of_training(stated.data, data):
        return question_from(stated, data, sensitive), "training", data.n_samples
    question = _held_out_question(graph, body, path, target, weight)
    equal = rows_of_training(stated.data.rows, question.data)
    return question, "held-out" if equal == 0 else "given", equal


def _are_of_training(stated: DataPart, data: Dataset) -> bool:
    """Whether a table has the rows of a certificate, in any order; weights and groups are compared elsewhere."""
    if data.digest == stated.digest:
        return True
    if stated.rows is None:
        return bool(stated.groups) and data.n_samples == stated.n_samples
    return rows_of_training(stated.rows, data) == data.n_samples == stated.n_samples


def held_out_rows(
    graph: DecisionGraph, body: dict[str, Any] | None, path: Path, target: str | None, weight: str | None
) -> Dataset:
    """A table read in the terms of the model; target and weight are those of the certificate if it names them."""
    if body is not None:
        run = read(body).metadata
        target, weight = target or run.target, weight or run.weight
    return _model_rows(graph, path, target, weight)


def _held_out_question(
    graph: DecisionGraph, body: dict[str, Any], path: Path, target: str | None, weight: str | None
) -> Question:
    """The certificate's problem on other rows, with those requirements that rest on columns of the table."""
    problem = read(body).problem
    requirements = []
    for part in problem.requirements:
        try:
            requirements.append(
                Requirement.from_json({"name": part.name, "parameters": parameters_of(part, {})})
            )
        except CertificateError:  # groups given as an array belong to the rows of training
            continue
    shape = shape_from_json(problem.shape.model_dump(exclude_none=True))
    data = held_out_rows(graph, body, path, target, weight)
    return Question(data, shape, Objective.parse(problem.objective), tuple(requirements))


def _model_rows(graph: DecisionGraph, path: Path, target: str | None, weight: str | None) -> Dataset:
    if target is None:
        raise SpecError(
            "no target is given", cause="a model file does not name it", fix="add --target COLUMN"
        )
    exclude = () if graph.encoder is None else graph.encoder.ignored
    known = [column for column in exclude if column != target]
    frame = read_table(path, text=_text_columns(graph))
    held = [column for column in known if column in frame.columns]
    X, y, weights = split(
        frame,
        target=target,
        weight=weight,
        exclude=held,
        source=path,
        regression=bool(graph.values),
        learnt=True,
    )
    if graph.encoder is None:
        data = Dataset.from_user(X, y, weights, exclude=tuple(held), allow_quantities=bool(graph.values))
        return data.as_quantity(AUTO) if graph.values else data
    wanted = {source.name for source in graph.encoder.sources}.union(held)
    X = X[[column for column in X.columns if column in wanted]]
    classes = None if graph.values else graph.classes
    return Dataset.for_model(graph.encoder, classes, X, y, weights)


def own_shape(graph: DecisionGraph) -> Shape:
    """The smallest shape that the model has."""
    splits = "univariate" if graph.is_univariate else "multivariate"
    if graph.is_tree or graph.depth == 0:
        return Tree(max(1, graph.depth), splits)
    layers = levels(graph.feature, graph.left, graph.right)[graph.feature >= 0]
    return Diagram(*map(int, np.bincount(layers)), splits=splits)
