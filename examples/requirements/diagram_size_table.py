"""
A diagram for every price of a test
===================================

How many tests a model should have is a matter of price: alpha in the paper of Florio et al. (AAAI 2023). One table
over numbers of tests answers all prices at once, each with a proof.
"""

import numpy as np
import pandas as pd

import treeform as tf

# %%
# Whether a loan was paid back: a rule of three questions, and every tenth answer wrong.

rng = np.random.default_rng(1)
X = pd.DataFrame(
    {
        "income": rng.integers(1, 9, 120) * 500,
        "owner": rng.integers(0, 2, 120).astype(bool),
        "years": rng.integers(0, 6, 120),
    }
)
good = ((X["income"] > 2000) ^ X["owner"]) & (X["years"] > 1)
y = np.where(good ^ (rng.random(120) < 0.1), "paid", "lost")

# %%
# The skeleton bounds the tests of each layer; a layer has at most twice the tests of the one above.

problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2))
table = problem.size_table(alphas=["0.05", "0.2", "1"], time_limit=20)
print(table)

# %%
# Read off what each alpha asks for. A dear test is used only if it saves many errors.

for alpha in ("0.05", "0.2", "1"):
    print(f"alpha {alpha}: {table.at_alpha(alpha)}")

# %%
# Under stability, (20) of the paper, every test in use is reached by at least 55 % of the rows.

problem += tf.Stability(fraction="0.55")
steady = problem.size_table(alphas=["0.05"], time_limit=20).at_alpha("0.05")
print(f"stable: {steady}")
assert steady.graph is not None
print(steady.graph.to_text())
steady.graph.plot()
