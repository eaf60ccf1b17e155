"""Where the program of a solver is: on the path, beside the interpreter, or inside a Python package that ships it."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

_SYSTEMS = {"Linux": "linux", "Darwin": "osx", "Windows": "win"}
_MACHINES = {"x86_64": "i64", "AMD64": "i64", "aarch64": "arm64", "arm64": "arm64"}


def find_program(name: str) -> str | None:
    """The file of a program, or None where there is none.

    A program on the path comes first. An environment need not be activated for what was installed into it.
    """
    beside = str(Path(sys.executable).parent)
    shipped = SHIPPED.get(name)
    return shutil.which(name) or shutil.which(name, path=beside) or (shipped() if shipped else None)


def cbc_of_pulp() -> str | None:
    """The CBC inside PuLP 3, which holds one for each system; PuLP itself is not imported."""
    spec = find_spec("pulp")
    if spec is None or spec.origin is None:
        return None
    system, machine = _SYSTEMS.get(platform.system(), ""), _MACHINES.get(platform.machine(), "")
    folder = Path(spec.origin).parent / "solverdir" / "cbc" / system / machine
    return shutil.which("cbc", path=str(folder))


#: Programs that a Python package ships, and how to find them in it.
SHIPPED: dict[str, Callable[[], str | None]] = {"cbc": cbc_of_pulp}
