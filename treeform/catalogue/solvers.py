"""Everything that ``solver=`` takes by name: native engines first, then solvers behind backends."""

from __future__ import annotations

import difflib
import inspect
from importlib.metadata import PackageNotFoundError, version

from treeform import backends
from treeform.backends import Backend
from treeform.backends.registry import SolverRow, SolverTable
from treeform.catalogue.engines import engine_names, find_engine
from treeform.catalogue.formulations import formulation_names
from treeform.engines import Engine
from treeform.errors import SpecError
from treeform.settings import parse_name


def solvers() -> SolverTable:
    """What solves problems here: native engines, and solvers that are installed or could be.

    Returns
    -------
    SolverTable
        A sequence of rows with ``name`` (for ``solver=`` and ``--solver``), ``available``, ``version`` and
        ``reason`` (why not, and what to install); it prints as a table. No solver is imported.

    Examples
    --------
    >>> import treeform as tf
    >>> {"contree", "highs"} <= {row.name for row in tf.solvers()}
    True
    """
    try:
        own = version("treeform")
    except PackageNotFoundError:  # run from a folder without having been installed
        own = None
    engines = [SolverRow(name, True, own, f"native: {_summary(name)}") for name in engine_names()]
    return SolverTable([*engines, *backends.solvers()])


def _summary(name: str) -> str:
    text = inspect.getdoc(type(find_engine(name))) or ""
    return text.partition("\n")[0].rstrip(".")


def find_solver(value: Backend | Engine | type | str) -> Backend | Engine:
    """A backend or a native engine from an instance, a class or a name, settings after a colon."""
    if isinstance(value, Backend | Engine):
        return value
    if isinstance(value, type) and issubclass(value, Backend | Engine):
        made: Backend | Engine = value()
        return made
    if isinstance(value, str) and parse_name(value)[0] in engine_names():
        return find_engine(value)
    if isinstance(value, str):
        return _find_backend(value)
    raise SpecError(
        f"{value!r} is no solver",
        cause="a solver is a backend (tf.HiGHS()), a native engine (tf.ConTree()) or the name of one",
        fix="see tf.solvers() for the names",
    )


def _find_backend(name: str) -> Backend:
    try:
        return backends.by_name(name)
    except SpecError as error:
        engines, plain = engine_names(), parse_name(name)[0]
        close = difflib.get_close_matches(plain, engines, n=1)
        fix = f"did you mean {close[0]!r}?" if close else error.fix
        raise SpecError(
            error.what,
            cause=f"{error.cause}; native engines: {', '.join(sorted(engines))}",
            fix=f"it is a formulation: formulation={plain!r}" if plain in formulation_names() else fix,
        ) from None
