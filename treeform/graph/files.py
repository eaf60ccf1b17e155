"""Files of models and drawings."""

from __future__ import annotations

from pathlib import Path

from treeform.errors import SpecError


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file; text as UTF-8.

    Raises
    ------
    SpecError
        If it cannot be written.
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    try:
        Path(path).write_bytes(raw)
    except OSError as error:
        raise SpecError(
            f"{path} cannot be written",
            cause=error.strerror or str(error),
            fix="name a file in a folder that exists and may be written to",
        ) from error
