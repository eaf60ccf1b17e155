"""A measurement in a copy of this process, limited in CPU seconds: what both import is imported once.

For many short measurements. The process that is copied must not have run solvers, since threads are not copied with it.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.harness.child import Ended
from treeform.errors import TreeformError

PATIENCE = 20
"""Wall seconds for each CPU second: a copy that waits for nothing has to end, on a busy machine too."""


def in_fork(function: Callable[..., Any], *given: Any, seconds: float) -> Ended:
    """Call a function in a copy of this process.

    Parameters
    ----------
    function : callable
    *given
        Its arguments; what it returns has to be picklable.
    seconds : float
        Limit on the CPU seconds (user and system) of the copy, and of each process that it starts.

    Raises
    ------
    Exception
        What the function raises, but for treeform's errors: these are in `Ended.how`.
    """
    fork = multiprocessing.get_context("fork")
    reader, writer = fork.Pipe(duplex=False)
    process = fork.Process(target=_serve, args=(writer, math.ceil(seconds), function, given))
    process.start()
    writer.close()
    try:
        found = reader.recv() if reader.poll(PATIENCE * seconds) else None
    except EOFError:
        found = None
    if found is None:
        process.kill()
    process.join()
    if found is None:
        return Ended(None, "time", seconds, 0.0)
    answer, error, user, megabytes = found
    if error is not None and not isinstance(error, TreeformError):
        raise error
    return Ended(answer, "done" if error is None else str(error), user, megabytes)


def _serve(writer: Connection, seconds: int, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """The copy's side of `in_fork`."""
    used = math.ceil(_usage(resource.RUSAGE_SELF)[0])  # a copy begins at zero on Linux
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 1))
    answer, error = None, None
    try:
        answer = function(*given)
    except Exception as problem:
        error = problem
    own, children = _usage(resource.RUSAGE_SELF), _usage(resource.RUSAGE_CHILDREN)
    writer.send((answer, error, own[0] + children[0], max(own[1], children[1])))


def _usage(who: int) -> tuple[float, float]:
    """CPU seconds and the peak of memory in megabytes."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
