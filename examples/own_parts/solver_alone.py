"""
A solver alone
==============

A parity constraint and a rule of one's own, proved by HiGHS and by CP-SAT without a native engine for warm start or
bound. The formulation ``hypergraph-flow`` prices the dynamic program for trees, and states to the solver only what
trees below a cost use.
"""

from pathlib import Path

import pandas as pd

import treeform as tf


class SameAnswer(tf.Requirement):
    """Two applicants get the same answer."""

    needs = frozenset({"predicted"})

    def __init__(self, first: int, second: int) -> None:
        self.first, self.second = first, second

    def build(self, model, ports):
        model.add(ports.predicted[self.first] == ports.predicted[self.second], str(self))

    def violation(self, graph, data):
        codes = graph.predict_codes(data.X[[self.first, self.second]])
        return int(codes[0] != codes[1])


table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
problem = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=["sex", "age_group", "age_years"])
problem += [tf.StatisticalParity(groups="age_group", difference="0.02"), SameAnswer(0, 1)]

# %%
# What the prices show, and what is stated first:
print(problem.explain("highs", formulation="hypergraph-flow"))

# %%
# Each solver proves the optimum:
for solver in ("highs", "cp-sat"):
    result = problem.solve(solver, formulation="hypergraph-flow", warm_start=None, time_limit=60)
    print(solver, result)
    assert result.bound <= result.objective
print(result.graph.to_text())
