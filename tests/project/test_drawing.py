"""Which cases a run takes: a drawn part that reaches every pair of values, and with ``--nightly`` all."""

from __future__ import annotations

import random
from itertools import product

import pytest
from drawing import covering, pairs

pytest_plugins = ["pytester"]

CELLS = list(product(range(4), range(3), range(2)))

TESTS = """
import pytest

@pytest.mark.drawn
@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("b", [[1], [2]])
@pytest.mark.parametrize("c", "x")
@pytest.mark.parametrize("d", [None])
@pytest.mark.parametrize("e", "xy")
def test_pairs(a, b, c, d, e): pass

@pytest.mark.drawn(2)
@pytest.mark.parametrize("seed", range(8))
def test_seeds(seed): pass

@pytest.mark.slow
def test_slow(): pass

def test_loop(draw, nightly):
    seeds = draw(range(100), 5)
    assert seeds == sorted(set(seeds))
    assert len(seeds) == (100 if nightly else 5)
"""


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_of_values_is_reached(seed: int) -> None:
    chosen = [CELLS[number] for number in covering(CELLS, random.Random(seed))]
    assert len(chosen) <= 16 < len(CELLS)
    assert set().union(*map(pairs, chosen)) == set().union(*map(pairs, CELLS))


def test_every_cell_is_reached_by_some_draw() -> None:
    assert {n for seed in range(40) for n in covering(CELLS, random.Random(seed))} == set(range(len(CELLS)))


def test_a_number_of_cells_is_kept() -> None:
    for count in (0, 1, 7, 20, 24, 99):
        assert len(covering(CELLS, random.Random(0), count)) == min(count, len(CELLS))
    first = [CELLS[number] for number in covering(CELLS, random.Random(0), 4)]
    assert {cell[0] for cell in first} == {0, 1, 2, 3}


@pytest.mark.parametrize("args", [("--draw", "0"), ("--draw", "3"), ("--nightly",)], ids=" ".join)
def test_markers_decide_what_runs(pytester: pytest.Pytester, args: tuple[str, ...]) -> None:
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess("-p", "drawing", "-p", "no:cacheprovider", *args).parseoutcomes()
    if args == ("--nightly",):
        assert done == {"passed": 8 + 8 + 1 + 1}
    else:
        assert done["passed"] + done["deselected"] == 18
        assert 4 + 2 + 1 <= done["passed"] <= 6 + 2 + 1  # four cells are enough for all pairs


def test_shards_are_all_of_it_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    options = ("-p", "drawing", "-p", "no:cacheprovider", "--nightly")
    parts = [pytester.runpytest_inprocess(*options, "--shard", f"{part}/3", "-v") for part in (1, 2, 3)]
    names = [line.split()[0] for part in parts for line in part.outlines if " PASSED" in line]
    assert len(names) == len(set(names)) == 18
    assert [part.parseoutcomes()["passed"] for part in parts] == [6, 6, 6]
    refused = pytester.runpytest_inprocess(*options, "--shard", "4/3")
    assert refused.ret != 0 and "the second of eight" in "".join(refused.errlines)


def test_what_is_named_runs_with_all_its_cells(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess("-p", "drawing", f"{path}::test_pairs", f"{path}::test_slow")
    done.assert_outcomes(passed=9)


def test_a_share_of_each_sample(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_loop(draw): assert len(draw(range(100), 5)) == 2")
    done = pytester.runpytest_inprocess("-p", "drawing", "-p", "no:cacheprovider", "--share", "0.3")
    done.assert_outcomes(passed=1)


def test_another_order_runs_the_same_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.parametrize('k', range(20))\ndef test_k(k): pass\n")
    orders = []
    for args in ((), ("--shuffle", "1"), ("--shuffle", "1"), ("--shuffle", "2")):
        run = pytester.inline_run("-q", "-p", "drawing", "-p", "shuffling", *args)
        orders.append([call.report.nodeid for call in run.getcalls("pytest_runtest_logreport")
                       if call.report.when == "call"])  # fmt: skip
    usual, one, again, other = orders
    assert one == again != other and usual not in (one, other)
    assert sorted(usual) == sorted(one) == sorted(other)
