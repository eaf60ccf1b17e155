"""The paper's formulation on HiGHS without our help, on runs of the sample behind Table 1.

Of the runs in ``odd_table1.csv`` so many are drawn with a seed of their own; the first of a draw are the draw of fewer.
What the size table found then is kept beside what the paper's formulation finds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.harness.figures import Row, read
from benchmarks.harness.session import DOCS
from benchmarks.odd.protocol import SKELETONS, SPLITS, Job, job_of, read_parts
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.formulations.odd import PaperODD, paper_objective
from treeform.graph import DecisionGraph
from treeform.shape import UNIVARIATE, Shape
from treeform.tradeoff.size_table import price_of_alpha

KEY = ("set", "splits", "skeleton", "alpha")


class Plain(PaperODD):
    """Without first models."""

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph]:
        return iter(())


def one(job: Job, alpha: str, seconds: float) -> dict[str, Any]:
    """A single solve of (17)-(18); its value without the price of the root, as in the size table's rows."""
    (X, y), *_ = read_parts(job.set, job.seed)
    data = Dataset.from_user(X, y)
    shape = SKELETONS[job.skeleton] + ("" if job.splits == UNIVARIATE else f":{job.splits}")
    problem = tf.Problem(data, None, shape=shape)
    problem.minimize(paper_objective(alpha, data, problem.question.shape))
    before, started = user_seconds(), time.perf_counter()
    out: dict[str, Any] = {"n": data.n_samples, "limit": seconds}
    try:
        result = problem.solve(tf.HiGHS(), formulation=Plain(), warm_start=None, time_limit=seconds)
    except TreeformError as error:
        return {**out, "status": error.what}
    free = 0.0
    if result.graph and result.graph.n_nodes:
        free = float(price_of_alpha(problem.question, alpha)) / data.n_samples
    return {
        **out, "status": result.status, "value": max(0.0, round(float(result.objective) - free, 8)),
        "bound_with_root": round(float(result.bound or 0), 8), "cpu": round(user_seconds() - before, 2),
        "wall": round(time.perf_counter() - started, 2),
    }  # fmt: skip


@table("odd_paper")
def compared(rows: Rows) -> Shown:
    """Both sides by kind of splits: what is proved, how long it takes, whose models are better."""
    every = rows.frame.to_dict("records")
    limit, lines = float(every[0]["limit"]), []
    for splits in (*SPLITS, "all"):
        own = [row for row in every if splits in ("all", row["splits"])]
        if not own:
            continue
        proved = [
            sum(row["status"] == "optimal" for row in own),
            sum(row["table: proved"] == "1" for row in own),
        ]
        seconds = [
            sum(float(row["wall"]) if row["status"] == "optimal" else limit for row in own),
            sum(
                min(float(row["table: seconds"]), limit) if row["table: proved"] == "1" else limit
                for row in own
            ),
        ]
        stated = [(float(row["value"]), float(row["table: objective"])) for row in own if row["value"]]
        worse = sum(theirs > mine + 1e-6 for theirs, mine in stated)
        better = sum(theirs < mine - 1e-6 for theirs, mine in stated)
        lines.append(
            [splits, len(own), len(own) - len(stated), *proved, f"{proved[1] / max(proved[0], 1):.1f}",
             *(f"{s:.0f}" for s in seconds), f"{seconds[0] / seconds[1]:.2f}", worse, better]
        )  # fmt: skip
    columns = [
        "splits", "runs", "not stated", "proved: paper's", "proved: size table", "ratio", "seconds: paper's",
        "seconds: size table", "ratio", "size table's model better", "paper's better",
    ]  # fmt: skip
    both = [row for row in every if row["status"] == "optimal" and row["table: proved"] == "1"]
    apart = [sum(float(row[column]) for row in both) for column in ("wall", "table: seconds")]
    note = (
        f"Limits: {limit:g} s of wall clock for a run of the paper's formulation, {limit:g} s for a size table, which "
        "answers five of these runs at once; its seconds are those of the whole table, and whatever is not proved "
        f"counts as {limit:g}. The {len(both)} runs that both prove take {apart[0]:.0f} and {apart[1]:.0f} s. *Not "
        "stated*: two values of a feature are closer than the solver's tolerance, so that (15)-(16) have no epsilon. "
        "The paper's formulation starts from nothing but treeform's bound from identical rows and few terminals. "
        "Every run is in ``odd_paper.csv``."
    )
    return Shown.of(
        "The paper's formulation on HiGHS, and the size table, on the same runs", columns, lines, note
    )


def drawn(rows: list[Row], runs: int, draw: int) -> list[Row]:
    """So many of the runs, at random."""
    return [rows[i] for i in np.random.default_rng(draw).permutation(len(rows))[:runs]]


def main(seconds: float = 60, runs: int = 40, draw: int = 1) -> None:
    """Measure; `seconds` of wall clock for each run."""
    figures = Figures("odd_paper", KEY)
    for row in drawn(read(DOCS / "odd_table1.csv")[2], runs, draw):
        ours = {f"table: {column}": row[column] for column in ("proved", "objective", "seconds")}
        work = partial(one, job_of(row), row["alpha"], seconds)
        figures.measure(lambda work=work, ours=ours: work() | ours, **{column: row[column] for column in KEY})
