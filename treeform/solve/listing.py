"""Everything that ``solver=`` takes by name: native engines first, then solvers behind backends."""

from __future__ import annotations

import inspect
from importlib.metadata import PackageNotFoundError, version

from treeform import backends, dp
from treeform.backends.registry import SolverRow, SolverTable


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
    engines = [SolverRow(name, True, own, f"native: {_summary(name)}") for name in dp.names()]
    return SolverTable([*engines, *backends.solvers()])


def _summary(name: str) -> str:
    text = inspect.getdoc(type(dp.by_name(name))) or ""
    return text.partition("\n")[0].rstrip(".")
