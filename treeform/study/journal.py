"""The folder of a study: each run is a file, written whole or not at all; a study goes on where it stopped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treeform.utils.files import making, parse_json, read_text, write_text


class Journal:
    """Runs that are done, by what they answer; without a folder nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            with making(
                f"the folder {self.folder} of the study cannot be made",
                fix="name a folder that may be written to",
            ):
                (self.folder / "runs").mkdir(parents=True, exist_ok=True)

    def read(self, key: str) -> dict[str, Any] | None:
        """The row of a run that ended without an error; None when there is none, or its file is no JSON."""
        if self.folder is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            row = parse_json(read_text(self._path(key)))
            if isinstance(row, dict) and row.get("status") not in (None, "error"):
                return row
        return None

    def write(
        self, key: str, row: Mapping[str, Any], certificate: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Keep a run; returns its row with the name of its certificate's file."""
        if self.folder is None:
            return dict(row)
        kept = dict(row)
        if certificate is not None:
            path = self._path(key, ".certificate.json")
            write_text(path, json.dumps(certificate))
            kept["certificate"] = str(path.relative_to(self.folder))
        write_text(self._path(key), json.dumps(kept))
        return kept

    def _path(self, key: str, ending: str = ".json") -> Path:
        assert self.folder is not None
        return self.folder / "runs" / f"{key}{ending}"


def key_of(*parts: Any) -> str:
    """A short name for what a run answers: equal for equal parts."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
