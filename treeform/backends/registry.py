"""Solvers by name: the classes, and what ``highs``, ``cp-sat:threads=2`` or ``portfolio:members=cp-sat+highs`` make."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from treeform.backends.base import Backend
from treeform.errors import SpecError, unknown_name
from treeform.utils.extensions import ENGINES, SOLVERS, Extension, construct, extensions, parse_name
from treeform.utils.rows import worded


def load_backend(extension: Extension) -> type[Backend]:
    """The class of an entry in the group of solvers; its solver is not imported.

    Raises SpecError if it cannot be loaded, or is no backend.
    """
    loaded = extension.load_class(
        Backend,  # type: ignore[type-abstract]
        "a solver is a class derived from treeform.backends.Backend",
        "copy treeform/backends/TEMPLATE.py",
    )
    extension.guard(loaded.variants)  # whether it gives names at all
    return loaded


def backend_classes() -> list[type[Backend]]:
    """The classes of all solvers; those of other packages that cannot be loaded are left out."""
    return [kind for _, kind in _loadable()]


def _loadable() -> Iterator[tuple[Extension, type[Backend]]]:
    for extension in extensions(SOLVERS):
        try:
            yield extension, load_backend(extension)
        except SpecError:
            continue


def by_name(name: str) -> Backend:
    """The solver of that name, with default settings or those that follow: ``"cp-sat:threads=2"``.

    Raises SpecError if there is no solver of that name; the message lists similar ones; SolverNotAvailable if it cannot
    be used here; the message names what to install.

    Parameters
    ----------
    name : str
        As listed by `treeform.solvers`; upper and lower case are the same.
    """
    plain, settings = parse_name(name)
    wanted = plain.lower().replace("_", "-")
    usual, known = [], []
    for extension, kind in _loadable():
        names = {variant.lower().replace("_", "-"): variant for variant in kind.variants()}
        names |= kind.aliases
        names.setdefault(extension.name.lower(), kind.variants()[0])
        if wanted in names:
            return _configured(kind, names[wanted], settings)
        if ":" in wanted and kind.open_ended and wanted.startswith(f"{kind.name}:"):
            return _configured(kind, plain, settings)
        usual.append(kind.variants()[0])
        known += [other for other in names if other != usual[-1]]
    for extension in extensions(SOLVERS):
        if extension.name.lower() == wanted:
            load_backend(extension)  # raises: it is the one that could not be loaded
    if any(engine.name.lower() == wanted for engine in extensions(ENGINES)):
        raise SpecError(
            f"{plain} is a native engine",
            cause="a solver behind a model is needed here",
            fix="name one such as 'highs' or tf.CPSAT()",
        )
    shows = worded("tf.solvers()", "treeform solvers")
    fix = f"{shows} shows what can be used here"
    raise unknown_name(plain, [*usual, *known], "solver", fix=fix, limit=len(usual))


def _configured(kind: type[Backend], variant: str, settings: str) -> Backend:
    return construct(partial(kind.named, variant), variant, settings, among=kind)
