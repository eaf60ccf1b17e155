"""
An update of a model in use
===========================

A credit model is in use. Its successor may hand cases to a person, may not differ much, and pays for each violation of
parity between the age groups. Everything is exact: the optimum, the violation, and the proof.
"""

# %%
# The model in use.
from pathlib import Path

import pandas as pd

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv").drop(columns="credit_amount")
PERSONAL = ["sex", "age_group", "age_years"]
in_use = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=PERSONAL).solve().graph
print(in_use)

# %%
# The successor abstains at 0.3 of an error for each case, decides for at least 70 % of all, and predicts another class
# than the model in use (which never abstains) for at most 40 %. Each hundredth by which rates differ beyond 0.02 costs
# two errors.
problem = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=PERSONAL, abstain="ask")
parity = tf.StatisticalParity("age_group", difference="0.02", positive="yes")
problem.minimize(tf.AbstainCost("0.3") + parity.soft(200))
problem += [tf.MinCoverage("0.7"), tf.StayCloseTo(in_use, at_most="0.4"), tf.NoTestOn("foreign_worker")]
result = problem.solve()
print(result, result.solver)
print(result.graph)
print(result.notes[-1])

# %%
# By how much each requirement is violated, and the check of the proof.
print(result.violations)
print(tf.check(result.certificate(), table).verdict)
