"""scikit-learn estimators: problems that are stated by parameters and solved by ``fit``."""

from __future__ import annotations

from treeform.utils.first_use import on_first_use

_HOMES = dict.fromkeys(("OptimalTreeClassifierCV", "OptimalTreeRegressorCV"), ".tree_cv") | {
    "OptimalDiagramClassifier": ".diagram", "OptimalTreeClassifier": ".tree", "OptimalTreeRegressor": ".regressor",
}  # fmt: skip
__all__ = sorted(_HOMES)
__getattr__, __dir__ = on_first_use(__name__, _HOMES)
