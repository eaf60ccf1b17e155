"""Columns of the table as requirements name them: lists as text, their encoded features, and which tests read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError, no_column
from treeform.graph import DecisionGraph
from treeform.language.objective_text import bare, items_in
from treeform.language.ports import Ports
from treeform.model import Expr, Model, concatenate
from treeform.shape import UNIVARIATE
from treeform.utils.arrays import Bools, Ints


def column_list(given: Any, owner: str, least: int = 1) -> tuple[str, ...]:
    """Names of columns from a list, or from text with commas between them; each once.

    In text a name that holds a comma is quoted.

    Raises SpecError if there are fewer than ``least``.
    """
    if isinstance(given, int | float) and not isinstance(given, bool):  # a name such as 3 in text
        given = str(given)
    listed = _names_in(given) if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise _no_columns(owner, given)
    names = tuple(dict.fromkeys(str(name).strip() for name in listed))
    if len(names) < least or not all(names):
        raise _no_columns(owner, given)
    return names


def _names_in(text: str) -> list[str]:
    if not {"'", '"'} & set(text):
        return text.split(",")
    return [bare(item) for item in (items_in(text) if "," in text else [text])]


def _no_columns(owner: str, given: Any) -> SpecError:
    return SpecError(
        f"{owner} cannot take the columns {given!r}",
        cause="columns are a list of names, or text with commas between them",
        fix=f"write for example {owner}(['age', 'income'])",
    )


def sources(data: Dataset) -> list[str]:
    """The columns of the table that tests may read, in their order."""
    return list(dict.fromkeys(column.source for column in data.columns))


def features_of(data: Dataset, column: str) -> Ints:
    """The encoded features of a column of the table."""
    return np.flatnonzero([one.source == column for one in data.columns])


def column_groups(data: Dataset, groups: Iterable[Iterable[str]]) -> Ints:
    """(F,) the number of the group in which the column of each encoded feature is; -1 where it is in none."""
    number = {name: index for index, names in enumerate(groups) for name in names}
    return np.array([number.get(column.source, -1) for column in data.columns], dtype=np.int64)


def column_name(value: Any, owner: str) -> str:
    """The name of one column. Raises SpecError if it is no text, such as an array or a list."""
    if isinstance(value, str):
        return value
    first = next((name for name in value if isinstance(name, str)), "age") if isinstance(value, Iterable) else "age"
    raise SpecError(
        f"{value!r} is no name of a column",
        cause=f"{owner} is about one column, by its name",
        fix=f"write for example {owner}({first!r}, ...), and one {owner} for each column",
    )


def check_columns(data: Dataset, names: Iterable[str], owner: object) -> None:
    """Refuse columns that are not in the table; one that is excluded from the tests is there. Raises DataError."""
    known = sources(data)
    for name in names:
        if name not in known and name not in data.exclude:
            what = f"{owner} names the column {name!r}, which is not there"
            raise no_column(what, name, known, fix="name one of these")


def reads(graph: DecisionGraph, data: Dataset, columns: Sequence[str]) -> Bools:
    """(N, C) whether each node tests each of the columns."""
    out = np.zeros((len(graph.feature), len(columns)), dtype=bool)
    number = {name: index for index, name in enumerate(columns)}
    for test in graph.tests():
        for f in test.columns:
            at = number.get(data.columns[f].source)
            if at is not None:
                out[test.node, at] = True
    return out


def paths_taken(graph: DecisionGraph, data: Dataset) -> Bools:
    """(P, N) the nodes on each of the different paths of the samples."""
    if graph.is_tree:  # one path to each leaf
        return graph.route(data.points.X[np.unique(graph.apply(data.points.X), return_index=True)[1]])
    visited = graph.route(data.points.X)
    # Eight nodes to a byte: rows of bytes are compared many times as fast, in the same order.
    _, first = np.unique(np.packbits(visited, axis=1), axis=0, return_index=True)
    return visited[first]


def tests_on(model: Model, ports: Ports, columns: Sequence[str], owner: str) -> Expr:
    """(V, C) expressions that are 1 where a test node reads the column.

    With hyperplanes, which read several features of a column at once, they are variables bounded from below.
    """
    features_each = [features_of(ports.data, column) for column in columns]
    if ports.shape.splits == UNIVARIATE or all(len(features) == 1 for features in features_each):
        # a node has one test: of several features of one column it reads at most one
        return concatenate(
            [ports.feature[:, features].sum(axis=1).reshape(-1, 1) for features in features_each], axis=1
        )
    n_tests = ports.feature.shape[0]
    reading = model.bool("test reads the column", (n_tests, len(columns)))
    for index, features in enumerate(features_each):
        model.add(ports.feature[:, features] <= reading[:, index][:, None], f"{owner}: columns read")
    return reading


def distinct_rows(ports: Ports) -> Ints:
    """One sample of each point: rows with equal features take the same path."""
    return np.unique(np.asarray(ports.points.index), return_index=True)[1]


def on_paths(model: Model, ports: Ports, tests: Expr, owner: str) -> Expr:
    """(P, C) variables that are 1 at least where the path of a point has a test with a 1 in ``tests`` (V, C)."""
    # on[p, c] >= reaches[p, v] + tests[v, c] - 1
    reaches = ports.reaches[distinct_rows(ports)]
    on = model.bool("column is on the path", (reaches.shape[0], tests.shape[1]))
    model.add(on[:, None, :] >= reaches[:, :, None] + tests[None, :, :] - 1, f"{owner}: columns on paths")
    return on
