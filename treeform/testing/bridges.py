"""Conformance of bridges: the same solutions before and after, by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from treeform.bridges import Bridge
from treeform.errors import RouteError
from treeform.model import Block, Kind, Model, any_of, at_least, at_most, exactly
from treeform.model.blocks import violated_rows

COLUMNS = 5
MOST_NEW_COLUMNS = 9


def check_bridge(bridge: Bridge, blocks: int = 60, seed: int = 0) -> int:
    """Apply a bridge to random blocks over five 0/1 columns and compare the solutions.

    Parameters
    ----------
    bridge : Bridge
    blocks : int
        How many blocks.
    seed : int

    Returns
    -------
    int
        How many blocks were compared; those that the bridge refuses, or that take more than nine new columns,
        are left out.

    Raises
    ------
    AssertionError
        When a form is returned that ``target`` does not list, or a point is a solution on one side only; with the
        model written out.
    """
    compared = 0
    for number in range(blocks):
        model, block = _draw(np.random.default_rng((seed, number)), bridge)
        try:
            rewritten = bridge.apply(block, model)
        except RouteError:
            continue
        new = model.n_cols - COLUMNS
        where = f"{bridge!r}, block {number} of seed {seed}\n{model.show(20)}"
        _demand({b.form for b in rewritten} <= bridge.target, "a form outside `target` is returned", where)
        if new > MOST_NEW_COLUMNS:
            continue
        for x in product((0.0, 1.0), repeat=COLUMNS):
            before = _holds([block], np.array([*x, *[0.0] * new]), model)
            after = any(
                _holds(rewritten, np.array([*x, *more]), model) for more in product((0.0, 1.0), repeat=new)
            )
            _demand(before == after, f"the point {x} {'has no' if before else 'gets a'} counterpart", where)
        compared += 1
    _demand(compared > 0, "every block was refused or grew too large", repr(bridge))
    return compared


def _draw(rng: np.random.Generator, bridge: Bridge) -> tuple[Model, Block]:
    """A model with one block of the bridge's source form."""
    while True:
        model = Model("bridge")
        x = model.bool("x", COLUMNS)
        some = rng.choice(COLUMNS, int(rng.integers(1, COLUMNS + 1)), replace=False)
        flip = rng.random(len(some)) < 0.4
        literals = (x[some] * np.where(flip, -1.0, 1.0) + flip.astype(float)).reshape(1, -1)
        thing: Any
        if bridge.source.kind is Kind.CLAUSE:
            thing = any_of(literals, axis=1)
        elif bridge.source.kind is Kind.CARDINALITY:
            count = [at_most, at_least, exactly][int(rng.integers(3))]
            thing = count(literals, int(rng.integers(0, len(some) + 1)), axis=1)
        else:
            total = (x[some] * rng.integers(-4, 5, len(some))).sum().reshape(1)
            side = int(rng.integers(-4, 6))
            thing = [total <= side, total >= side, total == side][int(rng.integers(3))]
        when = x[int(rng.integers(COLUMNS))] if bridge.source.enforced else None
        if when is not None and rng.random() < 0.5:
            when = ~when
        block = model.add(thing, "drawn", when=when)
        if block.form == bridge.source and block.n_rows:  # a row that always holds is dropped
            return model, block


def _holds(blocks: list[Block], x: np.ndarray, model: Model) -> bool:
    return not any(violated_rows(block, x, model.is_integer).any() for block in blocks)


def _demand(holds: bool, complaint: str, where: str) -> None:
    if not holds:
        raise AssertionError(f"{complaint}: {where}")
