"""ConTree as users meet it: weights, labels, supports, gaps, sizes, early stops, and the command line."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from timing import Timed
from typer.testing import CliRunner

import treeform as tf
from treeform import _core
from treeform.catalogue.solvers import find_engine
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.utils.budget import Budget


def random_data(
    seed: int, n: int = 40, classes: int = 2, values: int = 8, features: int = 2
) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, values, (n, features)).astype(float)
    return x, (x.sum(axis=1) + rng.integers(0, 4, n)).astype(int) % classes


def stump_by_hand(x: Any, y: Any, w: list[Fraction], support: Fraction = Fraction(0)) -> Fraction:
    """The least weighted error of a tree of at most one test, in exact fractions."""

    def leaf(rows: Any) -> Fraction:
        total = sum((w[i] for i in rows), Fraction(0))
        return total - max(sum((w[i] for i in rows if y[i] == label), Fraction(0)) for label in set(y))

    best = leaf(range(len(y)))
    for feature in range(x.shape[1]):
        for low, _ in pairwise(np.unique(x[:, feature])):
            left = [i for i in range(len(y)) if x[i, feature] <= low]
            right = [i for i in range(len(y)) if x[i, feature] > low]
            if min(sum(w[i] for i in left), sum(w[i] for i in right)) >= support:
                best = min(best, leaf(left) + leaf(right))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_float_weights_are_exact(seed: int) -> None:
    x, y = random_data(seed)
    weights = np.random.default_rng(seed).choice([0.1, 0.2, 0.7, 1e-9, 3.0], len(y))
    exact = [Fraction(str(w)) for w in weights]
    result = tf.Problem(x, y, sample_weight=weights, shape=tf.Tree(1)).solve(ConTree())
    assert result.objective == stump_by_hand(x, y, exact)
    assert result.bound == result.objective


@pytest.mark.parametrize("support", [7, 0.2, 0.45])
def test_support_as_count_and_fraction(support: float) -> None:
    for seed in range(4):
        x, y = random_data(seed)
        least = Fraction(support) if isinstance(support, int) else Fraction(str(support)) * len(y)
        problem = tf.Problem(x, y, shape=tf.Tree(1)).add(tf.MinSupport(support))
        assert problem.solve(ConTree()).objective == stump_by_hand(x, y, [Fraction(1)] * len(y), least)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [True, False], [0.5, 2.5], ["b", "a"]])
def test_labels_of_any_kind(labels: list[Any]) -> None:
    x, y = random_data(1)
    plain = tf.Problem(x, y, shape=tf.Tree(2)).solve(ConTree())
    named = tf.Problem(x, np.array(labels)[y], shape=tf.Tree(2)).solve(ConTree())
    assert named.objective == plain.objective
    assert set(named.graph.predict(x)) <= set(labels)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gaps(depth: int) -> None:
    for seed in range(5):
        data = Dataset.from_user(*random_data(seed, 60, 3))
        best = ConTree().run(data, TreeTask(depth), EngineRun()).upper
        for gap in (1, 4, 0.05, 0.2):
            near = ConTree(max_gap=gap).run(data, TreeTask(depth), EngineRun())
            assert near.lower <= best <= near.upper <= near.lower + (gap if gap >= 1 else int(gap * 60))


@pytest.mark.parametrize("path", ["avx512", "avx2", "portable"])
@pytest.mark.parametrize("cost", [None, [[0, 3, 1], [2, 0, 5], [1, 1, 0]]])
@pytest.mark.parametrize("factor", [1, 40_000])
def test_children_are_the_same_on_all_paths(path: str, factor: int, cost: Any) -> None:
    """Depth three divides nodes; the factor on the weights makes 32 bits of the 16; costs take another scan."""
    if not _core.simd_available(path):
        pytest.skip(f"this processor has no {path}")
    for n, values in ((33, 5), (200, 1000), (500, 30)):
        x, y = random_data(n, n, 3, values, 3)
        data = Dataset.from_user(x, y, np.full(n, factor) + np.arange(n) % 2)
        task = TreeTask(3, None if cost is None else np.array(cost))
        one, other = (ConTree(simd=simd).run(data, task, EngineRun()) for simd in (path, "plain"))
        assert one.graph == other.graph and one.counters == other.counters


def test_threads_agree_at_depth_four() -> None:
    """One thread may have another tree of the same cost."""
    for seed in range(3):
        data = Dataset.from_user(*random_data(seed, 70, 3, 40, 3))
        runs = [ConTree(threads=t).run(data, TreeTask(4), EngineRun()) for t in (1, 2, 4)]
        assert all(run.proved and run.graph == runs[0].graph and run.upper == runs[0].upper for run in runs)
    rng = np.random.default_rng(7)
    X = rng.integers(0, 8, (150, 4))
    data = Dataset.from_user(X, X.sum(axis=1) % 2 ^ (rng.random(150) < 0.1))
    one, again, *others = [ConTree(threads=t).run(data, TreeTask(4), EngineRun()) for t in (1, 1, 2, 3, 4)]
    assert one.graph == again.graph and {run.upper for run in others} == {one.upper}
    assert all(run.proved and run.graph == others[0].graph for run in others)


def test_a_million_rows(timed: Timed) -> None:
    rng = np.random.default_rng(0)
    x = rng.random((1_000_003, 1))
    y = (x[:, 0] > 0.3) & (x[:, 0] < 0.6)
    outcome = ConTree().run(Dataset.from_user(x, y), TreeTask(2), EngineRun())
    assert outcome.proved and outcome.upper == 0 and outcome.graph.depth == 2
    noise = Dataset.from_user(x, rng.integers(0, 2, len(x)))
    stopped = ConTree().run(noise, TreeTask(4), EngineRun(Budget(0.05)))
    assert stopped.reason == "time"
    timed(stopped.seconds, 1.0)


def test_the_bound_rises_before_the_end() -> None:
    """A stopped search has a bound worth telling, and it is true."""
    data = Dataset.from_user(*random_data(3, 130, 2, 100, 4))
    whole = ConTree().run(data, TreeTask(4), EngineRun())
    assert whole.proved
    seen: list[tuple[int, int]] = []
    watch = EngineRun(on_incumbent=lambda seconds, upper, lower, graph: seen.append((upper, lower)))
    ConTree().run(data, TreeTask(4), watch)
    assert all(lower <= whole.upper <= upper for upper, lower in seen)
    assert max(lower for _, lower in seen) >= whole.upper // 2


@pytest.mark.parametrize(("depth", "threads"), [(3, 1), (3, 2), (4, 1)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_that_ends_at_a_known_bound_has_the_tree_of_the_proof(seed: int, depth: int, threads: int) -> None:
    """The proof finds another tree of the same cost later, and some runs ended before and some after that."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (20_000, 14)).astype(float)
    data = Dataset.from_user(X, X[:, :3].sum(axis=1) % 2 != (rng.random(20_000) < 0.1))

    def found(known: int) -> tf.DecisionGraph | None:
        shown: list[int] = []
        budget = Budget().until(lambda: min(shown, default=known + 1) <= known)
        run = EngineRun(budget, on_incumbent=lambda seconds, upper, lower, graph: shown.append(upper))
        outcome = ConTree(threads=threads).run(data, TreeTask(depth), run)
        costs.append(outcome.upper)
        return outcome.graph

    costs: list[int | None] = []
    whole = found(-1)
    assert costs[0] is not None
    assert found(costs[0]) == whole and costs[1] == costs[0]


def test_an_upper_bound_that_tightens_while_it_runs() -> None:
    data = Dataset.from_user(*random_data(5, 300, 2, 250, 4))
    best = ConTree().run(data, TreeTask(3), EngineRun()).upper
    given = iter([None, best + 5])
    outcome = ConTree().run(data, TreeTask(3), EngineRun(upper=lambda: next(given, best)))
    assert outcome.upper is None or outcome.upper >= best
    assert outcome.lower >= best
    # The search ends in any case; its own tree may be a worse one, found before the bound came.
    assert outcome.proved is (outcome.upper is None or outcome.lower >= outcome.upper)


def test_settings_by_name() -> None:
    text = "contree:max_gap=0.01,parts=shrinking+features,simd=plain,memory_limit=none,threads=2"
    expected = ConTree(threads=2, max_gap=0.01, parts=("shrinking", "features"), simd="plain")
    assert find_engine(text) == expected
    assert find_engine("contree:parts=none") == ConTree(parts=())
    assert find_engine("contree:fewest_tests=true") == ConTree(fewest_tests=True)
    for wrong in ("contree:speed=9", "contree:max_gap", "contree:threads=0", "contree:simd=mmx"):
        with pytest.raises(SpecError):
            find_engine(wrong)


def test_counters_on_the_command_line(tmp_path: Any) -> None:
    x, y = random_data(2)
    rows = "\n".join(f"{a},{b},{label}" for (a, b), label in zip(x, y, strict=True))
    (tmp_path / "data.csv").write_text("a,b,label\n" + rows + "\n")
    words = ["fit", str(tmp_path / "data.csv"), "--target", "label", "--shape", "tree:3", "-v", "--solver"]
    full = CliRunner().invoke(app, [*words, "contree"]).output
    bare = CliRunner().invoke(app, [*words, "contree:parts=none"]).output
    assert "splits" in full and "pruned subinterval" in full
    assert "pruned subinterval 0" in bare and "pruned subinterval 0" not in full
