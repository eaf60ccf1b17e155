"""scikit-learn estimators: problems that are stated by parameters and solved by ``fit``."""

from __future__ import annotations

from treeform.estimators.diagram import OptimalDiagramClassifier
from treeform.estimators.regressor import OptimalTreeRegressor
from treeform.estimators.tree import OptimalTreeClassifier
from treeform.estimators.tree_cv import OptimalTreeClassifierCV, OptimalTreeRegressorCV

__all__ = [
    "OptimalDiagramClassifier",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
]
