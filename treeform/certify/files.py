"""Certificates and their tables from files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from treeform.certify.schema import DocumentPart
from treeform.data.table_files import read_table
from treeform.errors import CertificateError
from treeform.utils.files import parse_json, read_text, reading


def read_json_file(
    path: str | os.PathLike[str],
    what: str = "certificate",
    written_by: str = "result.certificate().save(path)",
) -> Any:
    """What a JSON file holds.

    Raises SpecError if there is no such file, or it cannot be read; CertificateError if it is no JSON.
    """
    with reading(path, f"{what} file", f"write one with {written_by}"):
        try:
            return parse_json(read_text(Path(path)))
        except ValueError as error:  # not UTF-8, or not JSON
            raise CertificateError(
                f"{path} is no {what} file",
                cause=str(error).splitlines()[0],
                fix=f"use what {written_by} wrote",
            ) from error


def read_training_table(
    path: str | os.PathLike[str], body: DocumentPart, y: Any, sample_weight: Any
) -> tuple[Any, Any, Any]:
    """The table of a file, the target, and the weights, which are a column where the certificate names one."""
    table = read_table(Path(path))
    weight = body.metadata.weight
    if sample_weight is None and weight is not None and weight in table:
        sample_weight = table.pop(weight)
    return table, body.metadata.target if y is None else y, sample_weight
