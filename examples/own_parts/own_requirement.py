"""
A requirement of one's own
==========================

A requirement that is a sum over rows says its inequalities. What is no sum has two methods: ``build`` states the rule
to solvers, ``violation`` judges a finished model. The conformance kit checks one against the other.
"""

from pathlib import Path

import pandas as pd

import treeform as tf

# %%
# A sum over rows
# ---------------
# Of those who are rejected, at most a share would have paid back. Engines prove it, solvers can state it, and it can be
# asked of each value of a column.


class FalseOmissions(tf.LinearRequirement):
    """Of those who are rejected, at most a share should have been approved."""

    def __init__(self, rate):
        self.rate = rate

    def forms(self, rows):
        yield rows.weight(truth="yes", predicted="no") <= self.rate * rows.weight(predicted="no")


table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
PERSONAL = ["sex", "age_group", "age_years"]
for requirement in (
    FalseOmissions(0.35),
    FalseOmissions(0.35).each("housing"),
    FalseOmissions(0.3).on("age_years < 26"),
):
    problem = tf.Problem(table, "creditworthy", shape=tf.Tree(depth=2), exclude=PERSONAL) + requirement
    print(requirement, problem.solve(), sep="\n  ")

# %%
# Two methods
# -----------
# ``needs`` names the ports that ``build`` reads: ``ports.feature[v, f]`` is 1 when test node *v* tests feature *f*.
# Any formulation that offers this port can be used, with any solver.


class AtMostFeatures(tf.Requirement):
    """At most k of the encoded features are tested."""

    needs = frozenset({"feature"})

    def __init__(self, k: int) -> None:
        self.k = k

    def build(self, model, ports):
        used = model.bool("used", ports.n_features)
        model.add(ports.feature <= used)
        model.add(used.sum() <= self.k)

    def violation(self, graph, data):
        return max(0, len(graph.features_used()) - self.k)


# %%
# Does it mean what it says?
# --------------------------
# ``check_requirement`` solves small random problems on every formulation that can take the requirement, and compares
# with brute force over all trees. Without ``backends`` it takes every solver that is installed.

print(tf.testing.check_requirement(AtMostFeatures(2), backends=["highs", "cp-sat"], cases=2, models=10))

# %%
# In use
# ------

X, y = table.drop(columns="creditworthy"), table["creditworthy"]

for k in (2, 3):
    problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
    problem += [AtMostFeatures(k), tf.MinSupport(0.05)]
    result = problem.solve("highs", time_limit=10)
    print(f"\nat most {k}: {result}")
    assert result.graph is not None
    print("\n".join(result.graph.rules()))
