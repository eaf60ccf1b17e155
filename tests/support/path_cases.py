"""Small cases under each kind of rule on paths, alone and with parity."""

from __future__ import annotations

import numpy as np

import treeform as tf
from treeform.language.question import Question
from treeform.testing.cases import GROUP, Case, draw_cases

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


def cases(name: str, number: int, seed: int, depth: int) -> list[tuple[Case, Question]]:
    """Cases with the rule, every other one under parity, too."""
    out: list[tuple[Case, Question]] = []
    for case in draw_cases(8 * number, seed, (tf.Tree(depth),)):
        several = len({column.source for column in case.data.columns}) > 1
        if not several or not case.data.n_tests:
            continue
        rules: list[tf.Requirement] = [rule_of(case, name)]
        if len(out) % 2:
            rules.append(tf.StatisticalParity(groups=GROUP, difference="0.2", positive=0))
        bound = tuple(r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in rules)
        out.append((case, Question(case.data, case.shape, case.goal, bound)))
        if len(out) == number:
            break
    return out
