"""Trees of scikit-learn from files: skops files are read, pickles are not."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.utils.files import LARGEST, reading

NODES = "sklearn.tree._tree.Tree"
"""Untrusted, says skops: scikit-learn follows its indices unchecked. Here they are checked, and never followed."""

_PICKLES = (".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle")
_OWN_WORDS = (
    "store it where it is trusted: import skops.io; skops.io.dump(tree, 'tree.skops'); or pass the tree itself in "
    "Python: problem.solve(warm_start=tree)"
)


def names_model(text: str) -> bool:
    """Whether a text names a model file rather than a solver, by what it ends in."""
    return text.lower().endswith((".json", ".skops", *_PICKLES))


def is_foreign(path: Path) -> bool:
    """Whether a file is a skops file or a pickle, by its name or its first bytes."""
    if path.suffix.lower() in (".skops", *_PICKLES):
        return True
    try:
        with path.open("rb") as stream:
            start = stream.read(2)
    except OSError:
        return False  # reading it as JSON gives the error
    return start == b"PK" or start[:1] == b"\x80"


def foreign_model(path: Path, rows: Dataset) -> DecisionGraph:
    """The tree of scikit-learn in a skops file, on these rows.

    Raises SpecError if the file is a pickle, cannot be read, holds anything else than one tree, or a tree of other
    columns.
    """
    if path.suffix.lower() in _PICKLES or not _is_zip(path):
        raise SpecError(
            f"{path} is not read: it is a pickle, or no model file",
            cause="reading a pickle (.pkl, .joblib) runs whatever code its writer put into it",
            fix=_OWN_WORDS,
        )
    return DecisionGraph.from_sklearn(_loaded(path), rows)


def _is_zip(path: Path) -> bool:
    with reading(path, "file", "check the path"):
        return zipfile.is_zipfile(path)


def _loaded(path: Path) -> Any:
    try:
        from skops import io
    except ImportError as error:
        raise SpecError(
            f"{path} cannot be read",
            cause=f"the package skops cannot be loaded: {error}",
            fix="pip install skops",
        ) from None
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise SpecError(
            f"{path} is not read",
            cause=f"unpacked it is larger than {LARGEST >> 20} megabytes",
            fix="store one tree, and nothing else",
        )
    try:
        return io.load(path, trusted=[NODES])
    except Exception as error:  # whatever a damaged or hostile file makes skops raise
        raise SpecError(
            f"{path} cannot be read as a tree",
            cause=str(error).splitlines()[0] if str(error) else type(error).__name__,
            fix=f"{_OWN_WORDS}; of a pipeline or a forest, one tree",
        ) from None
