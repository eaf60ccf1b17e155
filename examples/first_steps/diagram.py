"""
Decision diagrams
=================

A diagram may share its lower tests between branches, which a tree has to repeat. The skeleton bounds the
number of tests in each layer.
"""

import numpy as np
import pandas as pd

import treeform as tf

# %%
# Parity of three bits: a tree needs seven tests, a diagram of width 2 needs five.

bits = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=bool)
X = pd.DataFrame(bits, columns=["a", "b", "c"])
y = np.where(bits.sum(axis=1) % 2, "odd", "even")

for shape in (tf.Tree(depth=3), tf.Diagram(1, 2, 2)):
    problem = tf.Problem(X, y, shape=shape)
    problem.minimize(10 * tf.Error() + tf.Nodes())
    result = problem.solve("highs", formulation="odd", time_limit=20)
    print(f"{shape}: {result}")

# %%
# Arcs that meet again make the drawing a diagram.

assert result.graph is not None
print(result.graph.to_text())
result.graph.plot()

# %%
# The estimator
# -------------
# ``OptimalDiagramClassifier`` is the same in scikit-learn's terms.

clf = tf.OptimalDiagramClassifier(widths=(1, 2, 2), time_limit=20).fit(X, y)
print(clf.predict(X).tolist(), clf.score(X, y))
