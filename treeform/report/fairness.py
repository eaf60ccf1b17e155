"""How a model treats groups of samples: rates, errors and counts for each group, and for the groups crossed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import predictions
from treeform.language.question import Question
from treeform.report.figures import Interval, interval_of
from treeform.requirements.groups import MAX_GROUPS, Groups
from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True)
class GroupRow:
    """One group; a share is None where no row counts for it."""

    group: str
    rows: int
    """Rows of the group."""
    selected: Fraction | None
    """Share of its weight that is predicted the positive class."""
    true_positive: Fraction | None
    """The same among rows whose true class is the positive one."""
    false_positive: Fraction | None
    """The same among the others."""
    wrong: int
    """Rows that are misclassified."""
    error: Fraction | None
    """Share of its weight that is misclassified."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """mapping of str to (float, float): the exact interval of 95 % of each share by its name; none where rows have
    weights."""


@dataclass(frozen=True)
class GroupTable:
    """The groups of one attribute, on one set of rows."""

    attribute: str
    """The sensitive column, or several of them crossed."""
    rows_of: str
    """Which rows: "training" or "held-out"."""
    positive: str
    rows: tuple[GroupRow, ...]
    note: str = ""
    """Why there are no rows, where there are none."""

    @property
    def has_intervals(self) -> bool:
        """Whether its rates have exact intervals."""
        return any(row.intervals for row in self.rows)

    def spread(self, of: str) -> tuple[Fraction, Fraction | None] | None:
        """Largest difference between two groups of an attribute of `GroupRow`, and least ratio; None without two."""
        values = [value for row in self.rows if (value := getattr(row, of)) is not None]
        if len(values) < 2:
            return None
        low, high = min(values), max(values)
        return high - low, (low / high if high else None)


Attribute = str | Groups


def attributes_of(question: Question, named: Iterable[str] = ()) -> tuple[tuple[str, Attribute], ...]:
    """What the requirements compare, and the columns named, each once: (name, column or groups)."""
    found: dict[str, Attribute] = {}
    for requirement in question.requirements:
        groups = getattr(requirement, "groups", None)
        if isinstance(groups, str):
            found.setdefault(groups, groups)
        elif isinstance(groups, Groups):
            found.setdefault(groups.name or "groups", groups)
    for name in named:
        found.setdefault(name, name)
    return tuple(found.items())


def groups_on(
    attributes: Sequence[tuple[str, Attribute]], data: Dataset
) -> Iterator[tuple[str, Groups | TreeformError]]:
    """The groups of each attribute on some rows, or why it has none there."""
    for name, attribute in attributes:
        try:
            yield name, Groups.of(attribute, data)
        except TreeformError as error:
            yield name, error


def positive_of(question: Question) -> int:
    """The positive class: that of a fairness requirement, else the greater label, as the requirements take it."""
    labels = question.data.classes.tolist()
    for requirement in question.requirements:
        label = getattr(requirement, "positive", None)
        if label in labels:
            return int(labels.index(label))
    return len(labels) - 1


def group_tables(
    graph: DecisionGraph,
    data: Dataset,
    attributes: Sequence[tuple[str, Attribute]],
    positive: int,
    rows_of: str,
) -> tuple[GroupTable, ...]:
    """A table for each attribute, and one for all of them crossed where there are several."""
    label = str(data.classes[positive])
    predicted = predictions(graph, data)
    found, made = [], []
    for name, groups in groups_on(attributes, data):
        if isinstance(groups, TreeformError):
            why = f"{groups.what}; {groups.cause or ''}".strip("; ")
            made.append(GroupTable(name, rows_of, label, (), why))
            continue
        found.append((name, groups))
        made.append(GroupTable(name, rows_of, label, _rows(groups, data, predicted, positive)))
    if len(found) > 1:
        crossed = _crossed([groups for _, groups in found])
        names = " × ".join(name for name, _ in found)
        if len(crossed.labels) <= MAX_GROUPS:
            made.append(GroupTable(names, rows_of, label, _rows(crossed, data, predicted, positive)))
        else:
            note = f"{len(crossed.labels)} groups; at most {MAX_GROUPS} are listed"
            made.append(GroupTable(names, rows_of, label, (), note))
    return tuple(made)


def _crossed(parts: Sequence[Groups]) -> Groups:
    """The groups of all attributes together; only those that have rows."""
    table = np.column_stack([groups.codes for groups in parts])
    cells, codes = np.unique(table, axis=0, return_inverse=True)
    labels = tuple(
        " & ".join(str(groups.labels[code]) for groups, code in zip(parts, cell, strict=True))
        for cell in cells
    )
    return Groups(codes.reshape(-1).astype(np.int64), labels)


def _rows(groups: Groups, data: Dataset, predicted: Ints, positive: int) -> tuple[GroupRow, ...]:
    actual, selected, wrong = data.y == positive, predicted == positive, predicted != data.y
    made = []
    for code, label in enumerate(groups.labels):
        members = groups.codes == code
        shares = {
            "selected": (members, selected),
            "true_positive": (members & actual, selected),
            "false_positive": (members & ~actual, selected),
            "error": (members, wrong),
        }
        counted = {
            name: interval_of(Fraction(int((among & of).sum())), Fraction(int(among.sum())), data)
            for name, (among, of) in shares.items()
        }
        made.append(
            GroupRow(
                str(label),
                int(members.sum()),
                **{name: _share(data, among, of) for name, (among, of) in shares.items()},
                wrong=int((members & wrong).sum()),
                intervals={name: interval for name, interval in counted.items() if interval is not None},
            )
        )
    return tuple(made)


def _share(data: Dataset, among: Bools, of: Bools) -> Fraction | None:
    total = int(data.weights[among].sum())
    return Fraction(int(data.weights[among & of].sum()), total) if total else None
