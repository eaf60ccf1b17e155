"""Clauses of the perfect decision tree in bulk: arrays of signed literals, one row per clause, 0 pads.

Nodes are numbered as in the paper: the root is 1 and the children of node ``q`` are ``2 q`` (left) and
``2 q + 1`` (right), so the nodes of level ``l`` are ``2^l .. 2^(l+1) - 1`` and the binary digits of a node,
after the leading one, are the turns on the way to it. Leaf ``v`` is the node ``2^k + v``.
"""

from __future__ import annotations

import numpy as np

from treeform.utils.arrays import Bools, Ints


def turns_to(level: int) -> Bools:
    """Turns on the way to each node of a level, ``(2^level, level)``: False is left, True is right."""
    nodes = np.arange(2**level)[:, None]
    return ((nodes >> np.arange(level - 1, -1, -1)) & 1).astype(bool)


def right_turns(depth: int) -> Ints:
    """``(2^depth, depth)``: the nodes, in heap order, that the way to a leaf leaves to the right; elsewhere -1."""
    level = np.arange(depth)
    ahead = np.arange(2**depth)[:, None] >> (depth - level)
    return np.where(turns_to(depth), 2**level - 1 + ahead, -1)


def elsewhere(path: Ints, level: int) -> Ints:
    """Literals all false exactly when an example is at a node: the part ``X_i[..level] != q`` of clauses.

    ``path``: (p, k) literals ``X_ij``, example ``i`` turns right at level ``j``. Returns (p, 2^level, level).
    """
    sign = np.where(turns_to(level), -1, 1)
    return sign[None] * path[:, None, :level]


def split_clauses(path: Ints, features: Ints, right: Bools, level: int) -> Ints:
    """Formulas (3) and (4) at one level, the clauses that Algorithm 1 generates there.

    For each example ``e_i``, node ``q`` of the level and feature ``f``::

        (3)  e_i[f] = 0:  X_i[..j] = q  and  X_ij   =>  not F_qf
        (4)  e_i[f] = 1:  X_i[..j] = q  and  ~X_ij  =>  not F_qf

    ``path``: (p, k) literals ``X_ij``. ``features``: (2^level, m) literals ``F_qf`` of the nodes of this level.
    ``right``: (p, m), ``e_i[f]``, the test ``f`` sends example ``i`` to the right. Returns (p * 2^level * m, level +
    2).
    """
    (p, m), nodes = right.shape, 2**level
    out = np.empty((p, nodes, m, level + 2), dtype=np.int64)
    out[..., :level] = elsewhere(path, level)[:, :, None, :]
    out[..., level] = (np.where(right, 1, -1) * path[:, level, None])[:, None, :]
    out[..., level + 1] = -features
    return out.reshape(-1, level + 2)


def ordered_clauses(path: Ints, features: Ints, left: Ints, level: int) -> Ints:
    """Formulas (3) and (4) at one level where nodes hold a column ``u`` and an ordered threshold.

    For each example ``e_i``, node ``q`` of the level and column ``u``, with ``O`` the literal of the example's value in
    that column ("the node sends it to the left")::

        (3')  X_i[..j] = q  and  X_ij  and  G_qu   =>  not O
        (4')  X_i[..j] = q  and  ~X_ij  and  G_qu  =>  O

    ``features``: (2^level, u) literals ``G_qu``, the node tests the column. ``left``: (2^level, p, u) literals ``O``.
    Returns (2 * p * 2^level * u, level + 3).
    """
    nodes, p, columns = left.shape
    out = np.empty((2, p, nodes, columns, level + 3), dtype=np.int64)
    out[..., :level] = elsewhere(path, level)[None, :, :, None, :]
    out[..., level + 1] = -features
    turn = path[:, level, None, None]
    sends = np.swapaxes(left, 0, 1)
    out[0, ..., level], out[0, ..., level + 2] = -turn, -sends
    out[1, ..., level], out[1, ..., level + 2] = turn, sends
    return out.reshape(-1, level + 3)


def left_when_unused(path: Ints, active: Ints, level: int) -> Ints:
    """An unused node sends everything left: ``X_i[..j] = q and not A_q => not X_ij``, (p * 2^level, level + 2)."""
    p, nodes = len(path), 2**level
    out = np.empty((p, nodes, level + 2), dtype=np.int64)
    out[..., :level] = elsewhere(path, level)
    out[..., level] = -path[:, level, None]
    out[..., level + 1] = active
    return out.reshape(-1, level + 2)


def leaf_clauses(path: Ints, literals: Ints) -> Ints:
    """At each leaf one literal is implied: ``X_i = v => literals[i, v]``, the pattern of Algorithm 2.

    ``literals``: (p, 2^k), or (p, 2^k, w) for a clause of ``w`` of them. Returns (p * 2^k, k + w).
    """
    p, depth = path.shape
    tail = literals.reshape(p, 2**depth, -1)
    head = elsewhere(path, depth)
    return np.concatenate([head, tail], axis=2).reshape(p * 2**depth, -1)


def same_class_clauses(path: Ints, leaf: Ints, predicted: Ints) -> Ints:
    """What is predicted is the class of the leaf: ``X_i = v => (P_ic <=> C_vc)`` for one class ``c``.

    ``leaf``: (2^k,) literals ``C_vc``. ``predicted``: (p,) literals ``P_ic``. Returns (2 * p * 2^k, k + 2).
    """
    shape = (len(path), len(leaf))
    c, q = np.broadcast_to(leaf, shape), np.broadcast_to(predicted[:, None], shape)
    down = leaf_clauses(path, np.stack([-c, q], axis=2))
    up = leaf_clauses(path, np.stack([c, -q], axis=2))
    return np.concatenate([down, up])


def equal_and(result: Ints, *parts: Ints) -> list[Ints]:
    """``result <=> part_1 and part_2 ...`` for arrays that broadcast, as arrays ``(rows, width)``."""
    shape = np.broadcast_shapes(result.shape, *(p.shape for p in parts))
    r, *many = (np.broadcast_to(a, shape).ravel() for a in (result, *parts))
    implied = [np.stack([-r, part], axis=1) for part in many]
    return [*implied, np.stack([r, *(-part for part in many)], axis=1)]


def expected_per_example(depth: int, per_node: int, n_classes: int) -> int:
    """Clauses that one example brings: so many per node of (3)-(4), at most ``2 c 2^k`` for its class."""
    leaves = 1 << depth
    return (leaves - 1) * per_node + 2 * n_classes * leaves
