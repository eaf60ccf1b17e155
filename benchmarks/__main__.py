"""``python -m benchmarks [--out FOLDER] [--again] [--minutes N] SUBJECT [BENCHMARK] [options]``."""

from __future__ import annotations

import inspect
import math
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.harness.session import DOCS, SESSION, SessionOver
from benchmarks.harness.tables import modules


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
        groups[subject].command(name, help=module.__doc__)(module.main)
    top.callback()(_session)
    return top


def _session(
    out: Annotated[Path, typer.Option(help="Folder of the files of figures.")] = DOCS,
    again: Annotated[bool, typer.Option("--again", help="Measure again what is there.")] = False,
    minutes: Annotated[float, typer.Option(help="Begin no run after so many minutes.")] = math.inf,
) -> None:
    """Benchmarks of treeform: rows that a file of figures has are not measured again."""
    SESSION.folder, SESSION.again, SESSION.until = out, again, time.monotonic() + 60 * minutes


def _all_of(subject: str):
    def every(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            for one, _, module in modules():
                if one == subject:
                    module.main()

    return every


if __name__ == "__main__":
    try:
        app()()
    except SessionOver:
        sys.exit("The time is over; the same command goes on where it stopped.")
