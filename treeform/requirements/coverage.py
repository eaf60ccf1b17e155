"""Coverage: for how much of the data a model that may abstain decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible
from treeform.graph import DecisionGraph
from treeform.language.classes import no_abstention
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import LinearRequirement
from treeform.requirements.amount import AtLeastAmount


class MinCoverage(AtLeastAmount, LinearRequirement):
    """At least this much training weight gets a decision; for the rest the model abstains.

    Parameters
    ----------
    at_least, count, fraction
        See `MinSupport`.

    Raises
    ------
    SpecError
        When bound to data without a label for abstaining.

    Notes
    -----
    El-Yaniv and Wiener, On the foundations of noise-free selective classification, JMLR 11, 2010.
    """

    name: ClassVar[str] = "min_coverage"
    words: ClassVar[str] = "the model decides at least {amount.words}, and abstains on the others"
    samples: ClassVar[tuple[str, ...]] = ("min_coverage:0.7",)
    called: ClassVar[tuple[str, str]] = ("rows decided", "share of rows decided")

    def bind(self, data: Dataset, **context: Any) -> MinCoverage:
        if data.abstain_code is None:
            raise no_abstention(f"{self} bounds")
        if self.amount.at_least(data) > data.total_weight:
            total = data.total_weight * data.weight_unit
            raise Infeasible(
                f"{self} is infeasible",
                cause=f"it asks for decisions on a weight of {self.amount.weight(data)}, and all samples have {total}",
                fix=f"ask for at most {total}",
            )
        return self

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        data = rows.data
        decided = np.arange(data.n_classes) != data.abstain_code
        yield rows.weight(predicted=decided, name=str(self)) >= self.amount.at_least(data) * data.weight_unit

    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        return int(data.weights[graph.predict_codes(data.X) != data.abstain_code].sum())
