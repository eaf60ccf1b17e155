"""
What fairness costs, at every bound
===================================

How many errors does it take to approve young and old at similar rates? Every bound at which the best tree changes,
with proof.
"""

# %%
# The trade-off
# -------------
# The number is left open: the frontier goes from no bound at all to equal rates.

from pathlib import Path

import pandas as pd

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
problem = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=["sex", "age_group", "age_years"])
frontier = problem.frontier(over=tf.StatisticalParity(groups="age_group", difference=None), time_limit=60)
print(frontier)
assert frontier.proved

# %%
# The curve
# ---------

frontier.plot()

# %%
# One bound
# ---------
# The best tree whose rates differ by 0.02 at most, and its certificate.

point = frontier.at(0.02)
assert point is not None
print(f"{point.objective} errors, the rates differ by {float(point.value):.4f}")
print("\n".join(point.graph.rules()))
X, y = table.drop(columns="creditworthy"), table["creditworthy"]
assert tf.check(point.certificate(), X, y).ok

# %%
# Size instead of fairness
# ------------------------
# Any requirement that bounds one number has a frontier, here the number of columns that tests read.

print(problem.frontier(over=tf.FeatureBudget(1), time_limit=60).to_frame())
