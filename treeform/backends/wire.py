"""Messages between a process and its child: a length, then a pickle."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<4sQ")
_MARK = b"tfm1"
_MOST = 2**40
"""Bytes of a message; more is no message."""


class Garbled(Exception):
    """What came is no message: something else wrote into the pipe."""


def send(pipe: IO[bytes], message: Any) -> None:
    """Write one message; arrays go from their own memory and are not copied before."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
    pipe.write(_LENGTH.pack(_MARK, len(parts)))
    for part in parts:
        pipe.write(_LENGTH.pack(_MARK, part.nbytes))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next message. Raises EOFError if the pipe ends before it is complete; Garbled if what comes is no message."""
    count = _number(pipe)
    sizes = [_number(pipe) for _ in range(count)]
    head, *buffers = [_exactly(pipe, size) for size in sizes]
    return pickle.loads(head, buffers=buffers)


def _number(pipe: IO[bytes]) -> int:
    mark, number = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    if mark != _MARK or number > _MOST:
        raise Garbled("the pipe holds other bytes than messages")
    return int(number)


def _exactly(pipe: IO[bytes], size: int) -> bytearray:
    body = bytearray(size)
    view, have = memoryview(body), 0
    while have < size:
        count = pipe.readinto(view[have:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        have += count
    return body
