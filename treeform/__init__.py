"""treeform: a declarative modelling toolkit for solver-based tree learning.

Importing this package imports no solver; every public name is resolved on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "treeform.problem": ["Problem"],
    "treeform.shape": ["Tree", "Diagram"],
    "treeform.language.objective": ["Error", "Nodes", "Leaves", "Depth"],
    "treeform.language.costs": ["Cost"],
    "treeform.objectives": [
        "AbstainCost",
        "BalancedError",
        "F1Loss",
        "GroupError",
        "MatthewsLoss",
        "MaxGroupError",
        "Soft",
        "SquaredError",
        "AbsoluteError",
    ],
    "treeform.requirements": [
        "StatisticalParity",
        "EqualOpportunity",
        "PredictiveEquality",
        "EqualizedOdds",
        "ConditionalParity",
        "AccuracyParity",
        "GroupErrorAtMost",
        "MeanParity",
        "MinPrecision",
        "MinRecall",
        "MinSpecificity",
        "MaxFalsePositiveRate",
        "MustClassifyRight",
        "MinSupport",
        "Stability",
        "MaxNodes",
        "MaxErrors",
        "MaxCost",
        "FeatureBudget",
        "Monotone",
        "NoTestOn",
        "MaxLeaves",
        "MaxDepth",
        "MaxTestsPerPath",
        "MaxThresholds",
        "OncePerPath",
        "FeatureCost",
        "Uses",
        "Exclusive",
        "Interaction",
        "Below",
        "Fix",
        "StayCloseTo",
        "MinCoverage",
    ],
    "treeform.language.bounded": ["Bounded"],
    "treeform.language.component": ["Component"],
    "treeform.extend": ["Limits"],
    "treeform.language.linear": ["LinearRequirement"],
    "treeform.language.requirement": ["Requirement"],
    "treeform.language.totals": ["Totals", "TotalRow"],
    "treeform.language.meetings": ["Meetings", "Clash"],
    "treeform.language.paths": ["PathRule", "PathTests"],
    "treeform.backends": ["HiGHS", "CPSAT", "SAT", "MaxSAT", "MathOpt", "Pyomo", "Portfolio", "Isolated"],
    "treeform.engines": [
        "ConTree",
        "DL85",
        "CADL85",
        "Blossom",
        "DiagramSearch",
        "DeepTreeSearch",
        "DiagramHeuristic",
        "TotalsSearch",
        "ContinuousTotals",
        "PathSearch",
        "RegressionSearch",
    ],
    "treeform.data": ["Dataset"],
    "treeform.graph": ["DecisionGraph"],
    "treeform.catalogue": ["solvers"],
    "treeform.solve": ["Status", "Limit"],
    "treeform.result": ["Result"],
    "treeform.tradeoff": ["Frontier", "SizeTable"],
    "treeform.certify": ["check"],
    "treeform.study": ["Study", "sweep"],
    "treeform.estimators": [
        "OptimalTreeClassifier",
        "OptimalTreeClassifierCV",
        "OptimalDiagramClassifier",
        "OptimalTreeRegressor",
        "OptimalTreeRegressorCV",
    ],
    "treeform.model": ["Model", "Expr", "any_of", "at_most", "at_least", "exactly"],
    "treeform.errors": ["TreeformError"],
}
_BESIDE = {
    "treeform.language.bounded",
    "treeform.language.component",
    "treeform.extend",
    "treeform.language.linear",
    "treeform.language.totals",
    "treeform.language.meetings",
    "treeform.language.paths",
    "treeform.backends",
    "treeform.engines",
    "treeform.data",
    "treeform.model",
}
"""Homes of names that work as ``tf.NAME`` and are not listed: solvers, engines, modelling, bases of extensions."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SUBMODULES = {
    "testing",
    "errors",
    "model",
    "bridges",
    "backends",
    "report",
    "requirements",
    "catalogue",
    "engines",
    "extend",
}
_LISTED = {"backends", "engines", "errors", "extend", "model", "report", "testing"}

__all__ = sorted([*_HOME_OF, "testing"])


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        found = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = import_module("treeform.utils.arguments").public(found)  # not looked up again
        return globals()[name]
    if name in _SUBMODULES:
        return import_module(f"treeform.{name}")
    if name == "_core":
        return _compiled_core()
    raise AttributeError(f"module 'treeform' has no attribute {name!r}")


def _compiled_core() -> Any:
    """The C++ core; Python in a clone finds the folder of sources before an installed package, and there it is not."""
    try:
        return import_module("treeform._core")
    except ModuleNotFoundError:
        folder = str(__path__[0])
        raise ImportError(
            f"treeform was imported from {folder}, where its compiled core is not. Install it so that it can be used "
            "in this folder, with pip install -e . in the clone, or run Python in another folder."
        ) from None


def __dir__() -> list[str]:
    """What a problem is composed of; the rest is in `backends`, `engines`, `model` and `extend`."""
    return sorted({name for name, home in _HOME_OF.items() if home not in _BESIDE} | _LISTED | {"__version__"})
