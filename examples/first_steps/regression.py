"""
Regression: the tree with the least sum of squares
==================================================

Leaves that predict numbers. The tree below is the best of its depth over all thresholds, and its loss is a fraction.
"""

from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import treeform as tf

# %%
# 442 patients, and a measure of how their disease went on a year later.

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
problem = tf.Problem(X, y, shape=tf.Tree(depth=3)).minimize(tf.SquaredError())
result = problem.solve()
print(result)
print(result.graph)

# %%
# The greedy tree of the same depth is worse.

greedy = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
loss = ((y - greedy.predict(X)) ** 2).sum()
print(f"greedy: {loss / float(result.objective) - 1:.1%} above the optimum")
assert loss > result.objective

# %%
# Everything is recounted from the data, leaf by leaf.

report = tf.check(result.certificate(), X, y)
print(report.verdict)
assert report.ok

# %%
# With a price on tests fewer are left. Medians in place of means are less moved by single patients.

priced = problem.minimize(tf.SquaredError() + 40_000 * tf.Nodes()).solve()
medians = tf.OptimalTreeRegressor(max_depth=2, loss="absolute_error").fit(X, y)
print(f"{priced.graph.n_nodes} tests save 40,000 each")
print("\n".join(medians.graph_.rules()))

# %%
# The tree, with mean and spread at each node.

priced.graph.plot()
