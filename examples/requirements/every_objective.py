"""
Every objective, on one table
=============================

What may be minimised, on the German Credit table: how the command line spells it, and the proved least value of a tree
of depth 2 as an exact fraction. Prices of size stand beside it, and what a model lacks of a requirement.
"""

# %%
# The table
# ---------
# No test reads ``sex``, ``age_group`` and ``age_years``; groups are compared by ``age_group``.

from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.metrics import f1_score, matthews_corrcoef

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
DATA = tf.Dataset.from_user(table, "creditworthy", exclude=["sex", "age_group", "age_years"])
TREE = tf.Tree(depth=2)

# %%
# What is minimised
# -----------------
# Terms add up, each with a weight.

MINIMISED = [
    tf.Error(),
    tf.Cost([[0, 5], [1, 0]]),
    tf.Error() + 2 * tf.Nodes(),
    tf.Error() + tf.Leaves() / 2,
    tf.BalancedError(),
    tf.GroupError("age_group", weights={"under 26": 2, "26 or older": 1}),
    tf.MaxGroupError("age_group"),
    tf.F1Loss(positive="no"),
    tf.MatthewsLoss(positive="no"),
    tf.Error() + tf.MaxNodes(1).soft(8),
    tf.Error() + tf.StatisticalParity("age_group", difference="0.01", positive="yes").soft(300),
]

# %%
# The least values
# ----------------

rows = []
for terms in MINIMISED:
    problem = tf.Problem(DATA, None, shape=TREE).minimize(terms)
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL
    rows.append(
        (str(problem.objective), str(result.objective), f"{float(result.objective):.4g}", result.errors)
    )
report = pd.DataFrame(rows, columns=["--minimize", "least value", "as a decimal", "errors"])
print(report.to_string(index=False))

# %%
# The scores are those of scikit-learn.

truth = table["creditworthy"]
for term, score in (
    (tf.F1Loss(positive="no"), f1_score),
    (tf.MatthewsLoss(positive="no"), matthews_corrcoef),
):
    result = tf.Problem(DATA, None, shape=TREE).minimize(term).solve()
    options = {"pos_label": "no"} if score is f1_score else {}
    print(f"{score.__name__}: {score(truth, result.graph.predict(table), **options):.6f}", result.notes[-1])

# %%
# To decide nothing at a price, and the least depth that keeps a bound on the errors.

problem = tf.Problem(
    table, "creditworthy", shape=TREE, exclude=["sex", "age_group", "age_years"], abstain="ask"
)
print(problem.minimize(tf.AbstainCost("0.25") + tf.Nodes()).solve())
problem = tf.Problem(DATA, None, shape=tf.Tree(depth=3)).minimize(tf.Depth())
problem += tf.MaxErrors(275)
print(problem.solve())

# %%
# Regression has two of its own, on the progress of diabetes in 442 patients.

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
for term in (tf.SquaredError(), tf.AbsoluteError()):
    result = tf.Problem(X, y, shape=TREE).minimize(term).solve()
    assert result.status is tf.Status.OPTIMAL
    print(f"{term}: {float(result.objective):.6g}")
