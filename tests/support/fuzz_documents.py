"""Documents and bytes, changed: values at the edge of something, parts from elsewhere, cuts."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

NUMBERS = [
    0, -1, 1, 2, 3, 7, 63, 100, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**30, 10**400, 0.5, -0.0, 1.5, 1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
TEXTS = [
    "", "a", "b", "0", "1", "-1", "1/2", "1/0", "-3/7", "nan", "inf", "1e400", "1e999999999", "1_0", " 1 ",
    "9" * 5000, "x" * 1000, "\x00", "\ud800", "é\u202e", "../x", "/etc/passwd", "error", "tree:2", "tree:9",
    "diagram:1,2", "min_support", "yes", "no",
]  # fmt: skip


def value(rng: random.Random, depth: int = 2) -> Any:
    """Any value that JSON has, many of them at the edge of something."""
    kind = rng.randrange(8 if depth else 6)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return rng.choice(TEXTS)
    if kind < 5:
        return rng.choice([None, True, False, [], {}])
    if kind < 6:
        return rng.randrange(-2, 12)
    if kind < 7:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(TEXTS): value(rng, depth - 1) for _ in range(rng.randrange(4))}


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every entry of a document: what holds it, and its key."""
    out: list[tuple[Any, Any]] = []
    left = [document]
    while left:
        holder = left.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            out.append((holder, key))
            if isinstance(holder[key], dict | list):
                left.append(holder[key])
    return out


def changed(rng: random.Random, document: Any) -> Any:
    """The document with one to three things in it replaced, dropped, added, or taken from elsewhere in it."""
    copy = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        every = places(copy)
        if not every:
            break
        holder, key = rng.choice(every)
        kind = rng.choice(["replace", "replace", "near", "elsewhere", "elsewhere", "drop", "double", "add"])
        if kind == "replace":
            holder[key] = value(rng)
        elif kind == "near":
            holder[key] = near(rng, holder[key])
        elif kind == "elsewhere":
            other, at = rng.choice(every)
            holder[key] = json.loads(json.dumps(other[at]))
        elif kind == "drop":
            del holder[key]
        elif isinstance(holder, list):
            holder.insert(key, holder[key] if kind == "double" else value(rng))
        else:
            holder[rng.choice(TEXTS)] = value(rng)
    return copy


def near(rng: random.Random, old: Any) -> Any:
    """Something of the same type."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return rng.choice(
            [old + 1, old - 1, -old, 2 * old, f"{old}.0", old / 2 if abs(old) < 2**1000 else 0.5]
        )
    if isinstance(old, float):
        return rng.choice([np.nextafter(old, 9e9).item(), -old, old * 1e300, str(old)])
    if isinstance(old, str):
        at = rng.randrange(len(old) + 1)
        return rng.choice([old[:at], old[at:], old[:at] + rng.choice(TEXTS) + old[at:], old.upper(), [old]])
    if isinstance(old, list):
        return rng.choice(
            [old[::-1], old[:1], old * 2, old * 200, [old], {str(at): entry for at, entry in enumerate(old)}]
        )
    return value(rng)


def torn(rng: random.Random, raw: bytes) -> bytes:
    """The bytes with some replaced, left out or put in, or cut."""
    out = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        new = rng.choice(
            [rng.randbytes(rng.randrange(4)), b"[" * 300, b'"', b"9" * 30, b"-", b"\n", b"\xff", b"0", b"{"]
        )
        out[at : at + rng.choice([0, 1, 2, 40, 10**6])] = new
    return bytes(out)
