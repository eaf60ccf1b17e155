"""The formulation: its first models, and the solver that it is stated to."""

from __future__ import annotations

from collections.abc import Iterator

from treeform.graph import DecisionGraph
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.node import Node, Worker
from treeform.solve.search import CompiledSearch
from treeform.utils.budget import Budget, Limit, report_step, why_stopped


def _starts(node: Node) -> Iterator[DecisionGraph | None] | None:
    formulation = node.plan.formulation
    return None if formulation is None else formulation.starts(node.question.data, node.question.shape)


def has_first_models(node: Node) -> bool:
    """Whether the formulation has a heuristic of its own."""
    return _starts(node) is not None


def first_models(node: Node, budget: Budget) -> None:
    """Models of the formulation's heuristic, for shapes that no native engine searches."""
    formulation, ledger = node.plan.formulation, node.ledger
    assert formulation is not None
    ledger.set_phase(f"{formulation.name}, first models")
    for made, graph in enumerate(_starts(node) or (), start=1):
        if graph is not None:
            ledger.submit(graph, f"{formulation.name}, first models")
        report_step(made, "models")
        if budget.stop() or ledger.closed:
            return


def by_formulation(node: Node) -> Worker | None:
    """The formulation."""
    return None if node.plan.formulation is None else (node.plan.formulation.name, ())


def solver(node: Node, budget: Budget) -> Limit | None:
    """The whole problem, stated to a solver."""
    plan, ledger = node.plan, node.ledger
    assert plan.backend is not None and plan.formulation is not None
    part = priced_part(node.question) if plan.formulation.columns_on_demand else None
    search: CompiledSearch | GraphSearch
    if part is None:
        proofs = node.options.proofs
        search = CompiledSearch(plan.formulation, plan.backend, ledger, budget, proofs)
    else:
        search = GraphSearch(plan.formulation, plan.backend, ledger, budget, part)
    search.run()
    limit = budget.reason or search.limit
    if limit is None and not ledger.closed:
        ledger.notes.append(within_tolerances(plan.formulation.name, plan.backend.name))
        return Limit.SOLVER
    return limit


def by_solver(node: Node) -> Worker | None:
    """Formulation and solver."""
    plan = node.plan
    if plan.backend is None or plan.formulation is None:
        return None
    return f"{plan.formulation.title} on {plan.backend.name}", ()


def not_started(node: Node) -> None:
    """Say why the solver was not started."""
    plan, ledger = node.plan, node.ledger
    assert plan.backend is not None and plan.formulation is not None
    why = "the answer was proved" if ledger.closed else why_stopped(node.budget.reason)
    ledger.note(f"{plan.formulation.name} on {plan.backend.name} was not started: {why} before")


def solver_gave_up(node: Node) -> bool:
    """Whether the solver ended by itself, and time is left."""
    return node.limit in (Limit.SOLVER, Limit.MEMORY) and node.budget.remaining is not None


def within_tolerances(formulation: str, solver: str) -> str:
    """The note of a solver whose last bound stays below the best model by less than it computes."""
    return (
        f"{formulation} on {solver} ended with a bound within its tolerances of the best model, which proves no "
        "optimum: values of the objective are closer together than that"
    )
