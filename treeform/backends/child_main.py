"""What a child process does: it takes tasks from its standard input until the input ends.

Only treeform's processes use these pipes. What a solver prints to standard output goes to standard error.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from importlib import import_module
from typing import IO, Any

from treeform.backends.wire import Garbled, receive, send
from treeform.errors import TreeformError

_asked_to_stop = threading.Event()
_writing = threading.Lock()
_back: IO[bytes] | None = None


def stopping() -> bool:
    """Whether the task under way has to return now."""
    return _asked_to_stop.is_set()


def report(news: Any) -> None:
    """Tell the parent something while the task goes on."""
    _reply("news", news)


def main() -> None:
    """Carry out the tasks on standard input until it ends."""
    global _back
    # Solvers print; the way back is kept out of their reach.
    _back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks: queue.SimpleQueue[tuple[str, str, dict[str, Any]]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), name="treeform parent", daemon=True).start()
    while True:
        _reply(*execute(*tasks.get()))


def execute(module: str, function: str, task: dict[str, Any]) -> tuple[str, Any]:
    """Call the function that a task names; ``("value", what it returned)``, or ``("error", parts of the error)``."""
    try:
        return "value", getattr(import_module(module), function)(task)
    except TreeformError as error:
        return "error", (type(error).__name__, error.what, error.cause, error.fix)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        words = f"{type(error).__name__}: {error}"
        return "error", ("SolverFailed", "the solver failed", words, "try another solver")


def _listen(tasks: queue.SimpleQueue[tuple[str, str, dict[str, Any]]]) -> None:
    """Take what the parent sends; without a parent there is nothing left to do."""
    while True:
        try:
            kind, value = receive(sys.stdin.buffer)
        except (EOFError, OSError, Garbled):
            _end()
        if kind == "stop":
            _asked_to_stop.set()
        else:
            # A request to stop the task before may have come after its end.
            _asked_to_stop.clear()
            tasks.put(value)


def _reply(kind: str, value: Any) -> None:
    assert _back is not None
    with _writing:
        try:
            send(_back, (kind, value))
        except OSError:
            _end()


def _end() -> None:
    """End at once, with all processes that the solver started: some solvers hang or crash while they are torn down."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)
