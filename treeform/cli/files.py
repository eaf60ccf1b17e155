"""Output files are checked before the work begins, and written after the answer was shown."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

from treeform.cli.messages import Exit, show_error
from treeform.errors import SpecError
from treeform.utils.files import check_folder, is_special, reason


def check_writable(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Check that every requested output can be written, before the work begins.

    Raises SpecError if a folder is missing or read-only, a path is a folder, two outputs are one file, or an output
    would replace an input.
    """
    seen: dict[Path, Path] = {}
    sources = {path.resolve() for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        real = path.resolve()
        if real in sources:
            raise SpecError(f"{path} would replace the input", fix="give the output another name")
        if real in seen and not is_special(real):
            raise SpecError(f"{path} is named for two outputs", fix="give each output a file of its own")
        seen[real] = path
        _check_one(path, real)


class Unwritten:
    """Files that could not be written after all: the others, and the answer itself, come first."""

    def __init__(self) -> None:
        self._errors: list[SpecError] = []

    def write(self, write: Callable[..., object], *given: object) -> None:
        """Call ``write``, and keep its refusal for the end."""
        try:
            write(*given)
        except SpecError as error:
            self._errors.append(error)

    def end(self, code: Exit) -> Exit:
        """Show what could not be written; the code to end with."""
        for error in self._errors:
            show_error(error)
        return Exit.BAD_INPUT if self._errors else code


def new_file(path: Path) -> Path:
    """The path, if no file is there: only a file that was named is overwritten. Raises SpecError if there is one."""
    if path.exists():
        raise SpecError(
            f"{path} is there already",
            cause="no output was named, and a file that was not named is not overwritten",
            fix=f"name the output: --output {path} overwrites it",
        )
    return path


def _check_one(path: Path, real: Path) -> None:
    folder = real.parent
    try:
        if is_special(real):
            return
        if real.is_dir():
            raise SpecError(f"{path} is a folder", cause="an output is a file", fix="name a file in it")
        if not folder.is_dir():
            raise SpecError(
                f"{path} cannot be written",
                cause=f"there is no folder {folder}",
                fix=f"mkdir -p {shlex.quote(str(folder))}",
            )
        if real.exists() and not os.access(real, os.W_OK):
            raise SpecError(
                f"{path} cannot be written", cause="the file is read-only", fix="choose another name"
            )
        check_folder(folder)
    except OSError as error:
        raise SpecError(
            f"{path} cannot be written", cause=f"{folder}: {reason(error)}", fix="choose another folder"
        ) from error
