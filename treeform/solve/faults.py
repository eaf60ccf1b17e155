"""What solvers and stages of a run break down with: notes of the result, and whether the others go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treeform.errors import (
    ContradictionError,
    PortError,
    RouteError,
    SolverFailed,
    SolverNotAvailable,
    SpecError,
    TreeformError,
)
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


def faults(info: Mapping[str, Any]) -> Iterator[str]:
    """The faults that a run's information names, each as the end of a sentence about the solver."""
    for failure in info.get("failed", ()):
        yield f"failed: {one_line(failure)}"
    if "killed" in info:
        yield f"was killed: {info['killed']}"
    if info.get("abandoned"):
        yield "did not stop when asked to, and was left alone"
    if "refuted" in info:
        yield f"made a claim that a checked point refutes: {info['refuted']}"
    if info.get("rejected"):
        rows = ", ".join(info.get("violated", {}))
        yield f"gave {info['rejected']} points that violate rows" + (f" ({rows})" if rows else "")


def broke_down(error: BaseException) -> str:
    """The end of a sentence about a solver, or a stage of the work, that raised this."""
    return f"{'broke down' if isinstance(error, SolverFailed) else 'could not go on'}: {one_line(error)}"


def one_line(error: object) -> str:
    """The text of an error in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, TreeformError):
        return error.what + (f" ({error.cause})" if error.cause else "")
    return " ".join(str(error).split())
