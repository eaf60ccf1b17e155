"""Where the package of a solver cannot be loaded: import, list of solvers, native fit, check, and a clear message."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import treeform as tf
from treeform.errors import SpecError
from treeform.language.requirement import class_of

PACKAGE = Path(tf.__file__).parent

HIDDEN = {
    "pyomo": ("pyomo", "pyomo"),
    "ortools": ("ortools", "cp-sat"),
    "pysat": ("python-sat", "sat"),
    "highspy": ("highspy", "highs"),
}

CODE = """
import json, sys

class Hiding:
    "A package that is installed and cannot be loaded, and one that is not there at all."
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules!r}:
            raise ImportError("hidden for the test")
        return None

sys.meta_path.insert(0, Hiding())
import treeform as tf
from treeform.cli.app import app
from typer.testing import CliRunner

listed = CliRunner().invoke(app, ["solvers"])
X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, [0, 1, 1, 0] * 3
problem = tf.Problem(X, y, shape=tf.Tree(2))
result = problem.solve()
checked = tf.check(result.certificate(), X, y)
refusals = []
for solver in {solvers!r}:
    try:
        problem.solve(solver, warm_start=None, time_limit=5)
    except tf.TreeformError as error:
        refusals.append([type(error).__name__, error.what, str(error.cause), str(error.fix)])
print(json.dumps({{
    "listed": listed.exit_code, "table": listed.output, "status": str(result.status), "errors": result.errors,
    "verdict": str(checked.verdict), "refusals": refusals,
    "loaded": [name for name in {modules!r} if name in sys.modules],
}}))
"""


@pytest.mark.parametrize(
    "modules",
    [list(HIDDEN), *(pytest.param([name], marks=pytest.mark.slow) for name in HIDDEN)],
    ids=" ".join,
)
def test_packages_that_cannot_be_loaded(modules):
    code = CODE.format(modules=modules, solvers=[HIDDEN[module][1] for module in modules])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["listed"], found["status"], found["errors"], found["verdict"]) == (
        0,
        "optimal",
        0,
        "verified",
    )
    assert not found["loaded"]
    for module, (kind, *told) in zip(modules, found["refusals"], strict=True):
        package = HIDDEN[module][0]
        assert kind == "SolverNotAvailable"
        assert package in " ".join(told)
        assert package in found["table"]


WITHOUT_POSIX = """
import os, signal, subprocess, sys
import psutil  # reads what the system has by itself
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("killpg", "geteuid", "getuid", "fork", "setsid", "getpgid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGALRM", "SIGUSR1", "SIGHUP"):
    if hasattr(signal, name):
        delattr(signal, name)
import treeform as tf
from treeform.cli.app import app
result = tf.Problem([[0.0], [1.0], [2.0], [3.0]] * 3, [0, 1, 1, 0] * 3, shape=tf.Tree(2)).solve("sat", warm_start=None)
print(result.status, result.errors)
"""


def test_nothing_that_windows_lacks_is_needed():
    """Import, and a solver in a child process, without the modules, calls and signals of POSIX only."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["optimal", "0"]


WITHOUT_EXPORTS = """
import sys
for name in ("sqlglot", "onnx", "treelite"):
    sys.modules[name] = None
import treeform as tf
graph = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1)).solve().graph
for export in (graph.to_sql, graph.to_onnx, graph.to_treelite):
    try:
        export()
    except tf.TreeformError as error:
        print(error.fix)
assert graph.to_python() and graph.to_pmml() and graph.to_c()
"""


def test_exports_without_their_packages_say_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXPORTS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["pip install 'treeform[export]'"] * 3


def test_sources_without_the_core_say_how_to_install_it(tmp_path):
    """A clone whose core was not built in place, as a script in it finds it before the installed package."""
    shutil.copytree(
        PACKAGE, tmp_path / "treeform", ignore=shutil.ignore_patterns("_core*", "native", "formulations")
    )
    code = f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}; from treeform import _core"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert "pip install -e ." in done.stderr and str(tmp_path / "treeform") in done.stderr


def test_names_of_classes_that_are_no_requirements_are_not_offered():
    import_module("treeform.requirements")  # names are those of the classes that are loaded
    with pytest.raises(SpecError) as caught:
        class_of("min_suport")
    assert "min_support" in caught.value.fix
    assert not {"_of_model", "at_most", "rate_bound", "rate_parity"} & set(
        caught.value.cause.replace(",", "").split()
    )
