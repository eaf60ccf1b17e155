"""Calls of the native core as the engines make them, with something in their arguments changed.

``python bindings_fuzz.py SEED COUNT``: so many changed calls, each an answer or an exception; a crash ends the process.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import treeform as tf
from treeform import _core
from treeform.data import Dataset
from treeform.engines import TreeTask, totals

ENGINES = ("dl85", "contree", "diagram-search", "totals-search", "continuous-totals", "regression-search")
FUNCTIONS = ("binary", "contree", "continuous_totals", "diagram", "regression", "totals")
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def runs_here(path: str) -> bool:
    """Whether this processor has the instructions of that path."""
    return bool(_core.simd_available(path))


SCANS = ("contree", "continuous_totals", "regression")
"""Functions that have the path ``portable``, too."""


def searched(call: Call, rng: random.Random) -> Call:
    """The call on one of the instruction sets of this processor, and where it has a depth, down to two to four."""
    name, args, named = call
    more: dict[str, Any] = {}
    if "simd" in named:
        paths = ["avx512", "avx2", "plain", *(["portable"] if name.lower().startswith(SCANS) else [])]
        more["simd"] = rng.choice([path for path in paths if runs_here(path)])
    if "depth" in named and not name.endswith("Evaluator"):
        more["depth"] = rng.randint(2, 4)
        if named.get("max_nodes") == 2 ** named["depth"] - 1:  # all tests of the depth
            more["max_nodes"] = 2 ** more["depth"] - 1
    elif "widths" in named and not named.get("is_tree"):
        more["widths"] = [1, *[2] * rng.randint(1, 3)]
    return name, args, named | more


def recorded() -> dict[str, Call]:
    """One call of each function of the core that the engines use, on a small problem, by its name."""
    calls: dict[str, Call] = {}
    plain = {name: getattr(_core, name) for name in dir(_core) if callable(getattr(_core, name))}
    functions = {name: f for name, f in plain.items() if not isinstance(f, type) and not name.startswith("_")}

    def listening(name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            calls.setdefault(name, (name, args, named))
            return functions[name](*args, **named)

        return call

    with replaced(_core, {name: listening(name) for name in functions}):
        rng = np.random.default_rng(0)
        for engine in ENGINES:
            binary = engine in ("dl85", "totals-search")
            X = rng.integers(0, 2 if binary else 4, (16, 3)).astype(float)
            y = rng.integers(0, 9, 16).astype(float) if engine.startswith("reg") else rng.integers(0, 2, 16)
            one = tf.Problem(X, y, shape="diagram:1,2" if engine.startswith("diagram") else "tree:2")
            if engine.startswith("reg"):
                one.minimize(tf.SquaredError())
            if "totals" in engine:
                one += tf.MinSupport(2)
            one.solve(engine)
        diagram_rows(_core)
        priced_tests(_core)
    return calls


def many() -> list[Call]:
    """Calls of all functions of the core, several of each: depths, costs, weights, prices, losses, requirements."""
    out = [*recorded().values(), rup_check()]
    for seed in range(8):
        rng = np.random.default_rng(seed)
        kept: dict[str, Call] = {}
        with replaced(_core, {name: noting(getattr(_core, name), kept) for name in FUNCTIONS}):
            for engine in ENGINES:
                varied(engine, rng).solve(engine, time_limit=1)
        out += kept.values()
    return out


def noting(function: Any, kept: dict[str, Call]) -> Any:
    """The function, which notes its first call."""

    def call(*args: Any, **named: Any) -> Any:
        kept.setdefault(function.__name__, (function.__name__, args, named))
        return function(*args, **named)

    return call


def varied(engine: str, rng: np.random.Generator) -> tf.Problem:
    """A problem that the engine takes."""
    n = int(rng.integers(6, 40))
    X = rng.integers(0, 2 if engine in ("dl85", "totals-search") else 6, (n, 4)).astype(float)
    classes = 2 if "totals" in engine else int(rng.integers(2, 4))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    depth = int(rng.integers(1, 4))
    shape = "diagram:1,2,2" if engine.startswith("diagram") else f"tree:{depth}"
    if engine == "regression-search":
        one = tf.Problem(X, rng.integers(0, 9, n).astype(float), shape=shape)
        return one.minimize([tf.SquaredError(), tf.AbsoluteError()][int(rng.integers(2))] + tf.Nodes())
    one = tf.Problem(X, y, shape=shape, sample_weight=rng.integers(1, 5, n) if rng.random() < 0.5 else None)
    one.minimize(["error", "error + 1/2*nodes"][int(rng.integers(2))] if depth > 1 else "error")
    if "totals" in engine:
        one += tf.StatisticalParity(groups=np.arange(n) % 2, difference=0.25)
    return one + tf.MinSupport(2) if rng.random() < 0.5 else one


def rup_check() -> Call:
    """A proof that two clauses clash."""
    pieces = cycle([b"1 0\n", b"0\n", b""])
    named = {"variables": 2, "read": lambda: next(pieces), "write": None, "binary": False}
    starts, literals = np.array([0, 2, 4, 6, 8]), np.array([1, 2, 1, -2, -1, 2, -1, -2], dtype=np.int32)
    return "rup_check", (starts, literals), named | {"memory": 1 << 20, "poll": None}


def parts() -> dict[str, Call]:
    """What answers parts of a search, with questions that the search asks: arguments and a question, by its name."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "distribute"))
    from in_parts import solve_in_parts
    from test_distributed_totals import problem, task_of

    kept: dict[str, Call] = {}
    plain = {name: getattr(_core, name) for name in dir(_core) if name.endswith("Evaluator")}

    def listening(name: str) -> Any:
        class Listening:
            def __init__(self, *args: Any, **named: Any) -> None:
                self.given, self.native = (args, named), plain[name](*args, **named)

            def __getattr__(self, attribute: str) -> Any:
                return getattr(self.native, attribute)

            def evaluate(self, question: Any, poll: Any) -> Any:
                args, named = self.given
                kept.setdefault(f"{name} {len(question)}", (name, (*args, question.copy()), named))
                return self.native.evaluate(question, poll)

        return Listening

    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (120, 8)).astype(float), rng.integers(0, 2, 120)
    numbers, bits = Dataset.from_user(X[:40, :4], y[:40]), Dataset.from_user((X > 4).astype(float), y)
    fair, task = task_of(problem(0, tf.MinSupport(5), depth=4))
    # Everything of depth four travels, however small.
    with replaced(_core, {name: listening(name) for name in plain}), replaced(totals, {"LEAST_STEPS": 0.0}):
        solve_in_parts(tf.ConTree(), numbers, TreeTask(3), 1)
        solve_in_parts(tf.DL85(), bits, TreeTask(4), 1)
        solve_in_parts(tf.DiagramSearch(), numbers, TreeTask(3, None, 1, widths=(1, 2, 2)), 1)
        solve_in_parts(tf.TotalsSearch(), fair, task, 1)
    return kept


def diagram_rows(core: Any) -> None:
    """The search for diagrams under one row, which no small problem asks for by itself."""
    rng = np.random.default_rng(1)
    cost = rng.integers(0, 2, (16, 2))
    core.diagram_rows(
        rng.integers(0, 4, (16, 3)).astype(float), cost, np.ones(16, dtype=np.int64), cost, cost[None],
        widths=[1, 2], max_nodes=3, rhs=[9], rate=1, base=0, below=9, memory=2**20, simd="auto", time_limit=1.0,
        poll=None,
    )  # fmt: skip


def priced_tests(core: Any) -> None:
    """Costs of tests under absolute errors, which only requirements on values need."""
    rng = np.random.default_rng(2)
    levels, places = np.arange(4.0), rng.integers(0, 4, 16)
    order, ways = np.array([rng.permutation(16) for _ in range(3)]), np.array([0, 1, -1])
    core.priced_tests(order, np.ones(16), np.zeros(16), levels[places], places, levels, ways, 1e-9, 0, 3)


class replaced:
    """Other attributes of a module for a while."""

    def __init__(self, module: ModuleType, values: dict[str, Any]) -> None:
        self.module, self.values = module, values
        self.before = {name: getattr(module, name) for name in values}

    def __enter__(self) -> None:
        for name, value in self.values.items():
            setattr(self.module, name, value)

    def __exit__(self, *ended: object) -> None:
        for name, value in self.before.items():
            setattr(self.module, name, value)


def changed(call: Call, rng: random.Random) -> Call:
    """The call on any instruction set and at any depth, with one or two of its arguments changed."""
    name, args, named = searched(call, rng)
    args, named = list(args), dict(named)
    for _ in range(rng.randint(1, 2)):
        places: list[tuple[Any, Any]] = [(args, i) for i in range(len(args))] + [
            (named, key) for key in named
        ]
        holder, key = rng.choice([p for p in places if not callable(p[0][p[1]])])
        holder[key] = other(holder[key], rng)
    limits = {"time_limit": 0.2} if "time_limit" in named else {}
    return name, tuple(args), named | limits


def other(value: Any, rng: random.Random) -> Any:
    """Something else in its place: another number, other entries, another length, another type."""
    if isinstance(value, np.ndarray):
        return changed_array(value, rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return rng.choice([0, -1, 1, 2, 63, 64, 65, 2**31 - 1, -(2**31), 2**62, value + 1, float("nan"), "x"])
    if isinstance(value, list | tuple) and value:
        return rng.choice([type(value)(value[:-1]), type(value)([*value, value[-1]]), None, 7])
    return rng.choice([None, 0, "x", [], ()])


def changed_array(value: np.ndarray, rng: random.Random) -> Any:
    """An array of other entries, length or type."""
    kind = rng.choice(["entry", "entry", "entry", "shorter", "longer", "type", "empty", "view", "flat"])
    if kind == "entry" and value.size:
        out = value.copy()
        at = rng.randrange(out.size)
        extremes = [0, -1, 1, 2, 127]
        if out.dtype.kind in "iu":
            extremes += [int(np.iinfo(out.dtype).max), int(np.iinfo(out.dtype).min)]
        elif out.dtype.kind == "f":
            extremes += [float("nan"), float("inf"), -float("inf"), 1e308]  # type: ignore[list-item]
        entry = rng.choice(extremes)
        with np.errstate(all="ignore"):
            out.reshape(-1)[at] = np.array(entry).astype(out.dtype)
        return out
    if kind == "shorter" and len(value):
        return value[:-1].copy()
    if kind == "longer" and len(value):
        return np.concatenate([value, value[-1:]])
    if kind == "type":
        return value.astype(
            rng.choice(["float32", "int8", "int64", "uint64", "float64", "bool"]), casting="unsafe"
        )
    if kind == "empty":
        return value[:0].copy()
    if kind == "view" and value.ndim:
        return value[::-1]
    return value.reshape(-1)


def calls(seed: int, count: int, known: dict[str, Call] | None = None) -> Iterator[Call]:
    """Changed calls, all functions by turns."""
    rng = random.Random(seed)
    every = [one for _, one in sorted((known or recorded()).items())]
    for number in range(count):
        yield changed(every[number % len(every)], rng)


def answers(call: Call) -> bool:
    """Whether the core answers the call; false for an exception."""
    name, args, named = call
    try:
        if name.endswith("Evaluator"):
            *first, question = args
            until = time.monotonic() + 0.2
            getattr(_core, name)(*first, **named).evaluate(question, lambda: (time.monotonic() > until, None))
        else:
            getattr(_core, name)(*args, **named)
    except (TypeError, ValueError, MemoryError, ArithmeticError, RuntimeError, IndexError, KeyError):
        return False
    return True


def main() -> None:
    taken = 0
    for number, call in enumerate(calls(int(sys.argv[1]), int(sys.argv[2]))):
        print(number, call[0], file=sys.stderr, flush=True)
        taken += answers(call)
    print(f"{taken} of {sys.argv[2]} calls were answered")


if __name__ == "__main__":
    main()
