"""Figures of the code as it stands: files, lines, public names, cycles, the files of one solve, and how
often solve, certify and tradeoff ask of what kind an engine, an objective or a shape is.

    python .ci/figures.py [ROOT]        # ROOT: another checkout with its core built, to compare with

A solve passes through a file of treeform when a Python function of the file is called between ``Problem(...)`` and the
result. Imports do not count. The chain is the deepest stack of calls; calls within one file count once.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

SOLVES = {
    "plain fit": "tf.Problem(X, y, shape=tf.Tree(2)).solve()",
    "ODD on HiGHS": "tf.Problem(X, y, shape=tf.Tree(2)).solve('highs', formulation='odd', warm_start=None)",
    "SatDepth": "tf.Problem(X, y, shape=tf.Tree(2)).solve('sat', formulation='sat-depth', warm_start=None)",
}
OF_KINDS = (
    "engines",
    "objectives",
    "language.objective",
    "language.size_terms",
    "language.costs",
    "language.composed",
    "shape",
)
"""Modules whose classes are kinds of engines, objectives and shapes."""
FLAGS = {"is_regression", "is_squared", "is_sum", "is_depth", "of_values", "is_tree", "understands", "splits"}
OF_SHAPES = {"own_leaves", "reads_columns"}
"""What shapes declare of themselves, in place of their classes and kinds of splits; told apart."""
# The first solve imports and fills caches; the second one is counted.
WATCH = """
import os, sys, threading
import numpy as np
import treeform as tf
X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 3)
y = np.array([0, 1, 1, 0] * 2 + [0, 1, 1, 1])
def solve():
    return {solve}
solve()
root = os.path.dirname(tf.__file__)
files, chain = set(), [()]
def watch(frame, event, _):
    if event != "call":
        return
    if frame.f_code.co_filename.startswith(root):
        files.add(os.path.realpath(frame.f_code.co_filename))
        stack = []
        while frame is not None:
            name = os.path.realpath(frame.f_code.co_filename)
            if name.startswith(os.path.dirname(root)) and stack[-1:] != [name]:
                stack.append(name)
            frame = frame.f_back
        chain[0] = max(chain[0], tuple(stack), key=len)
threading.setprofile(watch)
sys.setprofile(watch)
solve()
sys.setprofile(None)
print(len(files), len(chain[0]))
if {verbose}:
    print(*sorted(os.path.relpath(name, os.path.dirname(root)) for name in files), sep="\\n")
"""


def python_files(root: Path) -> list[Path]:
    """Python sources of the package and the formulations, each once."""
    found = [p for p in (root / "treeform").rglob("*.py") if "formulations" not in p.parts]
    return sorted(found + list((root / "formulations").rglob("*.py")))


def native_files(root: Path) -> list[Path]:
    """C++ sources of the core."""
    return sorted(p for p in (root / "treeform" / "native").rglob("*") if p.suffix in {".cpp", ".hpp"})


def lines(files: list[Path]) -> int:
    """Lines of all of them."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def asked_of_shapes(path: Path) -> int:
    """Where a file asks a shape what it declares."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return sum(isinstance(node, ast.Attribute) and node.attr in OF_SHAPES for node in ast.walk(tree))


def branches(path: Path) -> int:
    """Where a file asks of what kind an engine, an objective, a loss or a shape is: by its class, or by a flag."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").removeprefix("treeform.").startswith(OF_KINDS)
        for name in node.names
        if name.name[0].isupper()
    }
    # The name of a class stands in texts.
    named = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "__name__"}
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"isinstance", "issubclass"}:
            count += any(getattr(one, "id", "") in kinds for one in ast.walk(node.args[1]))
        if isinstance(node, ast.Attribute):
            of_loss = "loss" in {getattr(node.value, "id", ""), getattr(node.value, "attr", "")}
            count += node.attr in FLAGS | OF_SHAPES or (node.attr == "kind" and of_loss)
        count += isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type" and id(node) not in named
    return count


def asked_for_regression(root: Path) -> int:
    """``.is_regression`` outside of the folders whose subject are models that predict values."""
    files = [p for p in python_files(root) if not {"data", "objectives", "report"} & set(p.parts)]
    return sum(len(re.findall(r"\.is_regression\b", path.read_text(encoding="utf-8"))) for path in files)


def public_names(root: Path) -> int:
    """Classes and functions of modules, whose names have no underscore."""
    count = 0
    for path in python_files(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        count += sum(isinstance(node, kinds) and not node.name.startswith("_") for node in tree.body)
    return count


def imports(root: Path) -> dict[str, set[str]]:
    """Which modules of treeform each module imports, for type checkers and inside functions too."""
    modules = {}
    for path in python_files(root):
        parts = path.relative_to(root).with_suffix("").parts
        parts = ("treeform", *parts) if parts[0] == "formulations" else parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        graph[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = []
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                kept = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*kept, *([node.module] if node.module else [])])
                targets = [f"{base}.{alias.name}" for alias in node.names]
                targets = [target if target in modules else base for target in targets]
            graph[name] |= {target for target in targets if target in modules and target != name}
    return graph


def components(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected sets of modules, those that import first last (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in number:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], number[target])
        if low[name] == number[name]:
            at = stack.index(name)
            out.append(stack[at:])
            del stack[at:]

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return out


def longest_chain(graph: dict[str, set[str]], sets: list[list[str]]) -> int:
    """Modules on the longest chain of imports; a cycle counts once."""
    of = {name: at for at, names in enumerate(sets) for name in names}
    length: list[int] = []
    for names in sets:  # what is imported comes before
        below = {of[target] for name in names for target in graph[name]} - {of[names[0]]}
        length.append(1 + max((length[at] for at in below), default=0))
    return max(length)


def run(root: Path, code: str) -> str:
    """What a program prints that imports treeform from ``root``; the last line of its error where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else done.stdout.strip()


def passed(root: Path, solve: str, verbose: bool = False) -> str:
    """Files and longest chain of calls of one solve, in a process of its own."""
    printed = run(root, WATCH.replace("{solve}", solve).replace("{verbose}", str(verbose)))
    return re.sub(r"^(\d+) (\d+)", r"\1 files, chain of \2", printed)


def main() -> None:
    """Print the figures."""
    sys.setrecursionlimit(10_000)
    verbose = "-v" in sys.argv
    given = [argument for argument in sys.argv[1:] if argument != "-v"]
    root = Path(given[0] if given else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    graph = imports(root)
    sets = components(graph)
    python, native = python_files(root), native_files(root)
    print(
        f"Python: {len(python)} files, {lines(python):,} lines, {public_names(root)} public classes and functions, "
        f"{run(root, 'import treeform; print(len(treeform.__all__))')} names in treeform.__all__"
    )
    print(f"C++: {len(native)} files, {lines(native):,} lines")
    of_solve = [path for path in python if "solve" in path.parts and "testing" not in path.parts]
    asking = [p for p in python if {"solve", "certify", "tradeoff"} & set(p.parts) and "testing" not in p.parts]
    pipeline = [path for path in of_solve if path.name == "pipeline.py"]
    print(f"solve: {len(of_solve)} files, the pipeline has {lines(pipeline)} lines")
    asked = sum(map(asked_of_shapes, asking))
    print(f"branches on kinds in solve, certify and tradeoff: {sum(map(branches, asking))}, {asked} of them on shapes")
    print(f".is_regression outside data, objectives and report: {asked_for_regression(root)}")
    cycles = [sorted(names) for names in sets if len(names) > 1]
    print(f"cycles: {len(cycles)}", *(f"  {' '.join(names)}" for names in cycles), sep="\n")
    print(f"longest chain of imports: {longest_chain(graph, sets)} modules")
    for name, solve in SOLVES.items():
        print(f"{name}: {passed(root, solve, verbose)}")


if __name__ == "__main__":
    main()
