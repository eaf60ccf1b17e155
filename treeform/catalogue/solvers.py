"""Everything that has a name: native engines, solvers behind backends, formulations, and a user's own classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from treeform.backends import Backend
from treeform.backends.isolated import Isolated
from treeform.backends.packages import installed_version
from treeform.backends.registry import by_name, load_backend
from treeform.engines import Engine
from treeform.errors import SpecError, UnknownName, did_you_mean, unknown_name
from treeform.language.formulation import Formulation
from treeform.language.objective import Term
from treeform.language.requirement import Requirement
from treeform.utils.extensions import (
    ENGINES,
    FORMULATIONS,
    OBJECTIVES,
    SOLVERS,
    Extension,
    construct,
    extensions,
    find,
    parse_name,
)
from treeform.utils.extensions import register as enter
from treeform.utils.rows import setting_text


def engine_names() -> tuple[str, ...]:
    """The names that `find_engine` knows."""
    return tuple(one.name for one in extensions(ENGINES) if one.taken_by is None)


def load_engine(extension: Extension) -> type[Engine]:
    """The class of an entry in the group of engines. Raises SpecError if it cannot be loaded, or is no engine."""
    return extension.load_class(
        Engine,  # type: ignore[type-abstract]
        "a native engine is a class derived from treeform.engines.Engine",
        "derive it from Engine, and implement run()",
    )


def find_engine(name: str) -> Engine:
    """The engine of that name, with its usual settings or those that follow: ``"contree:max_gap=5"``.

    Raises SpecError if there is none, it cannot be loaded, or a setting is not possible.
    """
    plain, settings = parse_name(name)
    extension = find(ENGINES, plain)
    if extension is None:
        raise unknown_name(plain, engine_names(), "native engine", fix="use one of these names")
    return construct(load_engine(extension), plain, settings)


@dataclass(frozen=True)
class SolverRow:
    """One line of `solvers`: a name for ``solver=``, whether it can be used here, its version, and why not."""

    name: str
    available: bool
    version: str | None
    reason: str | None


class SolverTable(Sequence[SolverRow]):
    """What `solvers` returns: a sequence of rows that prints as a table."""

    def __init__(self, rows: Sequence[SolverRow]) -> None:
        self._rows = tuple(rows)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[SolverRow]:
        return iter(self._rows)

    def __str__(self) -> str:
        head = ("solver", "here", "version", "")
        cells = [
            head,
            *((r.name, "yes" if r.available else "no", r.version or "", r.reason or "") for r in self),
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(3)]
        lines = [
            "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]]) for row in cells
        ]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


def solvers() -> SolverTable:
    """Native engines and solvers: the version of each, or what to install.

    Engines and solvers that other packages register are listed too. One that is broken is a row with the reason.

    Returns
    -------
    SolverTable
        A sequence of rows with ``name`` (for ``solver=`` and ``--solver``), ``available``, ``version`` and
        ``reason`` (why not, and what to install); it prints as a table. No solver is imported.

    Examples
    --------
    >>> import treeform as tf
    >>> {"contree", "highs"} <= {row.name for row in tf.solvers()}
    True
    """
    rows = [row for one in extensions(ENGINES) for row in _rows(one, _engine_rows)]
    rows += [row for one in extensions(SOLVERS) for row in _rows(one, _backend_rows)]
    return SolverTable(rows)


def _rows(extension: Extension, describe: Callable[[Extension], list[SolverRow]]) -> list[SolverRow]:
    try:
        return extension.guard(lambda: describe(extension))
    except SpecError as error:
        reason = f"{error.what}: {error.cause}" if error.cause else error.what
        return [SolverRow(extension.name, False, extension.version, " ".join(reason.split()))]


def _engine_rows(extension: Extension) -> list[SolverRow]:
    summary = (inspect.getdoc(load_engine(extension)) or "").partition("\n")[0].rstrip(".")
    if extension.package is None:
        return [SolverRow(extension.name, True, installed_version("treeform"), f"native: {summary}")]
    return [SolverRow(extension.name, True, extension.version, f"engine of {extension.package}: {summary}")]


def _backend_rows(extension: Extension) -> list[SolverRow]:
    kind, rows = load_backend(extension), []
    for variant in kind.variants():
        state = kind.availability(variant)
        reason = state.reason if state.available else f"{state.reason}: {kind.install_for(variant)}"
        rows.append(SolverRow(variant, state.available, state.version or extension.version, reason))
    return rows


def find_solver(value: Backend | Engine | type | str) -> Backend | Engine:
    """A backend or a native engine from an instance, a class or a name, settings after a colon.

    Raises
    ------
    SpecError
        If there is none of that name, it cannot be loaded, or a setting is not possible.
    SolverNotAvailable
        If it cannot be used here.
    """
    if isinstance(value, Backend | Engine):
        return value
    if isinstance(value, type) and issubclass(value, Backend | Engine):
        made: Backend | Engine = value()
        return made
    if not isinstance(value, str):
        raise SpecError(
            f"{value!r} is no solver",
            cause="a solver is a backend (tf.HiGHS()), a native engine (tf.ConTree()) or the name of one",
            fix="see tf.solvers() for the names; "
            "a number stands with its keyword, such as time_limit=60 or within=0.02",
        )
    plain, settings = parse_name(value)
    engine = find(ENGINES, plain)
    return _find_backend(value) if engine is None else construct(load_engine(engine), plain, settings)


def engine_or_backend(value: Backend | Engine | type | str | None) -> tuple[Engine | None, Backend | None]:
    """What ``solver=`` names: a native engine, or a backend; neither where it is left open. Raises as `find_solver`."""
    found = None if value is None else find_solver(value)
    return (found, None) if isinstance(found, Engine) else (None, found)


def find_backend(value: Backend | type | str, refused: str, cause: str, fix: str) -> Backend:
    """As `find_solver`, of solvers alone.

    Raises SpecError also if it is a native engine; ``refused`` is the error's sentence with a place for its name.
    """
    solver = find_solver(value)
    if isinstance(solver, Backend):
        return solver
    raise SpecError(refused.format(solver.name), cause=cause, fix=fix)


def _find_backend(name: str) -> Backend:
    try:
        return by_name(name)
    except UnknownName as error:
        engines, plain = engine_names(), parse_name(name)[0]
        fix = did_you_mean(plain, engines) or error.fix
        raise UnknownName(
            error.what,
            cause=f"{error.cause}; native engines: {', '.join(sorted(engines))}",
            fix=f"it is a formulation: formulation={plain!r}" if plain in formulation_names() else fix,
        ) from None


def formulation_names() -> tuple[str, ...]:
    """The formulations installed here, ours and others'."""
    return tuple(one.name for one in extensions(FORMULATIONS) if one.taken_by is None)


def find_formulation(value: Formulation | type[Formulation] | str) -> Formulation:
    """A formulation from an instance, a class, or the name of an entry point, settings after a colon.

    Raises
    ------
    SpecError
        If the name is unknown (the message lists those that are installed), what it names cannot be loaded, or a
        setting is not possible.
    """
    if isinstance(value, Formulation):
        return value
    if isinstance(value, type) and issubclass(value, Formulation):
        return value()
    if hasattr(value, "build") and not isinstance(value, type):
        raise SpecError(
            f"{value!r} is no formulation",
            cause="a component states rows; a formulation also reads a model from a solver's point",
            fix="write class Mine(CompleteTree): name, parts = 'mine', (...,); or derive from Formulation, with decode",
        )
    name, settings = parse_name(value) if isinstance(value, str) else ("", "")
    extension = find(FORMULATIONS, name)
    if extension is None:
        fix = f"name one of them, or register yours in the entry-point group {FORMULATIONS!r}"
        raise unknown_name(value, formulation_names(), "formulation", fix=fix)
    return construct(_kind(extension), name, settings)


def _kind(extension: Extension) -> type[Formulation]:
    return extension.load_class(
        Formulation,
        "a formulation is a class derived from treeform.language.formulation.Formulation",
        "derive it from Formulation, and implement decode()",
    )


def with_threads(solver: Any, threads: int) -> Any:
    """The same solver on so many threads.

    Raises SpecError if it has no such setting.
    """
    if isinstance(solver, Isolated):
        return Isolated(with_threads(solver.solver, threads), solver.memory_limit)
    kind = solver.__class__
    known = inspect.signature(kind).parameters
    if "threads" in known:
        kept = {key: getattr(solver, key) for key in known if hasattr(solver, key)}
        return kind(**{**kept, "threads": threads})
    if threads == 1:
        return solver
    raise SpecError(
        f"{solver.name} runs on one thread",
        cause="it has no setting for threads",
        fix=f"leave out {setting_text('threads', str(threads))}",
    )


K = TypeVar("K", bound=type)
GROUP_OF: dict[type, str] = {Backend: SOLVERS, Engine: ENGINES, Formulation: FORMULATIONS, Term: OBJECTIVES}


def register(kind: K) -> K:
    """Make a solver, a native engine, a formulation or a term of objectives known under its ``name`` in this process.

    Parameters
    ----------
    kind : class
        Derived from `Backend`, `Engine`, `Formulation` or `Term`. A class derived from `treeform.Requirement` is
        known without it.

    Returns
    -------
    class
        The same one, so that this can stand above a class as a decorator.

    Raises
    ------
    SpecError
        If it is no such class, or has the name of one that comes with treeform.
    """
    if isinstance(kind, type) and issubclass(kind, Requirement):
        return kind
    group = next(
        (g for base, g in GROUP_OF.items() if isinstance(kind, type) and issubclass(kind, base)), None
    )
    if group is None:
        raise SpecError(
            f"{kind!r} cannot be registered",
            cause="it is no class of a solver, a native engine, a formulation or a term of objectives",
            fix="register the class itself, derived from Backend, Engine, Formulation or Term",
        )
    enter(group, kind.name, kind)  # type: ignore[attr-defined]
    return kind
