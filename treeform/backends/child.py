"""Solvers that may abort or cannot be stopped, in a child process.

`main` reads tasks from the standard input, calls the function of treeform that each
one names, and writes what it returns to its standard output, until the input ends. Only treeform's processes
use these pipes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import weakref
from importlib import import_module
from typing import IO, Any

from treeform.backends.watch import POLL, Watch
from treeform.errors import SolverFailed, SpecError, TreeformError

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

LEAST_MEMORY = 256
"""Megabytes that a child needs before any solver."""
_LENGTH = struct.Struct("<Q")


class Child:
    """A process that carries out tasks, one at a time; it is started when needed and killed to stop a task."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None

    def call(self, module: str, function: str, task: dict[str, Any], watch: Watch) -> Any:
        """The result of ``module.function(task)``, or None if it was stopped.

        Raises
        ------
        SolverFailed
            If the function raised, or the process died.
        """
        process = self._running()
        reply: list[bytes] = []
        payload = pickle.dumps((module, function, task))
        talk = threading.Thread(
            target=_exchange, args=(process, payload, reply), name="treeform child", daemon=True
        )
        talk.start()
        while talk.is_alive():
            talk.join(POLL)
            if talk.is_alive() and watch.ending:
                self.close()
                return None
        if not reply:
            code, words = process.wait(), self._last_words()
            self.close()
            raise SolverFailed(
                "the process of the solver died",
                cause=f"exit code {code}: {words}",
                fix="try another solver, or a smaller problem",
            )
        kind, value = pickle.loads(reply[0])
        if kind == "error":
            raise value
        return value

    def close(self) -> None:
        """Kill the process and all that it started."""
        if self._process is not None:
            _kill(self._process)
        if self._complaints is not None:
            self._complaints.close()
        self._process = self._complaints = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        # A file, since a full pipe would block the child.
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            # Modules are found where this process finds them, and not in whatever folder it runs.
            [sys.executable, "-P", "-c", "from treeform.backends.child import main; main()"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            # Ctrl-C in the terminal is for the parent, which then ends the child.
            start_new_session=True,
        )
        weakref.finalize(self, _kill, self._process)
        return self._process

    def _last_words(self) -> str:
        if self._complaints is None:
            return "without a message"
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "without a message"


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _exchange(process: subprocess.Popen[bytes], payload: bytes, reply: list[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    # A process that died or was killed closes its ends; the caller sees that no reply came.
    with contextlib.suppress(OSError, ValueError):
        _send(process.stdin, payload)
        answer = _receive(process.stdout)
        if answer is not None:
            reply.append(answer)


def _send(pipe: IO[bytes], payload: bytes) -> None:
    pipe.write(_LENGTH.pack(len(payload)))
    pipe.write(payload)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = pipe.read(length)
    return body if len(body) == length else None


def check_memory_limit(megabytes: int | None) -> int | None:
    """Refuse a limit that is too small.

    Raises
    ------
    SpecError
        If it is no whole number of at least `LEAST_MEMORY`.
    """
    whole = isinstance(megabytes, int) and not isinstance(megabytes, bool)
    if megabytes is not None and (not whole or megabytes < LEAST_MEMORY):
        raise SpecError(
            f"memory_limit={megabytes!r} is not possible",
            cause=f"it is a whole number of megabytes, at least {LEAST_MEMORY}, which Python itself needs",
        )
    return megabytes


def cap_memory(megabytes: int | None) -> None:
    """Let this process have no more memory than that; None is half of the machine's. Not on Windows."""
    if resource is None:
        return
    if megabytes is None:
        megabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**21
    limit = max(megabytes, LEAST_MEMORY) * 2**20
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def out_of_memory(error: SolverFailed) -> bool:
    """Whether a child failed for lack of memory, by the end of its output."""
    words = f"{error.what} {error.cause}".lower()
    return any(sign in words for sign in ("memory", "bad_alloc", "out of mem"))


def execute(payload: bytes) -> bytes:
    """Call the function that a task names; what it returns or raises, packed."""
    module, function, task = pickle.loads(payload)
    try:
        return pickle.dumps(("value", getattr(import_module(module), function)(task)))
    except TreeformError as error:
        failed = SolverFailed(error.what, cause=error.cause, fix=error.fix)
    except Exception as error:
        failed = SolverFailed(
            "the solver failed", cause=f"{type(error).__name__}: {error}", fix="try another solver"
        )
    return pickle.dumps(("error", failed))


def main() -> None:
    """Carry out the tasks on standard input until it ends."""
    # Solvers print; the way back is kept out of their reach.
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (payload := _receive(sys.stdin.buffer)) is not None:
        _send(back, execute(payload))
    # Some solvers hang or crash while they are torn down; there is nothing left to do.
    os._exit(0)
