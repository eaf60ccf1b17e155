"""Writes one reference page for each public package, from its ``__all__``, before Sphinx collects its sources.

Nothing is listed by hand: a name that is made public is in the reference at the next build.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

PACKAGES = {
    "treeform": "What a model is made of, solved with and checked by: imported as ``tf.NAME``.",
    "treeform.requirements": "Requirements, and how they are looked up by name.",
    "treeform.objectives": "Objectives by class and by group, and the F1 loss.",
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
    "treeform.data": "Tables in.",
    "treeform.report": "Reports.",
    "treeform.testing": "Conformance kits and brute force.",
    "treeform.errors": "Errors: each says what happened, why, and what to do.",
}


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
    lines += [".. autosummary::", "   :toctree: ../generated", "", *(f"   {n}" for n in names), ""]
    return "\n".join(lines)


def write_pages(folder: Path) -> None:
    """Write what has changed, so that Sphinx reads only that again."""
    folder.mkdir(parents=True, exist_ok=True)
    listed: set[int] = set()
    wanted = {folder / f"{name}.rst": page(name, summary, listed) for name, summary in PACKAGES.items()}
    for old in set(folder.glob("*.rst")) - set(wanted):
        old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
