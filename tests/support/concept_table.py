"""The table of `docs/design/concepts.rst`: what a reader of one package has to know of language, engines and solve.

A named concept is a public class of one of these packages that derives from no other one and that a module of another
package imports; a class that derives from one is a kind of it. To write the table again:
``python tests/support/concept_table.py``; a test compares.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "concepts.rst"
BEGIN, END = ".. concepts begin\n", ".. concepts end\n"
PACKAGES = ("language", "engines", "solve")
ELSEWHERE = {"formulations", "native", "testing"}
"""Not counted as readers: formulations use public names, and the kit of tests knows everything."""


@cache
def concepts() -> dict[str, list[tuple[str, str, str]]]:
    """For each package: name, what it is, and the packages that import it."""
    trees = {_module(path): (path, ast.parse(path.read_text(encoding="utf-8"))) for path in _files()}
    ours = {
        (module, node.name): node
        for module, (_, tree) in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and _package(module) in PACKAGES
    }
    names, readers = {name for _, name in ours}, _readers(trees)
    found: dict[str, list[tuple[str, str, str]]] = {package: [] for package in PACKAGES}
    for (module, name), node in sorted(ours.items(), key=lambda one: (one[0][1], one[0][0])):
        is_kind = any(re.split(r"[\[.]", ast.unparse(base))[0] in names for base in node.bases)
        if not is_kind and readers[module, name]:
            row = name, _first_line(node), ", ".join(sorted(readers[module, name]))
            found[_package(module)].append(row)
    return found


def _files() -> list[Path]:
    every = (ROOT / "treeform").rglob("*.py")
    return sorted(path for path in every if not ELSEWHERE & set(path.relative_to(ROOT).parts))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _package(module: str) -> str:
    return [*module.split("."), ""][1]


def _readers(trees: dict[str, tuple[Path, ast.Module]]) -> dict[tuple[str, str], set[str]]:
    """Which packages import a name of another one; what a package lists for others is no reader, and is followed."""
    imports = [
        (module, path.name == "__init__.py", node.module, alias.name)
        for module, (path, tree) in trees.items()
        for node in _statements(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    ]
    listed = {(m, name): source for m, is_list, source, name in imports if is_list and source != m}
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, is_list, source, name in imports:
        source = listed.get((source, name), source)
        if not is_list and _package(source) != _package(module):
            found[source, name].add(_package(module))
    return found


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements, also those within others; expressions hold no imports."""
    for block in ("body", "orelse", "finalbody", "handlers"):
        inner = getattr(node, block, None)
        for statement in inner if isinstance(inner, list) else ():
            yield statement
            yield from _statements(statement)


def _first_line(node: ast.ClassDef) -> str:
    paragraph = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    return paragraph.split(". ")[0].rstrip(".")


def table() -> str:
    """The table as reStructuredText."""
    lines = ["", ".. list-table::", "   :header-rows: 1", "   :widths: 15 55 30", ""]
    lines += ["   * - concept", "     - what it is", "     - read by"]
    for package, rows in concepts().items():
        lines += [f"   * - **{package}**, {len(rows)}", "     -", "     -"]
        for name, what, readers in rows:
            what = what.replace("`", "``").replace("````", "``")
            lines += [f"   * - ``{name}``", f"     - {what}", f"     - {readers}"]
    return "\n".join(lines) + "\n\n"


def written() -> str:
    """What the page holds."""
    return PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]


if __name__ == "__main__":
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1], encoding="utf-8")
    print({package: len(rows) for package, rows in concepts().items()})
