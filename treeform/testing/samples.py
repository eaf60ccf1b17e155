"""A requirement of each kind, for the cells of the matrix: a new requirement is added here."""

from __future__ import annotations

import pandas as pd

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.requirement import Requirement
from treeform.requirements import (
    AccuracyParity,
    Below,
    ConditionalParity,
    EqualizedOdds,
    EqualOpportunity,
    Exclusive,
    FeatureBudget,
    FeatureCost,
    Fix,
    GroupErrorAtMost,
    Interaction,
    MaxCost,
    MaxDepth,
    MaxErrors,
    MaxFalsePositiveRate,
    MaxLeaves,
    MaxNodes,
    MaxTestsPerPath,
    MaxThresholds,
    MeanParity,
    MinCoverage,
    MinPrecision,
    MinRecall,
    MinSpecificity,
    MinSupport,
    Monotone,
    MustClassifyRight,
    NoTestOn,
    OncePerPath,
    PredictiveEquality,
    Stability,
    StatisticalParity,
    StayCloseTo,
    Uses,
)

_TABLE = Dataset.from_user(
    pd.DataFrame({"age": [18.5, 30.25, 47.0, 47.0], "owner": [False, True, False, True]}), [0, 1, 1, 0]
)

SAMPLES: tuple[Requirement, ...] = (
    MaxNodes(1),
    MaxNodes(2),
    MinSupport(2),
    MinSupport(0.3),
    Stability(0.5),
    MaxErrors(0),
    MaxErrors(1),
    MaxErrors(0.3),
    StatisticalParity(groups="group", ratio=0.8, positive=1),
    StatisticalParity(difference=0.2, positive=0),
    EqualOpportunity(groups="group", difference=0.2, positive=1),
    PredictiveEquality(groups="group", ratio=0.8, positive=1),
    EqualizedOdds(difference=0.3, positive=0),
    ConditionalParity(groups="group", given="owner", ratio=0.5, positive=1),
    AccuracyParity(groups="group", difference=0.2),
    GroupErrorAtMost(groups="group", at_most=0.3),
    MinPrecision(0.7, positive=1),
    MinRecall(0.5, positive=1),
    MinSpecificity(0.6, positive=0),
    MaxFalsePositiveRate(0.3, positive=0),
    MustClassifyRight([0, 2]),
    MaxCost("balanced_error", at_most="0.4"),
    MinCoverage(0.7),
    FeatureBudget(1),
    NoTestOn("age"),
    Monotone("age", positive=1),
    Monotone("owner", "decreasing", positive=0),
    MaxLeaves(2),
    MaxDepth(1),
    MaxTestsPerPath(["age", "owner"], 1),
    OncePerPath(),
    MaxThresholds("age", 1),
    FeatureCost({"age": 1, "owner": "0.5"}, at_most=1),
    FeatureCost({"age": 1, "owner": "0.5"}, at_most=1, per_path=True),
    Uses("age"),
    Exclusive(["age", "owner"]),
    Interaction([["age"], ["owner", "group"]]),
    Below("owner", above="age"),
    Fix(DecisionGraph.from_nested((0, 38.0, 0, 1), _TABLE)),
    StayCloseTo(DecisionGraph.from_nested((0, 24.0, 0, (1, 0.5, 1, 0)), _TABLE), at_most="0.3"),
)
"""Over the tables of `treeform.testing.draw_cases`, whose columns and groups they name."""

ABSTAINING: tuple[type[Requirement], ...] = (MinCoverage,)
"""Those that are asked over the tables of ``draw_cases(abstain=True)``, whose leaves may decide nothing."""

SAMPLES_OF_VALUES: tuple[Requirement, ...] = (
    MeanParity(groups="group", difference="0.3"),
    MeanParity(difference=0),
    Monotone("age"),
    Monotone("owner", "decreasing"),
    MaxNodes(1),
    MinSupport(2),
    Stability(0.5),
    FeatureBudget(1),
    NoTestOn("age"),
    MaxLeaves(2),
    MaxDepth(1),
)
"""Those that may be asked of regression models, over the tables of ``draw_cases(of_values=True)``."""
