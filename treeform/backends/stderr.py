"""Keeping a solver's known noise out of the standard error stream, and nothing else."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence

_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def without_lines(noise: Sequence[bytes]) -> Iterator[None]:
    """Drop the lines that contain one of ``noise`` from the process's standard error stream.

    C++ code writes past ``sys.stderr``, so the file descriptor itself is led through a filter. A second filter at the
    same time is not set up: then lines may get through.
    """
    if not _one_at_a_time.acquire(blocking=False):
        yield
        return
    try:
        saved = os.dup(2)
    except OSError:
        # There is no such stream, so nothing is to be hidden.
        _one_at_a_time.release()
        yield
        return
    source, sink = os.pipe()
    relay = threading.Thread(
        target=_relay, args=(source, os.dup(saved), noise), name="treeform stderr", daemon=True
    )
    relay.start()
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield
    finally:
        # With the last copy of the pipe's end the relay comes to its end; processes started meanwhile may hold one.
        os.dup2(saved, 2)
        os.close(saved)
        relay.join(1.0)
        _one_at_a_time.release()


def _relay(source: int, target: int, noise: Sequence[bytes]) -> None:
    with os.fdopen(source, "rb", buffering=0) as stream:
        rest = b""
        while chunk := stream.read(4096):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                _pass(target, line + b"\n", noise)
            if not rest.startswith(b"["):
                # Progress bars do not end their lines; noise begins with a bracket.
                _pass(target, rest, noise)
                rest = b""
        _pass(target, rest, noise)
    os.close(target)


def _pass(target: int, line: bytes, noise: Sequence[bytes]) -> None:
    if line and not any(words in line for words in noise):
        with contextlib.suppress(OSError):
            os.write(target, line)
