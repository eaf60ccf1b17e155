"""Command lines that cannot be read: what is wrong, what was probably meant, and where the options are listed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from treeform.catalogue.requirements import names
from treeform.cli.messages import Exit, show_error
from treeform.cli.spec import spec_keys
from treeform.cli.sweep import StudyPart
from treeform.errors import SpecError, did_you_mean, listing

UsageError: Any = typer.BadParameter.__base__
"""Typer's class for everything that is wrong with a command line; it has no public name."""

ELSEWHERE = {
    "depth": "--shape tree:3",
    "max-depth": "--shape tree:3",
    "widths": "--shape diagram:1,2,3",
    "threads": "--solver contree:threads=2",
    "label": "--target COLUMN",
    "features": "--exclude COLUMN, for each column that no test may read",
    "format": "--to sql",
    "output": "--model, --certificate or --report",
    "tolerance": "--within 0.05",
    "epsilon": "--within 0.05",
}
"""What options of other programs are called here."""


class Commands(TyperGroup):
    """The commands; a command line that cannot be read is an error of ours."""

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        if not args:  # shows the help
            return super().make_context(info_name, args, *more, **extra)
        with _readable():
            return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _readable(ctx):
            return super().invoke(ctx)


@contextmanager
def _readable(context: Any = None) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        command = context and f"{context.command_path} {context.invoked_subcommand}"
        show_error(_explained(error, command or "treeform"))
        raise typer.Exit(int(Exit.BAD_INPUT)) from None


def _explained(error: Any, command: str) -> SpecError:
    command = error.ctx.command_path if error.ctx else command  # not all errors of the parser know it
    where = f"{command} --help lists the {'commands' if command == 'treeform' else 'options'}"
    if not hasattr(error, "possibilities"):
        taken = [] if error.ctx is None else error.ctx.command.params
        own = [one.name for one in taken if one.param_type_name == "argument"]
        text = error.format_message().rstrip(".")
        if refused := re.search(r"path '(.*)' is not readable$", text):
            return SpecError(
                f"{refused[1]} cannot be read", cause="Permission denied", fix="name a file that may be read"
            )
        surplus = own and "extra argument" in text
        return SpecError(
            text, cause=f"it takes {', '.join(own)}, and options with their names" if surplus else None, fix=where
        )
    meant = _meant(error.option_name.lstrip("-").replace("_", "-"), error.ctx)
    return SpecError(
        f"{command} has no option {error.option_name}", fix=f"{meant} {where}" if meant else where
    )


def _meant(word: str, context: Any) -> str | None:
    """A sentence with what was probably meant by an option that there is not."""
    own = _options(context.command)
    word = next(iter(difflib.get_close_matches(word, ELSEWHERE, 1, 0.8)), word)
    if word in own:
        return f"write --{word}."
    if word in ELSEWHERE and ELSEWHERE[word].split()[0].removeprefix("--") in own:
        return f"write {ELSEWHERE[word]}."
    if "require" in own and (name := word.replace("-", "_")) in names():
        return f"it is a requirement: write --require {name}:VALUE."
    if any(one.name == "study" for one in context.command.params):
        key = {"require": "requirements"}.get(word, word.replace("-", "_"))
        if key in {*spec_keys(), *StudyPart.model_fields}:
            return f"the file of a study has it as the key {key}; see examples/study.toml."
    siblings = {} if context.parent is None else context.parent.command.commands
    if takes := [name for name, command in siblings.items() if word in _options(command)]:
        return f"it is an option of {listing(takes)}."
    # Names are made of words: "limit" is one of "time_limit".
    close = did_you_mean(word.replace("-", "_"), [one.replace("-", "_") for one in own], others=1)
    return close and re.sub("'([^']+)'", lambda name: "--" + name[1].replace("_", "-"), close)


def _options(command: Any) -> list[str]:
    """The long options of a command that its help shows, without dashes."""
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    return [text.removeprefix("--") for one in shown for text in one.opts if text.startswith("--")]
