"""
A fair tree, with proof
=======================

The best decision tree of depth 3 on the German Credit table, such that applicants under and over 26 are predicted to
be creditworthy at similar rates, and such that every leaf holds at least 5 % of the applicants.
"""

# %%
# The data
# --------
# A plain table: numbers stay numbers, and all their thresholds are tried. Text columns become yes/no questions. The
# sensitive columns are excluded: no test may use them, and requirements may name them.

from pathlib import Path

import pandas as pd

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
X, y = table.drop(columns="creditworthy"), table["creditworthy"]
sensitive = ["sex", "age_group", "age_years"]

# %%
# The problem
# -----------
# Shape, objective and requirements; nothing here says how it is solved.

problem = tf.Problem(X, y, shape=tf.Tree(depth=3), exclude=sensitive)
problem.minimize(tf.Error())
problem += tf.StatisticalParity(groups="age_group", ratio=0.97, positive="yes")
problem += tf.MinSupport(0.05)
print(problem)

# %%
# The answer
# ----------
# The solver is chosen: here a native search over all thresholds. The status is derived from what was proved, never
# copied from a solver.

result = problem.solve(time_limit=60)
print(result, result.solver)
assert result.graph is not None
print("\n".join(result.graph.rules()))

# %%
# The drawing is laid out by treeform itself.

result.graph.plot()

# %%
# What does the ratio cost?
# -------------------------
# The group rates are on every report. Each bound is a problem of its own.


def show(ratio: float, problem: tf.Problem, result: tf.Result) -> None:
    parity = next(r for r in problem.requirements if isinstance(r, tf.StatisticalParity))
    rates = {row.group: f"{float(row.rate):.1%}" for row in parity.report(result.graph, problem.data)}
    print(f"ratio {ratio}: {result.errors} errors ({result.status}), predicted creditworthy: {rates}")


show(0.97, problem, result)
looser = tf.Problem(X, y, shape=tf.Tree(depth=3), exclude=sensitive)
looser += [tf.MinSupport(0.05), tf.StatisticalParity("age_group", ratio=0.8, positive="yes")]
show(0.8, looser, looser.solve(time_limit=60))

# %%
# The certificate
# ---------------
# Everything needed to verify the answer from scratch: `tf.check` routes every sample again, counts errors in
# integers, evaluates the requirements, and proves the bound again.

certificate = result.certificate()
report = tf.check(certificate, X, y)
print(report)
assert report.ok
