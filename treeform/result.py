"""What the user gets from a solve: the answer, its certificate, the prices of its requirements, and their conflict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from numpy.typing import NDArray

from treeform.certify.answer import CertifiedResult
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.solve.result import Progress, SolveOptions, SolveResult, with_answer

if TYPE_CHECKING:  # a solve needs neither
    from treeform.tradeoff.conflict import Conflict
    from treeform.tradeoff.prices import Prices

ELSEWHERE = {
    "report": 'tf.report.html(result, "report.html") writes a report',
    "export": "result.graph.to_sql(), to_python(), to_c(), to_onnx() and others write the model",
}
"""What people call on a result, and where it is."""


@dataclass(frozen=True, repr=False)
class Result(CertifiedResult):
    __doc__ = SolveResult.__doc__

    if not TYPE_CHECKING:  # type checkers know what there is

        def __getattr__(self, name: str) -> NoReturn:
            """An error that tells where to find what is asked for: the model has most of it."""
            place = ", and there is none here" if vars(self).get("graph") is None else f": result.graph.{name}"
            of_model = f"the model has it{place}"
            found = ELSEWHERE.get(name, of_model if name in dir(DecisionGraph) else "")
            raise AttributeError(f"a result has no {name!r}" + (found and f"; {found}"), name=name, obj=self)

    def prices(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Prices:
        """What each requirement costs: the optimum without it, and without all of them.

        Parameters
        ----------
        solver, formulation, on_progress
            As in `treeform.Problem.solve`.
        time_limit : float, optional
            Seconds for all of it, shared evenly.

        Returns
        -------
        Prices
            Each price is proved, or given as a range.
        """
        options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
        from treeform.tradeoff.prices import price_requirements

        return with_answer(options, lambda options: price_requirements(self, options))

    def predict(self, X: Any, **options: Any) -> NDArray[Any]:
        """Labels, or in regression values, for the rows of a table: ``result.graph.predict``.

        Parameters
        ----------
        X : DataFrame or array of shape (m, d)
            With the columns that the model tests.
        **options
            As in `treeform.DecisionGraph.predict`.

        Returns
        -------
        (m,) array

        Raises
        ------
        SpecError
            If there is no model.
        DataError
            If the table cannot be read as in training.
        """
        if self.graph is None:
            raise SpecError(
                f"there is no model to predict with: the answer is {self.status}",
                cause="no model of the shape satisfies the requirements, or none was found within the limits",
                fix="see result.conflict(), or raise time_limit",
            )
        return self.graph.predict(X, **options)

    def conflict(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Conflict | None:
        """Why no model satisfies all requirements; None when one does.

        Parameters
        ----------
        solver, formulation, on_progress, time_limit
            As in `treeform.Problem.conflict`.
        """
        assert self.question is not None
        options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
        from treeform.tradeoff.conflict import explain_conflict

        question = self.question
        return with_answer(options, lambda options: explain_conflict(question, options, self))
