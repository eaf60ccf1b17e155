"""Near-optimal models: all that are almost as good as the best, and which columns they need."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from treeform.certify.answer import CertifiedResult
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.solve.result import Limit, Number, Status
from treeform.utils.notebook import Printed


@dataclass(frozen=True)
class NearModel:
    """One of the models.

    Attributes
    ----------
    objective : int or Fraction
    graph : DecisionGraph
    """

    objective: Number
    graph: DecisionGraph

    def columns(self) -> set[str]:
        """The columns of the table that it tests."""
        return {self.graph.columns[f].source for f in self.graph.features_used()}


@dataclass(frozen=True)
class Indispensable:
    """Whether every near-optimal model tests a column.

    Attributes
    ----------
    column : str
    without : CertifiedResult
        The answer where no test may read the column.
    threshold : Fraction
    """

    column: str
    without: CertifiedResult
    threshold: Fraction

    @property
    def proved(self) -> bool | None:
        """True: no model without the column is within the threshold; False: one is; None: not known."""
        objective, bound = self.without.objective, self.without.bound
        if objective is not None and objective <= self.threshold:
            return False
        if str(self.without.status) == "infeasible" or (bound is not None and bound > self.threshold):
            return True
        return None


@dataclass(frozen=True, repr=False)
class NearOptimal(Printed):
    """The models within a share of the optimum that satisfy all requirements, in normal form.

    Attributes
    ----------
    question : Question
    best : CertifiedResult
        The optimum, or the best model known where that is not `proved`.
    threshold : Fraction
        The largest objective that counts as near-optimal.
    models : tuple of NearModel
        The best first; at most as many as were asked for.
    count : int
        How many models have an objective of at most ``counted_to``, proved by enumeration.
    counted_to : Fraction or None
        The objective up to which all models were counted; None when none were.
    indispensable : tuple of Indispensable
        For the columns that all listed models test: the optimum without them.
    seconds : float
    limit : Limit or None
        What ended the work early.
    uncounted : str or None
        Why no models were counted, if the table has too many tests; the optimum alone is listed then.
    notes : tuple of str
        What broke down on the way.
    """

    question: Question
    best: CertifiedResult
    threshold: Fraction
    models: tuple[NearModel, ...]
    count: int
    counted_to: Fraction | None
    indispensable: tuple[Indispensable, ...]
    seconds: float
    limit: Limit | None = None
    uncounted: str | None = None
    notes: tuple[str, ...] = ()

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

    def columns(self) -> pd.DataFrame:
        """One row for each column: how many of the listed models test it, the optimum without it, and what follows.

        ``indispensable`` is True where every near-optimal model tests the column, listed or not: no model without it
        is within the threshold.
        """
        names = list(dict.fromkeys(column.source for column in self.question.data.columns))
        used = [model.columns() for model in self.models]
        asked = {demanded.column: demanded for demanded in self.indispensable}
        rows: list[dict[str, Any]] = []
        for name in names:
            tested = sum(name in columns for columns in used)
            demanded = asked.get(name)
            least = None if demanded is None else demanded.without.objective
            is_optimum = demanded is not None and demanded.without.status is Status.OPTIMAL
            missing = bool(used) and tested < len(used)
            rows.append(
                {
                    "column": name,
                    "models": tested,
                    "share": tested / len(used) if used else None,
                    "optimum without": float(least) if least is not None and is_optimum else None,
                    "indispensable": False if missing else None if demanded is None else demanded.proved,
                }
            )
        frame = pd.DataFrame(rows, columns=["column", "models", "share", "optimum without", "indispensable"])
        frame["indispensable"] = frame["indispensable"].astype(object)
        return frame.sort_values(["models", "column"], ascending=[False, True], ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """One row for each listed model: objective, errors, tests, depth, and the columns that it tests."""
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
            "indispensable": [one.column for one in self.indispensable if one.proved],
            "models": [
                {"objective": str(Fraction(model.objective)), "model": model.graph.to_json()}
                for model in self.models
            ],
        }

    def __str__(self) -> str:
        if self.best.objective is None:
            return f"no model in hand: {self.best}"
        to = self.counted_to
        lines = [f"{self._best_text()}, near-optimal up to {_text(self.threshold)}"]
        if to is None:
            why = self.uncounted or "there are too many, or the time was spent"
            lines.append(f"the models were not counted: {why}")
        else:
            more = "" if self.counted else "; those beyond are not counted"
            models = "1 model" if self.count == 1 else f"{self.count:,} models"
            lines.append(f"{models} up to {_text(to)}, {len(self.models):,} of them listed{more}")
        table = self.columns()
        for name, tested, needed in zip(
            table["column"], table["models"], table["indispensable"], strict=True
        ):
            if tested:
                lines.append(f"  {name}: tested by {tested:,}{'  indispensable' if needed is True else ''}")
        if self.limit is not None:
            lines.append(f"stopped ({self.limit})")
        return "\n".join(lines)

    def _best_text(self) -> str:
        assert self.best.objective is not None
        if self.proved:
            return f"optimum {_text(self.best.objective)}"
        lower = "no bound" if self.best.bound is None else f"at least {_text(self.best.bound)}"
        return f"best model known {_text(self.best.objective)} (open, {lower})"


def _text(value: Number) -> str:
    return str(value) if Fraction(value).denominator == 1 else f"{float(value):.6g}"
