"""Who may know whom: the direction of imports, file sizes, and what a bare import loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

from repository import ROOT

PACKAGE = ROOT / "treeform"
MAX_LINES = 450
SOLVERS = ["highspy", "ortools", "pysat", "pyomo"]

# Lowest first; a module may import its own layer's package and everything on a lower line, nothing else.
LAYERS: list[list[str]] = [
    ["errors", "_core"],
    ["utils"],
    ["shape"],
    ["data", "model"],
    ["graph", "bridges"],
    ["language"],
    ["requirements", "backends", "engines"],
    ["objectives"],
    ["catalogue"],
    ["distribute"],
    ["solve"],
    ["certify"],
    ["tradeoff"],
    ["result"],
    ["problem"],
    ["estimators", "report"],
    ["study"],
    ["cli"],
]
# Beside the chain: the package itself, what it offers to those who extend it, and the conformance kit.
FREE = {"", "__main__", "testing", "_brute", "extend"}
HIDDEN_FROM_FORMULATIONS = {
    "requirements",
    "backends",
    "catalogue",
    "distribute",
    "solve",
    "tradeoff",
    "certify",
    "estimators",
    "report",
    "study",
    "cli",
}
OPEN_TO_FORMULATIONS = {"treeform.backends.linear_programs"}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def modules() -> dict[str, Path]:
    """Every module of treeform by dotted name; the published formulations live in a folder of their own."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "formulations" in parts or "native" in parts:
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def formulation_files() -> list[Path]:
    return sorted((ROOT / "formulations").rglob("*.py"))


@cache
def import_statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """Every import of a file; whether it counts at run time (not under ``if TYPE_CHECKING``), and is in no block."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    typing_only = {
        id(node)
        for block in nodes
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    top = set(map(id, tree.body))
    return [
        (node, id(node) not in typing_only, id(node) in top)
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def imports(path: Path, dotted: str) -> list[tuple[str, int, bool]]:
    """``(module, line, at run time)`` of every import."""
    package = dotted if path.name == "__init__.py" else dotted.rpartition(".")[0]
    found = []
    for node, run_time, _ in import_statements(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, run_time) for alias in node.names]
        else:
            base = node.module or ""
            if node.level:
                kept = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            if base == "treeform":
                found += [(f"treeform.{alias.name}", node.lineno, run_time) for alias in node.names]
            else:
                found.append((base, node.lineno, run_time))
    return found


def part(dotted: str) -> str:
    """The layer's name in ``treeform.<part>.…``; empty for the package itself."""
    pieces = dotted.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def test_every_module_has_a_place() -> None:
    unknown = {part(name) for name in modules()} - set(LEVEL) - FREE
    assert not unknown, f"add to LAYERS: {sorted(unknown)}"


def test_imports_point_downwards() -> None:
    wrong = []
    for dotted, path in modules().items():
        here = part(dotted)
        if here in FREE:
            continue
        for target, line, _ in imports(path, dotted):
            if target.split(".")[0] != "treeform":
                continue
            there = part(target)
            if there == here or there not in LEVEL:
                continue
            if LEVEL[there] >= LEVEL[here]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_nothing_in_treeform_knows_the_formulations() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for dotted, path in modules().items()
        for target, line, _ in imports(path, dotted)
        if target.startswith(("treeform.formulations", "formulations"))
    ]
    assert not wrong, "\n".join(wrong)


def test_formulations_use_public_names_only() -> None:
    wrong = []
    for path in formulation_files():
        dotted = "treeform." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        dotted = dotted.removesuffix(".__init__")
        for target, line, _ in imports(path, dotted):
            pieces = target.split(".")
            if pieces[0] != "treeform":
                continue
            private = any(piece.startswith("_") for piece in pieces)
            hidden = part(target) in HIDDEN_FROM_FORMULATIONS and target not in OPEN_TO_FORMULATIONS
            if private or hidden:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_no_import_cycles() -> None:
    """Every import counts: in functions, and for type checkers only."""
    known = every_module()
    graph = {dotted: set(_all_targets(path, dotted, known)) for dotted, path in known.items()}
    state: dict[str, int] = {}

    def visit(name: str, trail: list[str]) -> None:
        state[name] = 1
        for target in sorted(graph[name]):
            assert state.get(target) != 1, " -> ".join([*trail, name, target])
            if target not in state:
                visit(target, [*trail, name])
        state[name] = 2

    for name in graph:
        if name not in state:
            visit(name, [])


def every_module() -> dict[str, Path]:
    """The modules of treeform and of the published formulations."""
    found = modules()
    for path in formulation_files():
        dotted = "treeform." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[dotted.removesuffix(".__init__")] = path
    return found


def _all_targets(path: Path, dotted: str, known: dict[str, Path]) -> set[str]:
    found = {target for node, *_ in import_statements(path) for target in _targets(node, dotted, path, known)}
    return {target for target in found if target in known and target != dotted}


def _targets(node: ast.Import | ast.ImportFrom, dotted: str, path: Path, known: dict[str, Path]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = dotted if path.name == "__init__.py" else dotted.rpartition(".")[0]
    base = node.module or ""
    if node.level:
        kept = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*kept, base] if base else kept)
    # "from package import module" is an edge to the module, not to the package that is being loaded.
    named = [f"{base}.{alias.name}" for alias in node.names]
    return [name if name in known else base for name in named]


def test_files_are_short() -> None:
    files = [*modules().values(), *formulation_files(), *sorted((ROOT / "tests").rglob("*.py"))]
    files += sorted((PACKAGE / "native").rglob("*.[ch]pp"))
    lengths = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    long = {str(path): lines for path, lines in lengths.items() if lines > MAX_LINES}
    assert not long, long


def test_what_an_import_loads() -> None:
    """The bare package nothing of size, a solve no certificate, the command line no solver and no SciPy."""
    code = f"""
import json, sys
heavy = {[*SOLVERS, "sklearn", "scipy"]!r}
import treeform
bare = [name for name in ("numpy", "pandas", *heavy) if name in sys.modules]
treeform.Problem([[0], [1]], [0, 1], shape=treeform.Tree(1)).solve()
unused = ["pydantic", "treeform.certify.check", "treeform.tradeoff.frontier"]
problem = [name for name in [*heavy, *unused] if name in sys.modules]
import treeform.cli.app
print(json.dumps([bare, problem, [name for name in heavy if name in sys.modules]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], [], []]


def test_names_that_are_imported_on_first_use_are_listed() -> None:
    for name in ("certify", "estimators", "objectives", "tradeoff"):
        package = import_module(f"treeform.{name}")
        assert {*package.__all__, "__name__"} <= set(dir(package))
        assert all(hasattr(package, one) for one in package.__all__) and not hasattr(package, "Nothing")


def test_solvers_are_imported_inside_functions_of_backends() -> None:
    wrong = []
    for dotted, path in modules().items():
        for node in (node for node, _, top in import_statements(path) if top):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if any(name.split(".")[0] in SOLVERS for name in names):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
        inside = [t for t, _, run_time in imports(path, dotted) if run_time and t.split(".")[0] in SOLVERS]
        # pysat's encoders are pure functions on clauses: bridges may call them.
        allowed = SOLVERS if part(dotted) == "backends" else ["pysat"] if part(dotted) == "bridges" else []
        wrong += [f"{path.relative_to(ROOT)}: {t}" for t in inside if t.split(".")[0] not in allowed]
    assert not wrong, "\n".join(wrong)


def test_a_change_is_one_line_of_the_changelog() -> None:
    """What stood in it before is not told again: entries are short, and no entry goes on in a second line."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("## 0.1.0", 1)[1].splitlines()[1:]
    entries = [line for line in lines if line and not line.startswith(("#", "The first release."))]
    wrong = [line for line in entries if not line.startswith("- ") or len(line) > 200]
    assert not wrong, "CHANGELOG.md: one line of at most 200 characters for each change\n" + "\n".join(wrong)
    assert len(set(entries)) == len(entries)
