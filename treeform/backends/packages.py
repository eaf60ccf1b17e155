"""Which solver packages are here, found out without importing them, and importing them with clear errors."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from treeform.errors import SolverNotAvailable

#: The first highspy whose shared library has the same name as the one inside ortools.
CLASH = (1, 15)


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here.

    Attributes
    ----------
    available : bool
    version : str or None
        Of the package that holds it.
    reason : str or None
        Why it cannot be used, or what to know when using it.
    """

    available: bool
    version: str | None = None
    reason: str | None = None


def installed_version(package: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def probe(package: str, module: str) -> Availability:
    """Find a package without importing it.

    Parameters
    ----------
    package : str
        The distribution, as pip knows it; empty for a backend that needs none.
    module : str
        The top-level module that it provides.
    """
    if not package:
        return Availability(True)
    try:
        installed = find_spec(module) is not None
    except (ImportError, ValueError):
        installed = False
    number = installed_version(package)
    if not installed:
        return Availability(False, number, f"the package {package} is not installed")
    return Availability(True, number, shared_library_clash(module))


def blocked(module: str) -> bool:
    """Whether a module cannot be loaded into this process any more, because the one that it clashes with is there."""
    return shared_library_clash(module) is not None and _other(module) in sys.modules


def shared_library_clash(module: str) -> str | None:
    """Why highspy and ortools cannot be loaded together here; None when they can."""
    if module not in ("highspy", "ortools"):
        return None
    highs, ortools = installed_version("highspy"), installed_version("ortools")
    if highs is None or ortools is None or release(highs) < CLASH:
        return None
    return (
        f"highspy {highs} and ortools {ortools} each bring their own libhighs and cannot be loaded into one process: "
        "the one that comes second runs in a process of its own"
    )


def load(module: str, backend: str, install: str) -> Any:
    """Import a solver's module.

    Raises
    ------
    SolverNotAvailable
        With what to install, or which packages clash.
    """
    try:
        return import_module(module)
    except ImportError as error:
        clash = shared_library_clash(module.partition(".")[0])
        raise SolverNotAvailable(
            f"the solver {backend!r} cannot be loaded",
            cause=clash or f"{type(error).__name__}: {error}",
            fix=f"use tf.Isolated({backend!r}), or pip install 'highspy>=1.11,<1.14'" if clash else install,
        ) from error


def _other(module: str) -> str:
    return "ortools" if module == "highspy" else "highspy"


def release(text: str) -> tuple[int, ...]:
    """Major and minor number of a version: ``(1, 13)`` of ``1.13.1``."""
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
