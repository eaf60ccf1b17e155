"""Near-optimal models and their columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.certify.certificate import Certificate, make_certificate
from treeform.certify.family import with_axis
from treeform.errors import SpecError
from treeform.graph.svg import Drawing
from treeform.language.bounded import Bounded
from treeform.language.question import Question
from treeform.requirements.excluded import NoTestOn
from treeform.requirements.parsimony import MaxNodes
from treeform.solve.result import SolveOptions, Status
from treeform.solve.schedule import equal_part
from treeform.tradeoff.axis import find_axis
from treeform.tradeoff.near_trees import NearModel, NearTrees
from treeform.tradeoff.plots import range_plot
from treeform.utils.arguments import whole_number
from treeform.utils.budget import Budget, Limit
from treeform.utils.notebook import Printed
from treeform.utils.text import count_of, value_text


@dataclass(frozen=True)
class Indispensable:
    """Whether every near-optimal model tests a column."""

    column: str
    without: CertifiedResult | None
    """The answer where no test may read the column; None where all models were counted and test it."""
    threshold: Fraction

    @property
    def proved(self) -> bool | None:
        """True: no model without the column is within the threshold; False: one is; None: not known."""
        return True if self.without is None else _none_within(self.without, self.threshold)


def _none_within(answer: CertifiedResult, threshold: Fraction) -> bool | None:
    """Whether an answer proves that no model has at most this objective; None where that is open."""
    if answer.objective is not None and answer.objective <= threshold:
        return False
    beyond = answer.bound is not None and answer.bound > threshold
    return True if answer.status is Status.INFEASIBLE or beyond else None


@dataclass(frozen=True)
class Multiplicity:
    """How far near-optimal models differ in what they predict for training rows."""

    ambiguity: Fraction
    """The share of weight of the rows for which some model predicts another class than the best one."""
    discrepancy: Fraction
    """The largest share of weight of the rows that a single model predicts otherwise than the best one."""


@dataclass(frozen=True, repr=False)
class NearOptimal(Printed):
    """The models within a share of the optimum that satisfy all requirements, in normal form."""

    question: Question
    best: CertifiedResult
    """The optimum, or the best model known where that is not `proved`."""
    threshold: Fraction
    """The largest objective that counts as near-optimal."""
    models: tuple[NearModel, ...]
    """The best first; at most as many as were asked for."""
    count: int
    """How many models have an objective of at most ``counted_to``, proved by enumeration."""
    counted_to: Fraction | None
    """The objective up to which all models were counted; None when none were."""
    indispensable: tuple[Indispensable, ...]
    """The columns that all models known test: whether every near-optimal one does."""
    seconds: float
    limit: Limit | None = None
    """What ended the work early."""
    uncounted: str | None = None
    """Why no models, or not all of them, were counted or held, if there are too many, or too many tests."""
    notes: tuple[str, ...] = ()
    """Messages of solves that failed."""
    trees: NearTrees | None = field(default=None, repr=False)
    """All models up to ``counted_to``, listed or not; None when none were counted, or only their number."""
    sensitive: Any = field(default=None, repr=False)
    """Groups for requirements that name none."""
    apart: bool = True
    """Whether models that predict alike count apart; not so in `distinct`."""

    @property
    def proved(self) -> bool:
        """Whether ``best`` is the optimum: by its own proof, or since all models up to it were counted."""
        return self.best.status is Status.OPTIMAL or self.counted_to is not None

    @property
    def counted(self) -> bool:
        """Whether all near-optimal models were counted."""
        return self.counted_to is not None and self.counted_to >= self.threshold

    @property
    def complete(self) -> bool:
        """Whether all near-optimal models are listed."""
        return self.counted and self.count == len(self.models)

    def certificate(self) -> Certificate:
        """The certificate of the best model, and of the number of models up to ``counted_to`` if they were counted.

        `treeform.check` proves the optimum again, and counts again. What lies between ``counted_to`` and the threshold
        is no part of it, nor is the count of `distinct`: a check counts every model.

        Raises CertificateError if no model was found, and nothing was proved.
        """
        if self.counted_to is None or not self.apart:
            return make_certificate(self.best)
        counted = {"up_to": str(self.counted_to), "threshold": str(self.threshold), "models": self.count}
        return make_certificate(self.best, near_optimal=counted)

    # ---------------------------------------------------------------- columns

    def without(self, column: str, time_limit: float | None = None) -> CertifiedResult:
        """The best model where no test may read a column: what it costs to do without.

        It is solved for, unless its optimum was found to tell whether the column is indispensable.

        Parameters
        ----------
        column : str
            Of the table.
        time_limit : float, optional
            Seconds.
        """
        for one in self.indispensable:
            if one.column == column and one.without is not None and one.without.status is Status.OPTIMAL:
                return one.without
        rule = NoTestOn(column).bind(self.question.data)
        question = self.question.with_(requirements=(*self.question.requirements, rule))
        return solve_certified(question, SolveOptions(time_limit=time_limit))

    def columns(self) -> pd.DataFrame:
        """One row for each column of the table, those that the most models test first.

        ``models`` and ``share`` are over all models that were counted, listed or not; over those that are listed where
        ``trees`` is None. ``indispensable`` is True where every near-optimal model tests the column: no model without
        it is within the threshold. It is None where that is open. ``optimum without`` is what a solve without the
        column found, where one was needed to tell; see `without`.
        """
        names, size = self._names(), self._size()
        asked = {demanded.column: demanded for demanded in self.indispensable}
        rows: list[dict[str, Any]] = []
        for name in names:
            tested, demanded = self._using(name), asked.get(name)
            without = None if demanded is None else demanded.without
            least = None if without is None else without.objective
            is_optimum = without is not None and without.status is Status.OPTIMAL
            is_open = None if demanded is None else demanded.proved
            rows.append(
                {
                    "column": name,
                    "models": tested,
                    "share": tested / size if size else None,
                    "optimum without": float(least) if least is not None and is_optimum else None,
                    "indispensable": False if tested < size else is_open,
                }
            )
        frame = pd.DataFrame(rows, columns=["column", "models", "share", "optimum without", "indispensable"])
        frame["indispensable"] = frame["indispensable"].astype(object)
        return frame.sort_values(["models", "column"], ascending=[False, True], ignore_index=True)

    def importance(self) -> pd.DataFrame:
        """How much each column contributes, as a range over all models that were counted.

        A model's importance of a column is the share of the Gini impurity of all training rows that its tests of the
        column take off: ``least`` is 0 where some model does without the column, ``largest`` where none tests it. This
        is the sum behind scikit-learn's ``feature_importances_``, divided by the same number for all models, so that
        models compare. The range over near-optimal models is that of A. Fisher, C. Rudin, F. Dominici, "All models are
        wrong, but many are useful", JMLR 20, 2019, there for another measure.

        Returns ``column``, ``models``, ``least``, ``best`` (in the best model), ``largest``; the largest first.
        """
        trees = self._counted_trees("the range of an importance")
        rows = []
        for name in self._names():
            least, largest = trees.importance(name)
            rows.append((name, self._using(name), least, trees.importance_of(self.models[0], name), largest))
        frame = pd.DataFrame(rows, columns=["column", "models", "least", "best", "largest"])
        return frame.sort_values(["largest", "column"], ascending=[False, True], ignore_index=True)

    def plot(self) -> Drawing:
        """The range of each column's importance as a drawing: ``.svg``, and ``.save(path)``."""
        frame = self.importance()
        bars = [
            (name, least, best, largest)
            for name, models, least, best, largest in frame.to_numpy().tolist()
            if models
        ]
        models = count_of(f"{self._size():,}", "model")
        return Drawing(range_plot(bars, f"share of the impurity over {models}; dot: the best one"))

    # ---------------------------------------------------------------- rows

    def disagreement(self) -> pd.DataFrame:
        """What all models that were counted predict for each training row: predictive multiplicity.

        Returns ``row`` (its position), ``best`` (the prediction of the best model), ``others`` (how many of the models
        predict something else), ``share`` (of all models), and a column ``share of CLASS`` for each class.
        """
        data = self.question.data
        predicted = self._counted_trees("disagreement on rows").predicted()
        size = max(1, self._size())
        best = self.models[0].graph.predict_codes(data.X)
        others = predicted.sum(axis=1) - predicted[np.arange(len(best)), best]
        frame = pd.DataFrame(
            {
                "row": np.arange(len(best)),
                "best": np.asarray(data.classes, dtype=object)[best],
                "others": others,
                "share": others / size,
            }
        )
        for code, label in enumerate(data.classes):
            frame[f"share of {label}"] = predicted[:, code] / size
        return frame

    def multiplicity(self) -> Multiplicity:
        """Ambiguity and discrepancy of the models that were counted, beside the best one.

        References
        ----------
        C. Marx, F. Calmon, B. Ustun, "Predictive multiplicity in classification", ICML 2020, definitions 2 and 3.
        """
        trees, data = self._counted_trees("predictive multiplicity"), self.question.data
        best = self.models[0].graph
        predicted = trees.predicted()
        is_ambiguous = predicted[np.arange(data.n_samples), best.predict_codes(data.X)] < trees.size
        ambiguous = int(data.weights[is_ambiguous].sum())
        return Multiplicity(
            Fraction(ambiguous, data.total_weight), Fraction(trees.differing(best)[1], data.total_weight)
        )

    # ---------------------------------------------------------------- models

    def sample(self, n: int, seed: int | None = None) -> tuple[NearModel, ...]:
        """Models drawn from all that were counted, independently and each with the same chance.

        Parameters
        ----------
        seed : int, optional
            The same seed draws the same models.
        """
        count = whole_number(n)
        if count is None or count < 0:
            raise SpecError(
                f"n={n!r} is no number of models", cause="it is a whole number, 0 or more", fix="use sample(10)"
            )
        return tuple(self._counted_trees("a sample").sample(count, seed))

    def sparsest(self, time_limit: float | None = None) -> NearModel:
        """The model with the fewest tests; where no models were counted it is solved for, as in `tightest`."""
        return self.tightest(MaxNodes(1), time_limit) if self.trees is None else self.trees.sparsest()

    def tightest(self, over: Any, time_limit: float | None = None) -> NearModel:
        """The model that satisfies a requirement with the tightest bound: the fairest, the most stable one.

        None of the models up to ``threshold`` is better (of those that were counted, where ``counted`` is False). Up to
        a million are measured one by one, if half of the time is enough. Otherwise solves ask for tighter bounds until
        none is satisfied within the threshold. Of equal ones it has the least objective.
        ``over.measured(model.graph, data)`` is its measure.

        Raises SpecError if the time was too short for a proof.

        Parameters
        ----------
        over : Requirement or str
            With any bound or none, such as ``tf.StatisticalParity(groups="sex", difference=None)``,
            ``tf.Stability(0)``; or the name of a requirement of the problem.
        time_limit : float, optional
            Seconds.
        """
        question, axis = find_axis(self.question, over, self.sensitive)
        budget = Budget(time_limit)
        half = budget.share(equal_part(budget.remaining, 2))
        measured = None if self.trees is None else self.trees.tightest(axis, half)
        if measured is not None:
            return measured
        if not self.models or axis.is_continuous:
            self._counted_trees(f"the tightest model under {axis}")
        return self._solved(question, axis, budget)

    def _solved(self, question: Question, axis: Bounded, budget: Budget) -> NearModel:
        """The tightest model, by solves under bounds that each exclude the model before."""
        data, best = question.data, self.models[0]
        while (bound := axis.beyond(axis.measured(best.graph, data), data)) is not None:
            options = SolveOptions(time_limit=equal_part(budget.remaining, 1))
            answer = solve_certified(with_axis(question, axis, bound), options)
            is_last = _none_within(answer, self.threshold)
            if is_last:
                break
            if is_last is None or answer.status is not Status.OPTIMAL:
                raise SpecError(
                    f"the tightest model under {axis} was not found within the time limit",
                    cause=f"whether a near-optimal one satisfies {axis.bound_name} {bound} is open",
                    fix="give it more time, or use a smaller share (within)",
                )
            assert answer.graph is not None and answer.objective is not None
            best = NearModel(answer.objective, answer.graph)
        return best

    def distinct(self) -> NearOptimal:
        """The same with one model for all that predict the same class for every training row.

        It is the one of the least objective, and then of the fewest tests. What is asked about the result, its count
        included, is then about different predictions.
        """
        trees = self._counted_trees("a count of different predictions").distinct()
        listed = tuple(trees.model(index) for index in range(min(trees.size, len(self.models))))
        return replace(self, models=listed, count=trees.size, trees=trees, apart=False)

    def _counted_trees(self, what: str) -> NearTrees:
        if self.trees is None or not self.trees.size:
            none = self.best.objective is None or (self.counted_to is not None and not self.count)
            why = "none is near-optimal" if none else self.uncounted or "too many, or the time was spent"
            raise SpecError(
                f"{what} needs a set of models that fits in memory",
                cause=f"there is none: {why}",
                fix="use fewer tests (round or bin columns), a smaller share (within), or more time",
            )
        return self.trees

    def _names(self) -> list[str]:
        return list(dict.fromkeys(column.source for column in self.question.data.columns))

    def _size(self) -> int:
        return len(self.models) if self.trees is None else self.trees.size

    def _using(self, name: str) -> int:
        if self.trees is None:
            return sum(name in model.columns() for model in self.models)
        return self.trees.using(name)

    def to_frame(self) -> pd.DataFrame:
        """One row for each listed model: objective, tests, depth, and the columns that it tests."""
        rows = [
            {
                "objective": float(model.objective),
                "tests": model.graph.n_nodes,
                "depth": model.graph.depth,
                "columns": ", ".join(sorted(model.columns())),
            }
            for model in self.models
        ]
        return pd.DataFrame(rows, columns=["objective", "tests", "depth", "columns"])

    def to_json(self) -> dict[str, Any]:
        """The models as plain values; numbers exact, as text."""
        return {
            "objective": str(self.question.objective),
            "requirements": list(self.question.labels),
            "digest": self.question.data.digest,
            "proved": self.proved,
            "threshold": str(self.threshold),
            "count": self.count,
            "counted_to": None if self.counted_to is None else str(self.counted_to),
            "complete": self.complete,
            "columns": {name: self._using(name) for name in self._names()},
            "indispensable": [one.column for one in self.indispensable if one.proved],
            "models": [
                {"objective": str(Fraction(model.objective)), "model": model.graph.to_json()}
                for model in self.models
            ],
        }

    def __str__(self) -> str:
        if self.best.objective is None:
            return f"no model known: {self.best}"
        to = self.counted_to
        lines = [f"{self._best_text()}, near-optimal up to {value_text(self.threshold)}"]
        if to is None:
            why = self.uncounted or "there are too many, or the time was spent"
            lines.append(f"the models were not counted: {why}")
        else:
            beyond = f": {self.uncounted}" if self.uncounted else ""
            more = "" if self.counted else f"; those beyond are not counted{beyond}"
            models = "1 model" if self.count == 1 else f"{self.count:,} models"
            lines.append(f"{models} up to {value_text(to)}, {len(self.models):,} of them listed{more}")
        table = self.columns()
        for name, tested, needed in zip(
            table["column"], table["models"], table["indispensable"], strict=True
        ):
            if tested:
                of = " of those listed" if self.trees is None and self.count else ""
                lines.append(f"  {name}: tested by {tested:,}{of}{'  indispensable' if needed is True else ''}")
        if self.limit is not None:
            lines.append(f"stopped ({self.limit})")
        return "\n".join(lines)

    def _best_text(self) -> str:
        assert self.best.objective is not None
        if self.proved:
            return f"optimum {value_text(self.best.objective)}"
        lower = "no bound" if self.best.bound is None else f"at least {value_text(self.best.bound)}"
        return f"best model known {value_text(self.best.objective)} (open, {lower})"
