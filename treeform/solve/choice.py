"""From what the user named to what runs: solver, formulation and warm start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treeform import backends
from treeform.backends import Backend
from treeform.backends.isolated import apart, isolated
from treeform.backends.run import LINEAR
from treeform.catalogue.solvers import engine_or_backend, find_formulation, with_threads
from treeform.engines import DL85, Engine
from treeform.engines.relaxation import predicts_alike
from treeform.errors import SolverNotAvailable, SpecError
from treeform.graph import DecisionGraph
from treeform.language.formulation import Formulation
from treeform.language.losses import leaf_loss
from treeform.language.question import Question, ceiling
from treeform.solve.columns_on_demand import is_usual
from treeform.solve.engines import goes_on_by_solvers, lowered, usual_engine, why_not
from treeform.solve.in_parts import first_part, is_largest, stated_whole, too_many_parts
from treeform.solve.result import SolveOptions
from treeform.utils.rows import setting_text, worded

if TYPE_CHECKING:
    from treeform.distribute import Distribution

USUAL = ("highs", "mathopt:scip", "cp-sat")
"""Where the formulation leaves the solver open, the first of these that can be loaded here."""
USUAL_FOR_DEPTH = ("sat", "cp-sat", "highs")
USUAL_FOR_TREES = "hypergraph-flow"
"""The formulation of trees over few tests, if none is named; `ODD` states diagrams, hyperplanes and larger tables."""
PROVED_BY_CLAUSES = 700
"""Distinct rows times test nodes up to which a tree is stated by clauses to a solver without linear rows. On drawn
tables of 0/1 columns they take as long there as the graph does, and four times as long at 780."""
FEW_TESTS = 1000
"""Distinct tests up to which the least depth is searched by the engine for binary tests."""


@dataclass(frozen=True)
class Plan:
    """Solver, formulation and warm start of one run."""

    engine: Engine | None
    """Solves outright; then ``backend`` is None. Without both, ``warm_engine`` is all that takes the table."""
    backend: Backend | None
    formulation: Formulation | None
    warm_engine: Engine | None
    start: DecisionGraph | None
    notes: tuple[str, ...]
    in_parts: bool = False
    """Whether the objective is minimised through questions whose objectives are sums."""
    distribution: Distribution | None = None
    """Who shares the work of the engine; None: this process does it all."""

    @property
    def searcher(self) -> Engine | None:
        """The engine that answers the question, or a part of it."""
        return self.engine or self.warm_engine

    @property
    def is_stated(self) -> bool:
        """Whether a formulation is stated to a solver."""
        return self.backend is not None and self.formulation is not None


def as_asked(question: Question, options: SolveOptions) -> Question:
    """The question with what the rows of a formulation of one's own demand beside it.

    Raises SpecError if they narrow the problem, and the least depth is asked for.
    """
    named = options.formulation
    asked = question if named is None else question.narrowed_by(find_formulation(named))
    if question.objective.is_depth:
        refuse_restriction(asked, options, "the least depth")
    return asked


def refuse_restriction(question: Question, options: SolveOptions, what: str) -> None:
    """Raise SpecError where ``what`` is asked of a problem that a formulation of one's own narrows."""
    if question.restriction is None and options.formulation is not None:
        question = question.narrowed_by(find_formulation(options.formulation))
    if question.restriction is not None:
        raise question.restriction.refusal(what)


def choose(question: Question, options: SolveOptions) -> Plan:
    """Choose what the user left open, and note it in the plan."""
    plan = _chosen(question, options)
    if options.distribution is not None:
        options.distribution.check(plan.engine, plan.backend or plan.warm_engine)
        plan = replace(plan, distribution=options.distribution)
    if not options.isolate:
        return plan if plan.backend is None else replace(plan, backend=apart(plan.backend))
    if plan.backend is None:
        engine = plan.searcher
        assert engine is not None
        no_effect = f"isolate has no effect: {engine.name} is part of treeform and runs in this process"
        return replace(plan, notes=(*plan.notes, no_effect))
    return replace(plan, backend=isolated(plan.backend))


def _chosen(question: Question, options: SolveOptions) -> Plan:
    question.objective.check(question.data, question.shape)
    if question.objective.is_sum:
        return _choose(question, options)
    engine, _ = engine_or_backend(options.solver)
    if engine is not None:
        require_exact(first_part(question), engine, question)
    plan = _choose(first_part(question), options)
    if stated_whole(question) and options.solver is None and too_many_parts(question):
        return _choose(question, options)
    if plan.backend is not None and stated_whole(question):
        if is_largest(question) and LINEAR not in plan.backend.capabilities.forms:
            return replace(plan, in_parts=True)
        return _choose(question, options)
    note = "the objective is minimised in parts, each a sum over samples"
    return replace(plan, notes=(*plan.notes, note), in_parts=True)


def _choose(question: Question, options: SolveOptions) -> Plan:
    solver, formulation, warm_start = options.solver, options.formulation, options.warm_start
    notes: list[str] = []
    named, chosen = (None, None) if solver is None else engine_or_backend(solver)
    model = None if formulation is None else find_formulation(formulation)
    if named is not None:
        _refuse_formulation(named, model)
        require_exact(question, named)
        return Plan(named, None, None, None, _start(question, warm_start), ())
    depth = question.objective.is_depth
    if chosen is None and model is None and (engine := engine_for(question)) is not None:
        notes.append(f"solver: {engine.name}, a native engine that supports all of the problem")
        if engine.chosen_for:
            notes.append(f"{engine.name} {engine.chosen_for} ({question.data.n_tests} here)")
        return Plan(engine, None, None, None, _start(question, warm_start), tuple(notes))
    _refuse_unstated_values(question, chosen)
    if model is None:
        model = find_formulation("sat-depth" if depth else _usual_formulation(question, options, chosen))
        notes.append(f"formulation: {model.name}")
        notes += [] if depth else why_not(question)
    if (unstated := why_unstated(question, options)) is not None:
        alone = _engine_alone(question, warm_start, [unstated])
        if alone is not None:
            return alone
    if chosen is None:
        chosen = _usual_solver(question, model, depth, notes)
    notes += _on_components(question, model)
    model.check(question.data, question.shape, question.objective, question.requirements)
    warm = _warm_engine(question, warm_start, notes, depth)
    model = model.tuned_for(chosen.capabilities.forms)
    return Plan(None, chosen, model, warm, _start(question, warm_start), tuple(notes))


def _usual_formulation(question: Question, options: SolveOptions, chosen: Backend | None) -> str:
    """The name of the formulation where none is given, and not the least depth is asked for."""
    usual = USUAL_FOR_TREES if is_usual(question) else "odd"
    if chosen is None or LINEAR in chosen.capabilities.forms:
        return usual
    whole = not any(requirement.continuous for requirement in question.requirements)
    # Of the graph, which changes from step to step, no proof is written.
    stated = usual == USUAL_FOR_TREES and whole and options.proofs is None
    return usual if stated and rows_times_nodes(question) > PROVED_BY_CLAUSES else "sat-depth"


def rows_times_nodes(question: Question) -> int:
    """Distinct rows, times the test nodes that each of them is sent through where a model is stated node by node."""
    return question.data.points.n_points * sum(question.shape.widths)


def _on_components(question: Question, model: Formulation) -> list[str]:
    """What components that were added to the formulation mean for the answer."""
    if not model.restrictions:
        trusted = [repr(c) for c in model.components if model.is_added(c)]
        return (
            [f"bounds rest on {', '.join(trusted)} too, which declares to keep the optimum"]
            if trusted
            else []
        )
    narrowed = question.narrowed_by(model).restriction
    return [
        f"the problem is narrowed by {narrowed}: engines give bounds, and a model found without these rows "
        "counts only if it satisfies them"
    ]


def why_unstated(question: Question, options: SolveOptions) -> str | None:
    """Why no solver starts where everything was left open: the usual formulation cannot state the problem."""
    if options.solver is not None or options.formulation is not None or question.objective.is_depth:
        return None
    usual = find_formulation("odd")
    reason = usual.supports(question.shape, question.data, question.objective)
    return (
        None
        if reason is None
        else f"no solver was started: {usual.name} cannot state this problem ({reason})"
    )


def _engine_alone(question: Question, warm_start: Any, notes: list[str]) -> Plan | None:
    """The plan without a solver: models and bound of an engine. None where no engine takes a part of the problem."""
    question.objective.check(question.data, question.shape)
    for requirement in question.requirements:
        refusal = requirement.refusal(question.data, question.shape)
        if refusal is not None:
            raise refusal
    engine = _warm_engine(question, warm_start, notes, False)
    if engine is None or lowered(question, engine) is None:
        return None
    return Plan(None, None, find_formulation("odd"), engine, _start(question, warm_start), tuple(notes))


def engine_for(question: Question) -> Engine | None:
    """An engine that supports all of the question."""
    engine = usual_engine(question)
    part = None if engine is None or goes_on_by_solvers(question, engine) else lowered(question, engine)
    return engine if part is not None and part.exact else None


def _usual_solver(question: Question, model: Formulation, depth: bool, notes: list[str]) -> Backend:
    """The solver for ``model`` when none is named: one that takes its columns, and that can be loaded here.

    Raises SolverNotAvailable if there is none; the message names what to install.
    """
    of_formulation = None if depth else model.usual_solver(question.shape)
    uneven = [str(requirement) for requirement in question.requirements if requirement.continuous]
    passed_over: list[str] = []
    missing: SolverNotAvailable | None = None
    rounding: Backend | None = None
    largest = ceiling(question)
    for name in dict.fromkeys(
        [*([of_formulation] if of_formulation else []), *(USUAL_FOR_DEPTH if depth else USUAL)]
    ):
        try:
            backend = backends.by_name(name)
        except SolverNotAvailable as error:
            missing = missing or error
            passed_over.append(f"{name} cannot be used here ({error.cause})")
            continue
        if uneven and not backend.capabilities.continuous:
            passed_over.append(f"{name} takes whole numbers only, and {uneven[0]} has other columns")
            continue
        if not backend.capabilities.takes(question.objective):
            passed_over.append(f"{name} takes no squares")
            continue
        if largest > backend.capabilities.largest:
            passed_over.append(
                f"{name} rounds values of more than {int(backend.capabilities.largest):,} units"
            )
            rounding = rounding or backend
            continue
        notes.append("; ".join([f"solver: {backend.name}", *passed_over]))
        return backend
    if rounding is not None:
        notes.append("; ".join([f"solver: {rounding.name}", *passed_over]))
        return rounding
    if missing is not None:
        raise missing
    raise AssertionError(f"none of {USUAL} takes continuous columns and squares")


def require_exact(question: Question, engine: Engine, whole: Question | None = None) -> None:
    """Refuse a question that the engine cannot solve alone; ``whole`` is the question that it is a part of.

    Raises SpecError naming what the engine does not support, and an engine that does.
    """
    relaxation = lowered(question, engine)
    if relaxation is not None and relaxation.exact:
        return
    missing = f"the objective {(whole or question).objective}"
    if relaxation is not None:
        # A requirement that only the part has stands for the objective of the whole.
        asked = (question if whole is None else whole).labels
        unmet = [name for name in relaxation.dropped if whole is None or name in asked or "widths" in name]
        missing = ", ".join(unmet if len(unmet) == len(relaxation.dropped) else [*unmet, missing])
    other = engine_for(question)  # another engine that would do
    able = "" if other is None else f"{worded(other.code(), other.name)}, or with "
    linear = worded("tf.HiGHS() or tf.CPSAT()", "highs or cp-sat")
    solvers = setting_text("solver", "scip") if question.objective.is_squared else linear
    fix = f"solve with {able}{solvers} and give {setting_text('warm_start', engine.name)} for its bound and models"
    if not predicts_alike(question, engine):
        fix = f"leave out solver, or solve with {able.removesuffix(', or with ')}"
    if not question.shape.reads_columns:
        missing = f"the tests of {question.shape}"
        stated = setting_text("formulation", "odd")
        fix = f"solve with {worded('tf.HiGHS()', 'highs')} and {stated}, which states hyperplanes"
    raise SpecError(
        f"{engine.name} cannot support {missing}",
        cause="a native engine solves the plain tree problem and the requirements built into it",
        fix=fix,
    )


def _refuse_unstated_values(question: Question, solver: Backend | None) -> None:
    """Refuse a loss that the solver does not take, or values that no formulation states."""
    objective = question.objective
    of_values = [str(one) for one in question.requirements if "value" in one.needs]
    if objective.is_squared and of_values:
        raise SpecError(
            f"{', '.join(of_values)} cannot be stated to a solver under {objective}",
            cause="the exact values of leaves are read back as means, and these are not means where values are bounded",
            fix="leave out solver and formulation, which solves it natively"
            if question.shape.own_leaves
            else worded(
                "minimise tf.AbsoluteError(), or use shape=tf.Tree(depth)",
                "minimise absolute_error, or use --shape tree:DEPTH",
            ),
        )
    if solver is not None and not solver.capabilities.takes(objective):
        raise SpecError(
            f"{solver.name} cannot minimise {objective}",
            cause="the value of a leaf is a mean, squares of distances from it are no linear rows, and this solver "
            "takes a linear objective",
            fix=f"use {setting_text('solver', 'scip')}, which takes squares; or leave out solver and formulation: "
            f"{worded('tf.RegressionSearch()', 'regression-search')} solves trees natively; or minimise "
            f"{worded('tf.AbsoluteError()', 'absolute_error')}",
        )
    stated = (requirement.value_rule(question.data) for requirement in question.requirements)
    rules = [rule for rule in stated if rule is not None]
    if any(rule.rows for rule in rules) and not any(rule.whole for rule in rules):
        raise SpecError(
            "requirements on values cannot be stated to a solver here",
            cause="formulations have whole values at leaves, and whole=False allows all fractions",
            fix="leave out solver and formulation, or use whole=True, as in "
            + worded("tf.MeanParity('sex', 5, whole=True)", "mean_parity:groups=sex,difference=5,whole=True"),
        )


def _refuse_formulation(engine: Engine, model: Formulation | None) -> None:
    if model is not None:
        raise SpecError(
            f"{engine.name} takes no formulation",
            cause=f"it searches trees directly, and {model.name} is stated to a solver",
            fix=f"leave out formulation, or use {model.name} with {worded('tf.HiGHS()', 'highs')} and "
            + setting_text("warm_start", engine.name),
        )


_NO_ENGINE = (None, False, "none", "auto")


def _start(question: Question, warm_start: Any) -> DecisionGraph | None:
    """The model to start from, if one is given; anything that gives no start is refused, also where none is needed."""
    graph = warm_start if isinstance(warm_start, DecisionGraph) else None
    engine = _start_engine(warm_start) if graph is None and _names_engine(warm_start) else None
    if graph is not None and bool(graph.values) is (leaf_loss(question.objective) is None):
        raise _no_start(question)
    if engine is not None and not predicts_alike(question, engine):
        raise _no_start(question)
    return graph


def _no_start(question: Question) -> SpecError:
    wanted, other = ("classes", "values") if leaf_loss(question.objective) is None else ("values", "classes")
    return SpecError(
        f"the warm start is none under {question.objective}",
        cause=f"it predicts {other}, or it is an engine for {other}, and leaves hold {wanted}",
        fix=f"give a model that predicts {wanted}, or leave warm_start out",
    )


def _names_engine(warm_start: Any) -> bool:
    # Compared by type first: engines and models define equality as they like.
    return not isinstance(warm_start, bool | str | None) or warm_start not in _NO_ENGINE


def _start_engine(warm_start: Any) -> Engine:
    engine, _ = engine_or_backend(warm_start)
    if engine is None:
        raise SpecError(
            f"{warm_start!r} gives no warm start",
            cause="warm starts come from native engines or from a model in hand",
            fix="use warm_start=tf.ConTree(), warm_start='none', or a DecisionGraph",
        )
    return engine


def _warm_engine(question: Question, warm_start: Any, notes: list[str], depth: bool) -> Engine | None:
    """The engine for bound and warm start: the one named, otherwise the usual one for shape and objective."""
    if isinstance(warm_start, DecisionGraph):
        return None
    if _names_engine(warm_start):
        return _start_engine(warm_start)
    if warm_start != "auto" or not question.shape.reads_columns:
        return None  # native engines search tests of one feature
    few = depth and question.data.n_tests <= FEW_TESTS
    engine = DL85() if few else usual_engine(question)
    notes += [] if engine is None else [f"warm start and bound: {engine.name}"]
    return engine


def on_threads(question: Question, options: SolveOptions, threads: int) -> SolveOptions:
    """The options with a solver that runs on so many threads; the one that would be chosen, where none is named.

    Raises SpecError if that solver has no such setting.
    """
    plan = choose(question, options)
    if plan.engine is None and plan.backend is None:
        return replace(options, warm_start=with_threads(plan.warm_engine, threads))
    return replace(options, solver=with_threads(plan.engine or plan.backend, threads))


def alone(question: Question, options: SolveOptions) -> Any:
    """The solver that the options lead to, in a process of its own; None where an engine of treeform is chosen."""
    plan = choose(question, replace(options, isolate=True))
    return options.solver if plan.backend is None else plan.backend
