"""Modules of the user that are imported before a command begins."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from treeform.errors import SpecError, TreeformError


def import_modules(names: Iterable[str], folder: Path) -> None:
    """Import modules by name (``my_rules``, ``my_package.rules``) or files by path (``rules/fair.py``).

    Files are relative to ``folder``, which is searched first for modules. Raises SpecError if there is no such module,
    or importing it fails.
    """
    for name in names:
        if name.endswith(".py"):
            _import_file(name, folder / name)
        else:
            _import_module(name, folder)


def _import_module(name: str, folder: Path) -> None:
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        importlib.import_module(name)
    except TreeformError:
        raise
    except Exception as error:
        top = name.partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name in (name, top):
            raise SpecError(
                f"there is no module {name!r} to import",
                cause=f"it is neither in the folder {place} nor installed",
                fix=f"name a module, or a file such as {top}.py",
            ) from error
        raise _failed(f"the module {name!r}", error) from error


def _import_file(name: str, path: Path) -> None:
    """Import a file under its own stem, once."""
    if not path.is_file():
        raise SpecError(f"there is no file {name} to import", fix="check the path given with --import")
    loaded = sys.modules.get(path.stem)
    if loaded is not None:
        if Path(getattr(loaded, "__file__", None) or "").resolve() == path.resolve():
            return
        raise SpecError(
            f"{name} cannot be imported",
            cause=f"another module named {path.stem!r} is imported already",
            fix="give the file another name",
        )
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[path.stem]
        if isinstance(error, TreeformError):
            raise
        raise _failed(name, error) from error


def _failed(what: str, error: Exception) -> SpecError:
    return SpecError(
        f"{what} cannot be imported",
        cause=f"{type(error).__name__}: {error}",
        fix="correct it; --debug shows the traceback",
    )
