"""What a report says of a model on rows: drawing, rules, errors, requirements, groups, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, NUMERIC, Column
from treeform.data.prints import shared_rows
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import confusion, errors
from treeform.graph.rewrite import ordered
from treeform.graph.svg import Picture
from treeform.language.question import Question
from treeform.report.ask import ask_values
from treeform.report.crossing import crossings
from treeform.report.explore import explore_values
from treeform.report.fairness import group_tables, positive_of
from treeform.report.figures import size_text
from treeform.report.judged import requirement_facts
from treeform.report.proxies import proxies
from treeform.report.residuals import residual_tables
from treeform.utils.text import count_of, rounded_text

Attributes = Sequence[tuple[str, Any]]
WIDEST_PRINTED = 1400.0
"""Pixels of a drawing that is still legible on a printed page; wider ones are printed as an outline."""


@dataclass(frozen=True)
class HeldOut:
    """Rows that the model was not fitted on."""

    data: Dataset
    """From `Dataset.for_model`."""
    source: str = "held-out rows"
    """A name for them."""


def of_graph(
    graph: DecisionGraph,
    question: Question,
    rows_of: str,
    attributes: Sequence[tuple[str, Any]],
    held_out: HeldOut | None,
) -> dict[str, Any]:
    """What a report says of a model: nodes in drawing order, columns of 0 and 1 in words."""
    data = question.data
    graph = ordered(graph).with_counts(data)
    yes_no = yes_no_columns(data)
    shown = worded(graph, yes_no)
    picture = Picture(shown)
    tables = [(rows_of, data)]
    later: tuple[tuple[str, str], ...] = ()
    word = "held-out"
    if held_out is not None:
        equal = shared_rows(held_out.data, data)
        word = "other" if equal == held_out.data.n_samples else "held-out"
        tables.append((word, held_out.data))
        among = f"{equal} of {count_of(held_out.data.n_samples, 'row')}"
        known = (("equal to rows of training", among),) if equal and rows_of == "training" else ()
        later_question = question.with_(data=held_out.data)
        later = ((f"{word} table", held_out.source), *known, *accuracy(graph, later_question, word))
    positive = 0 if graph.is_regression else positive_of(question)
    if graph.is_regression:
        residuals = (residual_tables(graph, data, attributes, rows_of) for rows_of, data in tables)
        own: dict[str, Any] = {"residuals": tuple(chain.from_iterable(residuals))}
    else:
        own = _of_classes(graph, positive, attributes, tables)
    return {
        "model_size": size_text(graph),
        "svg": picture.text(),
        "wide": picture.width > WIDEST_PRINTED,
        "outline": shown.to_text(),
        "rules": tuple(shown.rules()),
        "held_out": later,
        "later": f"the {word} rows" if later else "",
        "requirements": requirement_facts(graph, question, None if held_out is None else held_out.data),
        "crossings": crossings(graph, question),
        "proxies": proxies(graph, data, attributes),
        "ask": ask_values(graph, data, yes_no),
        "explore": explore_values(graph, shown, data, attributes, positive),
        **own,
    }


def _of_classes(
    graph: DecisionGraph, positive: int, attributes: Attributes, tables: Sequence[tuple[str, Dataset]]
) -> dict[str, Any]:
    groups = [group_tables(graph, data, attributes, positive, rows_of) for rows_of, data in tables]
    matrices = [_matrix(graph, data) for _, data in tables]
    return {
        "confusion": matrices[0],
        "held_out_confusion": () if len(matrices) == 1 else matrices[1],
        "groups": tuple(chain.from_iterable(groups)),
    }


def _matrix(graph: DecisionGraph, data: Dataset) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, row)) for row in confusion(graph, data))


def accuracy(graph: DecisionGraph, question: Question, rows_of: str) -> list[tuple[str, str]]:
    """Errors on the rows of a question: of classes their number, of values the distance from the targets."""
    data = question.data
    plain = {"given": "", "other": " on the other rows"}
    word, place = ("", plain[rows_of]) if rows_of in plain else (f"{rows_of} ", "")
    if data.quantity is not None:
        distance = data.quantity.values - graph.leaf_values[graph.apply(data.X)]
        mean = partial(np.average, weights=data.weights)
        variance = mean((data.quantity.values - mean(data.quantity.values)) ** 2)
        explained = "–" if variance == 0 else f"{1 - mean(distance**2) / variance:.4f}"
        return [
            (f"{word}mean squared error{place}", rounded_text(mean(distance**2))),
            (f"{word}mean absolute error{place}", rounded_text(mean(np.abs(distance)))),
            (f"{word}share of the variance explained{place}", explained),
        ]
    wrong = int(errors(graph, data))
    share = (data.n_samples - wrong) / data.n_samples
    return [
        (f"{word}errors{place}", f"{wrong} of {data.n_samples}{'' if word or place else ' rows given here'}"),
        (f"{word}accuracy{place}", f"{100 * share:.2f} %"),
    ]


C = TypeVar("C", bound=Column)


@dataclass(frozen=True)
class YesNoColumn(Column):
    """A column of numbers whose values are 0 and 1."""

    def _present(self, threshold: float, negate: bool) -> str:
        if 0 <= threshold < 1:
            return f"{self.source} is {'yes' if negate else 'no'}"
        return super()._present(threshold, negate)


def yes_no_columns(data: Dataset) -> frozenset[str]:
    """Names of the columns of numbers that hold 0 and 1 only."""
    found: dict[str, bool] = {}
    for feature, column in enumerate(data.columns):
        if column.kind == NUMERIC:
            values = data.X[:, feature]
            values = values[~column.missing_values(values)]
            found[column.source] = bool(len(values) and np.isin(values, (0.0, 1.0)).all())
    return frozenset(name for name, fits in found.items() if fits)


def worded(graph: DecisionGraph, yes_no: frozenset[str]) -> DecisionGraph:
    """The model with these columns worded; it is for texts and drawings, and reads no tables."""
    columns = tuple(
        YesNoColumn(column.source, BOOLEAN, column.category, column.missing, column.levels)
        if column.source in yes_no
        else column
        for column in graph.columns
    )
    return replace(graph, columns=columns, encoder=None)
