"""A requirement of each kind, for the cells of the matrix: whoever adds a requirement adds it here."""

from __future__ import annotations

from treeform.language.requirement import Requirement
from treeform.requirements import (
    AccuracyParity,
    ConditionalParity,
    EqualizedOdds,
    EqualOpportunity,
    FeatureBudget,
    GroupErrorAtMost,
    MaxErrors,
    MaxFalsePositiveRate,
    MaxNodes,
    MinPrecision,
    MinRecall,
    MinSpecificity,
    MinSupport,
    Monotone,
    MustClassifyRight,
    NoTestOn,
    PredictiveEquality,
    Stability,
    StatisticalParity,
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
    StatisticalParity(groups="group", ratio=0.8, favourable=1),
    StatisticalParity(difference=0.2, favourable=0),
    EqualOpportunity(groups="group", difference=0.2, favourable=1),
    PredictiveEquality(groups="group", ratio=0.8, favourable=1),
    EqualizedOdds(difference=0.3, favourable=0),
    ConditionalParity(groups="group", given="owner", ratio=0.5, favourable=1),
    AccuracyParity(groups="group", difference=0.2),
    GroupErrorAtMost(groups="group", rate=0.3),
    MinPrecision(0.7, positive=1),
    MinRecall(0.5, positive=1),
    MinSpecificity(0.6, positive=0),
    MaxFalsePositiveRate(0.3, positive=0),
    MustClassifyRight([0, 2]),
    FeatureBudget(1),
    NoTestOn("age"),
    Monotone("age", favourable=1),
    Monotone("owner", "decreasing", favourable=0),
)
"""Over the tables of `treeform.testing.draw_cases`, whose columns and groups they name."""
