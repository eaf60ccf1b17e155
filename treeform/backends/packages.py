"""Which solver packages are here, found out without importing them, and importing them with clear errors."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, files, version
from importlib.util import find_spec
from typing import Any

from treeform.errors import SolverNotAvailable

HIGHSPY = "pip install 'highspy>=1.11,!=1.14.*,<1.16'"
LIBRARY = re.compile(r"(lib)?highs\b.*\.(so|dylib|dll)\b")


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here."""

    available: bool
    version: str | None = None
    """Of the package that holds it."""
    reason: str | None = None
    """Why it cannot be used, or what to know when using it."""


def installed_version(package: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def probe(package: str, module: str) -> Availability:
    """Find a distribution, by its name for pip (maybe empty) and its top-level module, without an import."""
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
    if module not in ("highspy", "ortools") or not shared_libraries("highspy") & shared_libraries("ortools"):
        return None
    highs, ortools = installed_version("highspy"), installed_version("ortools")
    return (
        f"highspy {highs} and ortools {ortools} each bring their own libhighs and cannot be loaded into one process: "
        "the one that comes second runs in a process of its own"
    )


@cache
def shared_libraries(package: str) -> frozenset[str]:
    """Names of the shared libraries of HiGHS that a distribution brings, such as ``libhighs.so.1``.

    The system loads one library of a name into a process, and the second package gets that one. highspy brings one
    from 1.15 on, ortools from 9.15 on; packages of a Linux distribution or of conda share the system's and bring none.
    """
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        return frozenset()
    return frozenset(file.name for file in listed if LIBRARY.match(file.name))


def load(module: str, backend: str, install: str) -> Any:
    """Import a solver's module; ``backend`` and ``install`` are for the message if it is missing.

    Raises SolverNotAvailable with what to install, or which packages clash.
    """
    try:
        return import_module(module)
    except ImportError as error:
        clash = shared_library_clash(module.partition(".")[0])
        raise SolverNotAvailable(
            f"the solver {backend!r} cannot be loaded",
            cause=clash or f"{type(error).__name__}: {error}",
            fix=f"use tf.Isolated({backend!r}), or highspy before 1.14" if clash else install,
        ) from error


def _other(module: str) -> str:
    return "ortools" if module == "highspy" else "highspy"


def release(text: str) -> tuple[int, ...]:
    """Major and minor number of a version: ``(1, 13)`` of ``1.13.1``."""
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
