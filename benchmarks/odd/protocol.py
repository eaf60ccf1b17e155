"""The calibration protocol of Florio et al. (AAAI 2023): skeletons, alphas, seeds and splits of the data.

One job is a size table for one data set, one kind of splits, one skeleton and one seed; it answers
all alphas at once and makes one row of the table for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.diagrams.step_one import step_one as first_models
from benchmarks.harness import folder_of, read_set, user_seconds
from benchmarks.harness.figures import Row
from benchmarks.odd.cpu_limits import limits_in_cpu_seconds
from treeform.data import Dataset
from treeform.errors import DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.problem import Problem
from treeform.requirements import Stability
from treeform.shape import MULTIVARIATE, UNIVARIATE, Diagram, Tree
from treeform.tradeoff.size_table import PriceOptimum, SizeTable, price_of_alpha

SKELETONS = {
    "I": "diagram:1,2,4,8",
    "II": "diagram:1,2,4,4,4",
    "III": "diagram:1,2,3,3,3,3,3",
    "IV": "diagram:1,2,2,2,2,2,2,2",
    "tree": "tree:4",
}
ALPHAS = ("0.01", "0.1", "0.2", "0.5", "1")
SPLITS = (UNIVARIATE, MULTIVARIATE)
STEP_ONE_SECONDS = 2.0


@dataclass(frozen=True)
class Job:
    """One size table.

    Attributes
    ----------
    set : str
        Name of a table ``NAME.csv.gz`` with the column ``target``.
    splits : {"univariate", "multivariate"}
    skeleton : str
        A key of `SKELETONS`.
    seed : int
        Which rows are for training, validation and test.
    stability : str
        Share of the samples that every test sees, (20); empty for none.
    """

    set: str
    splits: str
    skeleton: str
    seed: int = 0
    stability: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What tells jobs apart."""
        return (self.set, self.splits, self.skeleton, str(self.seed), self.stability)


KEY = ("set", "splits", "skeleton", "seed", "stability", "alpha")
"""The columns that tell rows apart: a job, and an alpha."""


def jobs_of(
    *,
    sets: Sequence[str] = (),
    splits: Sequence[str] = SPLITS,
    skeletons: Sequence[str] = tuple(SKELETONS),
    seeds: Sequence[int] = (0,),
    stabilities: Sequence[str] = ("",),
    min_rows: int = 0,
    sample: int | None = None,
    draw: int = 0,
) -> list[Job]:
    """All jobs of these choices; with ``sample``, so many of them, drawn with the seed ``draw``.

    The first jobs of a draw are the draw of fewer. Sets with fewer than ``min_rows`` rows for training are left out.

    Raises
    ------
    SpecError
        If a name is unknown, or more jobs are drawn than there are.
    """
    folder = folder_of("odd")
    known = sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
    if not known:
        raise SpecError(
            f"{folder} holds no data sets", fix="set TREEFORM_DATA to the folder that holds the folder odd"
        )
    for names, among, what in (
        (sets, known, "set"),
        (splits, SPLITS, "kind of splits"),
        (skeletons, SKELETONS, "skeleton"),
    ):
        unknown = [name for name in names if name not in among]
        if unknown:
            raise SpecError(f"there is no {what} {unknown[0]!r}", cause=f"known are {', '.join(among)}")
    large = [name for name in sets or known if not min_rows or training_rows(name) >= min_rows]
    every = [Job(*of) for of in product(large, splits, skeletons, seeds, stabilities)]
    if sample is None:
        return every
    if not 1 <= sample <= len(every):
        raise SpecError(f"{sample} jobs cannot be drawn", cause=f"there are {len(every)}")
    return [every[i] for i in np.random.default_rng(draw).permutation(len(every))[:sample]]


def parts(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows for training (50 %), validation (25 %) and test (25 %)."""
    order = np.random.default_rng(seed).permutation(n)
    half, rest = n // 2, n // 2 + n // 4
    return order[:half], order[half:rest], order[rest:]


def training_rows(name: str) -> int:
    """How many rows of a set are for training."""
    return len(parts(len(read_set("odd", name)[1]), 0)[0])


def read_parts(name: str, seed: int) -> list[tuple[pd.DataFrame, np.ndarray]]:
    """Features and classes of the three parts of a set."""
    X, y = read_set("odd", name)
    return [(X.iloc[rows], y.to_numpy()[rows]) for rows in parts(len(y), seed)]


def run_job(
    job: Job,
    time_limit: float,
    solver: Any = None,
    formulation: Any = None,
    each_run: bool = False,
    cpu_time: bool = False,
    first_step: bool = True,
) -> list[dict[str, Any]]:
    """Fill one size table and judge its models on the other parts; one row for each alpha.

    With ``cpu_time`` the limit is in CPU seconds of this process, which other work on the machine does not shorten.
    Without ``first_step`` no row says what Step 1 finds.

    With ``each_run`` every alpha that the size table left open gets the time limit once more, on its own, and goes on
    from the bounds that there are by then; the columns that begin with ``own_`` say the bounds after that.
    """
    (X, y), validation, test = read_parts(job.set, job.seed)
    shape = SKELETONS[job.skeleton] + ("" if job.splits == UNIVARIATE else f":{job.splits}")
    try:
        data = Dataset.from_user(X, y)
    except DataError as error:
        return [{**asdict(job), "alpha": alpha, "note": error.what} for alpha in ALPHAS]
    problem = Problem(data, None, shape=shape)
    if job.stability:
        problem += Stability(fraction=Fraction(job.stability))
    started = user_seconds()
    how = {
        "solver": solver, "formulation": formulation, "time_limit": time_limit,
        "warm_start": "auto" if formulation is None else None,
    }  # fmt: skip
    with limits_in_cpu_seconds() if cpu_time else nullcontext():
        sizes = problem.size_table(alphas=ALPHAS, **how)
        spent = user_seconds() - started
        own = _each(problem, sizes, how) if each_run else {}
    first = step_one(problem) if first_step and not job.stability else {}
    rows = []
    for alpha in ALPHAS:
        found = sizes.at_alpha(alpha)
        n = data.n_samples
        row: dict[str, Any] = {
            **asdict(job), "alpha": alpha, "n": n, "features": data.n_features, "classes": data.n_classes,
            "proved": int(found.proved), "objective": _rate(found.objective, n), "bound": _rate(found.bound, n),
            "step1": _rate(first.get(alpha), n), "seconds": round(sizes.seconds, 2), "cpu": round(spent, 2),
            "limit": time_limit, "clock": "cpu" if cpu_time else "wall",
        }  # fmt: skip
        if alpha in first and found.objective is not None:
            row["improved"] = int(found.objective < first[alpha])
        if found.graph is not None:
            row |= {"tests": found.graph.n_nodes, "train": _accuracy(found.graph, X, y)}
            row |= {"validation": _accuracy(found.graph, *validation), "test": _accuracy(found.graph, *test)}
        if alpha in own:
            later, seconds = own[alpha]
            row |= {"own_proved": int(later.proved), "own_seconds": round(seconds, 2)}
            row |= {"own_objective": _rate(later.objective, n), "own_bound": _rate(later.bound, n)}
            if alpha in first and later.objective is not None:
                row["own_improved"] = int(later.objective < first[alpha])
        rows.append(row)
    return rows


def _each(problem: Problem, sizes: SizeTable, how: dict[str, Any]) -> dict[str, tuple[PriceOptimum, float]]:
    """The bounds of each alpha when those that are open had their own time, the dearest first, and that time."""
    own: dict[str, tuple[PriceOptimum, float]] = {}
    for alpha in reversed(ALPHAS):
        seconds = 0.0
        if not sizes.at_alpha(alpha).proved:
            sizes = problem.size_table(alphas=[alpha], start=sizes, **how)
            seconds = sizes.seconds
        own[alpha] = (sizes.at_alpha(alpha), seconds)
    return own


def step_one(problem: Problem) -> dict[str, Fraction]:
    """The value of (18), in errors, of the paper's Step 1: the best of many greedy univariate diagrams, per alpha."""
    question = problem.question
    asked_for = question.shape
    shape = Tree(asked_for.depth) if isinstance(asked_for, Tree) else Diagram(*asked_for.widths)
    out: dict[str, Fraction] = {}
    for asked in ALPHAS:
        price = price_of_alpha(question, asked)
        graph = first_models(question.data, shape, price, STEP_ONE_SECONDS / len(ALPHAS)).graph
        if graph is None:
            continue
        for alpha in ALPHAS:
            each = price_of_alpha(question, alpha)
            value = errors(graph, question.data) + each * max(0, graph.n_nodes - 1)
            out[alpha] = min(out.get(alpha, value), value)
    return out


def job_of(row: dict[str, Any]) -> Job:
    """The job that a row belongs to."""
    return Job(row["set"], row["splits"], row["skeleton"], int(row["seed"]), row["stability"] or "")


def calibrated(rows: Iterable[Row]) -> list[Row]:
    """For each set and seed the row of best validation accuracy; ties go to fewer tests."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row["set"], row["seed"])
        if row["validation"] and (key not in best or _merit(row) > _merit(best[key])):
            best[key] = row
    return [best[key] for key in sorted(best)]


def _merit(row: Row) -> tuple[float, int]:
    return float(row["validation"]), -int(row["tests"])


def _accuracy(graph: DecisionGraph, X: pd.DataFrame, y: np.ndarray) -> float:
    return round(float((graph.predict(X) == y).mean()), 6) if len(y) else float("nan")


def _rate(value: Any, n: int) -> float | None:
    return None if value is None else round(float(value) / n, 8)
