"""A measurement in a process of its own: its CPU time and memory are measured and limited, and it may crash."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness.session import ROOT

MEGA = 2**20
START = "import sys; sys.path.append(sys.argv[1]); from benchmarks.harness.child import serve; serve(*sys.argv[2:])"


@dataclass(frozen=True)
class Ended:
    """What became of a process.

    Attributes
    ----------
    answer : Any
        What the function returned, through JSON; None when it did not return.
    how : str
        ``done``, ``time``, ``memory``, ``crash (SIGNAL)`` or the last line of its error.
    user, megabytes : float
        User CPU seconds and peak of resident memory of the whole process, its imports included.
    """

    answer: Any
    how: str
    user: float
    megabytes: float


def in_child(
    function: Callable[..., Any],
    *given: Any,
    seconds: float | None = None,
    megabytes: float | None = None,
    **environment: str,
) -> Ended:
    """Call a function of a benchmark's module in a process of its own.

    Parameters
    ----------
    function : callable
        At the top level of a module; what it takes and returns goes through JSON.
    seconds, megabytes : float, optional
        Limits: CPU seconds (user and system) of the process, and memory beyond what its imports take (on Linux).
    **environment
        Added to the environment's variables.
    """
    with tempfile.NamedTemporaryFile("r") as answer, tempfile.TemporaryFile("w+") as errors:
        name = f"{function.__module__}:{function.__qualname__}"
        limits = json.dumps([seconds and math.ceil(seconds), megabytes and int(megabytes * MEGA)])
        words = [sys.executable, "-P", "-c", START, str(ROOT), name, json.dumps(given), limits, answer.name]
        child = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | environment
        )
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        answer_text = answer.read()
        how = "done" if answer_text else _failure(child.returncode, errors.read())
    if how != "done":
        print(f"{name}: {how}", file=sys.stderr)
    return Ended(
        json.loads(answer_text) if answer_text else None, how, usage.ru_utime, usage.ru_maxrss / 1024
    )


def _failure(code: int, errors: str) -> str:
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return "time"
    if code < 0:
        return f"crash ({signal.Signals(-code).name})"
    last = errors.strip().splitlines()[-1:] or [f"exit {code}"]
    return "memory" if last[0].startswith("MemoryError") or "bad_alloc" in last[0] else last[0]


def serve(name: str, given: str, limits: str, answer: str) -> None:
    """The other side of `in_child`."""
    seconds, size = json.loads(limits)
    module, function = name.split(":")
    work = getattr(import_module(module), function)
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if size is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        size += pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    answer_text = json.dumps(work(*json.loads(given)))
    with open(answer, "w", encoding="utf-8") as file:
        file.write(answer_text)
