"""Output files: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from treeform.errors import SpecError


def check_writable(outputs: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Make sure that every output can be written, before hours are spent on what goes into it.

    Raises
    ------
    SpecError
        If a folder is missing or read-only, a path is a folder, two outputs are one file, or an output would
        replace an input.
    """
    seen: dict[Path, Path] = {}
    sources = {path.resolve() for path in inputs}
    for path in outputs:
        real = path.resolve()
        if real in sources:
            raise SpecError(f"{path} would replace the input", fix="give the output another name")
        if real in seen and not is_special(real):
            raise SpecError(f"{path} is named for two outputs", fix="give each output a file of its own")
        seen[real] = path
        _check_one(path, real)


def _check_one(path: Path, real: Path) -> None:
    if is_special(real):
        return
    if real.is_dir():
        raise SpecError(
            f"{path} is a folder", cause="an output is a file", fix=f"write to {path / 'model.json'}"
        )
    folder = real.parent
    if not folder.is_dir():
        raise SpecError(
            f"{path} cannot be written", cause=f"there is no folder {folder}", fix=f"mkdir -p {folder}"
        )
    if real.exists() and not os.access(real, os.W_OK):
        raise SpecError(f"{path} cannot be written", cause="the file is read-only", fix="choose another name")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".treeform-"):
            pass
    except OSError as error:
        raise SpecError(
            f"{path} cannot be written", cause=f"{folder}: {error.strerror}", fix="choose another folder"
        ) from error


def is_special(path: Path) -> bool:
    """Whether it is a device or pipe, such as /dev/stdout, that is written to and not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one, never a part.

    Raises
    ------
    SpecError
        If the file cannot be written after all (disk full, folder gone).
    """
    real = path.resolve()
    try:
        if is_special(real):
            with real.open("wb") as stream:
                stream.write(content)
            return
        _replace(real, content)
    except OSError as error:
        raise SpecError(f"{path} cannot be written", cause=error.strerror or str(error)) from error


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, name)
        else:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
