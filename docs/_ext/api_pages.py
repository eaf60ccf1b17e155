"""Writes one reference page for each public package, from its ``__all__``, and the tables of its index.

They are written before Sphinx collects its sources.

Nothing is listed by hand: a name that is made public is in the reference at the next build.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator

from treeform.backends import Backend
from treeform.engines import Engine
from treeform.language.objective import Term
from treeform.language.requirement import Requirement

FOR_USERS = ("treeform", "treeform.report", "treeform.errors")
PACKAGES = {
    "treeform": "What a model is made of, solved with and checked by: imported as ``tf.NAME``.",
    "treeform.requirements": "Requirements, and how they are looked up by name.",
    "treeform.formulations.flow": "Trees by flows of points, and by cuts of these flows.",
    "treeform.formulations.odd": "Optimal decision diagrams and trees as mixed-integer programs.",
    "treeform.formulations.sat": "Trees of least depth or size by incremental satisfiability.",
    "treeform.language": "What requirements, formulations and objectives are built from.",
    "treeform.model": "Arrays of variables and rows.",
    "treeform.bridges": "Rewriting rows for solvers that lack a kind of row.",
    "treeform.catalogue": "Finding solvers, engines, formulations and requirements by name.",
    "treeform.backends": "Solvers, and what a new one has to provide.",
    "treeform.engines": "Native engines, and what a new one has to provide.",
    "treeform.solve": "One solve, from the question to the result.",
    "treeform.tradeoff": "Many optima at once: size table and Pareto curve.",
    "treeform.certify": "Certificates, their check, and proofs.",
    "treeform.graph": "Decision trees and decision diagrams.",
    "treeform.data": "Tables: how columns are read, and classes and weights.",
    "treeform.report": "Reports of an answer or a model, as a page, text or values.",
    "treeform.testing": "Conformance kits and brute force.",
    "treeform.errors": "Errors: each says what happened, why, and what to do.",
}

ROLES = {
    "State a problem": ("Problem", "Tree", "Diagram", "Dataset"),
    "Requirements": Requirement,
    "Objectives": Term,
    "Answers": (
        "Result",
        "Status",
        "Limit",
        "DecisionGraph",
        "check",
        "Frontier",
        "SizeTable",
        "TreeformError",
    ),
    "Many problems": ("sweep", "Study"),
    "scikit-learn estimators": BaseEstimator,
    "Solvers": Backend,
    "Native engines": Engine,
    "For requirements and formulations of your own": object,
}
"""What the names of ``treeform`` are for: by name, or by the class that they derive from; the first that fits."""
OF_YOUR_OWN = ("Requirement", "LinearRequirement")


def public_names(module: ModuleType) -> list[str]:
    """The names of ``__all__``; of a plain module, the classes and functions that it defines.

    A package that exports nothing itself gives those of its modules, as ``module.Name``.
    """
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    if hasattr(module, "__path__"):
        inner = [import_module(f"{module.__name__}.{one.name}") for one in iter_modules(module.__path__)]
        return [f"{one.__name__.rpartition('.')[2]}.{name}" for one in inner for name in public_names(one)]
    found = inspect.getmembers(module, lambda value: inspect.isclass(value) or inspect.isfunction(value))
    return [name for name, value in found if value.__module__ == module.__name__ and name[0] != "_"]


def page(name: str, summary: str, listed: set[int]) -> str:
    """The page of one package as reStructuredText: its classes and functions, each linked to a page of its own.

    What an earlier page lists (``listed``, by identity) is left out, since an object is described once.
    """
    module = import_module(name)
    found = {n: attrgetter(n)(module) for n in public_names(module)}
    names = [n for n, value in found.items() if callable(value) and id(value) not in listed]
    listed.update(id(found[n]) for n in names)
    lines = [name, "=" * len(name), "", summary, "", f".. currentmodule:: {name}", ""]
    if name != "treeform":
        return "\n".join(lines + _summary(names))
    for role in ROLES:
        of_role = sorted((n for n in names if role_of(n, found[n]) == role), key=_place)
        lines += [role, "-" * len(role), "", *_summary(of_role)]
    return "\n".join(lines)


def role_of(name: str, value: Any) -> str:
    """What a name of ``treeform`` is for."""
    if name in OF_YOUR_OWN:
        return list(ROLES)[-1]
    if name == "solvers":
        return "Solvers"
    for role, kind in ROLES.items():
        if name in kind if isinstance(kind, tuple) else inspect.isclass(value) and issubclass(value, kind):
            return role
    return list(ROLES)[-1]


def _place(name: str) -> int:
    """Where a role names it; elsewhere the order stays."""
    listed = [one for kind in ROLES.values() if isinstance(kind, tuple) for one in kind]
    return listed.index(name) if name in listed else len(listed)


def _summary(names: list[str]) -> list[str]:
    return [".. autosummary::", "   :toctree: ../generated", "", *(f"   {n}" for n in names), ""]


def index() -> str:
    """The packages in two tables, with what each is for, and their order on the site."""
    lines = []
    for head, is_for_users in (
        ("For users", True),
        ("For requirements, formulations, solvers and engines", False),
    ):
        lines += [head, "-" * len(head), "", ".. list-table::", "   :widths: 34 66", ""]
        for name, summary in PACKAGES.items():
            if (name in FOR_USERS) == is_for_users:
                lines += [f"   * - :doc:`{name} <packages/{name}>`", f"     - {summary}"]
        lines.append("")
    order = [*FOR_USERS, *(name for name in PACKAGES if name not in FOR_USERS)]
    lines += [".. toctree::", "   :hidden:", "", *(f"   packages/{name}" for name in order), ""]
    return "\n".join(lines)


def write_pages(folder: Path) -> None:
    """Write what has changed, so that Sphinx reads only that again."""
    folder.mkdir(parents=True, exist_ok=True)
    listed: set[int] = set()
    wanted = {folder / f"{name}.rst": page(name, summary, listed) for name, summary in PACKAGES.items()}
    wanted[folder / "index.inc"] = index()
    for old in set(folder.glob("*.rst")) - set(wanted):
        old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
