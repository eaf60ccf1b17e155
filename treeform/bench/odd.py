"""The calibration protocol of Florio et al. (AAAI 2023): skeletons, alphas, seeds and splits of the data.

One job is a ladder over numbers of tests for one data set, one kind of splits, one skeleton and one seed; it answers
all alphas at once and makes one row of the table for each.
"""

from __future__ import annotations

import csv
import resource
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.engines import DiagramHeuristic
from treeform.errors import DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.language.objective import Error, Nodes
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
    """One ladder.

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
        """What tells jobs apart in a table."""
        return (self.set, self.splits, self.skeleton, str(self.seed), self.stability)


def jobs_of(
    folder: Path,
    *,
    sets: Sequence[str] = (),
    splits: Sequence[str] = SPLITS,
    skeletons: Sequence[str] = tuple(SKELETONS),
    seeds: Sequence[int] = (0,),
    stabilities: Sequence[str] = ("",),
    sample: int | None = None,
    draw: int = 0,
) -> list[Job]:
    """All jobs of these choices; with ``sample``, so many of them, drawn with the seed ``draw``.

    The first jobs of a draw are the draw of fewer.

    Raises
    ------
    SpecError
        If a name is unknown, or more jobs are drawn than there are.
    """
    known = sorted(path.name.removesuffix(".csv.gz") for path in Path(folder).glob("*.csv.gz"))
    if not known:
        raise SpecError(f"{folder} holds no data sets", cause="no file there ends in .csv.gz")
    for names, among, what in (
        (sets, known, "set"),
        (splits, SPLITS, "kind of splits"),
        (skeletons, SKELETONS, "skeleton"),
    ):
        unknown = [name for name in names if name not in among]
        if unknown:
            raise SpecError(f"there is no {what} {unknown[0]!r}", cause=f"known are {', '.join(among)}")
    every = [Job(*of) for of in product(sets or known, splits, skeletons, seeds, stabilities)]
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


def read_parts(folder: Path, name: str, seed: int) -> list[tuple[pd.DataFrame, np.ndarray]]:
    """Features and classes of the three parts of a set."""
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    return [(X.iloc[rows], y[rows]) for rows in parts(len(frame), seed)]


def run_job(
    job: Job,
    folder: Path,
    time_limit: float,
    solver: Any = None,
    formulation: Any = None,
    each_run: bool = False,
) -> list[dict[str, Any]]:
    """Fill one size table and judge its models on the other parts; one row for each alpha.

    With ``each_run`` every alpha that the ladder left open gets the time limit once more, on its own, and goes on from
    what is known by then; the columns that begin with ``own_`` say what is known after that.
    """
    (X, y), validation, test = read_parts(folder, job.set, job.seed)
    shape = SKELETONS[job.skeleton] + ("" if job.splits == UNIVARIATE else f":{job.splits}")
    try:
        data = Dataset.from_user(X, y)
    except DataError as error:
        return [{**asdict(job), "alpha": alpha, "note": error.what} for alpha in ALPHAS]
    problem = Problem(data, None, shape=shape)
    if job.stability:
        problem += Stability(fraction=Fraction(job.stability))
    started = cpu_seconds()
    how = {
        "solver": solver, "formulation": formulation, "time_limit": time_limit,
        "warm_start": "auto" if formulation is None else None,
    }  # fmt: skip
    ladder = problem.size_table(alphas=ALPHAS, **how)
    spent = cpu_seconds() - started
    own = _each(problem, ladder, how) if each_run else {}
    first = {} if job.stability else step_one(problem)
    rows = []
    for alpha in ALPHAS:
        found = ladder.at_alpha(alpha)
        n = data.n_samples
        row: dict[str, Any] = {
            **asdict(job), "alpha": alpha, "n": n, "features": data.n_features, "classes": data.n_classes,
            "proved": int(found.proved), "objective": _rate(found.objective, n), "bound": _rate(found.bound, n),
            "step1": _rate(first.get(alpha), n), "seconds": round(ladder.seconds, 2), "cpu": round(spent, 2),
            "limit": time_limit,
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


def _each(problem: Problem, ladder: SizeTable, how: dict[str, Any]) -> dict[str, tuple[PriceOptimum, float]]:
    """What is known of each alpha when those that are open had their own time, the dearest first, and that time."""
    own: dict[str, tuple[PriceOptimum, float]] = {}
    for alpha in reversed(ALPHAS):
        seconds = 0.0
        if not ladder.at_alpha(alpha).proved:
            ladder = problem.size_table(alphas=[alpha], start=ladder, **how)
            seconds = ladder.seconds
        own[alpha] = (ladder.at_alpha(alpha), seconds)
    return own


def step_one(problem: Problem) -> dict[str, Fraction]:
    """The value of (18), in errors, of the paper's Step 1: the best of many greedy univariate diagrams, per alpha."""
    question = problem.question
    asked_for = question.shape
    shape = Tree(asked_for.depth) if isinstance(asked_for, Tree) else Diagram(*asked_for.widths)
    out: dict[str, Fraction] = {}
    for asked in ALPHAS:
        price = price_of_alpha(question, asked)
        greedy = Problem(question.data, None, shape=shape).minimize(Error() + price * Nodes())
        graph = greedy.solve(DiagramHeuristic(seconds=STEP_ONE_SECONDS / len(ALPHAS))).graph
        if graph is None:
            continue
        for alpha in ALPHAS:
            each = price_of_alpha(question, alpha)
            value = errors(graph, question.data) + each * max(0, graph.n_nodes - 1)
            out[alpha] = min(out.get(alpha, value), value)
    return out


def run(
    jobs: Iterable[Job], folder: Path, output: Path, *, time_limit: float, parallel: int = 1, **how: Any
) -> Iterator[Job]:
    """Run the jobs that ``output`` does not have yet, append their rows, and give each when it is done."""
    from joblib import Parallel, delayed

    have = {job_of(row).key for row in read_rows(output)} if output.exists() else set()
    waiting = [job for job in jobs if job.key not in have]
    tasks = (delayed(run_job)(job, folder, time_limit, **how) for job in waiting)
    for rows in Parallel(n_jobs=parallel, return_as="generator_unordered")(tasks):
        append(output, rows)
        yield job_of(rows[0])


COLUMNS = (
    "set", "splits", "skeleton", "seed", "stability", "alpha", "n", "features", "classes", "proved", "improved",
    "objective", "bound", "step1", "tests", "train", "validation", "test", "seconds", "cpu", "limit", "note",
    "own_proved", "own_improved", "own_objective", "own_bound", "own_seconds",
)  # fmt: skip


def append(output: Path, rows: Sequence[dict[str, Any]], columns: Sequence[str] = COLUMNS) -> None:
    """Add rows to a table, with its head when it is new; one that exists keeps its columns."""
    new = not output.exists()
    if not new:
        with output.open(newline="", encoding="utf-8") as file:
            columns = next(csv.reader(file), columns)
    with output.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        if new:
            writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table as text."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def job_of(row: dict[str, Any]) -> Job:
    """The job that a row belongs to."""
    return Job(row["set"], row["splits"], row["skeleton"], int(row["seed"]), row["stability"] or "")


def cpu_seconds() -> float:
    """User CPU seconds of this process and its children so far."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _accuracy(graph: DecisionGraph, X: pd.DataFrame, y: np.ndarray) -> float:
    return round(float((graph.predict(X) == y).mean()), 6) if len(y) else float("nan")


def _rate(value: Any, n: int) -> float | str:
    return "" if value is None else round(float(value) / n, 8)
