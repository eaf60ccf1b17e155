"""Where the program of a solver is: on the path, beside the interpreter, or inside a Python package that ships it.

And whether it can be started: a program whose shared library is missing is a file like any other.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SECONDS = 2.0
"""How long a program may take to fail at its start; one that takes longer has started."""
_NO_PROGRAM = (126, 127)
"""Exit codes of shells and of the loader where nothing was started."""
_SYSTEMS = {"Linux": "linux", "Darwin": "osx", "Windows": "win"}
_MACHINES = {"x86_64": "i64", "AMD64": "i64", "aarch64": "arm64", "arm64": "arm64"}


def find_program(name: str) -> str | None:
    """The file of a program, or None where there is none.

    A program on the path comes first. An environment need not be activated for what was installed into it.
    """
    beside = str(Path(sys.executable).parent)
    shipped = SHIPPED.get(name)
    return shutil.which(name) or shutil.which(name, path=beside) or (shipped() if shipped else None)


def why_not_started(program: str) -> str | None:
    """What the system says where the file of a program cannot be started; None where it can."""
    return _failure(program, Path(program).stat().st_mtime_ns)


@cache
def _failure(program: str, changed: int) -> str | None:
    """Of the file as it was changed last: a program that was mended is asked again."""
    try:
        ended = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            cwd=tempfile.gettempdir(),  # some write a log where they are
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return error.strerror or str(error)
    if ended.returncode not in _NO_PROGRAM:
        return None
    said = ended.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"it ended with code {ended.returncode}"


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
