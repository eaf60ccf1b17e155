"""Where the source of a documented name is on the code host, for `sphinx.ext.linkcode`.

``DOCS_SOURCE`` is the address of the repository's files at the version that is built; without it there are no links.
"""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def lines_of(module: str, fullname: str) -> tuple[Path, int, int] | None:
    """File within the repository, first and last line of a name; None of what has no Python source here."""
    try:
        found = inspect.unwrap(attrgetter(fullname)(import_module(module)))
        if isinstance(found, property):
            found = found.fget
        path = Path(inspect.getsourcefile(found) or "").resolve().relative_to(ROOT)
        lines, first = inspect.getsourcelines(found)
    except (AttributeError, ImportError, OSError, TypeError, ValueError):
        return None
    return path, first, first + len(lines) - 1


def link_to(domain: str, info: dict[str, str]) -> str | None:
    """The address of a name's source; see `sphinx.ext.linkcode`."""
    base = os.environ.get("DOCS_SOURCE")
    where = lines_of(info["module"], info["fullname"]) if base and domain == "py" and info["module"] else None
    if base is None or where is None:
        return None
    path, first, last = where
    return f"{base.rstrip('/')}/{path.as_posix()}#L{first}-L{last}"
