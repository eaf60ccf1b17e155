"""Which of many cases a run of the tests takes: a drawn part of them, or all of them with ``--nightly``.

* A parametrised test with the marker ``drawn`` runs some of its cells only, chosen so that every pair of values of two
  parameters is still reached (``drawn()``), or so many of them (``drawn(3)``).
* The fixture ``draw`` takes a sample of what a test loops over.
* A test with the marker ``slow`` runs with ``--nightly`` only.

Hypothesis draws the same examples in each run, whatever the machine's speed and whatever earlier runs found.

``--draw N`` draws another part and other examples, ``--share S`` smaller samples; ``--shard K/N`` is the K-th of N
parts of all that would run, each for a machine. A test that is named on the command line (``FILE::TEST``) runs with all
its cells.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

T = TypeVar("T")
Draw = Callable[[Sequence[int], int], list[int]]
Cell = tuple[int, ...]
"""The number of a value for each parameter."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("drawing")
    group.addoption("--nightly", action="store_true", help="run all cases and the tests marked slow")
    group.addoption("--draw", type=int, default=0, metavar="N", help="draw another part of the cases (0)")
    group.addoption("--shard", type=_shard, default=(1, 1), metavar="K/N", help="the K-th of N parts (all)")
    group.addoption("--share", type=float, default=1.0, metavar="S", help="this share of each sample (1)")


def _shard(text: str) -> tuple[int, int]:
    """``2/8`` as numbers."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part: write for example 2/8, the second of eight")
    return int(part), int(parts)


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its seed
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: runs with --nightly only")
    config.addinivalue_line("markers", "drawn(count=None): runs some of its cells, all with --nightly")
    if config.getoption("draw") and config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(config.getoption("draw"))
    before = settings.get_current_profile_name()
    config.add_cleanup(lambda: settings.load_profile(before))  # tests of this plugin run it within a run
    same = config.getoption("hypothesis_seed", None) is None
    settings.register_profile(
        f"drawn-{same}",
        deadline=None,
        database=None,
        derandomize=same,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(f"drawn-{same}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what was not drawn, and what is for other machines."""
    left_out = _not_drawn(config, items)
    part, parts = config.getoption("shard")
    mine = set([item for item in items if item not in left_out][part - 1 :: parts])
    others = [item for item in items if item not in mine]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item in mine]


def _not_drawn(config: pytest.Config, items: list[pytest.Item]) -> set[pytest.Item]:
    if config.getoption("nightly") or any("::" in arg for arg in config.args):
        return set()
    left_out = {item for item in items if item.get_closest_marker("slow")}
    for name, cells in _families(items).items():
        marker = next(iter(cells)).get_closest_marker("drawn")
        assert marker is not None
        chosen = covering(list(cells.values()), _random(config, name), *marker.args)
        left_out.update(item for number, item in enumerate(cells) if number not in chosen)
    return left_out


def _families(items: Sequence[pytest.Item]) -> dict[str, dict[pytest.Item, Cell]]:
    """The cells of each test with the marker ``drawn``, by the test's name."""
    out: dict[str, dict[pytest.Item, Cell]] = {}
    values: dict[tuple[str, str], list[object]] = {}
    for item in items:
        if item.get_closest_marker("drawn"):
            family, params = item.nodeid.split("[")[0], item.callspec.params  # type: ignore[attr-defined]
            cell = tuple(
                _number(params[name], values.setdefault((family, name), [])) for name in sorted(params)
            )
            out.setdefault(family, {})[item] = cell
    return out


def _number(value: object, known: list[object]) -> int:
    """The number of a parameter's value, by identity: values need not be comparable."""
    for number, other in enumerate(known):
        if other is value:
            return number
    known.append(value)
    return len(known) - 1


def covering(cells: Sequence[Cell], rng: random.Random, count: int | None = None) -> set[int]:
    """Numbers of cells that together reach every pair of values (every value, of one parameter).

    Each next cell is one that reaches the most pairs not reached so far. With ``count``, there are so many cells in
    the end: fewer pairs, or further cells at random.
    """
    left = list(range(len(cells)))
    rng.shuffle(left)
    missing = {pair for cell in cells for pair in pairs(cell)}
    chosen: list[int] = []
    while left and (missing if count is None else len(chosen) < count):
        best = max(left, key=lambda number: len(missing & pairs(cells[number])))
        left.remove(best)
        missing -= pairs(cells[best])
        chosen.append(best)
    return set(chosen)


def pairs(cell: Cell) -> set[tuple[tuple[int, int], ...]]:
    """The values of a cell with their parameters, one by one and in pairs."""
    return {*combinations(enumerate(cell), 1), *combinations(enumerate(cell), 2)}


def _random(config: pytest.Config, name: str) -> random.Random:
    return random.Random(f"{config.getoption('draw')} {name}")


@pytest.fixture
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether all cases are wanted."""
    return bool(request.config.getoption("nightly"))


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Callable[[Sequence[T], int], list[T]]:
    """``draw(population, count)``: so many of them in their order, or all of them with ``--nightly``."""
    rng = _random(request.config, request.node.nodeid)
    share = request.config.getoption("share")

    def some(population: Sequence[T], count: int) -> list[T]:
        if request.config.getoption("nightly"):
            return list(population)
        return [population[i] for i in sorted(rng.sample(range(len(population)), math.ceil(count * share)))]

    return some
