"""Solvers by name, what is installed, and what the errors say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path, PurePosixPath

import pytest

import treeform as tf
from treeform.backends import (
    CPSAT,
    SAT,
    Backend,
    HiGHS,
    MathOpt,
    MaxSAT,
    Pyomo,
    Run,
    by_name,
    packages,
    programs,
)
from treeform.backends.programs import find_program
from treeform.backends.TEMPLATE import Enumeration
from treeform.catalogue import engine_names, solvers
from treeform.errors import SolverFailed, SolverNotAvailable, SpecError
from treeform.model import Model
from treeform.testing.conformance import _backends
from treeform.utils.extensions import BUILT_IN, SOLVERS


@pytest.mark.parametrize(
    ("name", "kind", "full"),
    [
        ("highs", HiGHS, "highs"),
        ("HiGHS", HiGHS, "highs"),
        ("cp-sat", CPSAT, "cp-sat"),
        ("cpsat", CPSAT, "cp-sat"),
        ("CP_SAT", CPSAT, "cp-sat"),
        ("sat", SAT, "glucose42"),
        ("cadical195", SAT, "cadical195"),
        ("rc2", MaxSAT, "rc2"),
        ("minisat22", SAT, "minisat22"),
        ("mathopt:scip", MathOpt, "mathopt:scip"),
        ("scip", MathOpt, "mathopt:scip"),
        ("pyomo:appsi_highs", Pyomo, "pyomo:appsi_highs"),
    ],
)
def test_by_name(name: str, kind: type, full: str) -> None:
    backend = by_name(name)
    assert type(backend) is kind
    assert backend.name == full


def test_names_lead_back_to_the_same_settings() -> None:
    assert repr(by_name("highs")) == repr(HiGHS()) == "HiGHS(threads=1)"
    assert repr(by_name("cadical195")) == "SAT(solver='cadical195')"


def test_unknown_names_bring_similar_ones() -> None:
    with pytest.raises(SpecError, match="did you mean 'highs'"):
        by_name("hihgs")
    with pytest.raises(SpecError, match="did you mean 'cadical1"):
        SAT("cadical19")
    with pytest.raises(SpecError, match="cp-sat"):
        by_name("something else")


def test_solvers_that_are_refused_say_why() -> None:
    with pytest.raises(SpecError, match="segmentation fault"):
        SAT("maplesat")
    with pytest.raises(SpecError, match="HiGHS"):
        MathOpt("highs")


def test_the_table_lists_all_and_prints() -> None:
    table = solvers()
    rows = {row.name: row for row in table}
    assert rows["highs"].available
    assert rows["highs"].version == version("highspy")
    assert {"cp-sat", "cadical195", "kissat404", "mathopt:scip", "pyomo:cbc"} <= set(rows)
    lines = str(table).splitlines()
    assert len(lines) == len(table) + 1
    assert lines[1].startswith(engine_names()[0])
    for row in table:
        assert row.available or ":" in str(row.reason)
    assert [row.name for row in table][: len(engine_names())] == [*engine_names()]


def test_the_table_imports_no_solver() -> None:
    packages = "('highspy', 'ortools', 'pysat', 'pyomo')"
    code = (
        f"import treeform as tf, sys; str(tf.solvers()); print([m for m in {packages} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda module: None)
    monkeypatch.setattr(packages, "installed_version", lambda package: None)
    assert {row.name for row in solvers() if row.available} == set(engine_names())
    for make in (HiGHS, CPSAT, SAT, MathOpt, lambda: by_name("highs")):
        with pytest.raises(SolverNotAvailable, match="pip install"):
            make()
    with pytest.raises(SolverNotAvailable, match="pip install pyomo"):
        Pyomo("cbc")


def test_a_missing_program_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeform.backends.pyomo.find_program", lambda program: None)
    with pytest.raises(SolverNotAvailable, match="coinor-cbc"):
        by_name("pyomo:cbc")


def test_a_program_is_found_on_the_path_beside_the_interpreter_and_in_a_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def program(folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / "cbc"
        made.write_text("#!/bin/sh\n")
        made.chmod(0o755)
        return str(made)

    on_path, beside = program(tmp_path / "path"), program(tmp_path / "venv")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    assert find_program("cbc") == on_path
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("cbc") == beside
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setitem(programs.SHIPPED, "cbc", lambda: "/shipped/cbc")
    assert find_program("cbc") == "/shipped/cbc"
    monkeypatch.setattr(programs, "SHIPPED", {})
    assert find_program("cbc") is None


def test_the_kits_take_only_variants_that_are_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeform.backends.pyomo.find_program", lambda program: None)
    names = [backend.name for backend in _backends(None)]
    assert "pyomo:appsi_highs" in names
    assert not any(name.startswith("pyomo:cbc") for name in names)


#: What the extra "test" brings; a machine without it would leave tests out in silence.
BROUGHT = (
    "highs",
    "cp-sat",
    "cadical195",
    "glucose42",
    "rc2",
    "mathopt:scip",
    "pyomo:cbc",
    "pyomo:appsi_highs",
)


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="a developer's machine may have fewer solvers")
@pytest.mark.parametrize("name", BROUGHT)
def test_every_solver_that_the_tests_need_is_here_in_ci(name: str) -> None:
    row = next(row for row in solvers() if row.name == name)
    assert row.available, row.reason


def test_libraries_that_clash_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {"libhighs.so.1"})
    found = packages.probe("highspy", "highspy")
    assert found.available
    assert "a process of its own" in str(found.reason)

    def refuse(module: str) -> None:
        raise ImportError("libhighs.so.1: version not found")

    monkeypatch.setattr(packages, "import_module", refuse)
    with pytest.raises(SolverNotAvailable, match="own libhighs"):
        packages.load("highspy", "highs", HiGHS.install)
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {package})
    with pytest.raises(SolverNotAvailable, match="version not found"):
        packages.load("highspy", "highs", HiGHS.install)


def test_versions_of_highs_that_are_old_or_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    number = "1.14.0"
    monkeypatch.setattr(packages, "installed_version", lambda package: number)
    for name in ("highs", "pyomo:appsi_highs", "isolated:solver=highs"):
        with pytest.raises(SolverNotAvailable, match="cuts off optima") as refused:
            by_name(name)
        assert "!=1.14" in str(refused.value.fix)
    number = "1.10.0"
    with pytest.raises(SolverNotAvailable, match="too old"):
        HiGHS()
    number = "1.15.1"
    assert HiGHS.availability().available


def test_shared_libraries_are_read_from_the_lists_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {
        "highspy": ["highspy/_core.cpython-311-x86_64-linux-gnu.so", "highspy.libs/libhighs.so.1.15.1"],
        "ortools": ["ortools/.libs/libhighs.so.1", "ortools/highs.md"],
        "on a Mac": ["a/libhighs.1.dylib"],
        "on Windows": ["a/highs.dll"],
        "conda": None,
    }
    monkeypatch.setattr(
        packages, "files", lambda name: listed[name] and list(map(PurePosixPath, listed[name]))
    )
    found = [sorted(packages.shared_libraries.__wrapped__(name)) for name in listed]
    assert found == [["libhighs.so.1.15.1"], ["libhighs.so.1"], ["libhighs.1.dylib"], ["highs.dll"], []]
    monkeypatch.undo()
    assert packages.shared_libraries("no such package") == frozenset()


def test_adding_a_solver_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN[SOLVERS], "enumeration", "treeform.backends.TEMPLATE:Enumeration")  # type: ignore[arg-type]
    assert isinstance(by_name("enumeration"), Enumeration)
    assert "enumeration" in {row.name for row in tf.solvers()}


def loaded(backend: Backend) -> None:
    """Settings are refused when a model is opened, or at the first run where the solver is in another process."""
    model = Model()
    model.minimize(model.bool("x", 2).sum())
    backend.open(model).solve(Run())


@pytest.mark.parametrize(
    "make",
    [
        lambda: HiGHS(threads=-1),
        lambda: CPSAT(threads=-2),
        lambda: MathOpt(threads=0),
        lambda: Pyomo(""),
        lambda: loaded(HiGHS(options={"no_such_option": 1})),
        lambda: loaded(HiGHS(options={"mip_rel_gap": "much"})),
        lambda: loaded(CPSAT(options={"no_such_option": 1})),
        lambda: loaded(CPSAT(options={"num_workers": "many"})),
    ],
)
def test_bad_settings(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SpecError):
        make()


@pytest.fixture
def glpsol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Puts a script in the place of GLPK's program."""
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])

    def program(text: str) -> Path:
        made = tmp_path / "glpsol"
        made.write_text(text)
        made.chmod(0o755)
        return made

    return program


def failure_of_glpk() -> str:
    model = Model()
    model.add(model.bool("x", 2).sum() >= 1)
    session = by_name("pyomo:glpk").open(model)
    with pytest.raises(SolverFailed) as failed:
        session.solve(Run())
    session.close()
    return str(failed.value)


def test_a_program_may_take_seconds_to_print_its_version(glpsol: Callable[[str], Path]) -> None:
    glpsol("#!/bin/sh\nsleep 2.2\necho 'GLPSOL: GLPK LP/MIP Solver, v5.0'\nexit 3\n")
    failure = failure_of_glpk()
    assert "timed out" not in failure
    assert "did not exit normally" in failure


@pytest.mark.parametrize("ending", ["exit 127", "exit 126"])
def test_a_program_that_cannot_be_started_is_not_available(
    glpsol: Callable[[str], Path], ending: str
) -> None:
    made = glpsol(f"#!/bin/sh\necho 'libglpk.so.40: cannot open shared object file' >&2\n{ending}\n")
    row = next(row for row in tf.solvers() if row.name == "pyomo:glpk")
    assert not row.available and "cannot be started (libglpk.so.40" in row.reason
    with pytest.raises(SolverNotAvailable, match="pyomo:glpk") as refused:
        by_name("pyomo:glpk")
    assert "cannot be started" in refused.value.cause
    made.write_text("#!/no/such/shell\n")
    os.utime(made, ns=(0, 10**9))
    assert "cannot be started (" in Pyomo.availability("pyomo:glpk").reason
    made.write_text("#!/bin/sh\nexit 0\n")
    os.utime(made, ns=(0, 2 * 10**9))
    assert Pyomo.availability("pyomo:glpk").available


def test_a_program_without_a_version_is_named(glpsol: Callable[[str], Path]) -> None:
    glpsol("#!/bin/sh\nexit 1\n")
    assert "does not print its version" in failure_of_glpk()
