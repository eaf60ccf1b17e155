"""treeform: a declarative modelling toolkit for solver-based tree learning.

Importing this package imports no solver; every public name is resolved on first use.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "treeform.problem": ["Problem"],
    "treeform.shape": ["Tree", "Diagram"],
    "treeform.language.objective": ["Error"],
    "treeform.language.size_terms": ["Nodes", "Leaves", "Depth"],
    "treeform.language.costs": ["Cost"],
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
    "treeform.certify.check": ["check"],
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
_COMPOSED_OF = ("treeform.objectives", "treeform.requirements")
"""Homes that say themselves what they offer: objectives and requirements, which a problem is composed of."""
_INSIDE = {"Groups", "OnRows"}
"""What they offer to extenders only."""
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


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"treeform.{name}")
    if name == "_core":
        return _compiled_core()
    if name == "__all__":
        return sorted([*_homes(), "testing"])
    home = _HOME_OF.get(name)
    if home is None and not name.startswith("_"):
        home = _homes().get(name)
    if home is not None:
        found = getattr(import_module(home), name)
        globals()[name] = import_module("treeform.utils.arguments").public(found)  # not looked up again
        return globals()[name]
    meant = None if name.startswith("_") else import_module("treeform.errors").did_you_mean(name, _homes())
    raise AttributeError(f"module 'treeform' has no attribute {name!r}" + ("" if meant is None else f"; {meant}"))


@cache
def _homes() -> dict[str, str]:
    """Where each public name is at home."""
    offered = {name: home for home in _COMPOSED_OF for name in import_module(home).__all__}
    return _HOME_OF | {name: home for name, home in offered.items() if name not in _INSIDE}


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
    return sorted({name for name, home in _homes().items() if home not in _BESIDE} | _LISTED | {"__version__"})
