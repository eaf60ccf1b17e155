"""The calibration protocol: 50/25/25 splits, skeletons, alphas, seeds; Tables 1 and 2 of the paper.

A job is a size table for one data set, kind of splits, skeleton and seed; it answers all alphas. Of many jobs some can
be drawn at random, several can run at once, and with ``--each-run`` every alpha that is left open gets the time limit
once more. The rows of another ``--name`` stand in a file of their own; `benchmarks odd accuracy` and `paper` read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from statistics import mean
from typing import Any

from benchmarks.harness import SESSION, Figures, Rows, Shown, table
from benchmarks.harness.figures import Row
from benchmarks.odd import protocol
from benchmarks.odd.protocol import ALPHAS, KEY, SKELETONS, SPLITS, Job, calibrated, job_of, jobs_of, run_job

CLOCKS = {"wall": "seconds of wall clock", "cpu": "CPU seconds"}
SHARES = ("", "0.05", "0.10", "0.15", "0.20")
PAPER = "The paper, 54 sets and five seeds: univariate .840, .838, .837, .835; multivariate .828, .827, .823, .823."


def run(
    figures: Figures, jobs: Iterable[Job], *, time_limit: float, parallel: int = 1, **how: Any
) -> list[Job]:
    """Run the jobs that the figures lack, and add a row for each alpha as each is done; returns those jobs."""
    from joblib import Parallel, delayed

    waiting = [job for job in jobs if figures.find(**vars(job), alpha=ALPHAS[0]) is None]
    in_time = takewhile(lambda _: not SESSION.over(), waiting)
    done = []
    for rows in Parallel(n_jobs=parallel, return_as="generator_unordered", pre_dispatch="n_jobs")(
        delayed(run_job)(job, time_limit, **how) for job in in_time
    ):
        figures.add(*rows)
        done.append(job_of(rows[0]))
    return done


def share(rows: Sequence[Row], column: str, percent: bool = False) -> str:
    """``3/5`` or ``60 %``: of the runs that say, how many."""
    known = [int(row[column]) for row in rows if row.get(column)]
    if not known:
        return ""
    return f"{100 * mean(known):.0f} %" if percent else f"{sum(known)}/{len(known)}"


@table("odd_table1")
def table_one(rows: Rows) -> Shown:
    """Runs proved optimal and improved over Step 1, by skeleton and alpha, for each kind of splits."""
    runs = [row for row in rows.frame.to_dict("records") if row.get("proved")]
    later = [column for column in ("own_proved", "own_improved") if any(row.get(column) for row in runs)]
    columns = ["splits", "skeleton", *(f"proved, alpha {a}" for a in ALPHAS), "proved", "improved"]
    lines: list[list[str]] = []
    for splits in (*SPLITS, "all"):
        for skeleton in (*SKELETONS, "all") if splits != "all" else ("all",):
            own = [r for r in runs if splits in ("all", r["splits"]) and skeleton in ("all", r["skeleton"])]
            if not own:
                continue
            cells = [share([r for r in own if r["alpha"] == a], "proved") for a in ALPHAS]
            total = share(own, "proved")
            if skeleton == "all":
                total += f" ({share(own, 'proved', percent=True)})"
            improved = share(own, "improved", percent=skeleton == "all")
            lines.append(
                [splits, skeleton, *cells, total, improved, *(share(own, column) for column in later)]
            )
    cpu = {tuple(r[c] for c in ("set", "splits", "skeleton", "seed")): float(r["cpu"]) for r in runs}
    seconds = [*cpu.values(), *([] if cpu else [0.0])]
    note = (
        f"{len(runs)} runs of {len(cpu)} size tables. One thread, {limits_of(runs)}, "
        "all alphas together; the tables "
        f"took {mean(seconds):.0f} seconds of user CPU time each on average, at most {max(seconds):.0f}."
    )
    columns += [column.replace("own_", "in its own time: ") for column in later]
    return Shown.of("Table 1: runs proved optimal, and improved over Step 1", columns, lines, note)


@table("odd_large")
def large(rows: Rows) -> Shown:
    """Runs proved, by alpha, and how far the rest is from a proof, for each kind of splits."""
    runs = [row for row in rows.frame.to_dict("records") if row.get("proved")]
    lines = []
    for splits in SPLITS:
        own = [row for row in runs if row["splits"] == splits]
        if not own:
            continue
        gaps = [float(row["objective"]) - float(row["bound"] or 0) for row in own if row["proved"] == "0"]
        lines.append(
            [
                splits,
                len(own) // len(ALPHAS),
                *(share([row for row in own if row["alpha"] == alpha], "proved") for alpha in ALPHAS),
                f"{share(own, 'proved')} ({share(own, 'proved', percent=True)})",
                f"{mean(gaps):.4f}" if gaps else "",
                share(own, "improved", percent=True),
            ]
        )
    columns = ["splits", "size tables", *(f"alpha {alpha}" for alpha in ALPHAS), "proved"]
    columns += ["mean gap of the open", "improved over Step 1"]
    named = sorted({row["set"] for row in runs})
    cpu = {tuple(row[c] for c in KEY[:-1]): float(row["cpu"]) for row in runs}
    note = (
        f"{len(runs)} runs; {limits_of(runs)}, all alphas together, one thread; user CPU seconds of a size table: "
        f"{mean(cpu.values()):.0f} on average, at most {max(cpu.values()):.0f}. Gaps are shares of the samples. "
        f"{len(named)} sets: {', '.join(named)}."
    )
    return Shown.of("Proved where there are 300 and more rows for training", columns, lines, note)


def limits_of(runs: Iterable[Row]) -> str:
    """In words: the limits of the size tables, on which clock, and how many have each where they differ."""
    jobs = {tuple(row[column] for column in KEY[:-1]): row for row in runs}
    of = Counter((float(row["limit"]), row.get("clock") or "wall") for row in jobs.values())
    several = {key: f" ({count} of them)" if len(of) > 1 else "" for key, count in of.items()}
    named = (f"{key[0]:g} {CLOCKS[key[1]]}{several[key]}" for key in sorted(of))
    return f"for a size table {' or '.join(named)}"


@table("stability")
def table_two(rows: Rows) -> Shown:
    """Mean test accuracy under (20), each set and seed at the skeleton and alpha of best validation accuracy."""
    runs = [row for row in rows.frame.to_dict("records") if row["test"]]
    lines, names = [], []
    for splits in SPLITS:
        of = [row for row in runs if row["splits"] == splits]
        if not of:
            continue
        best = [calibrated(row for row in of if row["stability"] == share) for share in SHARES]
        cells = [f"{mean(float(row['test']) for row in own):.3f}" if own else "" for own in best]
        instances = {(row["set"], row["seed"]) for row in of}
        sets = sorted({name for name, _ in instances})
        names.append(f"{splits.capitalize()}: {', '.join(sets)}.")
        lines.append([splits, len(sets), len(instances), *cells, share(of, "proved", percent=True)])
    note = (
        "Test accuracy (25 %), skeleton I, mean over sets and seeds; the last column: runs proved optimal. "
        f"{' '.join(names)} {PAPER}"
    )
    columns = [
        "splits",
        "sets",
        "sets x seeds",
        "no minimum",
        *(f"S = {share} n" for share in SHARES[1:]),
        "proved",
    ]
    return Shown.of("Test accuracy under a minimum flow through every test", columns, lines, note)


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def main(
    name: str = "odd_table1",
    time_limit: float = 60,
    cpu: float = 0,
    jobs: int = 1,
    sets: str = "",
    splits: str = ",".join(SPLITS),
    skeletons: str = ",".join(SKELETONS),
    seeds: int = 1,
    stability: str = "none",
    min_rows: int = 0,
    sample: int = 0,
    draw: int = 0,
    show: bool = False,
    each_run: bool = False,
    first_step: bool = True,
    formulation: str = "",
    solver: str = "",
) -> None:
    """Measure.

    `time_limit` are wall seconds for each job, `cpu` CPU seconds of its process in their place; `sample` so many jobs
    are drawn with the seed `draw` (0: all); `stability` are shares of (20), such as none,0.05,0.1; `seeds` counts from
    0; `min_rows` leaves sets with fewer rows for training out. With `show` the jobs are listed, and not measured.
    Without `first_step` the paper's Step 1 is left out, which takes two seconds a job.
    """
    wanted = jobs_of(
        sets=names(sets),
        splits=names(splits),
        skeletons=names(skeletons),
        seeds=range(seeds),
        stabilities=["" if share == "none" else share for share in names(stability)],
        min_rows=min_rows,
        sample=sample or None,
        draw=draw,
    )
    if show:
        for job in wanted:
            print(
                f"{job.set} ({protocol.training_rows(job.set)} rows), {job.splits}, {job.skeleton}, seed {job.seed}"
            )
        return
    how: dict[str, Any] = {"formulation": formulation or None, "solver": solver or None, "each_run": each_run}
    how |= {"cpu_time": bool(cpu), "first_step": first_step}
    run(Figures(name, KEY), wanted, time_limit=cpu or time_limit, parallel=jobs, **how)
    SESSION.check_time()
