"""
Almost as good, and why some requirements conflict
==================================================

All trees within two per cent of the best fair one, what each requirement costs, and what to give up when nothing
satisfies them all.
"""

# %%
# Models that are almost as good
# ------------------------------

from pathlib import Path

import pandas as pd

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
problem = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=["sex", "age_group", "age_years"])
problem += tf.StatisticalParity(groups="age_group", difference="0.02")
problem += tf.MinSupport(0.05)
found = problem.near_optimal(within=0.02, time_limit=60)
print(found)
print(found.to_frame().head())

# %%
# What each requirement costs
# ---------------------------
# The optimum without it, each one proved.

result = problem.solve()
print(result.prices())

# %%
# Too much at once
# ----------------
# Requirements that cannot hold together, though any one fewer can, and how far each would have to move.

problem += tf.MaxErrors(0.265)
conflict = problem.conflict(time_limit=60)
assert conflict is not None
assert conflict.minimal
print(conflict)
