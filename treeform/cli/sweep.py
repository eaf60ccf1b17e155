"""The command ``treeform sweep``: a grid of settings over folds, from a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from treeform.cli import options as opt
from treeform.cli.files import Unwritten, check_writable
from treeform.cli.messages import Exit
from treeform.cli.problems import load_problem
from treeform.cli.progress import err_console
from treeform.cli.spec import explain, settings_of
from treeform.cli.toml_file import read_toml
from treeform.data.table_files import check_kind
from treeform.errors import SpecError
from treeform.utils.text import count_of

if TYPE_CHECKING:
    from treeform.study import Study, StudyProgress


LINE_SECONDS = 30.0
"""Between two lines of progress, where there is no terminal."""


class StudyPart(BaseModel):
    """The keys of a study beside those of a specification file."""

    model_config = ConfigDict(extra="forbid")

    grid: dict[StrictStr, list[Any]] | list[dict[StrictStr, list[Any]]] = Field(
        description="values of each setting"
    )
    cv: int | None = Field(None, ge=2, strict=True, description="folds")
    seeds: list[int] = Field(default=[0], description="seeds of the folds")
    executor: StrictStr | None = Field(None, description="where the runs are solved")
    workers: int | None = Field(None, ge=1, strict=True, description="processes")
    folder: StrictStr | None = Field(None, description="where runs are kept")
    output: StrictStr | None = Field(None, description="table of all runs")
    report: StrictStr | None = Field(None, description="page about the study")


def sweep(
    study: Annotated[Path, typer.Argument(help="The study (TOML): a specification file with a [grid].")],
    executor: Annotated[
        str | None,
        typer.Option(help="Where the runs are solved: loky, dask, dask:tcp://HOST:PORT or ray.", metavar="NAME"),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes on this machine.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Keep every run here; the same folder resumes.", metavar="FOLDER")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the table of all runs here (.csv, .csv.gz, .parquet or .feather)."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with the best settings and tables of means (.html).")
    ] = None,
    quiet: opt.Quiet = False,
) -> Exit:
    """Solve a problem with every combination of a grid on every fold: one row for each run, resumable.

    \b
    Example: treeform sweep study.toml --executor loky --folder study -o runs.csv
    """
    # The other commands need none of the estimators that a study may fit.
    from treeform.study import sweep as run_study

    table = read_toml(study)
    part = _part(study, {key: table.pop(key) for key in StudyPart.model_fields if key in table})
    settings = settings_of(table, study)
    for name, value in (("data", settings.data), ("target", settings.target)):
        if value is None:
            raise SpecError(f"{study} names no {name}", fix=f'add {name} = "..."')
    output = output or (None if part.output is None else study.parent / part.output)
    report = report or (None if part.report is None else study.parent / part.report)
    check_writable([output, report], inputs=[*settings.inputs, study])
    if output is not None:
        check_kind(output)
    grid = _with_defaults(part.grid, settings)
    problem = load_problem(settings)
    folder = folder or (None if part.folder is None else study.parent / part.folder)
    with _Display(quiet) as display:
        result = run_study(
            problem, grid, cv=part.cv, seeds=part.seeds, time_limit=settings.time_limit,
            executor=executor or part.executor, workers=workers or part.workers,
            folder=folder, on_progress=display,
        )  # fmt: skip
    unwritten = Unwritten()
    try:
        _show(result, quiet, folder)
    finally:  # a reader who has gone does not cost the runs
        if output is not None:
            unwritten.write(result.save, output)
        if report is not None:
            unwritten.write(result.html, report)
    return unwritten.end(_exit(result))


def _show(result: Study, quiet: bool, folder: Path | None) -> None:
    """Print the table, the best settings, and how to go on."""
    print(result)
    if not quiet and result.settings and not result.table["train_error"].isna().all():
        print("best: " + ", ".join(f"{name} {value}" for name, value in result.best().items()))
    if not quiet and len(result.table) < result.total:
        again = "give --folder next time, to go on" if folder is None else "the same command goes on"
        err_console().print(f"stopped: {again}", soft_wrap=True)


def _part(path: Path, given: dict[str, Any]) -> StudyPart:
    if "grid" not in given:
        raise SpecError(
            f"{path} has no [grid]",
            cause="a study says which values of which settings are tried",
            fix='add for example a table [grid] with shape = ["tree:2", "tree:3"]',
        )
    try:
        return StudyPart.model_validate(given)
    except ValidationError as error:
        raise explain(path, error, given) from error


def _with_defaults(grid: Any, settings: Any) -> Any:
    """A solver and a formulation of the file hold for every run whose grid names none."""
    fixed = {
        name: [value] for name in ("solver", "formulation") if (value := getattr(settings, name)) is not None
    }
    return [fixed | part for part in ([grid] if isinstance(grid, dict) else grid)]


def _exit(study: Study) -> Exit:
    if len(study.table) < study.total:
        return Exit.INTERRUPTED
    return Exit.DONE if bool(study.table["train_error"].notna().any()) else Exit.NO_MODEL


class _Display:
    """A bar in a terminal, a line now and then elsewhere; a line for each error."""

    def __init__(self, quiet: bool) -> None:
        self._console = err_console()
        self._lines = not quiet and not self._console.is_terminal
        self._next = time.monotonic() + LINE_SECONDS
        columns = (
            TextColumn("runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        shown = not quiet and self._console.is_terminal
        self._bar = Progress(*columns, console=self._console, disable=not shown, transient=True)
        self._task: Any = None

    def __enter__(self) -> _Display:
        self._bar.start()
        self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, *ended: object) -> None:
        self._bar.stop()

    def __call__(self, progress: StudyProgress) -> None:
        row = progress.row
        self._bar.update(
            self._task, completed=progress.done, total=progress.total, description=str(row["status"])
        )
        if self._lines and time.monotonic() >= self._next:
            self._console.print(f"{progress.done} of {count_of(progress.total, 'run')}", soft_wrap=True)
            self._next = time.monotonic() + LINE_SECONDS
        if row["status"] == "error":
            self._console.print(f"run {row['run']}: {row['message']}", soft_wrap=True, style="yellow")
