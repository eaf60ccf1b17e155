"""Tiny problems with requirements that the search for totals supports, and requirements of one's own among them."""

from __future__ import annotations

import numpy as np

import treeform as tf

RATES = (tf.StatisticalParity, tf.EqualOpportunity, tf.PredictiveEquality, tf.EqualizedOdds)


class AtMostApproved(tf.Requirement):
    """At least and at most so much weight is predicted class 1, said in totals only."""

    needs = frozenset({"predicted"})

    def __init__(self, most, least=0):
        self.most, self.least = most, least

    def build(self, model, ports):
        approved = (ports.predicted[:, 1] * ports.weights).sum()
        model.add(approved <= self.most, str(self))
        model.add(approved >= self.least, str(self))

    def totals(self, data):
        per_sample = np.zeros((data.n_samples, data.n_classes, 1), dtype=np.int64)
        per_sample[:, 1] = 1
        return tf.Totals(("approved",), per_sample, (tf.TotalRow((1,), lo=self.least, hi=self.most),))

    def violation(self, graph, data):
        approved = self.totals(data).values(graph, data)[0]
        return max(0, approved - self.most, self.least - approved)


class AtLeastTests(tf.Requirement):
    """At least so many tests, for solvers only."""

    needs = frozenset({"active"})

    def __init__(self, least):
        self.least = least

    def build(self, model, ports):
        model.add(ports.active.sum() >= self.least, str(self))

    def violation(self, graph, data):
        return max(0, self.least - graph.n_nodes)


class TestPrice(tf.Requirement):
    """The tests' columns cost at most so much, column f costs f + 1: a total of tests."""

    __test__ = False
    needs = frozenset({"feature"})

    def __init__(self, most):
        self.most = most

    def build(self, model, ports):
        model.add((ports.feature * np.arange(1, ports.n_features + 1)).sum() <= self.most, str(self))

    def totals(self, data):
        none = np.zeros((data.n_samples, data.n_classes, 1), dtype=np.int64)
        price = np.arange(1, data.n_features + 1, dtype=np.int64)[:, None]
        return tf.Totals(("price",), none, (tf.TotalRow((1,), hi=self.most),), price)

    def violation(self, graph, data):
        return max(0, self.totals(data).values(graph, data)[0] - self.most)


class Scaled(AtMostApproved):
    """The same with every number multiplied, to reach the ends of 64 bits."""

    def __init__(self, most, factor, noise=0):
        super().__init__(most)
        self.factor, self.noise = factor, noise

    def totals(self, data):
        per_sample = np.zeros((data.n_samples, data.n_classes, 1), dtype=np.int64)
        per_sample[:, 1, 0] = self.factor + np.arange(data.n_samples) * self.noise
        return tf.Totals(("approved",), per_sample, (tf.TotalRow((1,), hi=self.most * self.factor),))

    def violation(self, graph, data):
        return self.totals(data).excess(graph, data)


class NoMeeting(tf.Requirement):
    """Marked samples of class 0 below a test of a column never meet approved ones above it: marks of samples."""

    needs = frozenset({"feature"})

    def __init__(self, feature, marked):
        self.feature, self.marked = feature, marked

    def build(self, model, ports):
        raise AssertionError("the search is the only one that is asked")

    def meetings(self, data):
        per_sample = np.zeros((data.n_samples, data.n_classes, 2), dtype=bool)
        per_sample[:, 0, 0] = self.marked
        per_sample[:, 1, 1] = True
        return tf.Meetings(("marked", "approved"), per_sample, (tf.Clash(self.feature, (0,), (1,)),))

    def violation(self, graph, data):
        codes, clashes = graph.predict_codes(data.X), 0
        visits, left = graph.route(data.X), graph.goes_left(data.X)
        for test in graph.tests():
            if test.columns == (self.feature,):
                low, high = (
                    visits[:, test.node] & side for side in (left[:, test.node], ~left[:, test.node])
                )
                clashes += bool((low & (codes == 0) & self.marked).any() and (high & (codes == 1)).any())
        return clashes


def problem_of(seed):
    """A tiny problem with one to three requirements of any kind that the search supports."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(4, 11)), int(rng.integers(2, 4))
    X = rng.integers(0, int(rng.integers(2, 4)), size=(n, int(rng.integers(1, 4)))).astype(float)
    y = np.arange(n) % classes
    rng.shuffle(y)
    group = [rng.integers(0, 2, n), rng.integers(0, 3, n), (y == 0).astype(int), np.zeros(n, int)][seed % 4]
    group[:2] = (0, 1)
    weights = [None, rng.integers(1, 6, n), np.round(rng.random(n) * 3 + 0.1, 1)][seed % 3]
    problem = tf.Problem(X, y, shape=tf.Tree(int(rng.integers(1, 3))), sample_weight=weights)
    cost = tf.Cost(rng.integers(0, 5, (classes, classes)))
    objectives = [tf.Error(), tf.Error() + tf.Nodes() / 2, 2 * tf.Error() + tf.Leaves() / 3, cost]
    problem.minimize(objectives[int(rng.integers(0, 4))])
    positive = int(rng.integers(0, classes))
    whole = int(problem.data.total_weight * problem.data.weight_unit)  # more than that is refused when stated
    for _ in range(int(rng.integers(1, 4))):
        kind, least = int(rng.integers(0, 12)), int(rng.integers(0, 7))
        if kind >= 10:
            feature = int(rng.integers(0, X.shape[1]))
            name = problem.data.columns[feature].source
            direction = ("increasing", "decreasing")[least % 2]
            monotone = tf.Monotone(name, direction, positive=positive)
            problem += NoMeeting(feature, rng.random(n) < 0.5) if kind == 11 else monotone
        elif kind < 5:
            amount = (
                {"ratio": rng.choice(["0.8", "1", "1/3"])}
                if kind % 2
                else {"difference": rng.choice(["0", "0.1", "0.3"])}
            )
            problem += RATES[int(rng.integers(0, 4))](groups=group, positive=positive, **amount)
        else:
            problem += [
                tf.MinSupport(int(rng.integers(1, 4))),
                tf.MaxNodes(int(rng.integers(0, 3))),
                tf.Stability(max(1, min(int(rng.integers(1, 5)), whole))),
                tf.FeatureBudget(int(rng.integers(0, 3))),
                [AtMostApproved(least + int(rng.integers(0, 3)), least), TestPrice(int(rng.integers(0, 5)))][
                    seed % 2
                ],
            ][kind - 5]
    return problem


def fair(
    benchmark_data, depth=3, name="fairness/compas", column="Race=African-American", positive=0, **amount
):
    X, y = benchmark_data(name)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=column, positive=positive, **(amount or {"ratio": 0.8}))
    return problem, X, y
