"""One solve, from the question to the result."""

from __future__ import annotations

from treeform.backends.watch import build_beside
from treeform.errors import SolverFailed
from treeform.graph.evaluate import counted_errors
from treeform.language.question import Question
from treeform.solve.budget import Budget, interruptible
from treeform.solve.choice import Plan, as_asked, choose
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.options import USUAL, ProofWriter, SolveOptions
from treeform.solve.pipeline import search
from treeform.solve.remarks import remarks, with_outlook
from treeform.solve.result import Limit, SolveResult, Status, as_number
from treeform.utils.progress import observe_steps


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
        if plan.distribution is not None:
            plan.distribution.begin(question)
        ledger = Ledger(question, budget, options.on_progress)
        node = Node(ledger, plan, options)
        with observe_steps(ledger.on_step):
            try:
                if _prepared(question, ledger, budget):
                    search(node)
            except MemoryError:  # of what is prepared in Python; engines and solvers report theirs
                ledger.notes.append(f"memory ran out in the phase {ledger.phase!r}")
                node.limit = Limit.MEMORY
    if options.proofs is not None:
        _tidy(options.proofs, plan, ledger)
    return _result(node)


def _tidy(files: ProofWriter, plan: Plan, ledger: Ledger) -> None:
    files.tidy(ledger.claims)
    if plan.engine is not None:
        ledger.notes.append(f"no proof was written: a check has {plan.engine.name} prove its bound again")
    elif not any((claim.recheck or {}).get("kind") == "proof" for claim in ledger.claims) and not any(
        note.startswith("no proof was written") for note in ledger.notes
    ):
        ledger.notes.append("no proof was written: nothing was refuted by a solver that answers yes or no")


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


def _result(node: Node) -> SolveResult:
    question, plan, ledger = node.question, node.plan, node.ledger
    graph, status = ledger.graph, ledger.status
    stopped_by = ledger.budget.reason or node.limit
    if stopped_by is None and plan.engine is None and plan.backend is None:
        stopped_by = Limit.SOLVER
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
        limit=None if done else stopped_by,
        objective=None if final is None else as_number(units(final.value)),
        bound=None if ledger.lower is None else as_number(units(ledger.lower)),
        errors=None if graph is None else counted_errors(graph, question.data),
        violations={} if final is None else {k: as_number(v) for k, v in final.violations.items()},
        claims=tuple(ledger.claims),
        trace=tuple(ledger.trace),
        seconds=ledger.budget.seconds,
        notes=(*plan.notes, *ledger.notes, *_refuted(question, ledger), *model_remarks, *question.data.notes),
        solver=solver,
        formulation=formulation,
        counters=counters,
        question=question,
        plan=tuple(node.ran),
    )
