"""Limits on the memory of a child process, and how the lack of memory shows."""

from __future__ import annotations

from treeform.errors import SolverFailed, SpecError
from treeform.utils.machine import physical_memory

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

LEAST_MEMORY = 256
"""Megabytes that a child needs before any solver."""
SIGNS = (
    "memory",
    "scip error code -1 ",
    "bad_alloc",
    "out of mem",
    "cannot allocate",
    "can't start new thread",
)
"""Phrases of Python, C++ and solvers for "no memory left"."""


def check_memory_limit(megabytes: int | None) -> int | None:
    """Refuse a limit that is too small. Raises SpecError if it is no whole number of at least `LEAST_MEMORY`."""
    whole = isinstance(megabytes, int) and not isinstance(megabytes, bool)
    if megabytes is not None and (not whole or megabytes < LEAST_MEMORY):
        raise SpecError(
            f"memory_limit={megabytes!r} is not possible",
            cause=f"it is a whole number of megabytes, at least {LEAST_MEMORY}, which Python itself needs",
        )
    return megabytes


def cap_memory(megabytes: int | None) -> None:
    """Let this process have no more memory than that; None is half of the machine's. Not on Windows.

    What counts is memory in use. Address space would not do: Python and the solvers' libraries map hundreds of
    megabytes that they never touch. The system limits writable mappings, which grow as memory is asked for; so
    what may still be added to the memory in use is added to the mappings that are there.
    """
    if resource is None:
        return
    if megabytes is None:
        megabytes = physical_memory() // 2**21
    limit = max(megabytes, LEAST_MEMORY) * 2**20
    used, writable = _usage()
    kind = resource.RLIMIT_AS if writable is None else resource.RLIMIT_DATA
    if writable is not None:
        limit = writable + max(0, limit - used)
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


def _usage() -> tuple[int, int | None]:
    """Bytes in main memory, and bytes of private writable mappings; None for these where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            sizes = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS:", "VmData:")))
        return int(sizes["VmRSS"].split()[0]) * 1024, int(sizes["VmData"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 0, None


def out_of_memory(error: SolverFailed) -> bool:
    """Whether a child failed for lack of memory, by the end of its output."""
    words = f"{error.what} {error.cause}".lower()
    return any(sign in words for sign in SIGNS)
