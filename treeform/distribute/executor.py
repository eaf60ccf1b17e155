"""Who does the work of a study: this process, or one of joblib's backends."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from treeform.distribute.cluster import client_of, is_client, require_package
from treeform.errors import SpecError, did_you_mean
from treeform.utils.rows import setting_text

LOCAL = ("loky", "threading", "multiprocessing")
NAMES = (*LOCAL, "dask", "ray")
POLL_SECONDS = 1.0
"""Between two looks of a worker for the process that started it."""


def each(
    executor: Any, workers: int | None, tasks: Iterable[Callable[[], Any]], folder: str | None = None
) -> Iterator[Any]:
    """The results of tasks, as they end.

    Raises SpecError if there is no such executor, or its package is not installed.

    Parameters
    ----------
    executor : None, str, or a client of Dask distributed
        None: one after the other in this process. ``"loky"``: processes on this machine. ``"dask"``: workers that Dask
        starts here, ``"dask:tcp://HOST:PORT"`` those of a cluster. ``"ray"``: the cluster that Ray is connected to.
    workers : int or None
        Processes; None takes one for each processor. A cluster has its own number.
    tasks : iterable of callable
        Each can be pickled.
    folder : str, optional
        What processes of this machine remove when this one was killed.
    """
    if executor is None:
        for task in tasks:
            yield task()
        return
    from joblib import Parallel, delayed, parallel_config

    with _backend(executor, workers) as (name, count):
        # Ray's backend gives no result before all tasks have ended.
        given_back = "list" if name == "ray" else "generator_unordered"
        with parallel_config(backend=name, n_jobs=count):
            yield from Parallel(return_as=given_back)(
                delayed(_call)(task, os.getpid(), folder) for task in tasks
            )


def _call(task: Callable[[], Any], parent: int, folder: str | None) -> Any:
    if os.getppid() == parent:
        end_with(parent, folder)
    return task()


_LEFT: set[str | None] = set()
"""Folders of the process that started this one; most are gone by then."""


def end_with(parent: int, folder: str | None) -> None:
    """Let this process end once the one that started it was killed, and remove the folder that it left."""
    _LEFT.add(folder)
    _watch(parent)


@functools.cache
def _watch(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        for folder in _LEFT - {None}:
            shutil.rmtree(str(folder), ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _backend(executor: Any, workers: int | None) -> Iterator[tuple[str, int]]:
    """The name that joblib knows, and the number of jobs."""
    count = -1 if workers is None else workers
    if executor in LOCAL:
        yield str(executor), count
    elif executor == "ray":
        require_package("ray")
        from ray.util.joblib import register_ray

        register_ray()
        yield "ray", -1
    elif is_client(executor) or executor == "dask" or str(executor).startswith("dask:"):
        with client_of(executor, workers) as client, client.as_current():
            yield "dask", -1
    else:
        raise unknown_executor(executor, NAMES)


def unknown_executor(executor: Any, names: tuple[str, ...]) -> SpecError:
    """The error for an unknown executor."""
    return SpecError(
        f"there is no executor {executor!r}",
        cause=f"executors are {', '.join(names)}, dask:tcp://HOST:PORT, and clients of Dask distributed",
        fix=did_you_mean(str(executor), names) or f"use {setting_text('executor', 'loky')}",
    )
