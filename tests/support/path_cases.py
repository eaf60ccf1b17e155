"""Small cases under each kind of rule on paths, alone and with parity."""

from __future__ import annotations

import numpy as np
from graph_cases import Cases, under_rules

import treeform as tf
from treeform.testing.cases import Case, draw_cases

RULES = ("root", "once", "paid", "below", "together", "few")


def rule_of(case: Case, name: str) -> tf.Requirement:
    """A rule on paths over the columns of a case."""
    columns = list(dict.fromkeys(column.source for column in case.data.columns))
    if name == "root":
        feature = next(f for f in range(case.data.n_features) if len(np.unique(case.data.X[:, f])) > 1)
        threshold = float(case.data.ranks.thresholds(feature)[0])
        return tf.Fix(tf.DecisionGraph.from_nested((feature, threshold, 0, 1), case.data))
    if name == "once":
        return tf.OncePerPath()
    if name == "paid":
        return tf.FeatureCost({c: 1 + i % 3 for i, c in enumerate(columns)}, at_most=3, per_path=True)
    if name == "below":
        return tf.Below(columns[0], columns[-1])
    if name == "few":
        return tf.MaxTestsPerPath(columns[:2], 1)
    return tf.Interaction([columns[:2], columns[1:]])


def cases(name: str, number: int, seed: int, depth: int) -> Cases:
    """Cases with the rule, every other one under parity, too."""

    def rules(case: Case) -> list[tf.Requirement]:
        several = len({column.source for column in case.data.columns}) > 1
        return [rule_of(case, name)] if several and case.data.n_tests else []

    return under_rules(draw_cases(8 * number, seed, (tf.Tree(depth),)), number, rules)
