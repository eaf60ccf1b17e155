"""The tables of `docs/design/trust.rst`: which statements each requirement and objective has, and what they share.

They are read off the classes when the page is built: which methods they define, and which of these call which.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import Any

from treeform.certify.restated import LIMITS, ROWS
from treeform.certify.restated_paths import PATHS
from treeform.certify.restated_values import MARKS
from treeform.language.composed import LargestTerm, RatioTerm, TwoCountTerm
from treeform.language.costs import ClassCost, SampleCost
from treeform.language.linear import LinearRequirement
from treeform.language.objective import Error
from treeform.language.requirement import Requirement, registered
from treeform.language.size_terms import Depth, Leaves, Nodes
from treeform.requirements import MeanParity, Monotone, NoTestOn, OnRows
from treeform.requirements.counted import PayableAtMost
from treeform.utils.extensions import OBJECTIVES, extensions

ON_TESTS = {"limits": "limits", "allowed_features": "features", "meetings": "marks", "path_rule": "paths"}
STATED = ("build", "totals", "prediction_rows", "value_rule", *ON_TESTS)
PLAIN = frozenset({"_copy", "__str__", "name", "bind", "violation", *STATED})


def own(kind: type, method: str) -> bool:
    """Whether a class, or one below `Requirement`, defines the method."""
    return getattr(kind, method) is not getattr(Requirement, method)


@cache
def _calls(kind: type, method: str) -> frozenset[str]:
    """The methods of the class that one of its methods leads to."""
    function = inspect.getattr_static(kind, method, None)
    if isinstance(function, property):
        function = function.fget
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function) or not function.__module__.startswith("treeform."):
        return frozenset()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    called = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and (inspect.isfunction(inspect.getattr_static(kind, node.attr, None)))
    }
    return frozenset(called).union(*(_calls(kind, name) for name in called - {method}))


def shared(kind: type) -> list[str]:
    """What both `violation` and a statement of the search lead to."""
    judged = _calls(kind, "violation")
    stated = frozenset().union(*(_calls(kind, name) for name in STATED if own(kind, name)))
    names = sorted((judged & stated) - PLAIN)
    if "at_least" in _amounts(kind):
        names.append("amount")
    return names


def _amounts(kind: type) -> set[str]:
    """Roundings of an amount of samples in `violation`."""
    source = inspect.getsource(kind.violation)  # type: ignore[attr-defined]
    return {"at_least"} if ".amount.at_" in source else set()


def requirement_rows() -> list[tuple[str, ...]]:
    """One row for each requirement of the package."""
    out = []
    for name, kind in registered().items():
        if not kind.__module__.startswith("treeform.requirements"):
            continue
        samples = "totals" if own(kind, "totals") else "predictions" if own(kind, "prediction_rows") else ""
        tests = ", ".join(word for method, word in ON_TESTS.items() if own(kind, method))
        values = {MeanParity: "rows", Monotone: "order", OnRows: "rows, order"}.get(kind, "")
        paid = "steps" if issubclass(kind, PayableAtMost) else "ports" if own(kind, "slack_unit") else ""
        counts_rows = own(kind, "shortfall") and "feature" not in kind.needs
        paid = "shortfall" if counts_rows else paid
        out.append((f"``{name}``", samples, tests, values, paid, check(kind), ", ".join(shared(kind))))
    return out


def check(kind: type) -> str:
    """What `treeform.certify.restated` states; models are judged one by one in any case."""
    as_written = kind.violation is LinearRequirement.violation  # type: ignore[attr-defined]
    stated = ["limits"] * (kind in LIMITS) + ["totals"] * (kind in ROWS or as_written)
    stated += ["features"] * (kind is NoTestOn)
    stated += ["paths"] * (kind in PATHS)
    stated += ["marks"] * (kind in MARKS) + ["order"] * (kind in (Monotone, OnRows))
    stated += ["rows"] * (kind in (MeanParity, OnRows))
    return ", ".join(stated) or "models"


def objective_rows() -> list[tuple[str, ...]]:
    """One row for each term of an objective."""
    terms: list[Any] = [one.load() for one in extensions(OBJECTIVES)]
    out = []
    for term in terms:
        ports = "" if issubclass(term, RatioTerm | TwoCountTerm | Depth) else "minimised"
        engine = "costs by class" if issubclass(term, Error | ClassCost) else ""
        engine = "costs by sample" if issubclass(term, SampleCost) and not engine else engine
        engine = "price of a test" if issubclass(term, Nodes | Leaves) else engine
        engine = "loss" if term.of_values else engine
        parts = "the largest of sums" if issubclass(term, LargestTerm) else ""
        parts = "costs at a ratio" if issubclass(term, RatioTerm) else parts
        parts = "lines of two counts" if issubclass(term, TwoCountTerm) else parts
        parts = "depth by depth" if issubclass(term, Depth) else parts
        parts = "rows, or steps" if term.name == "soft" else parts
        alone = issubclass(term, Error | ClassCost | Nodes | Leaves | Depth) or term.of_values
        out.append((f"``{term.name}``", ports, engine, parts, "sums of its own" if alone else "models"))
    return out


def tables() -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Both tables, each with its head."""
    heads = (
        "requirement",
        "over samples",
        "on tests",
        "leaf values",
        "paid",
        "check",
        "shared with ``violation``",
    )
    terms = "objective", "over ports", "engines", "parts", "reference search"
    return [heads, *requirement_rows()], [terms, *objective_rows()]
