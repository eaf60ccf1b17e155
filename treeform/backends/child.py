"""Solvers that may abort or cannot be stopped, in a child process.

The child carries out one task at a time: it calls the function of treeform that the task names, may report progress
meanwhile, and returns what the function returned or raised (:mod:`treeform.backends.child_main`). It may be asked to
stop, and it is killed when it does not.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import IO, Any, Protocol

from treeform import errors
from treeform.backends.watch import POLL
from treeform.backends.wire import receive, send
from treeform.errors import SolverFailed

INSIDE = "TREEFORM_CHILD"
"""Set in the environment of a child, whose own children belong to its group and are killed with it."""
LAST_MESSAGES = 1.0
"""Seconds to wait for what is still in the pipe of a process that has ended."""
PIPE = 1 << 20
"""Bytes of the pipe to the child."""
KEPT = 4096
"""Bytes of a child's output that are kept for messages."""

_alive: weakref.WeakSet[Child] = weakref.WeakSet()


def close_all() -> None:
    """Kill all children of this process."""
    for child in list(_alive):
        child.close()


class Ending(Protocol):
    """Who says when a task has to end."""

    @property
    def ending(self) -> bool: ...


class Child:
    """A process that carries out tasks, one at a time; it is started when needed and killed to stop a task."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._output: _Output | None = None
        self._end: Callable[[], Any] | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def call(
        self,
        module: str,
        function: str,
        task: dict[str, Any],
        watch: Ending | None = None,
        on_message: Callable[[Any], None] | None = None,
        patience: float = 0.0,
    ) -> Any:
        """The result of ``module.function(task)``, of a module of treeform, or None if it was stopped.

        ``task`` travels as a pickle; arrays are not copied on this side. ``watch``, or anything with ``ending``, says
        when to stop; after ``patience`` seconds more the child is killed. Without it the task runs to its end.
        ``on_message`` is called in another thread with what the function reports meanwhile.

        A TreeformError of the function is raised here; any other exception is `SolverFailed`, and so is a process that
        died or sent what is no answer.
        """
        process = self._running()
        exchange = _Exchange(process, ("task", (module, function, task)), on_message)
        exchange.start()
        asked: float | None = None
        while exchange.is_alive():
            exchange.join(POLL)
            if exchange.is_alive() and _gone(process):
                # A process that the solver started may hold the other end of the pipe.
                exchange.join(LAST_MESSAGES)
                break
            if not exchange.is_alive() or watch is None or not watch.ending:
                continue
            if asked is None:
                asked = time.monotonic()
                exchange.ask_to_stop()
            if time.monotonic() - asked >= patience:
                self.close()
                return None
        if exchange.reply is None:
            raise self._died(process, exchange)
        kind, value = exchange.reply
        if kind == "error":
            name, what, cause, fix = value  # of the same class where it is one of treeform's
            raise getattr(errors, name, SolverFailed)(what, cause=cause, fix=fix)
        return value

    def start(self) -> None:
        """Start the process now, so that it is there when the first task comes."""
        self._running()

    def close(self) -> None:
        """Kill the process and all that it started."""
        if self._end is not None:
            self._end()
        if self._output is not None:
            self._output.join(1.0)
        self._process = self._output = self._end = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and not _gone(self._process):
            return self._process
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from treeform.backends.child_main import main; main()"],
            # Modules are found where this process finds them, and not in whatever folder it runs.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), INSIDE: "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C in the terminal is for the parent, which then ends the child.
            start_new_session=INSIDE not in os.environ,
        )
        assert self._process.stdin is not None and self._process.stderr is not None
        # More of a large model waits in the pipe, where the system can: fewer switches between the two processes.
        with contextlib.suppress(ImportError, AttributeError, OSError):
            fcntl = importlib.import_module("fcntl")
            fcntl.fcntl(self._process.stdin.fileno(), fcntl.F_SETPIPE_SZ, PIPE)
        self._output = _Output(self._process.stderr)
        self._output.start()
        self._end = weakref.finalize(self, _kill, self._process, os.getpid())
        _alive.add(self)
        return self._process

    def _died(self, process: subprocess.Popen[bytes], exchange: _Exchange) -> SolverFailed:
        """The error for a process that gave no answer; it is gone after this."""
        deadline = time.monotonic() + LAST_MESSAGES
        while not (gone := _gone(process)) and time.monotonic() < deadline:
            time.sleep(POLL / 5)
        output = self._output
        self.close()
        words = "without a message" if output is None else output.last_line()
        if not gone:
            return SolverFailed(
                "the process of the solver sent what is no answer",
                cause=f"{type(exchange.broken).__name__}: {exchange.broken}",
                fix="try another solver",
            )
        return SolverFailed(
            "the process of the solver died",
            cause=f"{_ended(process.returncode)}: {words}",
            fix="try another solver, or a smaller problem",
        )


class _Exchange(threading.Thread):
    """Sends one task, hears the news, and keeps the reply."""

    def __init__(self, process: subprocess.Popen[bytes], task: Any, on_message: Callable[[Any], None] | None):
        super().__init__(name="treeform child", daemon=True)
        assert process.stdin is not None and process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        self._task, self._on_message = task, on_message
        self._sent = threading.Event()
        self.reply: tuple[str, Any] | None = None
        self.broken: Exception | None = None

    def run(self) -> None:
        # A process that died or was killed closes its ends; the caller sees that no reply came.
        try:
            send(self._to, self._task)
            self._sent.set()
            while self.reply is None:
                kind, value = receive(self._from)
                if kind != "news":
                    self.reply = (kind, value)
                elif self._on_message is not None:
                    self._on_message(value)
        except Exception as error:
            self.broken = error

    def ask_to_stop(self) -> None:
        """Tell the child to return soon; without effect while the task is on its way."""
        if self._sent.is_set():
            with contextlib.suppress(OSError, ValueError):
                send(self._to, ("stop", None))


class _Output(threading.Thread):
    """Reads all that a child prints, so that it never waits for a reader, and keeps the end of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(name="treeform child's output", daemon=True)
        self._pipe = pipe
        self._end = b""

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe:
            while chunk := self._pipe.read1(1 << 16):  # type: ignore[attr-defined]
                self._end = (self._end + chunk)[-KEPT:]

    def last_line(self) -> str:
        self.join(1.0)
        lines = self._end.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "without a message"


def _gone(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has ended. It is not reaped by this, so that its number still names its group."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # it was reaped elsewhere
        return process.poll() is not None
    return ended is not None


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a fork of the process that started it
        return
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg") and INSIDE not in os.environ:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _ended(code: int) -> str:
    """``exit code 3``, or the signal that ended the process."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"
