"""How large the package is, and how often it asks of what kind something is.

Counted from the source: files of the folder that runs a solve, lines of its list of stages, lines of Python, and the
places at which solve, certify and tradeoff branch on a kind of engine, objective or shape. Counted in new processes:
the files of treeform that a plain solve goes through, and those of ODD on HiGHS.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import ROOT, Figures, Rows, Shown, table

PACKAGE = ROOT / "treeform"
BRANCHING = ("solve", "certify", "tradeoff")
REGRESSION = ("data", "objectives", "report")
"""The folders whose subject it is that some models predict values."""
FLAGS = frozenset(
    {"is_regression", "is_squared", "is_sum", "is_depth", "of_values", "is_tree", "understands", "splits"}
)
KIND_NAMES = re.compile(
    "Error|Cost|Nodes|Leaves|Depth|Loss|Term|Tree|Diagram|Search|ConTree|DL85|Totals|Engine|Heuristic|Values?$"
)
FOLDERS_OF_KINDS = (
    "engines",
    "objectives",
    "language.objective",
    "language.costs",
    "language.composed",
    "shape",
)
SOLVE = """
import sys, threading, numpy, treeform as tf
X = numpy.random.default_rng(0).integers(0, 9, (60, 3)).astype(float)
problem = tf.Problem(X, X[:, 0] + X[:, 1] > 8, shape=tf.Tree(2))
entered = set()
def enter(frame, event, argument):
    if frame.f_globals.get("__name__", "").startswith("treeform."):
        entered.add(frame.f_code.co_filename)
threading.setprofile(enter)
sys.setprofile(enter)
problem.solve({how})
sys.setprofile(None)
print(len(entered))
"""


def python_files(folder: Path) -> list[Path]:
    """The files of Python below a folder."""
    return sorted(folder.rglob("*.py"))


def lines(files: list[Path]) -> int:
    """Lines of all of them."""
    return sum(file.read_text().count("\n") for file in files)


def branches(file: Path) -> int:
    """Where a file asks of what kind an engine, an objective or a shape is: by its class, or by a flag of it."""
    tree = ast.parse(file.read_text())
    kinds = set(_imported_kinds(tree))
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            count += any(getattr(one, "id", "") in kinds for one in ast.walk(node.args[1]))
        elif isinstance(node, ast.Attribute):
            count += node.attr in FLAGS
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type":
            count += 1
    return count


def _imported_kinds(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            where = node.module.removeprefix("treeform.")
            if where.startswith(FOLDERS_OF_KINDS):
                yield from (name.asname or name.name for name in node.names if KIND_NAMES.search(name.name))


def flags_of_regression() -> int:
    """``.is_regression`` outside of the folders whose subject it is."""
    files = [f for f in python_files(PACKAGE) if f.relative_to(PACKAGE).parts[0] not in REGRESSION]
    return sum(len(re.findall(r"\.is_regression\b", file.read_text())) for file in files)


def entered(how: str) -> int:
    """Files of treeform in which a function is called by one solve, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", SOLVE.format(how=how)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return int(done.stdout)


def counted() -> dict[str, int]:
    """Every figure by its name."""
    package = [*python_files(PACKAGE), *python_files(ROOT / "formulations")]
    pipeline = PACKAGE / "solve" / "pipeline.py"
    return {
        "files of solve": len(python_files(PACKAGE / "solve")),
        "lines of the pipeline": lines([pipeline]) if pipeline.exists() else 0,
        "lines of Python": lines([f for f in package if "testing" not in f.relative_to(ROOT).parts]),
        "lines of Python, with testing": lines(package),
        "branches on kinds in solve, certify, tradeoff": sum(
            branches(file) for folder in BRANCHING for file in python_files(PACKAGE / folder)
        ),
        "is_regression outside data, objectives, report": flags_of_regression(),
        "files of a plain fit": entered(""),
        "files of ODD on HiGHS": entered("'highs', formulation='odd', warm_start=None"),
    }


@table("structure")
def structure(rows: Rows) -> Shown:
    """The figures, as counted last."""
    return Shown(
        "The size of the package", rows.frame, "Counted by ``python -m benchmarks project structure``."
    )


def main() -> None:
    """Count."""
    figures = Figures("structure", ("what",))
    for what, number in counted().items():
        figures.measure(lambda number=number: {"count": number}, what=what)  # type: ignore[misc]
