"""What a sweep returns: one row for each run, and what they have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from treeform.data.table_files import check_kind, write_table
from treeform.errors import SpecError
from treeform.study.page import render_study
from treeform.utils.files import write_text
from treeform.utils.notebook import Printed
from treeform.utils.text import count_of

MEASURES = ("train_error", "test_error", "tests", "gap", "seconds")


@dataclass(frozen=True)
class StudyProgress:
    """The state of a study: how many of its runs are done, and the row of the last one."""

    done: int
    total: int
    row: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Study(Printed):
    """All runs of a sweep.

    Attributes
    ----------
    table : DataFrame
        One row for each run that ended, in the order of the grid: ``run``, the settings, ``seed`` and ``fold``,
        ``status`` ("optimal", "feasible", "infeasible", "unknown" or "error"), ``objective``, ``bound``, ``gap``,
        ``train_error`` and ``test_error`` (shares of the weight; mean losses in regression),
        ``depth``, ``tests``, ``seconds``, ``answered_by``,
        ``limit``, ``certificate`` (a file in the folder of the study), ``message`` (of an error), and ``held_out NAME``
        for each requirement: what its model lacks of it on the rows held out.
    settings : tuple of str
        The columns that are settings.
    total : int
        The number of runs of the grid; more than there are rows where the sweep was stopped.
    shares : bool
        Whether errors are shares of the weight; in regression they are mean losses.
    """

    table: pd.DataFrame
    settings: tuple[str, ...]
    total: int
    shares: bool = True

    @property
    def complete(self) -> bool:
        """Whether every run has ended, and without an error."""
        return len(self.table) == self.total and not bool((self.table["status"] == "error").any())

    def summary(self) -> pd.DataFrame:
        """Means over folds for each combination of settings, in the order of the grid.

        Returns
        -------
        DataFrame
            The settings, ``runs`` (without errors, so perhaps 0), the share ``proved`` of them, means of measures, and
            ``standard_error``: that of the mean of ``test_error``, or of ``train_error`` where nothing is held out.
        """
        score = self.score
        rows = []
        for values, group in (
            self.table.groupby(list(self.settings), sort=False, dropna=False) if self.settings else ()
        ):
            done = group[group["status"] != "error"]
            row = dict(zip(self.settings, values, strict=True))
            row |= {"runs": len(done), "proved": (done["status"] == "optimal").sum() / max(len(done), 1)}
            row |= {name: done[name].astype(float).mean() for name in MEASURES}
            row["standard_error"] = done[score].astype(float).sem() if len(done) > 1 else float("nan")
            rows.append(row)
        return pd.DataFrame(rows, columns=[*self.settings, "runs", "proved", *MEASURES, "standard_error"])

    def best(self) -> dict[str, Any]:
        """Settings of the smallest models whose mean error is within one standard error of the least.

        The error is that on rows held out, where there are any. "Smallest" is the mean number of tests; ties are
        broken by the error.

        Raises
        ------
        SpecError
            If no run has a model.
        """
        table, score = self.summary(), self.score
        known = table[table[score].notna()]
        if known.empty:
            raise SpecError(
                "no run of this study has a model", fix="see the columns status and message of its table"
            )
        least = int(np.argmin(known[score].to_numpy(float)))
        spread = float(known["standard_error"].to_numpy(float)[least])
        most = float(known[score].to_numpy(float)[least]) + (0.0 if np.isnan(spread) else spread)
        near = known[known[score] <= most].sort_values(["tests", score], kind="stable")
        return {name: near[name].tolist()[0] for name in self.settings}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table: ``.csv``, ``.csv.gz``, ``.parquet`` or ``.feather``.

        In the last two, settings and objectives that are not all whole are text.

        Parameters
        ----------
        path : str or Path
            Where to; an earlier file is replaced.

        Raises
        ------
        SpecError
            If the name ends otherwise, or the file cannot be written.
        """
        target = Path(path)
        check_kind(target)
        texts = [*self.settings, *self._mixed()] if target.suffix in (".parquet", ".feather") else []
        write_table(target, self.table.astype(dict.fromkeys(texts, "string")))

    def _mixed(self) -> list[str]:
        """Columns of values of several types, which Parquet has not: objectives such as 3 and "1522/7"."""
        return [str(name) for name in self.table if self.table[name].dropna().map(type).nunique() > 1]

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A self-contained page: the choice of `best`, heat maps of the settings, errors against size, all means.

        Parameters
        ----------
        path : path, optional
            Where to write it.

        Returns
        -------
        str
            The page; it shows without a network.

        Raises
        ------
        SpecError
            If it cannot be written.
        """
        page = render_study(self)
        if path is not None:
            write_text(Path(path), page)
        return page

    def __str__(self) -> str:
        errors = int((self.table["status"] == "error").sum())
        proved = int(self.table["status"].isin(["optimal", "infeasible"]).sum())
        head = f"{len(self.table)} of {count_of(self.total, 'run')}, {proved} proved" + (
            f", {count_of(errors, 'error')}" if errors else ""
        )
        if self.table.empty or not self.settings:
            return head
        shown = self.summary().drop(columns=["gap"])
        return f"{head}\n{shown.to_string(index=False, float_format=lambda x: f'{x:.4g}')}"

    @property
    def score(self) -> str:
        """The column that judges: ``test_error``, or ``train_error`` where nothing is held out."""
        return "test_error" if bool(self.table["test_error"].notna().any()) else "train_error"


def study_of(
    rows: Sequence[Mapping[str, Any]], settings: tuple[str, ...], total: int, shares: bool = True
) -> Study:
    """A study from the rows of its runs, whatever order they ended in."""
    ordered = sorted(rows, key=lambda row: int(row["run"]))
    names = [*FIRST, *settings, *LAST]
    more = dict.fromkeys(name for row in ordered for name in row if name not in names)
    return Study(pd.DataFrame(list(map(dict, ordered)), columns=[*names, *more]), settings, total, shares)


FIRST = ("run",)
LAST = (
    "seed", "fold", "status", "objective", "bound", "gap", "train_error", "test_error", "depth", "tests", "seconds",
    "answered_by", "limit", "certificate", "message",
)  # fmt: skip
