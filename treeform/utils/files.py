"""Files that are written whole or not at all, and read within limits of size and depth."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from treeform.errors import SpecError, TreeformError

LARGEST = 1 << 28
"""Bytes of a model, a certificate or a specification that is read."""
DEEPEST = 100
"""Lists and objects within each other in a JSON file that is read; treeform's own have six."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def reason(error: Exception) -> str:
    """Why a file or folder cannot be read, written or made."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "a part of this path is a file, not a folder"
    return getattr(error, "strerror", None) or str(error)


@contextlib.contextmanager
def making(refused: str, fix: str) -> Iterator[None]:
    """A context in which a folder is made; failures are a SpecError with a fix."""
    try:
        yield
    except OSError as error:
        raise SpecError(refused, cause=reason(error), fix=fix) from error


def is_special(path: Path) -> bool:
    """Whether it is a device or pipe, such as /dev/stdout, that is written to and not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8; see `write_bytes`."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:  # half a character, which names and labels may hold
        raise SpecError(
            f"{path} cannot be written as text",
            cause=f"it would hold {text[error.start : error.end]!r}, which UTF-8 has not",
            fix="rename the column, level or label before fitting",
        ) from None
    write_bytes(path, content)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one, never a part.

    Raises SpecError if the file cannot be written after all (disk full, folder gone).
    """
    real = Path(path).resolve()
    try:
        if is_special(real):
            with real.open("wb") as stream:
                stream.write(content)
            return
        _replace(real, content)
    except OSError as error:
        raise SpecError(
            f"{path} cannot be written",
            cause=reason(error),
            fix="make room, or name a file on another disk"
            if error.errno in FULL
            else "name a file in a folder that exists and may be written to",
        ) from error


def check_folder(folder: Path) -> None:
    """Make sure that files can be made in a folder; on Linux by one that has no name, which nothing can leave behind.

    Raises OSError if not.
    """
    with tempfile.TemporaryFile(dir=folder):
        pass


def name_beside(path: Path) -> Path:
    """An unused name in the same folder.

    It is known before the file is made. What makes a file under a name of its own, as `tempfile.mkstemp` does, leaves
    it behind when Ctrl-C comes before the name is returned.
    """
    return path.with_name(f".{path.name}-{secrets.token_hex(4)}")


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _replace(path: Path, content: bytes) -> None:
    name = name_beside(path)
    try:
        with open(name, "xb", opener=_private) as stream:
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


@contextlib.contextmanager
def reading(path: object, kind: str, fix: str, refused: type[TreeformError] = SpecError) -> Iterator[None]:
    """In it a file is read; that there is none, or none that may be read, is an error with what to do.

    ``kind`` is what such files are called, ``fix`` what to do where there is none, ``refused`` the error that is
    raised.
    """
    try:
        yield
    except FileNotFoundError:
        raise refused(f"there is no {kind} {path}", fix=fix) from None
    except OSError as error:
        raise refused(
            f"{path} cannot be read", cause=reason(error), fix="name a file that may be read"
        ) from error


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8.

    Raises OSError if it cannot be read; ValueError if it is no UTF-8, or larger than `LARGEST`.
    """
    with Path(path).open("rb") as stream:
        # The size first, and what a pipe or device gives after it.
        size = os.fstat(stream.fileno()).st_size
        content = b"" if size > LARGEST else stream.read(LARGEST + 1)
    if max(size, len(content)) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST >> 20} megabytes")
    return content.decode("utf-8")


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises ValueError if it is no JSON, holds NaN or Infinity, or is nested deeper than `DEEPEST`.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    refuse_deep(value)
    return value


def is_as_written(value: dict[str, Any], digest: Callable[[dict[str, Any]], str]) -> bool:
    """Whether the digest in a file's content is that of the content."""
    try:
        return bool(value.get("digest") == digest(value))
    except (TypeError, ValueError, RecursionError):
        return False


def refuse_deep(value: Any) -> None:
    """Refuse lists and objects within each other deeper than `DEEPEST`. Raises ValueError."""
    level = [value]
    for _ in range(DEEPEST):
        level = [entry for one in level for entry in _entries(one)]
        if not level:
            return
    raise ValueError(f"it is nested deeper than {DEEPEST} levels")


def _entries(value: Any) -> Iterable[Any]:
    """The lists and objects in a list or object."""
    inner = value.values() if isinstance(value, dict) else value
    return (
        (entry for entry in inner if isinstance(entry, list | dict)) if isinstance(value, list | dict) else ()
    )


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
