"""The client of a Dask cluster: one that is given, or made for one call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from treeform.errors import SolverFailed, SpecError

LAST_SECONDS = 1.0
"""For closing a client, which without its scheduler waits for half a minute."""


def is_client(executor: Any) -> bool:
    """Whether it is a client of Dask distributed."""
    return hasattr(executor, "scheduler") and hasattr(executor, "submit")


@contextlib.contextmanager
def client_of(executor: Any, workers: int | None) -> Iterator[Any]:
    """The client of a cluster: the one given, one at the address, or one of workers that are started here.

    Raises SpecError if Dask distributed is not installed, or the cluster cannot be reached.
    """
    if is_client(executor):
        yield executor
        return
    require_package("distributed")
    import distributed

    connect: Any = distributed.Client
    address = str(executor).removeprefix("dask").removeprefix(":")
    local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = connect(address) if address else connect(**local)
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        raise SpecError(
            f"the workers of executor={executor!r} could not be started",
            cause=f"{error}; in a script they import it again",
            fix='check the address, and put what the script does under if __name__ == "__main__":',
        ) from error
    try:
        yield client
    finally:
        client.close(*() if client.status == "running" else (LAST_SECONDS,))


def require_package(name: str) -> None:
    """Refuse an executor whose package is not there. Raises SpecError."""
    if find_spec(name) is None:
        raise SpecError(f"the executor needs {name}, which is not installed", fix=f"pip install {name}")


def is_cancelled() -> bool:
    """In a task of Dask: whether it was cancelled, or its client is gone."""
    import distributed

    worker = distributed.get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def out_of_reach(error: Exception) -> SolverFailed:
    """The error of a search whose cluster is gone."""
    return SolverFailed(
        "the cluster cannot be reached any more",
        cause=f"{type(error).__name__}: {error}".rstrip(": "),
        fix="start the scheduler again; a journal keeps what has been found",
    )
