"""
The least depth that makes no error
===================================

Minimising the depth asks for one depth after the other: is there a tree of depth 1, 2, 3, … without errors? Each is a
Boolean formula for a SAT solver (Avellaneda, AAAI 2020), which proves the smaller depths impossible. Without
``warm_start=None`` a native engine tries each depth first.
"""

import numpy as np
import pandas as pd

import treeform as tf

# %%
# MONK's first problem: robots are friendly when head and body have the same shape, or the jacket is red.

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "head": rng.choice(["round", "square", "octagon"], 120),
        "body": rng.choice(["round", "square", "octagon"], 120),
        "smiling": rng.choice([True, False], 120),
        "holding": rng.choice(["sword", "balloon", "flag"], 120),
        "jacket": rng.choice(["red", "yellow", "green", "blue"], 120),
    }
)
y = np.where((X["head"] == X["body"]) | (X["jacket"] == "red"), "friendly", "not")

problem = tf.Problem(X, y, shape=tf.Tree(depth=6))
problem.minimize(tf.Depth())
problem += tf.MaxErrors(0)
result = problem.solve("cadical195", formulation="sat-depth", warm_start=None, time_limit=20)
print(result)
for claim in result.claims:
    print(claim)
assert result.graph is not None
result.graph.plot()
