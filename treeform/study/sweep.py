"""One call for many solves: every combination of a grid on every fold."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from treeform import __version__
from treeform.distribute.executor import LOCAL, check_executor, client_of, end_with, require_package
from treeform.errors import SpecError, TreeformError
from treeform.study.live import Board, Collector
from treeform.study.neighbours import Neighbour
from treeform.study.runs import Fold, combinations, folds_of, some_rows
from treeform.study.study import Study, StudyProgress, study_of
from treeform.study.subject import Answer, Run, Subject, error_of, subject_of
from treeform.utils.budget import Limit
from treeform.utils.files import making, parse_json, read_text, write_text


def sweep(
    subject: Any,
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Iterable[Any]]],
    X: Any = None,
    y: Any = None,
    *,
    cv: Any = None,
    seeds: Sequence[int] = (0,),
    time_limit: float | None = None,
    executor: Any = None,
    workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    on_progress: Callable[[StudyProgress], None] | None = None,
) -> Study:
    """Solve a problem, or fit an estimator, with every combination of settings on every fold.

    Parameters
    ----------
    subject : Problem or estimator
        What is solved.
    grid : mapping from setting to values, or a sequence of mappings
        For a problem the settings are ``shape``, ``minimize``, ``price`` (of a test) or ``alpha`` (the same as in (18)
        of Florio et al., AAAI 2023: the price is alpha times the weight of the rows by the tests of the shape beyond
        the root), ``rows`` (so many, drawn with the seed, are learnt from), ``solver``, ``formulation``,
        ``requirements`` (lists of what holds beside the problem's own) and ``REQUIREMENT__PARAMETER``, such as
        ``statistical_parity__difference``. For an estimator those of ``set_params``.
    X, y : table and target, optional
        What an estimator learns from; a problem has its own.
    cv : None, int or splitter
        None learns from all rows, or holds out what ``rows`` leaves. A number makes stratified folds, drawn with
        each of ``seeds``.
    seeds : sequence of int
        Of the folds, and of ``rows``.
    time_limit : float, optional
        Seconds for each run.
    executor : None, "loky", "dask", "dask:tcp://HOST:PORT", "ray", or a client of Dask distributed
        Who does the work; None: this process. The results are the same.
    workers : int, optional
        Processes of ``"loky"`` and of a local ``"dask"``; as many as processors by default.
    folder : path, optional
        Where each run is kept as it ends, with its certificate. A sweep with the same folder goes on where an
        earlier one stopped; runs that ended with an error are tried again. Workers on other machines need to see
        this folder.
    on_progress : callable, optional
        Called with a `StudyProgress` as runs end; with an executor, maybe from another thread, one call at a time.

    Returns
    -------
    Study
        What failed is a row with its message. Ctrl-C ends the sweep, and what has ended is kept.

    Raises
    ------
    SpecError
        If the grid does not fit, before anything is solved.

    Notes
    -----
    Runs on the same rows that differ in shapes (where there are several folds), prices and parameters only are solved
    one after the other, in the order of the grid. They start from each other's models where a native engine answers
    them, each judged again as any warm start is; and bounds pass from larger shapes to smaller ones, from looser to
    tighter requirements, and from prices to those above and between. Such a bound is a claim "by run 3 of the study",
    which a check of the certificate proves again.
    """
    what = subject_of(subject, X, y)
    points = combinations(grid)
    drawn = any("rows" in settings for settings in points)
    folds = folds_of(cv, seeds, what.labels, what.has_classes, drawn)
    for settings in points:
        what.check(settings, folds[0])
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise SpecError(
            f"workers={workers!r} is no number of processes", fix="give a whole number, at least 1"
        )
    journal, identity = Journal(folder), what.identity()
    runs = _runs(points, folds, len(what.labels), (identity, time_limit, __version__))
    chains = _chains(what, runs)

    def told(done: int, row: dict[str, Any]) -> None:
        if on_progress is not None:
            on_progress(StudyProgress(done, len(runs), row))

    collector = Collector(told, executor is not None)
    tasks = [partial(_solve_chain, what, chain, journal, time_limit, collector.board) for chain in chains]
    with contextlib.suppress(KeyboardInterrupt), collector:
        for ended in (
            _one_by_one(what, chains, journal, time_limit)
            if executor is None
            else _each(executor, workers, tasks)
        ):
            for row in ended:
                collector.add(row)
            if any(row["limit"] == Limit.INTERRUPTED.value for row in ended):
                break
    rows = collector.rows
    if len(rows) < len(runs):  # those of a worker that was stopped before it could tell
        known = {
            run.number: row | {"run": run.number}
            for run in runs
            if (row := journal.read(run.key)) is not None
        }
        rows = known | rows
    names = tuple(dict.fromkeys(name for settings in points for name in settings))
    return study_of(list(rows.values()), names, len(runs), what.has_classes)


def _each(executor: Any, workers: int | None, tasks: Iterable[Callable[[], Any]]) -> Iterator[Any]:
    """The results of tasks, as they end.

    ``executor``: ``"loky"``: processes on this machine. ``"dask"``: workers that Dask starts here,
    ``"dask:tcp://HOST:PORT"`` those of a cluster. ``"ray"``: the cluster that Ray is connected to. ``workers``:
    processes; None takes one for each processor. A cluster has its own number. ``tasks``: each can be pickled. Raises
    SpecError if there is no such executor, or its package is not installed.
    """
    from joblib import Parallel, delayed, parallel_config

    with _backend(executor, workers) as (name, count):
        # Ray's backend gives no result before all tasks have ended.
        given_back = "list" if name == "ray" else "generator_unordered"
        with parallel_config(backend=name, n_jobs=count):
            yield from Parallel(return_as=given_back)(delayed(_call)(task, os.getpid()) for task in tasks)


def _call(task: Callable[[], Any], parent: int) -> Any:
    if os.getppid() == parent:
        end_with(parent)
    return task()


@contextlib.contextmanager
def _backend(executor: Any, workers: int | None) -> Iterator[tuple[str, int]]:
    """The name that joblib knows, and the number of jobs."""
    check_executor(executor)
    count = -1 if workers is None else workers
    if executor in LOCAL:
        yield str(executor), count
    elif executor == "ray":
        require_package("ray")
        from ray.util.joblib import register_ray

        register_ray()
        yield "ray", -1
    else:
        with client_of(executor, workers) as client, client.as_current():
            yield "dask", -1


def _runs(
    points: list[dict[str, Any]], folds: list[Fold], n_samples: int, common: tuple[Any, ...]
) -> list[Run]:
    out: list[Run] = []
    for whole in folds:
        counts = dict.fromkeys(settings.get("rows") for settings in points)
        of_count = {count: whole if count is None else some_rows(whole, count, n_samples) for count in counts}
        for settings in points:
            fold = of_count[settings.get("rows")]
            rows = None if fold.train is None else fold.train.tolist()
            key = key_of(*common, {name: str(value) for name, value in settings.items()}, rows)
            out.append(Run(len(out), settings, fold, key))
    return out


def _chains(subject: Subject, runs: list[Run]) -> list[list[Run]]:
    """Runs that learn from each other; the same for every executor.

    With several folds, shapes learn from each other. Without, each shape is a chain, so that there is work for several.
    """
    several = len({(run.fold.seed, run.fold.number) for run in runs}) > 1
    chains: dict[Any, list[Run]] = {}
    for run in runs:
        shape = None if several else str(run.settings.get("shape"))
        key = (run.fold.seed, run.fold.number, shape, subject.chain(run.settings))
        chains.setdefault(key, []).append(run)
    return list(chains.values())


def _one_by_one(
    subject: Subject, chains: list[list[Run]], journal: Journal, time_limit: float | None
) -> Iterator[list[dict[str, Any]]]:
    """In this process: every run by itself, as soon as it has ended."""
    for chain in chains:
        for row in _rows_of(subject, chain, journal, time_limit):
            yield [row]


def _solve_chain(
    subject: Subject, runs: list[Run], journal: Journal, time_limit: float | None, board: Board | None
) -> list[dict[str, Any]]:
    """In a worker: all runs of a chain; each row can be seen as soon as it is there."""
    rows = []
    for row in _rows_of(subject, runs, journal, time_limit):
        rows.append(row)
        if board is not None:
            board.put(row)
    return rows


def _rows_of(
    subject: Subject, runs: list[Run], journal: Journal, time_limit: float | None
) -> Iterator[dict[str, Any]]:
    known: list[Neighbour] = []
    for run in runs:
        row = journal.read(run.key)
        if row is None:
            row, neighbour = _solve(subject, run, known, journal, time_limit)
            known += [] if neighbour is None else [neighbour]
        yield row | {"run": run.number}
        if row["limit"] == Limit.INTERRUPTED.value:
            return


def _solve(
    subject: Subject, run: Run, known: list[Neighbour], journal: Journal, time_limit: float | None
) -> tuple[dict[str, Any], Neighbour | None]:
    """One run: its row, and what others can learn from it."""
    row: dict[str, Any] = {"run": run.number, **{name: _plain(value) for name, value in run.settings.items()}}
    row |= {
        "seed": run.fold.seed,
        "fold": run.fold.number,
        "limit": None,
        "message": None,
        "certificate": None,
    }
    try:
        answer = subject.run(run, known, time_limit)
        row |= _facts(answer)
        if answer.result.limit is Limit.INTERRUPTED:  # not kept: a later sweep solves it
            return row, None
        held = answer.result.question is not None
        certificate = answer.result.certificate() if journal.folder is not None and held else None
        return journal.write(run.key, row, certificate), answer.neighbour
    except TreeformError as error:
        row |= {"status": "error", "message": str(error).splitlines()[0]}
    except Exception as error:  # one run that fails is a row, and never the end of the sweep
        row |= {"status": "error", "message": f"{type(error).__name__}: {error}".splitlines()[0]}
    return row, None


def _facts(answer: Answer) -> dict[str, Any]:
    result = answer.result
    graph, question = result.graph, result.question
    wrong = None
    if graph is not None and question is not None:
        wrong = float(error_of(question.objective, graph, question.data))
    return {
        "status": result.status.value,
        "objective": _plain(result.objective),
        "bound": _plain(result.bound),
        "gap": result.gap,
        "train_error": wrong,
        "test_error": answer.test_error,
        "depth": None if graph is None else graph.depth,
        "tests": None if graph is None else graph.n_nodes,
        "seconds": round(result.seconds, 4),
        "answered_by": result.solver,
        "limit": None if result.limit is None else result.limit.value,
        **{f"held_out {name}": value for name, value in answer.violations.items()},
    }


def _plain(value: Any) -> Any:
    """A value that JSON and tables hold."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class Journal:
    """Runs that are done, by what they answer; without a folder nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            with making(
                f"the folder {self.folder} of the study cannot be made",
                fix="name a folder that may be written to",
            ):
                (self.folder / "runs").mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> dict[str, Any] | None:
        """The row of a run that ended without an error; None when there is none, or its file is no JSON."""
        if self.folder is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            row = parse_json(read_text(self._path(key)))
            if isinstance(row, dict) and row.get("status") not in (None, "error"):
                return row
        return None

    def write(
        self, key: str, row: Mapping[str, Any], certificate: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Keep a run; returns its row with the name of its certificate's file."""
        if self.folder is None:
            return dict(row)
        kept = dict(row)
        if certificate is not None:
            path = self._path(key, ".certificate.json")
            write_text(path, json.dumps(certificate))
            kept["certificate"] = str(path.relative_to(self.folder))
        write_text(self._path(key), json.dumps(kept))
        return kept

    def _path(self, key: str, ending: str = ".json") -> Path:
        assert self.folder is not None
        return self.folder / "runs" / f"{key}{ending}"


def key_of(*parts: Any) -> str:
    """A short name for what a run answers: equal for equal parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
