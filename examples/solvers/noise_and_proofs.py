"""
Noise, the Pareto curve, and a proof
====================================

With wrong labels in the data, "no training error" asks for too much. How much depth does it save to allow some errors,
how many errors does each further test save, and can the answer "no shallower tree exists" be checked without trusting a
solver?
"""

import tempfile

import numpy as np

import treeform as tf

# %%
# A rule over five switches, and four wrong labels out of 80.

rng = np.random.default_rng(1)
X = rng.integers(0, 2, (80, 5))
rule = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3] & 1)
y = rule.copy()
y[:4] ^= 1

# %%
# The least depth with at most so many errors.

for allowed in (4, 8, 16):
    problem = tf.Problem(X, y, shape=tf.Tree(depth=5)).minimize(tf.Depth()).add(tf.MaxErrors(allowed))
    print(f"at most {allowed} errors: depth {problem.solve(time_limit=20).objective}")

# %%
# Depth, tests and errors at once: every tree that no other one beats.

print(tf.Problem(X, y, shape=tf.Tree(depth=3)).pareto(time_limit=20))

# %%
# A proof that there is no tree of smaller depth for the clean rule. The checker derives the clauses from the table
# again and verifies each step of the proof.

clean = tf.Problem(X, rule, shape=tf.Tree(depth=5)).minimize(tf.Depth()).add(tf.MaxErrors(0))
with tempfile.TemporaryDirectory() as folder:
    result = clean.solve("sat", proofs=folder, time_limit=20)
    print(tf.check(result.certificate(), X, rule, proofs=folder))

assert result.graph is not None
result.graph.plot()
