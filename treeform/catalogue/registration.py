"""Names for a user's own classes in one process; an entry point does the same for all who install a package."""

from __future__ import annotations

from typing import TypeVar

from treeform.backends import Backend
from treeform.engines import Engine
from treeform.errors import SpecError
from treeform.language.formulation import Formulation
from treeform.language.requirement import Requirement
from treeform.utils.extensions import ENGINES, FORMULATIONS, SOLVERS
from treeform.utils.extensions import register as enter

K = TypeVar("K", bound=type)
GROUP_OF: dict[type, str] = {Backend: SOLVERS, Engine: ENGINES, Formulation: FORMULATIONS}


def register(kind: K) -> K:
    """Make a solver, a native engine or a formulation known under its ``name`` in this process.

    Parameters
    ----------
    kind : class
        Derived from `Backend`, `Engine` or `Formulation`. A class derived from `treeform.Requirement` is known
        without it.

    Returns
    -------
    class
        The same one, so that this can stand above a class as a decorator.

    Raises
    ------
    SpecError
        If it is no such class, or has the name of one that comes with treeform.
    """
    if isinstance(kind, type) and issubclass(kind, Requirement):
        return kind
    group = next(
        (g for base, g in GROUP_OF.items() if isinstance(kind, type) and issubclass(kind, base)), None
    )
    if group is None:
        raise SpecError(
            f"{kind!r} cannot be registered",
            cause="it is no class of a solver, a native engine or a formulation",
            fix="register the class itself, derived from Backend, Engine or Formulation",
        )
    enter(group, kind.name, kind)  # type: ignore[attr-defined]
    return kind
