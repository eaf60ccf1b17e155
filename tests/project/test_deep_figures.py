"""Benchmarks of deep trees on small drawn tables: diagrams, drawn limits, fixed depths, values, proofs of what is paid
for, and the tests of CART's trees."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from repository import ROOT

sys.path.append(str(ROOT))

from benchmarks.deep import elsewhere, fixed, ladders, limits, memory, soft_proofs, unseen_values
from benchmarks.harness import SESSION, Ended
from benchmarks.harness.tables import all_tables


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Figures go to a folder of their own; children and clocks are those of this process."""
    monkeypatch.setattr(SESSION, "folder", tmp_path)
    for module in (fixed, ladders, limits, memory, soft_proofs, unseen_values):
        monkeypatch.setattr(module, "in_child", lambda work, *given, **_: Ended(work(*given), "done", 0, 0))
    for module in (limits, soft_proofs, unseen_values):  # which would count for all tests after this one
        monkeypatch.setattr(module, "limits_count_work", lambda: None)
    return tmp_path


def lines(name: str, folder: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    return all_tables()[name].shown(folder)[0].frame.to_dict("records")


def test_a_fixed_depth(folder: Path) -> None:
    fixed.main("made/wine", "2", "20", "0,1", "treeform;CART, gini")
    (line,), (ratio,) = lines("deep_fixed_sets", folder), lines("deep_fixed", folder)
    ours, greedy = (float(line[one]) + 100 / 108 for one in ("treeform, 20 s", "CART, gini"))  # 108 rows of both seeds
    assert float(ratio["treeform, 20 s"].split()[0]) == pytest.approx(ours / greedy, abs=0.002)


def test_diagrams(folder: Path) -> None:
    ladders.main("1-2", "300x3", 20)
    (line,) = lines("deep_ladders", folder)
    assert line["first model, s"] and int(line["10 s"]) <= int(line["CART"]) < int(line["leaf"])


def test_drawn_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "run", lambda *given: {"late": given[3], "status": "time", "errors": 0})
    limits.main(random=25, seed=1)
    limits.main(random=30, seed=1)  # goes on
    assert sum(line["problems"] for line in lines("deep_limits_drawn", folder)) == 30


@pytest.mark.parametrize("task", limits.DRAWN)
def test_drawn_problems_are_solved(task: str) -> None:
    found = limits.asked(task, *memory.drawn("classes", 60, 3), 2)
    errors, _ = found(20)
    assert 0 <= errors < 60


def test_memory_of_a_size_table(folder: Path) -> None:
    memory.main("500x3", 2, "1", "size_table,classes", 20)
    table, tree = lines("deep_memory", folder)
    assert int(table["treeform, errors"]) <= int(tree["treeform, errors"])


def test_what_is_paid_for(folder: Path) -> None:
    soft_proofs.main("MaxNodes", "bits", 2, 20, 60)
    (line,) = lines("deep_soft_proofs", folder)
    assert line["with"] and line["without"] and line["objective with"] == line["objective without"]


def test_values(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen_values, "DEPTHS", (1, 2))
    unseen_values.main("steps-60-4", "0,1", 20)
    (line,) = lines("deep_unseen_values", folder)
    assert line["seeds"] == 2 and float(line["treeform, R squared"]) <= 1 and 2 <= float(line["leaves"]) <= 4


def test_the_least_tree_of_tests_of_cart() -> None:
    pick = np.random.default_rng(0)
    X = pick.integers(0, 2, (60, 4)).astype(float)
    y = X[:, 0] * 3 + (X[:, 1] == X[:, 2]) + pick.random(60) / 9
    greedy, more = (elsewhere._least_of_carts(X, y, leaves, 3) for leaves in ((), (8,)))
    assert more < greedy / 2  # CART does not see two columns that count together only
