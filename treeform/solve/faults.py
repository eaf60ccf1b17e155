"""What a solver did wrong in a run, as notes of the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treeform.errors import SolverFailed, TreeformError


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
