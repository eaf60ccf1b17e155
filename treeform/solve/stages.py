"""Stages of a run: what one of them breaks down with is a note, and what the others found is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from treeform.errors import (
    ContradictionError,
    PortError,
    RouteError,
    SolverNotAvailable,
    SpecError,
    TreeformError,
)
from treeform.solve.faults import broke_down
from treeform.solve.ledger import Ledger
from treeform.solve.result import Limit

BREAKDOWNS = (TreeformError, MemoryError)
"""What a stage can break down with: a solver's fault, a table too large to list, memory that is spent."""


def is_breakdown(error: BaseException) -> bool:
    """Whether a run can go on after this error: claims that contradict each other mean that something is wrong."""
    return isinstance(error, BREAKDOWNS) and not isinstance(error, ContradictionError)


def is_refusal(error: BaseException) -> bool:
    """Whether the problem as stated, or its solver, is what cannot be: no run of the same stage would do better."""
    return isinstance(error, SpecError | PortError | RouteError | SolverNotAvailable)


def limit_of(error: BaseException) -> Limit:
    """What a stage that broke down with this was stopped by."""
    return Limit.MEMORY if isinstance(error, MemoryError) else Limit.SOLVER


@contextmanager
def stage(ledger: Ledger, what: str) -> Iterator[None]:
    """One stage of several: where it breaks down, the next ones go on."""
    try:
        yield
    except BREAKDOWNS as error:
        if not is_breakdown(error):
            raise
        ledger.note(f"{what} {broke_down(error)}")
