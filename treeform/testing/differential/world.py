"""The treeform side of a bundle: its data set, and the problems stated over it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

import treeform as tf
from treeform.testing.differential import questions
from treeform.testing.differential.cases import Bundle, Case


class World:
    """The data set of a bundle, made once."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        table = bundle.table
        self.frame = pd.DataFrame({name: list(values) for name, values in table.columns.items()})
        self.labels = list(table.labels)
        self.weights = None if table.weights is None else [float(Fraction(w)) for w in table.weights]
        self.groups = None if table.groups is None else list(table.groups)
        self.data = tf.Dataset.from_user(self.frame, self.labels, self.weights)

    def problem(self, case: Case, groups: Any = None) -> tf.Problem:
        """The problem of a case, stated as a user would. Raises TreeformError if treeform refuses to state it."""
        groups = self.groups if groups is None else groups
        problem = tf.Problem(self.data, None, shape=case.shape.text, sensitive_features=groups)
        problem.minimize(case.goal.text)
        problem += [questions.make(spec, groups) for spec in case.requirements]
        return problem
