"""One solve, from the question to the result."""

from __future__ import annotations

import math

import numpy as np

from treeform.distribute import Distribution
from treeform.engines import ConTree, Engine, RegressionSearch
from treeform.errors import SolverFailed
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.language.abilities import ColumnsOnDemand, FirstModels
from treeform.language.question import Question
from treeform.shape import Tree, smaller_shapes
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.building import build_beside
from treeform.solve.choice import Plan, as_asked, choose
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.deep_trees import between_deep_trees
from treeform.solve.depth import minimize_depth
from treeform.solve.diagram_totals import search_within_gap
from treeform.solve.engines import run_engine
from treeform.solve.faults import broke_down
from treeform.solve.fitting_trees import submit_fitting_trees
from treeform.solve.given_start import submit_given
from treeform.solve.in_parts import search_in_parts
from treeform.solve.lagrangian import rows_of, tighten
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve
from treeform.solve.options import USUAL, SolveOptions
from treeform.solve.outlook import with_outlook
from treeform.solve.proof_writer import ProofWriter
from treeform.solve.regression import best_constant, run_regression
from treeform.solve.relaxation import relax
from treeform.solve.remarks import remarks, within_tolerances
from treeform.solve.result import Limit, SolveResult, Status, as_number, why_stopped
from treeform.solve.search import CompiledSearch
from treeform.solve.search_over_tests import its_share, search_over_tests
from treeform.solve.simple_bounds import PROVER, PROVER_OF_CLASSES, classes_bound, floor_bound, out_of_reach
from treeform.solve.stages import limit_of, stage
from treeform.solve.totals_engine import totals_engine
from treeform.solve.unrolled_trees import bound_by_trees
from treeform.utils.progress import observe_steps, report_step


def solve(question: Question, options: SolveOptions = USUAL) -> SolveResult:
    """Answer ``question``; see `treeform.Problem.solve`.

    Raises
    ------
    SolverFailed
        If memory runs out before the search begins, or while its result is put together.
    """
    try:
        return _solve(question, options)
    except MemoryError as error:
        raise SolverFailed(
            "memory ran out outside of the search",
            cause="the table and what is made of it need more than this process may have",
            fix="leave rows or columns out, or let the process have more memory",
        ) from error


def _solve(question: Question, options: SolveOptions) -> SolveResult:
    budget = Budget(options.time_limit)  # the choice is part of the work: it looks at the whole table
    question = as_asked(question, options)
    with interruptible(budget):  # the choice, too: Ctrl-C there leaves the best constant model
        plan = with_outlook(question, choose(question, options))
        plan.distribution.begin(question)
        ledger = Ledger(question, budget, options.on_progress)
        with observe_steps(ledger.on_step):
            try:
                limit = _work(question, plan, ledger, budget, options)
            except MemoryError:  # of what is prepared in Python; engines and solvers report theirs
                ledger.notes.append(f"memory ran out in the phase {ledger.phase!r}")
                limit = budget.reason or Limit.MEMORY
    if options.proofs is not None:
        _tidy(options.proofs, plan, ledger)
    return _result(question, plan, ledger, limit or budget.reason)


def _tidy(files: ProofWriter, plan: Plan, ledger: Ledger) -> None:
    files.tidy(ledger.claims)
    if plan.engine is not None:
        ledger.notes.append(f"no proof was written: a check has {plan.engine.name} prove its bound again")
    elif not any((claim.recheck or {}).get("kind") == "proof" for claim in ledger.claims) and not any(
        note.startswith("no proof was written") for note in ledger.notes
    ):
        ledger.notes.append("no proof was written: nothing was refuted by a solver that answers yes or no")


def _work(
    question: Question, plan: Plan, ledger: Ledger, budget: Budget, options: SolveOptions
) -> Limit | None:
    files = options.proofs
    if not _prepared(question, ledger, budget):
        return budget.reason
    ledger.set_phase("quick bounds")
    if not isinstance(plan.engine, RegressionSearch):  # which begins with a model within milliseconds
        constants(question, ledger)
    ledger.prove_lower(floor_bound(question), PROVER)
    ledger.prove_lower(classes_bound(question), PROVER_OF_CLASSES)
    if (note := out_of_reach(question)) is not None:
        ledger.notes.append(note)
    if plan.start is not None:
        submit_given(question, plan.start, ledger)
    for graph in options.models:
        ledger.submit(graph, "a model known before")
    for bound in options.bounds:
        whole = bound.value * question.scale
        ledger.prove_lower(
            math.ceil(whole) if question.objective.is_sum and not question.objective.is_regression else whole,
            bound.by,
        )
    if ledger.closed:
        return None
    if plan.in_parts:
        return _in_parts(question, plan, ledger, budget)
    if plan.engine is not None:
        return _by_engine(question, plan.engine, ledger, budget, plan.distribution)
    if question.objective.is_depth:
        assert plan.backend is not None and plan.formulation is not None
        limit = minimize_depth(
            question, plan.formulation, plan.backend, ledger, budget, files, plan.warm_engine
        )
        return budget.reason or limit
    return _search(question, plan, ledger, budget, files)


def _prepared(question: Question, ledger: Ledger, budget: Budget) -> bool:
    """Build the rows that models from elsewhere are judged by, where the question has some; False: no time for it."""
    restriction = question.restriction
    if restriction is None:
        return True
    ledger.set_phase(f"building {restriction.formulation}")

    def build() -> bool:
        restriction.prepare(question.data, question.shape, question.objective, question.requirements)
        return True

    return build_beside(build, budget.stop) is not None


def _in_parts(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> Limit | None:
    """Minimise an objective that is no sum, through questions whose objectives are sums."""

    def search(part: Question, claims: Ledger) -> Limit | None:
        claims.prove_lower(floor_bound(part), PROVER)
        if claims.closed:
            return None
        if plan.engine is not None:
            return _by_engine(part, _able(plan.engine, part), claims, claims.budget, plan.distribution)
        return _search(part, plan, claims, claims.budget, None)

    return budget.reason or search_in_parts(question, ledger, search)


def _able(engine: Engine, part: Question) -> Engine:
    """The engine, or one that supports linear constraints over sums where only that one supports all of the part."""
    relaxation = relax(part, engine)
    other = None if relaxation is None or relaxation.exact else totals_engine(part)
    return engine if other is None else other


def _by_engine(
    question: Question, engine: Engine, ledger: Ledger, budget: Budget, distribution: Distribution
) -> Limit | None:
    if isinstance(engine, RegressionSearch):
        limit = run_regression(question, engine, ledger, budget)
        if ledger.graph is None and not ledger.impossible:
            constants(question, ledger)
        return limit
    relaxation = relax(question, engine)
    if (
        relaxation is None
    ):  # a part whose prices leave the engine's integers; other parts may settle the whole
        ledger.notes.append(f"{engine.name} did not search {question.objective}: it leaves exact arithmetic")
        return Limit.SOLVER
    with stage(ledger, "the bound by trees"):
        bound_by_trees(engine, relaxation, ledger, budget)
    if ledger.stop():
        return budget.reason
    worker = distribution.of(engine) if distribution else engine

    def prove(part: Budget) -> Limit | None:
        ledger.set_phase(engine.name)
        try:
            outcome = run_engine(worker, relaxation, ledger, part)
        except (SolverFailed, MemoryError) as error:
            if not ledger.has_model:
                raise
            ledger.note(f"{engine.name} {broke_down(error)}")
            return part.reason or limit_of(error)
        return part.reason or (Limit.MEMORY if outcome.reason == "memory" else None)

    return prove(budget) if distribution else between_deep_trees(question, engine, ledger, budget, prove)


def _search(
    question: Question, plan: Plan, ledger: Ledger, budget: Budget, files: ProofWriter | None
) -> Limit | None:
    """A formulation on a solver, after what first models, a native engine and smaller shapes give."""
    with stage(ledger, "the search for first models"):
        _first_models(question, plan, ledger, budget)
    _engines_first(question, plan, ledger, budget)
    if plan.warm_engine is not None:
        with stage(ledger, "the search of neighbourhoods"):
            _neighbourhoods(question, plan.warm_engine, ledger, schedule.NEIGHBOURHOODS.of(budget))
    if not ledger.stop():
        _smaller_shapes(question, plan, ledger, budget)
    limit = _by_solver(question, plan, ledger, budget, files)
    if (
        plan.warm_engine is not None
        and limit in (Limit.SOLVER, Limit.MEMORY)
        and budget.remaining is not None
    ):
        # The solver ended by itself, and time is left.
        with stage(ledger, "the search of neighbourhoods"):
            _neighbourhoods(question, plan.warm_engine, ledger, budget)
    return budget.reason or limit


def _engines_first(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> None:
    """What native engines find and prove before a solver starts."""
    if plan.warm_engine is None:
        return
    with stage(ledger, f"the warm start by {plan.warm_engine.name}"):
        _warm_up(question, plan, ledger, budget)
    with stage(ledger, "the search over tests"):
        _over_tests(question, plan, ledger, budget)


def _by_solver(
    question: Question, plan: Plan, ledger: Ledger, budget: Budget, files: ProofWriter | None
) -> Limit | None:
    if plan.backend is None or plan.formulation is None:
        return budget.reason or Limit.SOLVER
    if ledger.stop():
        ledger.notes.append(f"{plan.formulation.name} on {plan.backend.name} was not started: {_why(ledger)}")
        return budget.reason
    part = priced_part(question) if isinstance(plan.formulation, ColumnsOnDemand) else None
    search: CompiledSearch | GraphSearch
    if part is None:
        search = CompiledSearch(question, plan.formulation, plan.backend, ledger, budget, files)
    else:
        search = GraphSearch(question, plan.formulation, plan.backend, ledger, budget, part)
    search.run()
    limit = budget.reason or search.limit
    if limit is None and not ledger.closed:
        ledger.notes.append(within_tolerances(plan.formulation.name, plan.backend.name))
        return Limit.SOLVER
    return limit


def _first_models(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> None:
    """Models of the formulation's heuristic, for shapes that no native engine searches."""
    if not isinstance(plan.formulation, FirstModels):
        return
    part = schedule.FIRST_MODELS.of(budget)
    ledger.set_phase(f"{plan.formulation.name}, first models")
    for made, graph in enumerate(plan.formulation.starts(question.data, question.shape), start=1):
        if graph is not None:
            ledger.submit(graph, f"{plan.formulation.name}, first models")
        report_step(made, "models")
        if part.stop() or ledger.closed:
            return


def _smaller_shapes(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> None:
    """Under requirements and a time limit: the best models of the shapes of fewer layers, each from the one before.

    An engine that supports all of the problem begins with smaller depths itself. Without a limit the solver goes on to
    the optimum, which no smaller shape beats.
    """
    # A restriction has other rows for another shape.
    if not question.requirements or budget.remaining is None or question.restriction is not None:
        return
    best = ledger.graph
    for shape in smaller_shapes(question.shape):
        ledger.set_phase(f"{shape} first")
        part = schedule.SMALLER_SHAPE.of(budget)
        smaller = question.with_(shape=shape)
        claims = Ledger(smaller, part)
        claims.outer = ledger
        constants(smaller, claims)
        if best is not None:
            claims.submit(best, "what is known")
        with stage(ledger, f"the search of {shape}"):
            _first_models(smaller, plan, claims, part)
            _engines_first(smaller, plan, claims, part)
            _by_solver(smaller, plan, claims, part, None)
        if claims.graph is not None:
            best = claims.graph
            ledger.submit(best, f"the best model of {shape}")
        if ledger.stop():
            return


def _over_tests(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> None:
    """Models, and often the proof, from a native search that was not chosen for the size of the table."""
    engine = None if ledger.stop() else search_over_tests(question)
    relaxation = None if engine is None else relax(question, engine)
    if engine is not None and relaxation is not None and type(engine) is not type(plan.warm_engine):
        ledger.set_phase(f"search over tests: {engine.name}")
        run_engine(engine, relaxation, ledger, its_share(question).of(budget))


def _why(ledger: Ledger) -> str:
    return f"{'the answer was proved' if ledger.closed else why_stopped(ledger.budget.reason)} before"


def constants(question: Question, ledger: Ledger) -> None:
    """The models without a test: of every shape, and often the only fair ones at first.

    They come before everything that can take time: no limit is too short for an admissible one.
    """
    if question.objective.is_regression:
        ledger.submit(best_constant(question), "constant model")
        return
    for label in np.argsort(-question.data.class_weights, kind="stable").tolist():
        ledger.submit(DecisionGraph.leaf(label, question.data), "constant model")
        if ledger.graph is not None and ledger.budget.stop():
            return


def _warm_up(question: Question, plan: Plan, ledger: Ledger, budget: Budget) -> None:
    assert plan.warm_engine is not None
    if isinstance(plan.warm_engine, RegressionSearch):
        run_regression(question, plan.warm_engine, ledger, schedule.WARM_START.of(budget))
        return
    if not question.objective.is_sum:
        _warm_up_parts(question, plan.warm_engine, ledger, budget)
        return
    relaxation = relax(question, plan.warm_engine)
    if relaxation is None:
        return
    share = schedule.ENGINE_ALONE if plan.backend is None else schedule.WARM_START
    seconds = share.seconds(budget.remaining)
    ledger.set_phase(f"warm start: {plan.warm_engine.name}")
    if relaxation.dropped and not isinstance(question.shape, Tree):
        _by_trees(question, ledger, budget.share(seconds))
        if ledger.stop():
            return
    part = budget.share(seconds)
    outcome = run_engine(plan.warm_engine, relaxation, ledger, part)
    priced = tighten(question, plan.warm_engine, relaxation, outcome, ledger, part)
    if priced is not None and not ledger.stop():
        search_within_gap(question, *priced, ledger, schedule.WITHIN_GAP.of(budget))


def _neighbourhoods(question: Question, engine: Engine, ledger: Ledger, part: Budget) -> None:
    """Better models than those of an engine that does not support all requirements."""
    if not isinstance(question.shape, Tree) or not question.objective.is_sum or ledger.stop():
        return
    relaxation = relax(question, engine)
    if relaxation is None or relaxation.exact:
        return
    ledger.set_phase(f"neighbourhoods: {engine.name}")
    improve(engine, relaxation, ledger, part)


def _warm_up_parts(question: Question, engine: Engine, ledger: Ledger, budget: Budget) -> None:
    """Bound and models from the engine where the solver is given the whole of an objective that is no sum."""
    part = schedule.WARM_START.of(budget)

    def search(one: Question, claims: Ledger) -> Limit | None:
        relaxation = relax(one, engine)
        if relaxation is not None:
            claims.set_phase(f"warm start: {engine.name}")
            run_engine(engine, relaxation, claims, part)
        return None

    search_in_parts(question, ledger, search)


def _by_trees(question: Question, ledger: Ledger, part: Budget) -> None:
    """Models and bounds for a diagram from trees of its depth, where requirements are rows over predictions.

    A diagram unrolls to a tree, so trees bound it; and a tree that fits the widths, or is pruned to them, is a diagram.
    The best tree under these rows where a search for totals takes them; else their prices in the costs.
    """
    totals = totals_engine(question)
    engine = ConTree() if totals is None else totals
    relaxation = relax(question, engine)
    if relaxation is not None and (totals is not None or rows_of(question, relaxation.dropped)):
        outcome = run_engine(engine, relaxation, ledger, part)
        tighten(question, engine, relaxation, outcome, ledger, part)
        if totals is not None and not ledger.stop():
            submit_fitting_trees(question, engine, relaxation, ledger, part)


def _refuted(question: Question, ledger: Ledger) -> list[str]:
    """The requirements that a proof of infeasibility was about, by name."""
    proofs = [claim for claim in ledger.claims if claim.kind == "infeasible"]
    if not proofs:
        return []
    ignored = max((claim.relaxation for claim in proofs), key=len)
    own = [] if question.restriction is None else [str(question.restriction)]
    names = [label for label in (*question.labels, *own) if label not in ignored]
    others = [label for label in (*question.labels, *own) if label in ignored]
    if not names:
        return []
    what = f"no model of shape {question.shape} satisfies {' together with '.join(names)}"
    what += f", even without {', '.join(others)}" if others else ""
    if own:
        return [what]
    return [
        f"{what}; result.conflict() names a smallest set that conflicts, and how far each bound would have to move"
    ]


def _who_answered(plan: Plan, ledger: Ledger) -> tuple[str, str | None]:
    """The solver and its formulation; where the solver was never started, the engines that ran."""
    if plan.engine is not None:
        return plan.engine.name, None
    if plan.backend is not None and plan.formulation is not None and plan.backend.name in ledger.runners:
        return plan.backend.name, plan.formulation.title
    return ", ".join(dict.fromkeys(ledger.runners)) or "none", None


def _result(question: Question, plan: Plan, ledger: Ledger, limit: Limit | None) -> SolveResult:
    graph, status = ledger.graph, ledger.status
    units = question.to_units
    done = status in (Status.OPTIMAL, Status.INFEASIBLE)
    final = ledger.judged
    counters: dict[str, int] = {}
    for claim in ledger.claims:
        counters.update({f"{claim.by}: {name}": value for name, value in claim.counters.items()})
    solver, formulation = _who_answered(plan, ledger)
    model_remarks = [] if graph is None else remarks(question, graph)
    return SolveResult(
        graph=graph,
        status=status,
        limit=None if done else limit,
        objective=None if final is None else as_number(units(final.value)),
        bound=None if ledger.lower is None else as_number(units(ledger.lower)),
        errors=None if graph is None or graph.is_regression else int(errors(graph, question.data)),
        violations={} if final is None else {k: as_number(v) for k, v in final.violations.items()},
        claims=tuple(ledger.claims),
        trace=tuple(ledger.trace),
        seconds=ledger.budget.seconds,
        notes=(*plan.notes, *ledger.notes, *_refuted(question, ledger), *model_remarks, *question.data.notes),
        solver=solver,
        formulation=formulation,
        counters=counters,
        question=question,
    )
