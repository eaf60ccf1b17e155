"""Depth and complexity penalty of a tree by cross-validation, for the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from treeform.cli.problems import DEFAULT_SHAPE, load_table
from treeform.cli.spec import Settings
from treeform.errors import SpecError
from treeform.estimators.tree_cv import OptimalTreeClassifierCV, OptimalTreeRegressorCV
from treeform.graph import DecisionGraph
from treeform.language.losses import leaf_loss
from treeform.language.objective import Objective
from treeform.shape import Tree, parse_shape
from treeform.solve import Progress
from treeform.utils.budget import Budget

PART = 0.5
"""The share of the time limit that the choice has; what is left is for the tree on all rows."""
LEAST_SECONDS = 0.01
"""For that tree: a first model is still wanted."""
SECONDS = 60.0
"""For the choice, where no time limit is given."""


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose."""

    settings: Settings
    """With the depth, the penalty, and the time that is left."""
    tree: DecisionGraph
    """With these, of all rows: where their solve starts."""
    sentence: str
    """What was chosen, and its score on the rows held out."""


def choose_size(
    settings: Settings, folds: int, on_progress: Callable[[Progress], None], **options: str | None
) -> Choice:
    """Choose depth and penalty by cross-validation with so many folds; options as `OptimalTreeClassifierCV` has them.

    Raises SpecError if the shape is no tree, or the penalty is given already.
    """
    shape = parse_shape(settings.shape or DEFAULT_SHAPE)
    if not isinstance(shape, Tree):
        raise SpecError(
            f"--cv chooses the depth of a tree, and the shape is {settings.shape}",
            fix="leave out --cv, or name a shape such as --shape tree:4; `treeform sweep` compares other shapes",
        )
    for name, option in (("ccp_alpha", "--ccp-alpha"), ("weight_grid", "--weight-grid")):
        if getattr(settings, name) is not None:
            raise SpecError(
                f"--cv and {option} cannot be combined",
                cause="cross-validation chooses the penalty, and its weights are rounded as needed",
                fix="leave out one of the two",
            )
    X, y, weight = load_table(settings)
    budget = Budget(settings.time_limit)
    objective = None if settings.minimize is None else Objective.parse(settings.minimize)
    is_regression = objective is not None and leaf_loss(objective) is not None
    parameters: dict[str, Any] = {
        "max_depth": range(1, shape.depth + 1),
        "cv": folds,
        **{name: value for name, value in options.items() if value is not None},
        "requirements": [requirement for _, requirement in settings.requirements] or None,
        "objective": objective,
        "formulation": settings.formulation,
        "solver": settings.solver,
        "time_limit": SECONDS if settings.time_limit is None else PART * settings.time_limit,
        "threads": settings.threads,
        "exclude": settings.exclude,
        "categorical_features": settings.categorical,
        "missing": settings.missing or "value",
        "dates": settings.dates,
        "on_progress": on_progress,
    }
    estimator: Any = (
        OptimalTreeRegressorCV(**parameters)
        if is_regression
        else OptimalTreeClassifierCV(**parameters, abstain=settings.abstain)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the tree on all rows is solved after this
        estimator.fit(X, y, sample_weight=weight)
    depth, alpha = estimator.best_params_["max_depth"], estimator.best_params_["ccp_alpha"]
    rest = None if settings.time_limit is None else max(settings.time_limit - budget.seconds, LEAST_SECONDS)
    score = options.get("scoring") or ("R squared" if is_regression else "accuracy")
    return Choice(
        settings.model_copy(update={"shape": f"tree:{depth}", "ccp_alpha": _text(alpha), "time_limit": rest}),
        estimator.graph_,
        f"cross-validation, {folds} folds: depth {depth}, complexity penalty {float(alpha):.4g}; "
        f"{score} on the rows held out {estimator.best_score_:.4f}",
    )


def _text(alpha: float | Fraction) -> str:
    """Exactly, as `treeform.estimators.complexity.price_of` reads it."""
    return str(alpha) if isinstance(alpha, Fraction) else repr(float(alpha))
