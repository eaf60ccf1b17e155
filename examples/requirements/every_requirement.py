"""
What requirements cost, on one table
====================================

Requirements of each kind, on the German Credit table: what is asked for, how the command line
spells it, what the best tree of depth 2 costs under it, and who proved that nothing is better. Without any
requirement the best tree makes 258 errors; the difference is the price.
"""

# %%
# The table
# ---------
# Numbers have all their thresholds. No test reads ``sex`` and ``age_group``; requirements may name them.

from pathlib import Path

import pandas as pd

import treeform as tf

table = pd.read_csv(Path(__file__).parents[1] / "data" / "credit.csv")
TREE, YES = tf.Tree(depth=2), {"positive": "yes"}


DATA = tf.Dataset.from_user(table, "creditworthy", exclude=["sex", "age_group"])


def stated(*requirements):
    """The problem that all of them are added to."""
    problem = tf.Problem(DATA, None, shape=TREE)
    problem += list(requirements)
    return problem


plain = stated().solve()
in_use = stated(tf.NoTestOn("checking_account")).solve().graph
first = tf.DecisionGraph.from_dict(
    {"column": "savings", "is": "below 100 DM", "yes": {"predict": "no"}, "no": {"predict": "yes"}},
    DATA,
)

# %%
# What is asked for
# -----------------

ASKED = {
    "fairness": [
        tf.StatisticalParity("age_group", difference="0.01", **YES),
        tf.ConditionalParity("age_group", given="housing", difference="0.05", **YES),
        tf.EqualOpportunity("age_group", difference="0.005", **YES),
        tf.PredictiveEquality("age_group", difference="0.01", **YES),
        tf.EqualizedOdds("age_group", difference="0.02", **YES),
        tf.AccuracyParity("age_group", difference="0.02"),
        tf.GroupErrorAtMost("age_group", at_most="0.32"),
    ],
    "performance": [
        tf.MaxErrors(272),
        tf.MaxCost([[0, 5], [1, 0]], at_most=600),
        tf.MinPrecision("0.8", positive="yes"),
        tf.MinRecall("0.95", positive="yes"),
        tf.MinSpecificity("0.5", positive="yes"),
        tf.MaxFalsePositiveRate("0.4", positive="yes"),
        tf.MustClassifyRight([1, 4]),
        tf.MinSpecificity("0.45", positive="yes").each("housing"),
        tf.MaxErrors("0.24").on("age_years >= 26"),
    ],
    "parsimony": [
        tf.MaxNodes(2),
        tf.MaxLeaves(2),
        tf.MaxDepth(1),
        tf.FeatureBudget(1),
        tf.FeatureCost({"checking_account": 2, "credit_amount": 1}, at_most=2),
        tf.MaxTestsPerPath(["checking_account", "duration_months", "savings"], 1),
        tf.OncePerPath(),
        tf.MaxThresholds("duration_months", 1),
        tf.MinSupport("0.1"),
        tf.Stability("0.3"),
    ],
    "structure": [
        tf.Uses(["instalment_rate"]),
        tf.NoTestOn("checking_account"),
        tf.Exclusive(["checking_account", "duration_months"]),
        tf.Interaction([["checking_account", "savings"], ["duration_months", "purpose"]]),
        tf.Below("checking_account", above="savings"),
        tf.Monotone("credit_amount", "increasing", **YES),
        tf.Fix(first),
        tf.StayCloseTo(in_use, at_most="0.02"),
    ],
}

# %%
# What it costs
# -------------
# Each line is a problem of its own. `Result.violations` is recomputed from the finished model; all of them are 0.

rows = []
for kind, requirements in ASKED.items():
    for requirement in requirements:
        result = stated(requirement).solve()
        assert result.status is tf.Status.OPTIMAL and not any(result.violations.values())
        rows.append((kind, str(requirement), result.errors, result.errors - plain.errors, result.solver))
report = pd.DataFrame(rows, columns=["", "--require", "errors", "price", "proved by"])
print(report.to_string(index=False))

# %%
# A coverage bound is about trees that may abstain.

careful = tf.Problem(table, "creditworthy", shape=TREE, exclude=["sex", "age_group"], abstain="ask")
careful += tf.MinCoverage("0.8")
careful.minimize(tf.AbstainCost("0.2"))
answer = careful.solve()
print(answer, answer.notes[-1])
