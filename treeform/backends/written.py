"""Models as LP and MPS files, written by HiGHS; in a child where OR-Tools was loaded before it and they clash."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from treeform.backends.child import Child
from treeform.backends.highs import HiGHS, pass_model
from treeform.backends.packages import blocked
from treeform.backends.ranges import with_cutoff
from treeform.bridges import route
from treeform.errors import SpecError
from treeform.model import Linear, Model
from treeform.utils.files import check_folder, reason

SUFFIXES = (".lp", ".mps")


def write_model(model: Model, path: str | Path, suffix: str) -> None:
    """Write a model, rewritten to linear rows, as HiGHS writes it, to a path that ends in ``suffix``.

    Raises SpecError if the name ends otherwise, or the file cannot be written; RouteError if the model cannot be stated
    in linear rows, such as one with squares; SolverNotAvailable without HiGHS.
    """
    target = Path(path)
    if target.suffix.lower() != suffix:
        raise SpecError(f"{path} does not end in {suffix}", fix=f"write to {target.with_suffix(suffix)}")
    try:
        check_folder(target.parent)
    except OSError as error:
        raise SpecError(
            f"{path} cannot be written", cause=reason(error), fix="choose another folder"
        ) from error
    backend = HiGHS()
    backend.require()
    task = {"model": route(backend.capabilities).apply(model), "path": str(target)}
    if blocked("highspy"):
        child = Child()
        try:
            written = child.call(__name__, write_here.__name__, task)
        finally:
            child.close()
    else:
        written = write_here(task)
    if not written:
        raise SpecError(f"{path} cannot be written", fix="choose another name")


def write_here(task: dict[str, Any]) -> bool:
    """Write a model of linear rows by HiGHS in this process; whether it could."""
    lowered = task["model"]
    highs = HiGHS().instance()
    pass_model(highs, lowered, with_cutoff(lowered, None), lowered.lb, lowered.ub)
    used: set[str] = set()
    for col in range(lowered.n_cols):
        highs.passColName(col, _name(lowered.column_name(col), used))
    used, row = set(), 0
    for block in lowered.blocks:
        if isinstance(block, Linear):
            for number in range(block.n_rows):
                highs.passRowName(row, _name(f"{block.name}_{number}", used))
                row += 1
    return "kError" not in str(highs.writeModel(task["path"]))


def _name(text: str, used: set[str]) -> str:
    """A name that LP and MPS files take, once: letters, digits and underscores, and no number at the beginning."""
    plain = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_") or "x"
    plain = f"x_{plain}" if plain[0].isdigit() or plain[0] in "eE" else plain
    name, number = plain, 1
    while name in used:
        number += 1
        name = f"{plain}_{number}"
    used.add(name)
    return name
