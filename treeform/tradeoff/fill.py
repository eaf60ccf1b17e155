"""Filling a size table: the search for bounds and models for every number of tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from treeform.catalogue.solvers import engine_or_backend
from treeform.certify.family import Family
from treeform.certify.family_certificate import enter_answer
from treeform.engines import DiagramSearch
from treeform.engines.relaxation import relax
from treeform.errors import BREAKDOWNS, SpecError, broke_down, is_breakdown
from treeform.graph import DecisionGraph
from treeform.language.costs import ClassCost
from treeform.language.formulation import Formulation
from treeform.language.losses import leaf_loss
from treeform.language.objective import Error
from treeform.language.question import Question, ceiling
from treeform.language.size_terms import Nodes
from treeform.shape import Tree, smaller_shapes
from treeform.solve import schedule
from treeform.solve.choice import choose, refuse_restriction, why_unstated
from treeform.solve.engines import FEW_TESTS
from treeform.solve.node import Stage, Work, run_stages
from treeform.solve.result import USUAL, Progress, SolveOptions, StageRun
from treeform.tradeoff.asking import told
from treeform.tradeoff.one_row import AnsweredRows, is_answered, is_proved_by_engine, solve_row
from treeform.tradeoff.rows_by_engine import engine_for, enter_models_of_one_feature, enter_rows
from treeform.tradeoff.size_table import EVERY_ROW, Price, SizeBounds, SizeTable, wanted_prices
from treeform.tradeoff.trees_at_price import close_price, enter_trees_of_each_depth
from treeform.tradeoff.view import known_from
from treeform.utils.budget import Budget, Limit, Pace, Share, Step, interruptible, observe_steps, report_step
from treeform.utils.text import count_of


def fill_size_table(
    question: Question,
    options: SolveOptions = USUAL,
    *,
    prices: Sequence[Any] | None = None,
    alphas: Sequence[Any] | None = None,
    start: Any = None,
    family: Family | None = None,
) -> SizeTable:
    """Fill a `SizeTable`; see `treeform.Problem.size_table`.

    With a `family`, what is found is entered there, and what it knows is known. Without one, and with requirements and
    a time limit, the tables of the shapes with fewer layers are filled first: their models are models of this one, so
    that a larger shape is no worse.
    """
    refuse_restriction(question, options, "a size table")
    if leaf_loss(question.objective) is not None:
        if not (prices is None and alphas is None):
            raise SpecError(
                "a size table of a regression problem has no prices or alphas",
                cause="it is one solve for each number of tests",
                fix="leave out prices and alphas; table.at(price) reads every price off the whole table",
            )
    elif not all(isinstance(term, Error | ClassCost | Nodes) for _, term in question.objective.terms):
        raise SpecError(
            f"{question.objective} has no size table",
            cause="a size table minimises errors or costs, and prices on tests come afterwards",
            fix="minimise tf.Error() or tf.Cost(...)",
        )
    budget = options.budget()
    with interruptible(budget):
        search = SizeTableSearch(question, options, budget, family)
        for place, answer in known_from(start, SizeTable, search.bounds.family):
            enter_answer(search.bounds.family, place, answer)
        search.wanted = wanted_prices(search.question, prices, alphas)
        if family is None:
            search.enter_smaller_shapes()
        return search.run()


class SizeTableSearch(Work):
    """Fills one size table: the bounds so far, and the engine and formulation that raise them."""

    def __init__(
        self, question: Question, options: SolveOptions, budget: Budget, family: Family | None = None
    ) -> None:
        self.bounds = SizeBounds(question, family)
        self.question = self.bounds.question
        self.wanted = [EVERY_ROW]
        self.ran: list[StageRun] = []
        self._budget, self._runners = budget, list[str]()
        self.options, self.on_progress = options, options.on_progress
        self.engine: DiagramSearch | None = None
        self.plan = None
        self.notes: list[str] = []
        self.limit: Any = None
        self.warm = self.alone = False
        self._phase, self._pace = "", Pace()
        self._spent: dict[int, int] = {}
        self._given_up = False
        if leaf_loss(self.question.objective) is None:
            self._choose()

    def _choose(self) -> None:
        """Who fills the rows together, and what states them to a solver."""
        options = self.options
        self.engine = engine_for(self.question, options)
        solver, formulation, warm_start = options.solver, options.formulation, options.warm_start
        named_engine, named_solver = engine_or_backend(solver)
        unstated = None if self.engine is None else why_unstated(self.question, options)
        if named_engine is not None:
            self.notes = [f"solver: {named_engine.name}"]
        elif self.engine is not None and unstated is not None:
            self.notes = [unstated, f"first: {self.engine.name}"]
        else:
            start = warm_start if isinstance(warm_start, DecisionGraph) else None
            stated = replace(options, solver=named_solver, formulation=formulation or "odd", warm_start=start)
            self.plan = choose(self.question, stated)
            self.notes = [*self.plan.notes, *([f"first: {self.engine.name}"] if self.engine else [])]
        self.warm = isinstance(warm_start, str) and warm_start != "none"
        self.alone = named_engine is not None or (solver is None and formulation is None)

    def run(self) -> SizeTable:
        """Run the stages; the table as far as it is proved then."""
        with observe_steps(self.on_step):
            run_stages(self, STAGES)
        limit = None if self.closed else self.budget.reason or self.limit
        notes, ran = tuple(dict.fromkeys(self.notes)), tuple(self.ran)
        return SizeTable(
            family=self.bounds.own_family, seconds=self.budget.seconds, limit=limit, notes=notes, plan=ran
        )

    def enter_smaller_shapes(self) -> None:
        """Enter the models of shapes with fewer layers, where a time limit may end this one before it is as good."""
        if not self.question.requirements or self.budget.remaining is None or self.rows_alone:
            return
        options = replace(self.options, on_progress=None)
        if isinstance(options.warm_start, DecisionGraph):  # a model of the larger shape
            options = replace(options, warm_start="auto")
        table = None
        for shape in smaller_shapes(self.question.shape):
            part = schedule.SMALLER_SHAPE.of(self.budget)
            search = SizeTableSearch(self.question.with_(shape=shape), options, part)
            if table is not None:
                search.bounds.enter_models(table)
            table = search.run()
        if table is not None:
            self.bounds.enter_models(table)

    # -- progress ---------------------------------------------------------------------------------

    def _report(self, phase: str) -> None:
        """Report the state of the whole table, and the current phase."""
        if phase != self._phase:
            self._phase, self._pace = phase, Pace()
        if self.on_progress is None:
            return
        row = self.bounds.row(self.bounds.most)
        now, pace = self.budget.seconds, self._pace
        self.on_progress(
            Progress(now, row.upper, row.lower, phase, self.budget.limit, pace.step, pace.rate, self._proved())
        )

    def _proved(self) -> tuple[int, int]:
        """How many numbers of tests are proved, and how many there are."""
        targets = self.bounds.targets(None)
        return targets.count(None), len(targets)

    def on_step(self, step: Step) -> None:
        """Report once a second how far the current phase has come."""
        if self._pace.advance(step, self.budget.seconds):
            self._report(self._phase)

    def progress_of_row(self, m: int) -> Callable[[Progress], None] | None:
        """Progress of one number of tests, with the seconds of the whole table; None without a callback."""
        return told(self.on_progress, self.budget, f"at most {count_of(m, 'test')}", self._proved())

    # -- stages -----------------------------------------------------------------------------------

    @property
    def budget(self) -> Budget:
        return self._budget

    @property
    def closed(self) -> bool:
        return not self._open(self.wanted)

    @property
    def runners(self) -> Sequence[str]:
        return self._runners

    def begin(self, stage: str) -> None:
        self._report(stage)

    def end(self, stage: str) -> None:
        self._report(f"after {stage}")

    def note(self, text: str) -> None:
        self.notes += [] if text in self.notes else [text]

    def by_constants(self, budget: Budget) -> None:
        """Models without a test, and the model that is given."""
        for k in range(self.question.data.n_classes):
            self.bounds.submit(DecisionGraph.leaf(k, self.question.data))
        self.bounds.raise_lower(0, self.bounds.scaled(self.bounds.row(0).upper), "constant models")
        if self.plan is not None and self.plan.start is not None:
            self.bounds.submit(self.plan.start)

    def by_each_depth(self, budget: Budget) -> None:
        """The best tree of each depth, and its prunings."""
        self._report("trees of each depth")
        enter_trees_of_each_depth(self.bounds, budget)

    def has_each_depth(self) -> bool:
        """Whether every row is wanted within a time that may not suffice to search each."""
        return self.engine is not None and self.budget.remaining is not None and self.wanted[0].each is None

    def by_native(self, budget: Budget) -> None:
        """Let the engine fill the rows; where a solver follows, what it breaks down with is a note."""
        assert self.engine is not None
        self._runners.append(self.engine.name)
        self._report(self.engine.name)
        try:
            self._by_engine(self.engine, self.wanted)
        except BREAKDOWNS as error:
            if self.plan is None or not is_breakdown(error):
                raise
            self.notes.append(f"{self.engine.name} {broke_down(error)}")

    def by_one_feature(self, budget: Budget) -> None:
        """Models with tests of one feature, as starts for hyperplanes."""
        enter_models_of_one_feature(self.bounds, budget, self._report)

    def by_first_models(self, budget: Budget) -> None:
        """The formulation's own first models."""
        for made, graph in enumerate(self._starts() or ()):
            if graph is not None:
                self.bounds.submit(graph)
            report_step(made + 1, "models")
            if budget.stop() or self.closed:
                break

    def by_first_bounds(self, budget: Budget) -> None:
        """Lower bounds on errors that the formulation has without a solver; they hold under requirements too."""
        formulation, terms = self.formulation, self.question.objective.terms
        assert formulation is not None
        each = sum(weight * term.unit(self.question.data) for weight, term in terms) * self.question.scale
        for found in formulation.least_errors(self.question.data, self.question.shape) or ():
            if found is not None:
                tests, errors = found
                lower = min(math.ceil(each * errors), ceiling(self.question))
                self.bounds.raise_lower(tests, int(lower), f"{formulation.name}, inseparable sets")
            if budget.stop() or self.closed:
                return

    def has_first_bounds(self) -> bool:
        """Whether the formulation bounds this objective by itself."""
        if self.formulation is None or not all(isinstance(t, Error) for _, t in self.question.objective.terms):
            return False
        return self.formulation.least_errors(self.question.data, self.question.shape) is not None

    def _starts(self) -> Iterator[DecisionGraph | None] | None:
        return None if self.formulation is None else self.formulation.starts(self.question.data, self.question.shape)

    @property
    def formulation(self) -> Formulation | None:
        """What states the rows to a solver; None where an engine fills them alone."""
        return None if self.plan is None else self.plan.formulation

    def _by_engine(self, engine: DiagramSearch, wanted: Sequence[Price]) -> None:
        """Enter bounds and models of the exact search over tests of one feature."""
        relaxation = relax(self.question, engine)
        if relaxation is None:
            return
        relaxation = relaxation.without_narrowing()
        exact = relaxation.exact and self.alone
        asked: list[tuple[list[Fraction] | None, int]] = []
        for free in (1, 0):
            prices = [p.each / relaxation.factor for p in wanted if p.each is not None and p.free == free]
            asked += [(prices, free)] if prices else []
        is_tree = self.question.shape.own_leaves
        for turn in range(2 if is_tree and asked else 1):
            for prices_, free in asked or [(None, 0)]:
                left = self.budget.remaining
                if is_tree and asked and turn == 0:
                    left = schedule.TABLE_ENGINE_FIRST.seconds(left)
                elif not exact and self.plan is not None:
                    left = schedule.TABLE_ENGINE.seconds(left)
                if self.budget.stop() or not self._open(wanted):
                    return
                reason = enter_rows(self.bounds, engine, relaxation, prices_, free, left, self.budget.stop)
                if reason == "memory" or (reason is not None and exact):
                    self.limit = Limit(reason)
            if is_tree and turn == 0:
                self._by_trees_at_price(wanted)

    def _by_trees_at_price(self, wanted: Sequence[Price]) -> None:
        """The tree search with a price per test, for trees."""
        for price in wanted:
            if price.each:
                close_price(self.bounds, price.each, price.free, self.budget, self._report)

    # -- one row after the other -------------------------------------------------------------------

    def _open(self, wanted: Sequence[Price]) -> list[tuple[int, int]]:
        """The rows that the first unproved price still needs, and their targets."""
        for price in wanted:
            targets = enumerate(self.bounds.targets(price.each, price.free))
            if open_rows := [(m, target) for m, target in targets if target is not None]:
                return open_rows
        return []

    def open_rows(self) -> list[int]:
        """The rows that the first unproved price still needs."""
        return [m for m, _ in self._open(self.wanted)]

    @property
    def rows_alone(self) -> bool:
        """Whether rows are solved like other questions only: nothing fills several at once."""
        return self.plan is None and self.engine is None

    def has_answered_rows(self) -> bool:
        """Whether rows are solved like other questions."""
        return self.rows_alone if self.plan is None else is_answered(self.question, self.options, self.plan.formulation)

    def has_rows_first(self) -> bool:
        """Whether an engine proves one row sooner than the search over tests of one feature fills all of them."""
        every = self.engine is not None and self.plan is not None and self.wanted[0].each is None
        many = every and self.question.data.has_more_tests_than(FEW_TESTS)
        return many and is_proved_by_engine(self.question, self.options)

    def by_questions_first(self, budget: Budget) -> None:
        """Solve each row like other questions, in equal parts of the time."""
        self._answer_rows(None, budget)

    def by_questions(self, budget: Budget) -> None:
        """Solve the open rows like other questions."""
        self._answer_rows(None if self.rows_alone else schedule.EACH_ROW, self.budget)

    def _answer_rows(self, first: Share | None, budget: Budget) -> None:
        rows = AnsweredRows(self.bounds, self.options, first, budget, self.open_rows, self.progress_of_row)
        rows.run()
        self.limit = rows.limit or self.limit
        self.notes += rows.notes

    def by_solver(self, budget: Budget) -> None:
        """Solve the smallest open row; a row that used up its time is tried again only with a lower target."""
        while not (self._given_up or budget.stop()):
            for price in self.wanted:
                jobs = [
                    (m, target)
                    for m, target in self._open([price])
                    if m not in self._spent or target < self._spent[m]
                ]
                if jobs:
                    break
            else:
                return
            self._solve_row(*jobs[0])

    def _solve_row(self, m: int, target: int) -> None:
        assert self.plan is not None
        formulation, backend = self.plan.formulation, self.plan.backend
        assert formulation is not None and backend is not None
        self._runners.append(backend.name)
        end = solve_row(self.bounds, m, target, formulation, backend, self.budget, self.progress_of_row(m))
        if end.note is not None:
            self.notes.append(end.note)
            self.limit = end.limit or self.limit
            self._spent[m] = 0
            self._given_up = end.last
            return
        self._report(f"after at most {count_of(m, 'test')}")
        if not end.closed:
            self.limit = end.limit
            self._spent[m] = target


# fmt: off
STAGES: tuple[Stage[SizeTableSearch], ...] = (
    Stage(
        "constant models", SizeTableSearch.by_constants, needed=True, at_once=True,
        applies=lambda table: not table.rows_alone,
    ),
    Stage(
        "trees of each depth", SizeTableSearch.by_each_depth, share=schedule.TABLE_ENGINE_FIRST, shapes=(Tree,),
        applies=SizeTableSearch.has_each_depth,
    ),
    Stage(
        "each row as a question", SizeTableSearch.by_questions_first, shapes=(Tree,),
        applies=SizeTableSearch.has_rows_first,
    ),
    Stage("native search", SizeTableSearch.by_native, needed=True, applies=lambda table: table.engine is not None),
    Stage(
        "tests of one feature", SizeTableSearch.by_one_feature,
        applies=lambda table: table.warm and table.plan is not None and not table.question.shape.reads_columns,
    ),
    Stage("rows as questions", SizeTableSearch.by_questions, applies=SizeTableSearch.has_answered_rows),
    Stage(
        "first models", SizeTableSearch.by_first_models, share=schedule.TABLE_MODELS,
        applies=lambda table: table._starts() is not None,
    ),
    Stage(
        "first bounds", SizeTableSearch.by_first_bounds, share=schedule.FIRST_BOUNDS,
        applies=SizeTableSearch.has_first_bounds,
    ),
    Stage("rows by a solver", SizeTableSearch.by_solver, needed=True, applies=lambda table: table.plan is not None),
)
# fmt: on
"""What is done for a table of sizes, in this order; each row is a question of its own."""
