"""Wrong lines, drawn by lot, in what judges and bounds: which tests notice each.

    python tests/support/mutants.py --count 200 --seed 1 --out mutants.jsonl [--map lines.json]
    python tests/support/mutants.py --out mutants.jsonl --report

One operator, constant, condition or return value of a function is changed. The changed code is put into the functions
in a process that is forked for each mutant, with all packages and tests loaded: no file is written. The tests that pass
the line run, the quickest first, up to the first that fails. ``--map`` names them: it is made of what ``coverage run``
recorded with ``dynamic_context = test_function`` (``--make-map .coverage``).

Mutants of the native core are compiled: `native_mutants.py`.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import re
import resource
import types
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
WHERE = ("treeform/certify/**/*.py", "treeform/solve/verification.py", "treeform/requirements/*.py")
SECONDS = 90.0
"""Of processor time for one mutant; one that does not end is noticed."""
TEXTS = ("__str__", "__repr__", "in_words", "words", "decimal_text", "percent_text")
"""Functions that only write."""
MOST_SECONDS = 6.0
"""Tests of a line beyond so many seconds, the quickest first, are left out."""


@dataclass(frozen=True)
class Mutant:
    """One wrong line."""

    file: str
    line: int
    column: int
    end: int
    old: str
    new: str
    text: str
    function: str


# -- drawing ---------------------------------------------------------------------------------------------------

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
WRITTEN = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "True": "False",
    "False": "True", "least_above": "least_at_least", "least_at_least": "least_above", "lower": "upper",
}  # fmt: skip


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file that this script knows to make, in functions only."""
    source = path.read_text()
    lines, out = source.splitlines(), []
    name = str(path.relative_to(ROOT))

    def add(node: ast.AST, start: tuple[int, int], old: str, new: str, function: str) -> None:
        line, column = start
        if lines[line - 1][column : column + len(old)] == old:
            text = lines[line - 1].strip()
            out.append(Mutant(name, line, column, column + len(old), old, new, text, function))

    def between(a: ast.expr, b: ast.expr, sign: str, new: str, function: str) -> None:
        """An operator between two operands of one line."""
        if a.end_lineno != b.lineno or a.end_col_offset is None:
            return
        part = lines[b.lineno - 1][a.end_col_offset : b.col_offset]
        found = re.search(r"(?<![<>=!/*])" + re.escape(sign) + r"(?![<>=/*])", part)
        if found:
            add(a, (b.lineno, a.end_col_offset + found.start()), sign, new, function)

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef):
            if node.name in TEXTS:
                return
            function = node.name
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            for one in [*body, *node.args.defaults]:
                visit(one, function)
            return
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            return  # texts, and what only guards
        if function:
            _of_node(node, function, add, between)
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(ast.parse(source), "")
    return out


def _of_node(node: Any, function: str, add: Any, between: Any) -> None:
    where = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        between(node.left, node.comparators[0], SIGNS[kind], COMPARISONS[kind], function)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        between(node.left, node.right, WRITTEN[type(node.op)], OPERATORS[type(node.op)], function)
    elif isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
        between(node.values[0], node.values[1], f" {word} ", " or " if word == "and" else " and ", function)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        sign = {ast.Not: "not ", ast.Invert: "~", ast.USub: "-"}[type(node.op)]
        add(node, where, sign, "", function)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        for new in (node.value + 1, node.value - 1):
            add(node, where, str(node.value), str(new), function)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        add(node, where, str(node.value), str(not node.value), function)
    elif isinstance(node, ast.Name) and node.id in NAMES:
        add(node, where, node.id, NAMES[node.id], function)
    elif isinstance(node, ast.Attribute) and node.attr in NAMES and node.end_col_offset is not None:
        start = (node.end_lineno, node.end_col_offset - len(node.attr))
        add(node, start, node.attr, NAMES[node.attr], function)
    elif isinstance(node, ast.Continue):
        add(node, where, "continue", "break", function)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.BoolOp):
        add(node, where, "return ", "return not ", function)


def draw(count: int, seed: int) -> list[Mutant]:
    """So many mutants of all files, each at another place; a file counts by its lines."""
    every = [m for pattern in WHERE for path in sorted(ROOT.glob(pattern)) for m in mutants_of(path)]
    rng = random.Random(seed)
    rng.shuffle(every)
    seen: set[tuple[str, int]] = set()
    out = []
    for one in every:
        if (one.file, one.line) not in seen:
            seen.add((one.file, one.line))
            out.append(one)
    return out[:count]


def changed(mutant: Mutant) -> str:
    """The whole file with the wrong line."""
    lines = (ROOT / mutant.file).read_text().splitlines(keepends=True)
    line = lines[mutant.line - 1]
    assert line[mutant.column : mutant.end] == mutant.old, (mutant, line)
    lines[mutant.line - 1] = line[: mutant.column] + mutant.new + line[mutant.end :]
    return "".join(lines)


# -- which tests --------------------------------------------------------------------------------------------------


def make_map(data_file: Path) -> dict[str, dict[str, list[str]]]:
    """``{file: {line of text: [module.test, ...]}}`` of what coverage recorded; texts outlive other lines above."""
    import coverage

    data = coverage.CoverageData(str(data_file))
    data.read()
    out: dict[str, dict[str, list[str]]] = {}
    for measured in data.measured_files():
        lines = Path(measured).read_text().splitlines()
        of_file = out.setdefault("treeform" + measured.rpartition("/treeform")[2], {})
        for line, contexts in data.contexts_by_lineno(measured).items():
            known = of_file.setdefault(lines[line - 1].strip(), [])
            known += [c for c in contexts if c and c not in known]
    return out


def tests_of(mutant: Mutant, known: dict[str, dict[str, list[str]]]) -> list[str]:
    """The tests that pass the line, as ``module.function``; those of the function, or of the file, where it is new."""
    of_file = known.get(mutant.file, {})
    if of_file.get(mutant.text):
        return of_file[mutant.text]
    lines = (ROOT / mutant.file).read_text().splitlines()
    near = range(max(0, mutant.line - 8), min(len(lines), mutant.line + 7))
    found = dict.fromkeys(test for i in near for test in of_file.get(lines[i].strip(), ()))
    package = mutant.file.rpartition("/")[0]
    beside = [of for file, of in known.items() if file.startswith(package)] if not of_file else [of_file]
    return list(found or dict.fromkeys(t for of in beside for tests in of.values() for t in tests))


def kinds_of(mutant: Mutant) -> list[str]:
    """The requirements whose definitions a file of requirements takes part in."""
    from treeform.testing.attack import rules

    module = mutant.file[:-3].replace("/", ".")
    mine = [k for k, cls in rules.CLASSES.items() if module in {c.__module__ for c in cls.__mro__}]
    return mine or list(rules.CLASSES)


class Loop:
    """A plugin of pytest that runs mutants in place of the tests it collected: those are loaded once for all."""

    def __init__(self, work: Callable[[list[Any]], None]) -> None:
        self.work = work
        self.failed = ""

    def pytest_runtestloop(self, session: Any) -> bool:
        self.work(session.items)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def first_failure(self, items: list[Any]) -> str:
        """The first of some tests that fails."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                break
        return self.failed


def name_of(item: Any) -> str:
    """``module.function`` of a test."""
    return f"{item.path.stem}.{getattr(item, 'originalname', item.name)}"


def chosen(
    mutant: Mutant, items: list[Any], known: dict[str, Any], seconds: dict[str, float], most: float
) -> list[Any]:
    """The tests that may notice a mutant, the quickest first, within the time of one mutant."""
    wanted = set(tests_of(mutant, known))
    mapped = {t.partition(".")[0] for of in known.values() for tests in of.values() for t in tests}
    package = mutant.file.split("/")[1]
    kinds = kinds_of(mutant) if mutant.file.startswith("treeform/requirements/") else []

    def fits(item: Any) -> bool:
        if item.path.stem == "test_definitions":
            return any(f"[{kind}]" in item.name or item.name.endswith(f"-{kind}]") for kind in kinds)
        is_new = item.path.stem not in mapped and item.path.parent.name == package
        return is_new or name_of(item) in wanted

    fitting = sorted((i for i in items if fits(i)), key=lambda item: seconds.get(name_of(item), 0.1))
    out, total = [], 0.0
    for item in fitting:
        total += seconds.get(name_of(item), 0.1)
        if total > most:
            break
        out.append(item)
    return out


def put_in(mutant: Mutant) -> None:
    """Give the functions of the file, which are loaded already, the code of the file with the wrong line."""
    path = str(ROOT / mutant.file)
    new = {(c.co_qualname, c.co_firstlineno): c for c in _codes(compile(changed(mutant), path, "exec"))}
    before = compile((ROOT / mutant.file).read_text(), path, "exec")
    old = {(c.co_qualname, c.co_firstlineno): c for c in _codes(before)}
    differs = {key for key, code in old.items() if code != new[key]}
    assert differs, f"{mutant} changes nothing"
    done = 0
    for one in functions(path):
        key = (one.__code__.co_qualname, one.__code__.co_firstlineno)
        if key in differs:
            one.__code__ = new[key]
            done += 1
    assert done, f"no function of {mutant} is loaded"


@cache
def _all_functions() -> list[types.FunctionType]:
    mine = str(ROOT / "treeform")
    found = (one for one in gc.get_objects() if type(one) is types.FunctionType)
    return [one for one in found if one.__code__.co_filename.startswith(mine)]


def functions(path: str) -> list[types.FunctionType]:
    """The functions of a file that are loaded."""
    return [one for one in _all_functions() if one.__code__.co_filename == path]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield one
            yield from _codes(one)


def files_of(known: dict[str, Any]) -> list[str]:
    """The files of all tests that may run."""
    names = {t.partition(".")[0] for of in known.values() for tests in of.values() for t in tests}
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    return [
        str(path) for path in every if path.stem in names or path.parent.name in ("certify", "requirements")
    ]


def run(mutant: Mutant, items: list[Any], loop: Loop) -> str:
    """The test that notices the mutant; empty where none does, and why where it ends otherwise."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS) + 5))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            put_in(mutant)
            said = loop.first_failure(items)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode()[:2000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    return said or ("" if status == 0 else f"ended by signal {status}")


def durations(log: Path) -> dict[str, float]:
    """The quickest cell of each test, from the output of ``pytest --durations=0``."""
    out: dict[str, float] = {}
    for line in log.read_text().splitlines():
        found = re.match(r"([\d.]+)s call +\S*?([^/]+)\.py::(\w+)", line)
        if found:
            name = f"{found[2]}.{found[3]}"
            out[name] = min(out.get(name, 1e9), float(found[1]))
    return out


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The mutants that were run."""
    for line in path.read_text().splitlines() if path.exists() else ():
        yield json.loads(line)


def report(path: Path) -> str:
    """How many were killed, by package, and those that were not."""
    found = list(records(path))
    alive = [r for r in found if not r["killed_by"]]
    lines = [f"{len(found)} mutants, {len(found) - len(alive)} killed, {len(alive)} alive"]
    for package in sorted({r["file"].split("/")[1] for r in found}):
        of = [r for r in found if r["file"].split("/")[1] == package]
        lines.append(f"  {package}: {len(of)} drawn, {sum(bool(r['killed_by']) for r in of)} killed")
    for r in alive:
        lines.append(
            f"  {r['file']}:{r['line']} {r['function']}: {r['old']!r} -> {r['new']!r} in: {r['text']}"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--map", type=Path, help="which tests pass which line")
    parser.add_argument("--durations", type=Path, help="output of pytest --durations=0")
    parser.add_argument(
        "--make-map", type=Path, metavar="COVERAGE", help="write --map from a file of coverage"
    )
    parser.add_argument("--again", action="store_true", help="run those again that were alive")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="of tests for one mutant")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        print(report(options.out))
        return 0
    if options.make_map:
        options.map.write_text(json.dumps(make_map(options.make_map)))
        return 0
    known = json.loads(options.map.read_text()) if options.map else {}
    seconds = durations(options.durations) if options.durations else {}
    before = {(r["file"], r["line"], r["column"], r["new"]): r for r in records(options.out)}
    drawn = draw(options.count, options.seed)
    if options.again:
        alive = [r for r in before.values() if not r["killed_by"]]
        drawn = [Mutant(**{k: r[k] for k in Mutant.__dataclass_fields__}) for r in alive]
        before = {k: r for k, r in before.items() if r["killed_by"]}
        options.out.write_text("".join(json.dumps(r) + "\n" for r in before.values()))
    missing = [m for m in drawn if (m.file, m.line, m.column, m.new) not in before]

    def spent(began: os.times_result) -> float:
        """Processor time of the children since then."""
        now = os.times()
        return now.children_user + now.children_system - began.children_user - began.children_system

    def work(items: list[Any]) -> None:
        _all_functions()
        for mutant in missing:
            began = os.times()
            said = run(mutant, chosen(mutant, items, known, seconds, options.seconds), loop)
            line = {**asdict(mutant), "killed_by": said, "seconds": round(spent(began), 1)}
            with options.out.open("a") as file:
                file.write(json.dumps(line) + "\n")

    loop = Loop(work)
    os.chdir(ROOT)
    pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *files_of(known)], [loop])
    print(report(options.out))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
