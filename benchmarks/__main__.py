"""``python -m benchmarks [--out FOLDER] [--again] [--minutes N] SUBJECT [BENCHMARK] [options]``."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.harness.figures import exists
from benchmarks.harness.session import SESSION, SessionOver
from benchmarks.harness.tables import TABLES, modules
from treeform.errors import TreeformError


def app() -> typer.Typer:
    """The command line: a command for every benchmark; a subject by itself runs all of its benchmarks."""
    top = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
    groups: dict[str, typer.Typer] = {}
    for subject, name, module in modules():
        if subject not in groups:
            groups[subject] = typer.Typer(rich_markup_mode=None)
            groups[subject].callback(invoke_without_command=True)(_all_of(subject))
            about = inspect.getdoc(sys.modules[f"benchmarks.{subject}"]) or ""
            top.add_typer(groups[subject], name=subject, help=about)
        about = f"{module.__doc__}\n\n{inspect.getdoc(module.main)}"
        groups[subject].command(name, help=about)(_run(module.main))
    top.callback()(_session)
    return top


def _session(
    out: Annotated[Path | None, typer.Option(help="Folder of figures, docs/benchmarks unless given.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Measure again what is there.")] = False,
    minutes: Annotated[float, typer.Option(help="Begin no run after so many minutes.")] = math.inf,
) -> None:
    """Benchmarks of treeform: rows that a file of figures has are not measured again."""
    if out is not None:
        SESSION.folder = SESSION.raw = out
    SESSION.again, SESSION.until = again, time.monotonic() + 60 * minutes


def _all_of(subject: str) -> Callable[[typer.Context], None]:
    def every(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            for one, _, module in modules():
                if one == subject:
                    _run(module.main)()

    return every


def _run(main: Callable[..., None]) -> Callable[..., None]:
    """Run a benchmark, print the tables of its figures, and show treeform's errors as messages."""

    @functools.wraps(main)
    def run(*given: Any, **options: Any) -> None:
        try:
            main(*given, **options)
        except SessionOver:
            print("The time is over; the same command goes on where it stopped.", file=sys.stderr)
        except TreeformError as error:
            print(error, file=sys.stderr)
            raise typer.Exit(1) from None
        for table in TABLES.values():
            if table.source in SESSION.opened and exists(SESSION.folder / f"{table.source}.csv"):
                shown, _ = table.shown(SESSION.folder)
                print(f"\n{shown.title}\n\n{shown.frame.to_string(index=False)}\n\n{shown.note}")
        SESSION.opened.clear()

    return run


if __name__ == "__main__":
    app()()
