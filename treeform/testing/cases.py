"""Tiny random problems, and how they print as code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.data.roles import TableOptions
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement
from treeform.shape import Diagram, Shape, Tree

GROUP = "group"
"""The column of groups that every case has, besides its features."""


@dataclass(frozen=True)
class Case:
    """A table, labels, weights, a shape and an objective."""

    columns: dict[str, list[Any]]
    """The features, and the column ``"group"`` with the groups ``"p"`` and ``"q"``."""
    labels: list[Any]
    weights: list[Any] | None
    shape: Shape
    objective: str
    abstain: str | None = None
    """The label of leaves that decide nothing."""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table without the labels."""
        return pd.DataFrame(self.columns)

    @cached_property
    def data(self) -> Dataset:
        """The table as a data set; groups are no feature."""
        read = Dataset.from_user(
            self.frame,
            self.labels,
            self.weights,
            exclude=(GROUP,),
            allow_quantities=True,
            options=TableOptions(abstain=self.abstain),
        )
        return self.goal.reading(read)

    @property
    def goal(self) -> Objective:
        return Objective.parse(self.objective)

    def code(self, *requirements: Requirement) -> str:
        """Python that states this problem again."""
        shape = f"tf.Tree({self.shape.depth})"
        if isinstance(self.shape, Diagram):
            shape = f"tf.Diagram{self.shape.widths!r}"
        abstain = "" if self.abstain is None else f", abstain={self.abstain!r}"
        table = ",\n".join(f"    {name!r}: {values!r}" for name, values in self.columns.items())
        lines = [
            "import pandas as pd, treeform as tf",
            f"X = pd.DataFrame({{\n{table},\n}})",
            f"y = {self.labels!r}",
            f"problem = tf.Problem(X, y, shape={shape}, sample_weight={self.weights!r}, exclude=({GROUP!r},),",
            f"                     sensitive_features=X[{GROUP!r}]{abstain})",
            f"problem.minimize({self.objective!r})",
            *(f"problem += tf.Requirement.from_json({r.to_json()!r})" for r in requirements),
        ]
        return "\n".join(lines)


def draw_cases(
    count: int,
    seed: int = 0,
    shapes: tuple[Shape, ...] = (),
    of_values: bool = False,
    abstain: bool = False,
) -> Iterator[Case]:
    """Random cases: two or three classes, repeated and contradictory rows, weights, several kinds of columns.

    Parameters
    ----------
    shapes : tuple of Shape
        Taken in turn; trees of depth 1 and 2 and a diagram of two layers when empty.
    of_values : bool
        Problems of regression, under absolute errors.
    abstain : bool
        Problems with a label for leaves that decide nothing, at a price.
    """
    shapes = shapes or (Tree(2), Tree(1), Diagram(1, 2))
    for number in range(count):
        rng = np.random.default_rng((seed, number))
        case = _draw(rng, shapes[number % len(shapes)])
        case = _with_values(rng, case) if of_values else case
        yield _with_open_decisions(case) if abstain else case


def _with_values(rng: np.random.Generator, case: Case) -> Case:
    """The same table with three or four values as the target, and a loss of regression."""
    n = len(case.labels)
    targets = np.concatenate([np.arange(3), rng.integers(0, 3 + rng.integers(2), n - 3)])
    labels = rng.permutation(targets) * rng.choice([1.0, 0.5]) + rng.choice([0.0, 100.0])
    objective = case.objective.replace("error", "absolute_error")
    return replace(case, labels=labels.tolist(), objective=objective)


def _with_open_decisions(case: Case) -> Case:
    """The same table, on which a leaf may decide nothing."""
    objective = case.objective.replace("error", "abstain_cost[price=1/4]")
    return replace(case, objective=objective, abstain="ask")


def _draw(rng: np.random.Generator, shape: Shape) -> Case:
    n = int(rng.integers(6, 10))
    columns: dict[str, list[Any]] = {
        "age": rng.choice([18.5, 30.25, 47.0], n).tolist(),
        "owner": rng.choice([False, True], n).tolist(),
    }
    if rng.random() < 0.5:
        columns["job"] = rng.choice(["a", "b", "c"], n).tolist()
    else:
        columns["score"] = (rng.integers(0, 3, n) / 10).tolist()
    columns[GROUP] = rng.permutation(["p", "q"] * n)[:n].tolist()
    columns[GROUP][:2] = ["p", "q"]
    n_classes = 2 if rng.random() < 0.75 else 3
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    rng.shuffle(labels)
    if rng.random() < 0.4:  # the others mostly contradict themselves somewhere
        rows = list(zip(*(values for name, values in columns.items() if name != GROUP), strict=True))
        same = np.array([labels[rows.index(row)] for row in rows])
        labels = same if len(set(same.tolist())) > 1 else labels
    weights = [None, rng.integers(1, 4, n).tolist(), (rng.integers(1, 8, n) / 4).tolist()][
        int(rng.integers(3))
    ]
    return Case(columns, labels.tolist(), weights, shape, str(rng.choice(["error", "error + 1/2*nodes"])))
