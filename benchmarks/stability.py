"""Table 2 of Florio et al. (AAAI 2023): accuracy when every test has to be reached by S samples, constraint (20).

Usage: ``python benchmarks/stability.py ROWS.csv``, where the rows come from ``treeform bench odd`` with and without
``--stability 0.05,0.10,0.15,0.20``. For every set and seed the alpha of best validation accuracy counts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean

from tables import write

from treeform.bench.odd import read_rows
from treeform.bench.tables import calibrated

SHARES = ("", "0.05", "0.10", "0.15", "0.20")
PAPER = "The paper, 54 sets and five seeds: univariate .840, .838, .837, .835; multivariate .828, .827, .823, .823."


def main() -> None:
    rows = [row for row in read_rows(Path(sys.argv[1])) if row["test"]]
    lines = []
    for splits in ("univariate", "multivariate"):
        of = [row for row in rows if row["splits"] == splits]
        cells, proved = [], [row["proved"] == "1" for row in of]
        for share in SHARES:
            best = calibrated([row for row in of if row["stability"] == share])
            cells.append(f"{mean(float(row['test']) for row in best):.3f}" if best else "")
        runs = {(row["set"], row["seed"]) for row in of}
        lines.append(
            [splits, len({name for name, _ in runs}), len(runs), *cells, f"{100 * mean(proved):.0f} %"]
        )
    names = {
        splits: sorted({row["set"] for row in rows if row["splits"] == splits})
        for splits in ("univariate", "multivariate")
    }
    note = (
        f"Test accuracy (25 %), skeleton I, mean over sets and seeds; the last column: runs proved optimal. "
        f"Univariate: {', '.join(names['univariate'])}. Multivariate: {', '.join(names['multivariate'])}. {PAPER}"
    )
    header = [
        "splits",
        "sets",
        "sets x seeds",
        "no minimum",
        *(f"S = {share} n" for share in SHARES[1:]),
        "proved",
    ]
    write("stability", "Test accuracy under a minimum flow through every test", header, lines, note)


if __name__ == "__main__":
    main()
