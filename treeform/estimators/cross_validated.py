"""Depth and complexity penalty by cross-validation: what the ``...CV`` estimators share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from treeform.data import Dataset
from treeform.data.table import read_table
from treeform.errors import SpecError, TreeformError, did_you_mean, one_line, warn_caller
from treeform.estimators.base import AS_GIVEN, OptimalEstimator
from treeform.estimators.candidates import Candidates, learn, part_of
from treeform.estimators.complexity import price_of, total_weight
from treeform.estimators.refusals import OF_SCORES, SCORES, in_our_words
from treeform.graph.reading import is_model
from treeform.shape import Shape, Tree
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.budget import Budget

DEPTHS = tuple(range(1, 7))
WITHOUT_A_TREE = "loosen a requirement, allow a greater depth, or give it more time"
SELECTIONS = ("close", "best", "one_standard_error")
CLOSE = 0.25
"""Standard errors of a difference of scores, up to which the smaller tree is taken. Chosen on ten sets, and as good on
twenty-four others: some six per cent fewer leaves than the best score has, and within one per cent of its errors."""
OF_READING = 6
"""Seconds that all but the searches of a fold take, about, for each one that reading the whole table takes."""
LEAST_ROWS = 1000
"""Of a part of a fold."""
OF_CROSS_VALIDATION = ("max_depth", "ccp_alphas", "cv", "scoring", "n_jobs", "select")


@dataclass(frozen=True)
class Rows:
    """A table with its target, weights and groups."""

    X: Any
    y: Any
    sample_weight: Any
    sensitive_features: Any

    @classmethod
    def of(cls, *parts: Any) -> Rows:
        """The parts as what rows can be taken from."""
        with in_our_words():
            return cls(*indexable(*parts))

    def at(self, rows: Ints) -> Rows:
        """Some of the rows."""
        parts = (self.X, self.y, self.sample_weight, self.sensitive_features)
        return Rows(*(None if part is None else _safe_indexing(part, rows) for part in parts))


@dataclass(frozen=True)
class _Fold:
    """What one fold says: its score and number of tests for each setting."""

    scores: list[float]
    tests: list[float]
    """NaN in both where no tree of the depth satisfies the requirements."""


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidatedTree(OptimalEstimator):
    """Chooses ``max_depth`` and ``ccp_alpha`` by cross-validation, and learns the tree on all rows with them.

    On every fold, and on all rows, trees of all depths, and of the greatest one at several penalties, are learnt once;
    a complexity penalty chooses among them and their prunings, so that a penalty more costs no search. The time limit
    is for everything together: an equal part for each table, and one for the tree at the end. Where reading would take
    most of it, the folds are of a part of the rows, and a warning says so.
    """

    max_depth: Any = field(default=DEPTHS, kw_only=False)
    ccp_alphas: Any = None
    cv: Any = None
    scoring: Any = None
    n_jobs: int | None = None
    select: str = "close"

    ccp_alpha: Any = field(default=0.0, init=False)
    """What is chosen; of no table as a whole."""
    best_params_: dict[str, Any] = field(init=False)

    def _single(self) -> type[OptimalEstimator]:
        """The estimator of one depth and penalty."""
        raise AssertionError("each estimator names the one that it chooses the parameters of")

    def _shape(self) -> Shape:
        return Tree(self.best_params_["max_depth"])

    # ---------------------------------------------------------------- fitting

    def _fit(self, rows: Rows) -> Self:
        self._check()
        depths = _depths(self.max_depth)
        self._validated(rows.X, rows.y, rows.sample_weight)
        with in_our_words():
            scorer = check_scoring(self, self.scoring)
            splits = list(check_cv(self.cv, rows.y, classifier=is_classifier(self)).split(rows.X, rows.y))
        self.n_splits_ = len(splits)
        self.scorer_ = scorer
        budget = Budget(self.time_limit)
        one = self._at(0)
        table = one._table(rows.X, rows.y, rows.sample_weight)
        data = self._for_prices(one, table)
        reading = budget.seconds
        share = Budget(part_of(budget, len(splits) + 2))
        watch = self._watch(budget, "all rows", 0)
        whole = self._learn(depths, data, rows, share, on_progress=watch)
        settings = list(self._settings([depth for depth in depths if whole.best(depth, Fraction(0))], whole))
        if not settings:
            what = f"no tree of depth {depths[-1]} that satisfies the requirements was found"
            raise SpecError(what, fix=WITHOUT_A_TREE)
        if budget.remaining is not None:
            room = budget.remaining / (len(splits) + 1)
            splits = _in_time(splits, table, room / (OF_READING * reading))
        folds = self._folds(depths, settings, rows, splits, budget)
        self._choose(settings, folds)
        return self._learn_best(whole, table, rows, budget)

    def _check(self) -> None:
        if self.select not in SELECTIONS:
            raise SpecError(f"select={self.select!r} is not known", fix=f"use one of {', '.join(SELECTIONS)}")
        if isinstance(self.scoring, str) and self.scoring not in (names := get_scorer_names()):
            meant = did_you_mean(self.scoring, names, others=2)
            raise SpecError(
                f"scoring={self.scoring!r} is not known", fix=SCORES if meant is None else f"{meant} Or {SCORES}"
            )

    def _at(self, depth: int, alpha: Fraction | float = 0.0) -> OptimalEstimator:
        shared = {
            name: value if name in AS_GIVEN else clone(value, safe=False)  # what has parameters of its own is copied
            for name, value in self.get_params(deep=False).items()
            if name not in OF_CROSS_VALIDATION
        }
        return self._single()(**{**shared, "max_depth": depth, "ccp_alpha": alpha})

    def _learn(
        self, depths: Sequence[int], data: Dataset, rows: Rows, budget: Budget, **parameters: Any
    ) -> Candidates:
        estimators = {depth: self._at(depth).set_params(verbose=0, **parameters) for depth in depths}
        return learn(estimators, data, rows.sensitive_features, budget)

    def _watch(self, budget: Budget, phase: str, done: int) -> Callable[..., Any] | None:
        """What is called at each improvement of one table's trees, with all that cross-validation has to do."""
        if self.on_progress is None and self.verbose:
            print(f"{budget.seconds:.1f} s: {phase}")
        report = self.on_progress or (print if self.verbose > 1 else None)
        parts = (done, self.n_splits_ + 2)  # the trees of all rows, those of each fold, and the one that is chosen
        return None if report is None else lambda progress: report(progress.within(budget, phase, parts))

    def _for_prices(self, one: OptimalEstimator, table: Dataset) -> Dataset:
        """The table with its target such that tests may have any price."""
        return one._with_target(table)

    def _settings(self, depths: Sequence[int], whole: Candidates) -> Iterator[tuple[int, Fraction]]:
        for depth in depths:
            if self.ccp_alphas is None:
                yield from ((depth, alpha) for alpha in whole.alphas(depth))
            else:
                weight = total_weight(whole.data)
                yield from ((depth, price_of(alpha, whole.data) / weight) for alpha in self.ccp_alphas)

    def _folds(
        self,
        depths: Sequence[int],
        settings: Sequence[tuple[int, Fraction]],
        rows: Rows,
        splits: Any,
        budget: Budget,
    ) -> list[_Fold]:
        def fold(done: int, jobs: int = 1) -> _Fold:
            watch = self._watch(budget, f"fold {done + 1} of {len(splits)}", 1 + done)
            rounds = math.ceil((len(splits) - done // jobs * jobs) / jobs)  # of folds at the same time
            train, test = splits[done]
            return self._fold(depths, settings, rows, train, test, part_of(budget, rounds + 1), watch)

        jobs = min(effective_n_jobs(self.n_jobs), len(splits))
        if jobs == 1:
            return [fold(done) for done in range(len(splits))]
        parallel = Parallel(n_jobs=jobs, prefer="threads")
        return list(parallel(delayed(fold)(done, jobs) for done in range(len(splits))))

    def _fold(
        self, depths: Sequence[int], settings: Sequence[tuple[int, Fraction]], rows: Rows,
        train: Ints, test: Ints, seconds: float | None, watch: Callable[..., Any] | None,
    ) -> _Fold:  # fmt: skip
        budget = Budget(seconds)
        known, held_out = rows.at(train), rows.at(test)
        estimator = self._at(0)
        data = self._for_prices(estimator, estimator._table(known.X, known.y, known.sample_weight))
        # A given tree may have been fitted on the rows held out.
        start = "auto" if is_model(self.warm_start) else self.warm_start
        found = self._learn(depths, data, known, budget, warm_start=start, on_progress=watch)
        if self.missing == "value" and not read_table(held_out.X).finite:
            # A gap in a column that has none in the other folds goes with most of the rows.
            estimator.missing = "majority"
        score_of: dict[int, float] = {}
        scores, tests = [], []
        for depth, alpha in settings:
            tree = found.best(depth, alpha)
            if tree is None:
                scores.append(float("nan"))
                tests.append(float("nan"))
                continue
            if id(tree) not in score_of:
                estimator._predict_by(tree.graph, data)
                score_of[id(tree)] = self._score(estimator, held_out)
            scores.append(score_of[id(tree)])
            tests.append(tree.tests)
        return _Fold(scores, tests)

    def _score(self, estimator: OptimalEstimator, rows: Rows) -> float:
        weights = {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight}
        try:
            with in_our_words(refused=OF_SCORES):
                score = self.scorer_(estimator, rows.X, rows.y, **weights)
        except (AttributeError, TypeError, ValueError) as error:
            if not isinstance(self.scoring, str) or isinstance(error, TreeformError):
                raise
            what = f"scoring={self.scoring!r} is no score of such a target"
            raise SpecError(what, cause=one_line(error), fix=SCORES) from error
        score = score.item() if getattr(score, "shape", None) == () else score
        if not isinstance(score, Real):
            raise SpecError(f"scoring gave {score!r}, which is no number", fix="name one score, or return one number")
        return float(score)

    def _choose(self, settings: Sequence[tuple[int, Fraction]], folds: Sequence[_Fold]) -> None:
        """Set what `sklearn.model_selection.GridSearchCV` sets; of equal scores the smaller trees are better."""
        scores = np.array([fold.scores for fold in folds]).T
        tests = np.array([fold.tests for fold in folds]).T.mean(axis=1)
        if np.isnan(tests).all():
            raise SpecError(
                "no depth has a tree that satisfies the requirements on every fold",
                cause="a fold has fewer rows than the table, and the time is shared by folds and depths",
                fix=WITHOUT_A_TREE,
            )
        mean, spread = scores.mean(axis=1), scores.std(axis=1)
        good = np.flatnonzero(self._is_good(scores, tests))
        if not good.size:
            raise SpecError(
                "no depth and penalty has a score that is a number on every fold",
                cause="many scores need rows of each class in every fold",
                fix="use another score, such as scoring='accuracy', or fewer folds with rows of each class",
            )
        at = int(good[np.lexsort((-mean[good], tests[good]))[0]])
        params = [{"max_depth": depth, "ccp_alpha": float(alpha)} for depth, alpha in settings]
        self._alpha = settings[at][1]
        self.best_index_, self.best_params_, self.best_score_ = at, params[at], float(mean[at])
        self.cv_results_ = {
            "params": params,
            "param_max_depth": np.array([depth for depth, _ in settings]),
            "param_ccp_alpha": np.array([float(alpha) for _, alpha in settings]),
            **{f"split{fold}_test_score": scores[:, fold] for fold in range(len(folds))},
            "mean_test_score": mean,
            "std_test_score": spread,
            "rank_test_score": rankdata(np.nan_to_num(-mean, nan=np.inf), method="min").astype(np.int64),
            "mean_n_tests": tests,
        }

    def _is_good(self, scores: Floats, tests: Floats) -> Bools:
        """Among which settings the smallest trees are taken."""
        mean = scores.mean(axis=1)
        best = np.lexsort((tests, -mean))[0]
        if self.select == "best":
            return np.asarray(mean == mean[best])
        folds = scores.shape[1]
        if self.select == "one_standard_error":
            return np.asarray(mean >= mean[best] - scores[best].std() / np.sqrt(folds))
        # What makes a fold hard is in the scores of all trees, and not in their differences.
        short = scores[best] - scores
        error = short.std(axis=1, ddof=min(1, folds - 1)) / np.sqrt(folds)
        return np.asarray(short.mean(axis=1) <= CLOSE * error)

    def _learn_best(self, whole: Candidates, table: Dataset, rows: Rows, budget: Budget) -> Self:
        depth = self.best_params_["max_depth"]
        best = self._at(depth, self._alpha)
        data = best._with_target(table)
        watch = self._watch(budget, f"all rows, depth {depth}", self.n_splits_ + 1)
        best.set_params(time_limit=part_of(budget), on_progress=watch)
        start = whole.best(depth, self._alpha)
        own = isinstance(best.warm_start, str) and best.warm_start == "auto"
        if start is not None and (own or is_model(best.warm_start)):
            best.set_params(warm_start=start.graph)
        self._settle(data, rows.sensitive_features, best)
        return self


def _in_time(splits: Any, table: Dataset, part: float) -> Any:
    """The folds, or that part of their rows where it is less than one: evenly drawn in the order of the targets.

    A target of few rows is not left out where there is room for all: scores of probabilities need each class.
    """
    if part >= 1:
        return splits
    target = np.zeros(table.table.n_rows, dtype=np.int64)
    target[table.kept_rows] = table.y

    def some(rows: Ints) -> Ints:
        many = min(len(rows), max(LEAST_ROWS, math.ceil(part * len(rows))))
        order = np.argsort(target[rows], kind="stable")
        kinds, first = np.unique(target[rows[order]], return_index=True)
        drawn = np.linspace(0, len(rows) - 1, many).astype(np.int64)
        if len(kinds) <= many:
            drawn = np.union1d(drawn, first[~np.isin(kinds, target[rows[order[drawn]]])])
        return rows[np.sort(order[drawn])]

    parts = [(some(train), some(test)) for train, test in splits]
    whole, kept = (sum(len(train) for train, _ in folds) for folds in (splits, parts))
    if kept < whole:
        what = f"the folds are of {kept / whole:.2%} of their rows: reading all of them would take most of time_limit"
        warn_caller(what)
    return parts


def _depths(given: Any) -> list[int]:
    """The depths to choose from, increasing.

    Raises SpecError if they are not whole numbers from 0 on, or none is given.
    """
    depths = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not depths or any(not isinstance(one, Integral) or isinstance(one, bool) or one < 0 for one in depths):
        raise SpecError(
            f"max_depth={given!r} gives no depths to choose from",
            cause="it is a sequence of whole numbers from 0 on",
            fix="use for example max_depth=range(2, 7), or max_depth=4 for one depth",
        )
    return sorted({int(one) for one in depths})
