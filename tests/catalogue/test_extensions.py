"""Names of other packages' solvers, engines, formulations and requirements: an installed package, and ``--import``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.backends.TEMPLATE import Enumeration
from treeform.catalogue import find_engine, find_formulation, find_solver, formulation_names, register
from treeform.catalogue.requirements import names
from treeform.cli.app import app
from treeform.errors import SpecError
from treeform.language.requirement import _REGISTRY
from treeform.utils import extensions

ENTRY_POINTS = """
[treeform.solvers]
tiny = stranger_package.parts:Tiny
lost = stranger_package.nowhere:Lost
broken = stranger_package.broken:Solver
unnamed = stranger_package.parts:Unnamed
no-solver = stranger_package.parts:LeastFeature
highs = stranger_package.parts:Tiny

[treeform.engines]
echo = stranger_package.parts:Echo
broken-engine = stranger_package.broken:Engine

[treeform.formulations]
plain-odd = stranger_package.parts:PlainODD
broken-odd = stranger_package.broken:ODD

[treeform.requirements]
least_feature = stranger_package.parts:LeastFeature
broken_rule = stranger_package.broken:Rule
"""

PARTS = '''
from treeform.backends import HiGHS
from treeform.engines import ConTree
from treeform.formulations.odd import ODD
from treeform import Requirement


class Tiny(HiGHS):
    """HiGHS under another name."""

    name = "tiny"


class Unnamed(HiGHS):
    @classmethod
    def variants(cls):
        raise RuntimeError("no names today")


class Echo(ConTree):
    """ConTree under another name."""

    name = "echo"


class PlainODD(ODD):
    name = "plain-odd"


class LeastFeature(Requirement):
    """Only encoded features below k are tested."""

    name = "least_feature"
    needs = frozenset({"feature"})

    def __init__(self, k: int):
        self.k = k

    def build(self, model, ports):
        model.add(ports.feature[:, self.k:] <= 0)

    def violation(self, graph, data):
        return sum(f >= self.k for f in graph.features_used())
'''


SMALL = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape="tree:1")


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like site-packages with one distribution, which is forgotten again."""
    folder = tmp_path / "site"
    info = folder / "stranger-2.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 2.5\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    package = folder / "stranger_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text(PARTS)
    (package / "broken.py").write_text("import a_package_that_is_not_there\n")
    known, modules = dict(_REGISTRY), set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    _REGISTRY.clear()
    _REGISTRY.update(known)
    for name in set(sys.modules) - modules:
        if name.startswith("stranger_package") or name.startswith("my_own"):
            del sys.modules[name]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n")
    return path


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_a_strangers_solver(stranger: Path) -> None:
    made = find_solver("tiny")
    assert type(made).__name__ == "Tiny"
    result = SMALL.solve("tiny", formulation="odd", warm_start=None)
    assert (result.errors, result.solver) == (1, "tiny")
    rows = {row.name: row for row in tf.solvers()}
    assert rows["tiny"].available
    assert rows["tiny"].version == version("highspy")
    with pytest.raises(SpecError, match="did you mean 'tiny'"):
        find_solver("tinny")


def test_a_strangers_engine(stranger: Path) -> None:
    assert type(find_engine("echo:max_gap=3")).__name__ == "Echo"
    result = SMALL.solve("echo")
    assert (result.errors, result.solver) == (1, "echo")
    assert {"echo"} <= {row.name for row in tf.solvers() if row.available and "stranger" in str(row.reason)}
    with pytest.raises(SpecError, match="did you mean 'echo'"):
        find_engine("echoo")


def test_a_strangers_formulation(stranger: Path) -> None:
    assert "plain-odd" in formulation_names()
    made = find_formulation("plain-odd")
    assert type(made).__name__ == "PlainODD"
    result = SMALL.solve("highs", formulation="plain-odd", warm_start=None)
    assert (result.errors, result.formulation) == (1, "plain-odd")


def test_a_strangers_requirement_on_the_command_line(stranger: Path, table: Path, tmp_path: Path) -> None:
    model, certificate = tmp_path / "model.json", tmp_path / "certificate.json"
    run("fit", table, "--target", "y", "--shape", "tree:2", "--require", "least_feature:1",
        "--solver", "highs", "--formulation", "odd", "--model", model, "--certificate", certificate)  # fmt: skip
    stored = json.loads(certificate.read_text())
    assert [one["name"] for one in stored["problem"]["requirements"]] == ["least_feature"]
    _REGISTRY.pop("least_feature")
    del sys.modules["stranger_package.parts"]  # as in a process that has not seen it
    assert "least_feature:k=1: satisfied" in run("check", certificate, table)
    assert "least_feature" in names()
    output = run("fit", table, "--target", "y", "--require", "least_featur:1", code=2)
    assert "did you mean 'least_feature'" in output


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: find_solver("broken"), "a_package_that_is_not_there"),
        (lambda: find_solver("lost"), "stranger_package.nowhere"),
        (lambda: find_solver("unnamed"), "no names today"),
        (lambda: find_solver("no-solver"), "is no solver"),
        (lambda: find_engine("broken-engine"), "a_package_that_is_not_there"),
        (lambda: find_formulation("broken-odd"), "a_package_that_is_not_there"),
        (lambda: tf.Requirement.from_json({"name": "broken_rule"}), "a_package_that_is_not_there"),
    ],
)
def test_what_is_broken_says_whose_it_is(stranger: Path, call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SpecError, match=says):
        call()


def test_what_is_broken_breaks_nothing_else(stranger: Path, table: Path) -> None:
    rows = {row.name: row for row in tf.solvers() if not row.available}
    assert {"lost", "broken", "unnamed", "no-solver", "broken-engine"} <= set(rows)
    assert "package stranger cannot be loaded: ModuleNotFoundError" in str(rows["broken"].reason)
    assert "broken-engine" in run("solvers")
    assert find_solver("highs").name == "highs"
    assert find_solver("cadical195").name == "cadical195"
    assert "max_nodes" in names()
    with pytest.raises(SpecError, match="there is no solver 'nothing'"):
        find_solver("nothing")


def test_a_name_of_ours_stays_ours(stranger: Path) -> None:
    assert type(find_solver("highs")) is tf.HiGHS
    taken = [row for row in tf.solvers() if row.name == "highs"]
    assert [row.available for row in taken] == [True, False]
    assert "belongs to treeform" in str(taken[1].reason)


OWN = (
    PARTS
    + "\nfrom treeform.catalogue import register\n\nregister(Tiny)\nregister(PlainODD)\nregister(Echo)\n"
)


def test_import_of_a_module_of_ones_own(
    stranger: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_rules.py").write_text(OWN.replace("least_feature", "my_feature"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extensions, "_REGISTERED", {group: {} for group in extensions.BUILT_IN})
    monkeypatch.setattr(sys, "path", [*sys.path])
    fit = ["fit", table, "--target", "y", "--shape", "tree:1", "--require", "my_feature:1"]
    assert "there is no requirement 'my_feature'" in run(*fit, code=2)
    own = ["--import", "my_own_rules"]
    run(*fit, *own, "--solver", "tiny", "--formulation", "plain-odd", "--certificate", "c.json")
    assert "tiny" in run("explain", *fit[1:], *own, "--solver", "tiny", "--formulation", "odd")
    _REGISTRY.pop("my_feature")
    del sys.modules["my_own_rules"]
    assert "no requirement 'my_feature'" in run("check", "c.json", table, code=2)
    assert "my_feature:k=1: satisfied" in run("check", "c.json", table, *own)
    assert "echo" in run("solvers", *own)


def test_import_in_a_specification_file(stranger: Path, table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "my_own_file.py").write_text(PARTS.replace("least_feature", "file_feature"))
    spec = folder / "problem.toml"
    head = 'data = "../table.csv"\ntarget = "y"\nimport = ["my_own_file.py"]\n'
    spec.write_text(head + 'requirements = ["file_feature:1"]\n')
    assert "file_feature:k=1" in run("fit", "--spec", spec)
    spec.write_text(head)
    assert "file_feature:k=2" in run("fit", "--spec", spec, "--require", "file_feature:2")
    spec.write_text('imports = ["my_own_file"]\n')
    assert "did you mean 'import'" in run("fit", "--spec", spec, code=2)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("my_own_missing", None, "there is no module 'my_own_missing'"),
        ("my_own_missing.py", None, "there is no file my_own_missing.py"),
        ("my_own_wrong", "import not_installed_at_all", "No module named 'not_installed_at_all'"),
        ("my_own_wrong.py", "1 / 0", "ZeroDivisionError"),
        ("json.py", "", "another module named 'json'"),
        ("my_own_name.py", "import treeform as tf\nclass MaxNodes(tf.MaxNodes): pass\n", "exists already"),
    ],
)
def test_imports_that_fail(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str | None, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    if text is not None:
        (tmp_path / f"{name.removesuffix('.py')}.py").write_text(text)
    assert says in run("solvers", "--import", name, code=2)


def test_register_refuses_what_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="cannot be registered"):
        register(dict)
    monkeypatch.setattr(Enumeration, "name", "highs")
    with pytest.raises(SpecError, match="named 'highs' already"):
        register(Enumeration)


def test_every_name_of_ours_is_that_of_its_class() -> None:
    for group in (extensions.SOLVERS, extensions.ENGINES, extensions.FORMULATIONS):
        for one in extensions.extensions(group):
            assert one.load().name == one.name
