r"""Pseudo-Boolean rows ``sum(c_i l_i) <= k`` with positive whole coefficients as clauses.

Two encodings, chosen by size:

*Decision diagrams* (Abio, Nieuwenhuis, Oliveras, Rodriguez-Carbonell, "A New Look at BDDs for
Pseudo-Boolean Constraints", JAIR 45, 2012). A node at level ``i`` stands for "the literals from ``i`` on
sum to at most the remaining room". The row is monotone, so two clauses per node suffice, and unit
propagation is as strong as on it:

.. math:: v \Rightarrow v_{low}, \qquad v \wedge l_i \Rightarrow v_{high}

*Adders* (Een, Sorensson, "Translating Pseudo-Boolean Constraints into SAT", JSAT 2, 2006): the sum as binary
digits by full and half adders, then compared with the constant. Linear in size, weak in propagation: for rows
whose diagram is too large.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from treeform.bridges.templates import Template
from treeform.model.lower import look_up
from treeform.utils.arrays import Ints

Clauses = list[list[int]]

#: Diagrams up to this many nodes are always taken.
SMALL = 5000
#: Beyond, a diagram may have this many times as many nodes as an adder has digits to add.
FACTOR = 20
_TRUE, _FALSE = 0, -1


def encode(coefficients: Sequence[int], lo: int | None, hi: int | None) -> Template:
    """Clauses that state ``lo <= sum(c_i l_i) <= hi`` over the literals ``1 .. L``; None for no side.

    Coefficients are positive, best in decreasing order, and their sum is below 2**53.
    """
    length = len(coefficients)
    limit = max(SMALL, FACTOR * sum(c.bit_length() for c in coefficients))
    coefs = np.array(coefficients, dtype=np.int64)
    definitions: Clauses = []
    assertions: Clauses = []
    top = length
    for sign, room in ((1, hi), (-1, None if lo is None else int(coefs.sum()) - lo)):
        if room is None:
            continue
        # sum(c l) >= lo is sum(c ~l) <= sum(c) - lo.
        made = _diagram(coefs, room, sign, top, limit)
        if made is None:
            return _adder(list(coefficients), lo, hi)
        top, nodes, root = made
        definitions += nodes
        assertions += root
    return Template(length, top - length, definitions, assertions)


def _rooms(coefs: Ints, room: int, limit: int) -> list[Ints] | None:
    """For each level the rooms that may be left and decide nothing yet; None when there are too many."""
    rest = np.concatenate([np.cumsum(coefs[::-1])[::-1], [0]])
    level = np.array([room], dtype=np.int64)
    out, total = [], 0
    for i, coef in enumerate(coefs):
        look_up()
        level = level[(level >= 0) & (level < rest[i])]
        out.append(level)
        total += len(level)
        if total > limit:
            return None
        level = np.unique(np.concatenate([level, level - coef]))
    return out


def _diagram(coefs: Ints, room: int, sign: int, top: int, limit: int) -> tuple[int, Clauses, Clauses] | None:
    """The reduced diagram of ``sum(c_i l_i) <= room``: last variable, definitions, root clauses."""
    if room < 0 or room >= int(coefs.sum()):
        return top, [], [[]] if room < 0 else []
    levels = _rooms(coefs, room, limit)
    if levels is None:
        return None
    rest = np.concatenate([np.cumsum(coefs[::-1])[::-1], [0]])
    clauses: Clauses = []
    below_rooms, below_nodes = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for i in range(len(coefs) - 1, -1, -1):
        look_up()
        rooms = levels[i]
        low = _lookup(rooms, rest[i + 1], below_rooms, below_nodes)
        high = _lookup(rooms - coefs[i], rest[i + 1], below_rooms, below_nodes)
        nodes = low.copy()
        tested = low != high
        pairs, which = np.unique(np.stack([low[tested], high[tested]], axis=1), axis=0, return_inverse=True)
        nodes[tested] = top + 1 + which.ravel()
        clauses += _node_clauses(pairs, top, sign * (i + 1))
        top += len(pairs)
        below_rooms, below_nodes = rooms, nodes
    return top, clauses, [[int(below_nodes[0])]]


def _lookup(rooms: Ints, rest: int, known: Ints, nodes: Ints) -> Ints:
    """The node of each room at the next level; terminals where the room decides."""
    out = np.where(rooms < 0, _FALSE, _TRUE).astype(np.int64)
    inner = (rooms >= 0) & (rooms < rest)
    out[inner] = nodes[np.searchsorted(known, rooms[inner])]
    return out


def _node_clauses(pairs: Ints, top: int, lit: int) -> Clauses:
    clauses: Clauses = []
    for node, (low, high) in enumerate(pairs.tolist(), start=top + 1):
        if low != _TRUE:
            clauses.append([-node, low])
        clauses.append([-node, -lit] if high == _FALSE else [-node, -lit, high])
    return clauses


def _adder(coefficients: list[int], lo: int | None, hi: int | None) -> Template:
    """The sum in binary digits, then the comparisons."""
    length = top = len(coefficients)
    bits = sum(coefficients).bit_length()
    columns: list[list[int]] = [[] for _ in range(bits + 1)]
    for lit, coef in enumerate(coefficients, start=1):
        for bit in range(coef.bit_length()):
            if coef >> bit & 1:
                columns[bit].append(lit)
    clauses: Clauses = []
    for bit in range(bits):
        queue = deque(columns[bit])
        while len(queue) > 1:
            look_up()
            parts = [queue.popleft() for _ in range(min(3, len(queue)))]
            clauses += _add(parts, top + 1, top + 2)
            queue.append(top + 1)
            columns[bit + 1].append(top + 2)
            top += 2
        columns[bit] = list(queue)
    digits = [column[0] if column else None for column in columns[:bits]]
    assertions: Clauses = []
    if hi is not None:
        assertions += _compare(digits, hi, at_most=True)
    if lo is not None:
        assertions += _compare(digits, lo, at_most=False)
    return Template(length, top - length, clauses, assertions)


def _add(parts: list[int], total: int, carry: int) -> Clauses:
    """``total`` is the parity and ``carry`` the majority (or conjunction) of two or three literals."""
    clauses: Clauses = []
    for pattern in range(1 << len(parts)):
        # Off where the literals are as in the pattern, and then the parity is known.
        off = [-p if pattern >> i & 1 else p for i, p in enumerate(parts)]
        clauses.append([*off, total if pattern.bit_count() % 2 else -total])
    clauses += [[-a, -b, carry] for a, b in combinations(parts, 2)]
    if len(parts) == 2:
        return clauses + [[part, -carry] for part in parts]
    return clauses + [[a, b, -carry] for a, b in combinations(parts, 2)]


def _compare(digits: list[int | None], limit: int, at_most: bool) -> Clauses:
    """The number with these binary digits, lowest first, is at most (at least) ``limit``.

    It exceeds the limit if and only if at the highest digit where the two differ the number has 1.
    """
    if limit < 0 or limit >= 1 << len(digits):
        return [] if at_most == (limit >= 0) else [[]]
    clauses: Clauses = []
    for i, digit in enumerate(digits):
        if (limit >> i & 1) == (1 if at_most else 0):
            continue
        if digit is None and at_most:
            continue
        clause: list[int] = [] if digit is None else [-digit if at_most else digit]
        above = [(d, limit >> j & 1) for j, d in enumerate(digits) if j > i]
        same = [(d, bit) for d, bit in above if bit == (1 if at_most else 0)]
        if at_most and any(d is None for d, _ in same):
            continue
        clause += [(-d if at_most else d) for d, _ in same if d is not None]
        clauses.append(clause)
    return clauses
