"""Ctrl-C and SIGTERM on the command line: the first one keeps what was found, the second one ends at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes, as shells give them for SIGINT and SIGTERM."""
BEFORE = "interrupted before the search began"


def run(program: Callable[[], None]) -> int:
    """The exit code of a program during which SIGTERM does what Ctrl-C does; both are ignored after its end."""
    came: list[int] = []
    over: list[bool] = []

    def interrupt(signum: int, frame: FrameType | None) -> None:
        came.append(signum)
        if not over:
            raise KeyboardInterrupt

    def terminate(signum: int, frame: FrameType | None) -> None:
        came.append(signum)
        # The handler installed at the moment gets it.
        signal.raise_signal(signal.SIGINT)

    for sent, handler in ((signal.SIGINT, interrupt), (signal.SIGTERM, terminate)):
        if signal.getsignal(sent) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(sent, handler)
    usual = sys.unraisablehook

    def unraisable(what: Any) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt) and not over:
            _send_again()
        else:
            usual(what)

    sys.unraisablehook = unraisable
    code = 0
    try:
        try:
            program()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            over.append(True)
    except KeyboardInterrupt:  # before or after the command itself
        over.append(True)
        code = INTERRUPTED
        with suppress(OSError):
            print(BEFORE, file=sys.stderr)
    # The process is about to end; another signal cannot hurry it, and would change its exit code.
    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, signal.SIG_IGN)
    if came and code == 1:  # the parser of the command line ends so on Ctrl-C
        code = INTERRUPTED
    return TERMINATED if code == INTERRUPTED and signal.SIGTERM in came else code


def _send_again() -> None:
    """Ctrl-C once more, after a moment.

    The handler runs between any two steps of Python, also within a destructor or a callback of the garbage collector.
    What is raised there ends nothing.
    """

    def send() -> None:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.05, send)
    timer.daemon = True
    timer.start()


def leave(code: int) -> None:
    """End the process; searches that did not stop, and children, end with it."""
    from treeform.backends.child import close_all
    from treeform.backends.watch import any_detached

    if any_detached():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        close_all()
        os._exit(code)
    sys.exit(code)
