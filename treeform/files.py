"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from treeform.errors import SpecError


def is_special(path: Path) -> bool:
    """Whether it is a device or pipe, such as /dev/stdout, that is written to and not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file so that a reader finds the old one or the whole new one, never a part.

    Raises
    ------
    SpecError
        If the file cannot be written after all (disk full, folder gone).
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
            cause=error.strerror or str(error),
            fix="name a file in a folder that exists and may be written to",
        ) from error


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
