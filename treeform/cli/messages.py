"""Messages of the command line on stderr, and its exit codes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from treeform.cli import options as opt
from treeform.cli.modules import import_modules
from treeform.cli.progress import err_console
from treeform.cli.signals import BEFORE
from treeform.data.table_files import CsvForm, csv_form
from treeform.errors import Infeasible, TreeformError, TreeformWarning
from treeform.solve import Limit, Status
from treeform.solve.result import SolveResult
from treeform.utils.budget import has_begun
from treeform.utils.files import FULL, reason
from treeform.utils.rows import BY_LINE, rows_named


class Exit(IntEnum):
    """Exit codes; scripts may rely on them."""

    DONE = 0
    FAILED = 1  #: treeform itself broke down
    BAD_INPUT = 2
    INFEASIBLE = 3
    NO_MODEL = 4
    ON_TRUST = 5  #: ``check``: nothing is false, and something is taken on trust
    FALSE = 6  #: ``check``: something does not hold
    VIOLATED = 7  #: ``judge``, and ``check`` of what it certified: the model violates the problem
    INTERRUPTED = 130
    TERMINATED = 143  #: as interrupted, by SIGTERM; see `treeform.cli.signals`


def exit_code(result: SolveResult) -> Exit:
    """What a solve ends with."""
    if result.status is Status.INFEASIBLE:
        return Exit.INFEASIBLE
    if result.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    return Exit.NO_MODEL if result.status is Status.UNKNOWN else Exit.DONE


def show_error(error: TreeformError) -> None:
    """Print what happened, why, and what to do."""
    console = err_console()
    console.print(Text.assemble(("error: ", "bold red"), (error.what, "red")), soft_wrap=True)
    for word, text in (("why", error.cause), ("fix", error.fix)):
        if text:
            console.print(Text.assemble((f"  {word}: ", "bold"), str(text)), soft_wrap=True)


def warn(text: str) -> None:
    """Print a warning."""
    err_console().print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)


@contextmanager
def _own_warnings() -> Iterator[None]:
    """Warnings of treeform are printed as such; others go their usual way."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if isinstance(message, TreeformWarning):
            warn(str(message))
        else:
            usual(message, category, *place)

    with warnings.catch_warnings():
        warnings.simplefilter("always", TreeformWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def command(function: Callable[..., Exit | None]) -> Callable[..., None]:
    """Run a command: our own errors become messages and exit codes, never tracebacks (unless ``--debug``).

    Every command gets ``--import``, for modules that are imported before it begins, and ``--debug``; every command that
    reads a table gets ``--sep``, ``--decimal`` and ``--encoding``.
    """
    declared = inspect.signature(function, eval_str=True).parameters

    @functools.wraps(function)
    def run(*args: Any, debug: bool = False, import_: Sequence[str] | None = None, **kwargs: Any) -> None:
        try:
            import_modules(import_ or (), Path.cwd())
            form = CsvForm.of(
                *(None if name in declared else kwargs.pop(name, None) for name in opt.CSV_FORM)
            )
            with rows_named(BY_LINE), _own_warnings(), csv_form(form):
                code = function(*args, **kwargs) or Exit.DONE
            sys.stdout.flush()
        except TreeformError as error:
            if debug:
                traceback.print_exc()
            show_error(error)
            code = Exit.INFEASIBLE if isinstance(error, Infeasible) else Exit.BAD_INPUT
        except KeyboardInterrupt as ended:
            when = str(ended) or "before the whole answer was there"
            err_console().print(f"interrupted {when}" if has_begun() else BEFORE)
            code = Exit.INTERRUPTED
        except BrokenPipeError:  # the reader of stdout has gone; that is its right
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = Exit.DONE
        except OSError as error:
            if debug:
                raise
            code = refused_by_system(error)
        except MemoryError:
            if debug:
                raise
            show_error(
                TreeformError(
                    "memory ran out",
                    cause="the table and what is made of it need more than this process may have",
                    fix="leave columns or rows out, or raise the limit on the memory of processes (ulimit -v)",
                )
            )
            code = Exit.FAILED
        except Exception as error:
            if debug:
                raise
            text = f"{type(error).__name__}: {error}"
            show_error(
                TreeformError(
                    "treeform broke down", cause=text, fix="run again with --debug and report what it prints"
                )
            )
            code = Exit.FAILED
        raise typer.Exit(int(code))

    opt.accept(run, _shared_options(declared.values()))
    return run


def refused_by_system(error: OSError) -> Exit:
    """Print what the operating system refused, such as to write to a disk that is full; the code to end with."""
    place = f" ({error.filename})" if error.filename else ""
    full = error.errno in FULL
    refusal = TreeformError(
        "there is no room to write" if full else "the operating system refused to read or write",
        cause=f"{reason(error)}{place}",
        fix=f"make room on the disk of the output, and in {tempfile.gettempdir()}, or name another folder in TMPDIR"
        if full
        else "run again with --debug to see what was read or written",
    )
    show_error(refusal)
    try:
        sys.stdout.flush()
    except OSError:  # stdout itself is full: what is left goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.BAD_INPUT


def _shared_options(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters of a command with those that every command has, and those of every command that reads a table."""
    kept = list(parameters)
    names = {p.name for p in kept}
    more = dict(opt.EVERYWHERE) | (opt.CSV_FORM if "data" in names else {})
    return kept + [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in more.items()
        if name not in names
    ]
