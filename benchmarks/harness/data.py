"""The data sets: folders in ``TREEFORM_DATA``, one for each subject, of tables ``NAME.csv.gz`` with ``target``."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from benchmarks.harness.session import ROOT


def folder_of(subject: str) -> Path:
    """The folder of a subject's sets; it need not exist."""
    return Path(os.environ.get("TREEFORM_DATA", ROOT.parent / "shared" / "data")) / subject


def named(subject: str, names: str = "") -> list[str]:
    """Names with commas between them; all sets of the subject when there are none.

    A set that is not there is left out, with a message.
    """
    folder = folder_of(subject)
    there = sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
    wanted = [name.strip() for name in names.split(",") if name.strip()] or there
    for name in set(wanted) - set(there):
        print(f"left out: {name} (not in {folder}; TREEFORM_DATA is the folder that holds {subject}/)")
    if not wanted:
        print(f"nothing to do: {folder} holds no sets; TREEFORM_DATA is the folder that holds {subject}/")
    return [name for name in wanted if name in there]


def read_set(subject: str, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Features and classes."""
    frame = pd.read_csv(folder_of(subject) / f"{name}.csv.gz")
    return frame.drop(columns="target"), frame["target"]
