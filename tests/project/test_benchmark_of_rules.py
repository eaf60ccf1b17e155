"""The benchmark of deep trees under requirements: every requirement has a case, and a small table of it is made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from repository import ROOT

from treeform import requirements
from treeform.data import Dataset

sys.path.append(str(ROOT))

from benchmarks.deep import depths, rules
from benchmarks.harness import SESSION, Ended
from benchmarks.harness.tables import all_tables


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where figures are written."""
    for option, value in {"folder": tmp_path, "raw": tmp_path, "again": False, "until": float("inf")}.items():
        monkeypatch.setattr(SESSION, option, value)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "deep", "some"])


def test_every_requirement_has_a_case() -> None:
    X, y = rules.drawn("bits", 100)
    named = rules.cases(X, y, Dataset.from_user(X, y))
    assert set(requirements.__all__) - {"Groups"} <= set(named)
    assert set(rules.LOSSES) <= set(named)


def test_small_tables_are_proved_and_no_worse_than_cart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "in_child", lambda work, *given, **_: Ended(work(*given), "done", 0, 0))
    monkeypatch.setattr(rules, "limits_count_work", lambda: None)  # which would count for all tests after this one
    monkeypatch.setattr(rules, "LESS", 1)
    rules.main("StatisticalParity;price of a test", tables="bits", depth=2, seconds=60, rows=80)
    shown = all_tables()["deep_rules"].shown(tmp_path)[0].frame.set_index("asked")
    assert list(shown.columns) == ["hard, bits", "soft, bits"]
    assert shown.loc["price of a test", "soft, bits"] == ""  # nothing is required that could be paid for
    for cell in shown.stack():
        if cell:
            cart, less, objective = (float(part.strip("*")) for part in cell.split(" / "))
            assert cell.endswith("*") and objective <= min(cart, less)


def test_a_greater_depth_that_is_worse_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depths, "in_child", lambda work, *given, **_: Ended(work(*given), "done", 0, 0))
    figures = {3: ("9", "feasible", "8"), 5: ("7", "optimal", ""), 8: ("8.4", "feasible", "9")}

    def at(depth: int, _: float) -> dict[str, str]:
        return dict(zip(("objective", "status", "CART"), figures[depth], strict=True)) | {"version": "x"}

    monkeypatch.setattr(depths, "asked_at", lambda *_: at)
    depths.main(asked="Uses", tables="bits", depths="3,5,8", seconds=0.01)
    (line,) = all_tables()["deep_depths"].shown(tmp_path)[0].frame.to_dict("records")
    assert line == {
        "table": "bits", "asked": "Uses", "3": "9", "5": "7*", "8": "8.4", "worse by, %": "20", "above CART": 2
    }  # fmt: skip
