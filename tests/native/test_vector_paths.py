"""Every engine of the core with each instruction set that this processor has, at depth two to four: the same answer.

Numbers of rows beside the width of a register, and columns of every width. Under sanitizers (``.ci/sanitize``) these
are the searches that show a read beyond an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bindings_fuzz import runs_here

import treeform as tf
from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.checks import PATHS, SCAN_PATHS
from treeform.engines.relaxation import relax

ROWS = (31, 33, 70)
DEPTHS = (2, 3, 4)


def table(seed: int, rows: int, features: int, values: int) -> tuple[Any, Any, np.random.Generator]:
    pick = np.random.default_rng(seed)
    X = pick.integers(0, values, (rows, features)).astype(float)
    y = np.concatenate([[0, 1], pick.integers(0, 2, rows - 2)])
    return X, y, pick


def trees(
    values: int, features: int, classes: int = 2, heaviest: int = 100_000, price: Fraction = Fraction(0)
) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, y, pick = table(seed, rows, features, values)
        y[2 : 2 + classes] = np.arange(classes)
        weight = pick.integers(1, heaviest if seed % 3 else 10, rows) if seed % 2 else None
        problem = tf.Problem(X, y, shape=f"tree:{depth}", sample_weight=weight)
        return problem.minimize(tf.Error() + price * tf.Nodes())

    return made


def with_parity(values: int, features: int) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, y, _ = table(seed, rows, features, values)
        one = tf.Problem(X, y, shape=f"tree:{depth}") + tf.MinSupport(2)
        return one + tf.StatisticalParity(groups=np.arange(rows) % 2, difference=0.1)

    return made


def of_values(loss: type[Any]) -> Callable[[int, int, int], tf.Problem]:
    def made(seed: int, rows: int, depth: int) -> tf.Problem:
        X, _, pick = table(seed, rows, 3, 9)
        target = pick.integers(0, 9, rows).astype(float)
        weight = pick.integers(1, 5, rows) if seed % 2 else None
        return tf.Problem(X, target, shape=f"tree:{depth}", sample_weight=weight).minimize(loss())

    return made


def diagrams(seed: int, rows: int, depth: int) -> tf.Problem:
    X, y, _ = table(seed, rows, 3, 5)
    return tf.Problem(X, y, shape="diagram:" + ",".join(["1", *["2"] * (depth - 1)]))


CASES: dict[str, tuple[Callable[..., Any], tuple[str, ...], Callable[[int, int, int], tf.Problem]]] = {
    "contree": (tf.ConTree, SCAN_PATHS, trees(40, 3)),
    "contree, three classes": (tf.ConTree, SCAN_PATHS, trees(40, 3, classes=3)),
    "contree, four classes, heavy rows": (tf.ConTree, SCAN_PATHS, trees(40, 3, classes=4, heaviest=10**8)),
    "contree, four classes, half an error for a test": (tf.ConTree, SCAN_PATHS, trees(40, 3, 4, price=Fraction(1, 2))),
    "dl85": (tf.DL85, PATHS, trees(2, 6)),
    "cadl85": (tf.CADL85, PATHS, trees(2, 6)),
    "blossom": (tf.Blossom, PATHS, trees(2, 5)),
    "diagrams": (tf.DiagramSearch, PATHS, diagrams),
    "totals": (tf.TotalsSearch, PATHS, with_parity(2, 5)),
    "totals over thresholds": (tf.ContinuousTotals, SCAN_PATHS, with_parity(9, 3)),
    "squared errors": (tf.RegressionSearch, PATHS, of_values(tf.SquaredError)),
    "absolute errors": (tf.RegressionSearch, PATHS, of_values(tf.AbsoluteError)),
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES)
def test_each_instruction_set_gives_the_same_answer(case: str, depth: int) -> None:
    make, paths, problem = CASES[case]
    assert "plain" in here(paths)
    for seed, rows in enumerate(ROWS):
        stated = problem(seed, rows, depth)
        found = {path: stated.solve(make(simd=path), warm_start=None) for path in here(paths)}
        assert {one.status for one in found.values()} <= {tf.Status.OPTIMAL, tf.Status.INFEASIBLE}
        assert len({(one.status, one.objective) for one in found.values()}) == 1, {
            path: (one.status, one.objective) for path, one in found.items()
        }


def here(paths: tuple[str, ...]) -> list[str]:
    return [path for path in paths if path != "auto" and runs_here(path)]


@pytest.mark.parametrize("depth", DEPTHS)
def test_an_improvement_is_the_same_with_each_instruction_set(depth: int) -> None:
    """Trees that are improved and not proved: the same moves, whichever kernel weighs them."""
    for seed, rows in enumerate(ROWS):
        stated = trees(40, 3, classes=2 + seed % 2)(seed, rows, depth)
        found = [
            stated.solve(tf.DeepTreeSearch(simd=path, work_limit=10**5), warm_start=None)
            for path in here(SCAN_PATHS)
        ]
        assert len({one.objective for one in found}) == 1
        assert all(one.graph == found[0].graph for one in found) and found[0].graph.n_nodes


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_and_or_graph_is_the_same_with_each_instruction_set(depth: int) -> None:
    for seed, rows in enumerate(ROWS):
        stated = with_parity(3 if depth < 4 else 2, 3)(seed, rows, depth)
        relaxation = relax(stated.question, tf.TotalsSearch())
        assert relaxation is not None
        seen = set()
        for path in here(PATHS):
            trees_of = GraphOfTrees(stated.data, relaxation.task, simd=path)
            priced = trees_of.relax()
            assert priced is not None
            graph = trees_of.up_to(priced.lower + 2)
            assert graph is not None
            seen.add((priced.lower, tuple(priced.multipliers), graph.n_alternatives))
        assert len(seen) == 1, seen


def test_all_instructions_of_a_file_are_asked_for() -> None:
    """A processor may have some of AVX-512 and not the rest: Knights Mill counts bits, and has no masks of bytes."""
    native = Path(__file__).parents[2] / "treeform/native"
    text = (native / "engine/CMakeLists.txt").read_text()
    (shared,) = re.findall(r"set\(avx512 (.*)\)", text)
    files = re.findall(r"treeform_vectors\((\w+)/\w+_avx512\.cpp (.*)\)", text.replace("${avx512}", shared))
    assert len(files) == 6
    for folder, options in files:
        sources = "".join(path.read_text() for path in (native / folder).glob("*.cpp"))
        asked = set(re.findall(r'cpu_supports\("(\w+)"\)', sources))
        if 'simd_available("avx512")' in sources:
            asked |= set(re.findall(r'cpu_supports\("(\w+)"\)', (native / "contree/scan_dispatch.cpp").read_text()))
        assert set(re.findall(r"-m(avx512\w+)", options)) <= asked, folder
