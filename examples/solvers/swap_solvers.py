"""
One problem, several formulations and solvers
=============================================

The same requirement objects on a mixed-integer program and on a Boolean formula: formulation and solver are
arguments of ``solve``, and the optima agree.
"""

from sklearn.datasets import load_iris

import treeform as tf

X, y = load_iris(return_X_y=True, as_frame=True)
X, y = X.iloc[::3].round(0), y.iloc[::3]

problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
problem += [tf.MinSupport(5), tf.MaxNodes(2)]
print(problem)

# %%
# Which solvers are here
# ----------------------
# Solvers are imported when they are used, so that a missing one is only a row in a table.

print(tf.solvers())

# %%
# The route to a solver
# ---------------------
# A model holds linear rows, clauses and cardinality rows. What a solver lacks is rewritten by bridges; ``explain``
# shows how, and solves nothing.

print(problem.explain("highs", formulation="odd"))
print()
print(problem.explain("cadical195", formulation="sat-depth"))

# %%
# Equal optima
# ------------
# On a slow machine twenty seconds may be too few for a proof. At any speed no bound is above any model, and so all
# optima that are proved are equal.

results = []
for solver, formulation in [
    ("contree", None),
    ("highs", "odd"),
    ("cp-sat", "odd"),
    ("cadical195", "sat-depth"),
    ("highs", "sat-depth"),
]:
    result = problem.solve(solver, formulation=formulation, warm_start=None, time_limit=20)
    results.append(result)
    print(f"{solver:>11} {formulation or '-':>9}: {result}")
assert max(result.bound for result in results) <= min(result.objective for result in results)
