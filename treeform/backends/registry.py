"""All solvers by name: adding one is a file like TEMPLATE.py and a line in ``REGISTRY``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from treeform.errors import SpecError
from treeform.settings import construct, parse_name

if TYPE_CHECKING:
    from treeform.backends.base import Backend

REGISTRY = [
    "treeform.backends.highs:HiGHS",
    "treeform.backends.cpsat:CPSAT",
    "treeform.backends.sat:SAT",
    "treeform.backends.maxsat:MaxSAT",
    "treeform.backends.mathopt:MathOpt",
    "treeform.backends.pyomo:Pyomo",
    "treeform.backends.portfolio:Portfolio",
]


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


def backend_classes() -> list[type[Backend]]:
    """The registered classes; their solvers are not imported."""
    out = []
    for entry in REGISTRY:
        module, _, name = entry.partition(":")
        out.append(getattr(import_module(module), name))
    return out


def solvers() -> SolverTable:
    """What solvers there are, which of them can be used here, and why the others cannot.

    Examples
    --------
    >>> import treeform as tf
    >>> print(tf.solvers())  # doctest: +SKIP
    solver      here  version
    highs       yes   1.14.0
    cp-sat      yes   9.15.6755
    """
    rows = []
    for cls in backend_classes():
        for variant in cls.variants():
            found = cls.availability(variant)
            reason = found.reason if found.available else f"{found.reason}: {cls.install_for(variant)}"
            rows.append(SolverRow(variant, found.available, found.version, reason))
    return SolverTable(rows)


def by_name(name: str) -> Backend:
    """The solver of that name, with default settings or those that follow: ``"cp-sat:workers=2"``.

    Parameters
    ----------
    name : str
        As listed by `solvers`; upper and lower case are the same.

    Raises
    ------
    SpecError
        If there is no solver of that name; the message lists similar ones.
    SolverNotAvailable
        If it cannot be used here; the message says what to install.
    """
    plain, settings = parse_name(name)
    wanted = plain.lower().replace("_", "-")
    known = []
    for cls in backend_classes():
        names = {variant.replace("_", "-"): variant for variant in cls.variants()}
        names |= {alias: cls.aliases[alias] for alias in cls.aliases}
        if wanted in names:
            return _configured(cls, names[wanted], settings)
        if ":" in wanted and cls.open_ended and wanted.startswith(f"{cls.name}:"):
            return _configured(cls, plain, settings)
        known += [*names]
    raise unknown_name(plain, known, "solver")


def _configured(cls: type[Backend], variant: str, settings: str) -> Backend:
    return construct(partial(cls.named, variant), variant, settings, among=cls)


def unknown_name(name: object, known: Sequence[str], what: str) -> SpecError:
    """The error for a name that does not exist, with the names that look like it."""
    close = difflib.get_close_matches(str(name).lower(), known, n=3)
    return SpecError(
        f"there is no {what} {name!r}",
        cause=f"treeform knows {', '.join(known)}",
        fix=f"did you mean {' or '.join(map(repr, close))}?"
        if close
        else "tf.solvers() shows what can be used here",
    )
