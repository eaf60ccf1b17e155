"""The tables of Florio et al. (AAAI 2023) from the rows of `treeform.bench.odd`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean

from treeform.bench.odd import ALPHAS, SKELETONS

Row = dict[str, str]


def table_one(rows: Iterable[Row]) -> str:
    """Table 1: runs proved optimal, and improved over Step 1, by skeleton and alpha; as comma-separated lines.

    A cell reads ``proved/runs``; the last column and line are totals. Below them each kind of splits, and what was
    proved once every alpha had its own time, where it had.
    """
    counted = [row for row in rows if row["proved"]]
    lines = [
        "skeleton,"
        + ",".join(f"proved {a}" for a in ALPHAS)
        + ","
        + ",".join(f"improved {a}" for a in ALPHAS)
    ]
    lines[0] += ",proved,improved"
    for skeleton in (*SKELETONS, "total"):
        own = [row for row in counted if skeleton in ("total", row["skeleton"])]
        if not own:
            continue
        at = {alpha: [row for row in own if row["alpha"] == alpha] for alpha in ALPHAS}
        cells = [_share(at[alpha], "proved") for alpha in ALPHAS]
        cells += [_share(at[alpha], "improved") for alpha in ALPHAS]
        cells += [_share(own, "proved"), _share(own, "improved")]
        lines.append(",".join([skeleton, *cells]))
    for splits in sorted({row["splits"] for row in counted}):
        own = [row for row in counted if row["splits"] == splits]
        lines.append(f"# {splits}: proved {_share(own, 'proved')}, improved {_share(own, 'improved')}")
        if any(row.get("own_proved") for row in own):
            later = f"proved {_share(own, 'own_proved')}, improved {_share(own, 'own_improved')}"
            lines.append(f"# {splits}, with the time limit for each run: {later}")
    return "\n".join(lines)


def stability_table(rows: Iterable[Row]) -> str:
    """Table 2: mean test accuracy under (20), each set and seed at the skeleton and alpha of best validation."""
    usable = [row for row in rows if row["test"]]
    shares = sorted({row["stability"] for row in usable}, key=lambda s: float(s or 0))
    lines = ["splits," + ",".join(f"S = {share or '0'} n" for share in shares)]
    for splits in sorted({row["splits"] for row in usable}):
        cells = []
        for share in shares:
            own = [row for row in usable if row["splits"] == splits and row["stability"] == share]
            best = calibrated(own)
            cells.append(f"{mean(float(row['test']) for row in best):.3f}" if best else "")
        lines.append(",".join([splits, *cells]))
    return "\n".join(lines)


def calibrated(rows: Sequence[Row]) -> list[Row]:
    """For each set and seed the row of best validation accuracy; ties go to fewer tests."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if not row["validation"]:
            continue
        key = (row["set"], row["seed"])
        if key not in best or _merit(row) > _merit(best[key]):
            best[key] = row
    return [best[key] for key in sorted(best)]


def _merit(row: Row) -> tuple[float, int]:
    return float(row["validation"]), -int(row["tests"])


def _share(rows: Sequence[Row], column: str) -> str:
    known = [row for row in rows if row.get(column)]
    return f"{sum(int(row[column]) for row in known)}/{len(known)}"
