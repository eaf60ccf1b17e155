"""Problem: data, shape, objective, requirements, and what can be asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from treeform.catalogue.stated import StatesModel
from treeform.certify.judgement import Judgement, judge
from treeform.data import Dataset
from treeform.data.labels import refuse_quantities
from treeform.data.roles import TableOptions
from treeform.errors import SpecError
from treeform.graph.reading import is_model, read_model
from treeform.language.bounded import closed
from treeform.language.losses import check_leaves, has_whole_values
from treeform.language.named import held_or_paid
from treeform.language.objective import Error, Objective
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.result import Result
from treeform.shape import Shape, shape_of
from treeform.solve import Progress
from treeform.solve import solve as solve_question
from treeform.solve.choice import choose, on_threads
from treeform.solve.explain import Explanation, explain_plan
from treeform.solve.result import SolveOptions, distribution_of, with_answer
from treeform.tradeoff.of_problem import HasTradeoffs
from treeform.utils.arguments import clear_calls, renamed
from treeform.utils.notebook import text_html

if TYPE_CHECKING:
    from treeform.certify.proofs import Proofs


@clear_calls
class Problem(StatesModel, HasTradeoffs):
    """A learning problem, stated once and solved by any formulation and solver.

    Parameters
    ----------
    X : DataFrame or array of shape (n, d)
        Numeric, boolean, text, categorical and date columns. ``problem.data.summary()`` shows how each was taken.
    y : array of shape (n,), or str
        Class labels of any type, or the name of the target column of ``X``.
    shape : Tree, Diagram or str
        ``tf.Tree(depth=3)``, ``tf.Diagram(1, 2, 4, 4)``, or their text forms ``"tree:3"``.
    sample_weight : array of shape (n,), optional
        Non-negative weights; a weight of 2 is the same as the row given twice. Exact, unless ``weight_grid`` is given.
    exclude : str or sequence of str, optional
        Columns that no test may use, but that requirements may refer to (for example as groups).
    categorical_features : str or sequence of str, optional
        Columns whose values are levels, whatever they look like.
    missing : {"value", "error"}, default "value"
        Missing values go left or right, whichever is better, and "is missing" is a test. ``"error"`` refuses them.
    dates : {None, "days"}, default None
        None refuses dates; ``"days"`` makes them days since 1970-01-01, and rules show dates.
    abstain : str, optional
        A label for leaves that decide nothing, one more class. `AbstainCost` prices it, `MinCoverage` bounds it.
    weight_grid : number, "auto" or None
        Rounds weights to multiples of it; "auto" only those of too many digits, which are refused without it.
        No positive weight becomes 0; notes and certificate say what was rounded.
    sensitive_features : array of shape (n,), optional
        Groups for fairness requirements that name none themselves.

    Raises
    ------
    DataError
        If the table, the target or the weights cannot be used; the message names the row or column.
    SpecError
        If the shape is not possible, or an argument is missing or unknown.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Tree(depth=2))
    >>> problem += tf.MaxNodes(2)
    >>> problem.solve().errors
    0
    """

    parameters_elsewhere: ClassVar[dict[str, str]] = {
        "max_depth": "use shape=tf.Tree(3)",
        "depth": "use shape=tf.Tree(3)",
        "requirements": "add them: problem += tf.MinSupport(0.05)",
        "objective": "use problem.minimize(...)",
        "weights": "use sample_weight=...",
    }
    """Parameters of other calls that are stated in other ways here."""

    @renamed(categorical="categorical_features")
    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        shape: Shape | str,
        sample_weight: Any = None,
        exclude: Iterable[str] = (),
        categorical_features: Iterable[str] = (),
        missing: Literal["value", "error"] = "value",
        dates: Literal["days"] | None = None,
        abstain: str | None = None,
        weight_grid: Any = None,
        sensitive_features: Any = None,
    ) -> None:
        self.shape = shape_of(shape)
        options = TableOptions.of(categorical_features, missing, dates, abstain, weight_grid)
        known: dict[str, Any] = {"exclude": exclude, "options": options, "allow_quantities": True}
        self._labelled = X if isinstance(X, Dataset) else Dataset.from_user(X, y, sample_weight, **known)
        self.data = self._labelled
        self.objective: Objective = Objective.of(Error())
        self.requirements: tuple[Requirement, ...] = ()
        self._stated: tuple[Requirement, ...] = ()
        self._sensitive = sensitive_features

    def minimize(self, objective: Any) -> Problem:
        """Set what to minimise: a term, a weighted sum of terms, or text such as ``"error + 2*nodes"``.

        Parameters
        ----------
        objective : Term, Objective or str
            It takes the place of the one before.

        Returns
        -------
        Problem
            This one, changed.

        Raises
        ------
        SpecError, DataError
            If it is no objective, or does not fit the data (a cost matrix of another size) or the shape.
        """
        data = (stated := Objective.of(objective)).reading(self._labelled)
        chosen = stated.bind(data, sensitive_features=self._sensitive)
        chosen.check(data, self.shape)
        check_leaves(chosen, self.requirements)
        same = data is self.data and has_whole_values(chosen) == has_whole_values(self.objective)
        held = self.requirements if same else self._bound(self._stated, data, chosen)
        self.objective, self.data, self.requirements = chosen, data, held
        return self

    def _bound(
        self, requirements: Iterable[Requirement], data: Dataset, objective: Objective
    ) -> tuple[Requirement, ...]:
        known = {"sensitive_features": self._sensitive, "whole_values": has_whole_values(objective)}
        return tuple(closed(r.bind(data, **known)) for r in requirements)

    def add(self, requirements: Requirement | Objective | str | Iterable[Requirement | Objective | str]) -> Problem:
        """Add one requirement or several; each is checked against the data at once.

        Parameters
        ----------
        requirements : Requirement, Objective, text or iterable of them
            Text is read as on the command line, ``"min_support:0.05"``. What stands in the
            objective, such as ``tf.MaxNodes(3).soft(2)``, is added to it; `minimize` replaces it.

        Raises
        ------
        SpecError, DataError
            If a requirement's parameters do not fit the data, or it has no meaning for models of this shape.
        """
        many = held_or_paid(requirements)
        held = [one for one in many if isinstance(one, Requirement)]
        check_leaves(self.objective, many)
        bound = self._bound(held, self.data, self.objective)
        for requirement in bound:
            refusal = requirement.refusal(self.data, self.shape)
            if refusal is not None:
                raise refusal
        paid = sum((one for one in many if isinstance(one, Objective)), Objective())
        if paid.terms:
            self.minimize(self.objective + paid)
        self.requirements, self._stated = (*self.requirements, *bound), (*self._stated, *held)
        return self

    __iadd__ = add

    def __add__(self, requirements: Requirement | Objective | str | Iterable[Requirement | Objective | str]) -> Problem:
        """Another problem with more requirements; see `add`. This one stays as it is."""
        return copy(self).add(requirements)

    @property
    def question(self) -> Question:
        """The problem as the solvers see it: a frozen snapshot.

        Raises
        ------
        DataError
            If the target looks like a quantity, and the objective is that of a classifier.
        """
        if self.data.quantity is None:
            refuse_quantities(self.data.classes, self.data.n_samples)
        return Question(self.data, self.shape, self.objective, self.requirements)

    def _start(self, warm_start: Any) -> Any:
        if warm_start is True:
            raise SpecError(
                "warm_start=True does not say where to start",
                cause="treeform's warm_start is a model, an engine, 'auto' or None",
                fix="give a fitted tree, such as DecisionTreeClassifier(max_depth=4).fit(X, y); or leave it out",
            )
        if warm_start is None or isinstance(warm_start, str) or not is_model(warm_start):
            return warm_start
        return read_model(warm_start, self.data)

    def solve(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = None,
        threads: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        proofs: str | os.PathLike[str] | Proofs | None = None,
        isolate: bool = False,
        executor: Any = None,
        workers: int | None = None,
        journal: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Solve the problem.

        Parameters
        ----------
        solver : Backend, Engine, class or str, optional
            ``tf.HiGHS()``, ``tf.CPSAT()``, ``tf.SAT("cadical195")``, ``tf.ConTree()``, or a name such as ``"highs"``.
            By default a native engine is taken where it supports the whole problem, else a solver; the
            result's ``notes`` name it.
        formulation : Formulation, class or str, optional
            How the problem is stated to a solver: ``ODD()``, ``SatDepth()``, or a name such as ``"odd"``.
        warm_start : "auto", None, Engine, or a model, optional
            A native engine gives a bound and models to start from. A model (DecisionGraph, its description, or a fitted
            tree of treeform or scikit-learn) is verified and used as incumbent, pruned to be admissible where it is
            not. None leaves all to the solver.
        time_limit : float, optional
            Seconds for everything together.
        threads : int, optional
            Threads of the solver or engine, whichever is chosen; left out, its own setting counts (one, by default).
        on_progress : callable, optional
            Called with a `Progress` at each improvement, at each new phase, and once a second in long phases. If it
            raises, the run ends as after Ctrl-C, and the exception has the answer so far in its attribute ``result``.
        proofs : path or Proofs, optional
            A folder for a machine-checkable proof of what a SAT solver refutes, such as "there is no tree of
            depth 7". The certificate names the file; `treeform.check` verifies it with ``proofs=folder``.
        isolate : bool
            Run the solver in a process of its own, which is killed when it hangs and may crash or run out of memory:
            models and bounds found before are kept. `treeform.Isolated` sets its memory limit, and is how other
            methods isolate a solver. Native engines always run in this process.
        executor : None, "loky", "threading", "dask", "dask:tcp://HOST:PORT", or a client of Dask distributed
            Searches the parts of one long proof of a native engine; None: this process. The answer is the same.
        workers : int, optional
            Processes of ``"loky"`` and of a local ``"dask"``; as many as processors by default.
        journal : path, optional
            A folder that keeps each part as it ends; the same call resumes after a kill.

        Returns
        -------
        Result
            Re-evaluated in exact integers. Ctrl-C stops the search and keeps the best model found.

        Raises
        ------
        SpecError
            If solver, formulation, executor, journal and problem do not fit together.
        SolverNotAvailable
            If the solver is not installed.
        ContradictionError
            If claims contradict each other: a bug in a solver, a requirement or treeform.
        """
        if proofs is not None:
            from treeform.certify.proofs import Proofs

            proofs = Proofs.of(proofs)
        options = SolveOptions(
            solver, formulation, self._start(warm_start), time_limit, on_progress, proofs, isolate,
            distribution_of(executor, workers, journal),
        )  # fmt: skip
        if threads is not None:
            options = on_threads(self.question, options, threads)
        return with_answer(options, lambda options: Result.of(solve_question(self.question, options)))

    def judge(self, model: Any) -> Judgement:
        """Evaluate any model: objective, errors, shape, and how much it violates each requirement.

        Parameters
        ----------
        model : DecisionGraph, dict or estimator
            A model, its nested description (`DecisionGraph.from_dict`), or a fitted tree of treeform or scikit-learn.

        Returns
        -------
        Judgement
            With ``violations``, and a ``certificate()`` for `treeform.check`.

        Raises
        ------
        SpecError
            If it is no model of these data.
        """
        return judge(self.question, model)

    def explain(self, solver: Any = None, *, formulation: Any = None) -> Explanation:
        """The stages of a solve, and the sizes and rewrites of the model; nothing is solved.

        Parameters
        ----------
        solver, formulation
            As in `solve`.

        Returns
        -------
        Explanation
            Prints as a table.
        """
        return explain_plan(self.question, choose(self.question, SolveOptions(solver, formulation)))

    def _repr_html_(self) -> str:
        return text_html(repr(self))

    def __repr__(self) -> str:
        return f"Problem: {Question(self.data, self.shape, self.objective, self.requirements).summary}"
