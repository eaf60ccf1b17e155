"""Minimum depth: is there a model of depth 1, 2, 3, ...?

Each refuted depth is a lower claim, the first depth with a model is the optimum (Avellaneda,
AAAI 2020, DT_depth; here for any formulation and any requirements).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeform.backends import Backend
from treeform.engines import Engine
from treeform.errors import SpecError
from treeform.language.abilities import DepthHints
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve.budget import Budget
from treeform.solve.depth_engine import DepthEngine
from treeform.solve.ledger import Ledger
from treeform.solve.result import Limit, as_number
from treeform.solve.search import CompiledSearch

if TYPE_CHECKING:
    from treeform.solve.proof_writer import ProofWriter


def minimize_depth(
    question: Question,
    formulation: Formulation,
    backend: Backend,
    ledger: Ledger,
    budget: Budget,
    proofs: ProofWriter | None = None,
    engine: Engine | None = None,
) -> Limit | None:
    """Solve "is there a model of depth k?" for k = 0, 1, 2, ... up to the shape's depth.

    ``engine`` tries each depth before the formulation. With ``proofs``, the refutation of each depth is
    written there before the next is tried; then no engine runs, since its refutations have no such proof.
    """
    if not isinstance(question.shape, Tree):
        raise SpecError(
            f"the depth cannot be minimised over {question.shape}",
            cause="the search goes over trees of depth 1, 2, 3, ...",
            fix="use shape=tf.Tree(depth=k), where k is the largest depth allowed",
        )
    unit = int(question.scale * question.objective.terms[0][0])
    # The driver has submitted the constant models, whose value is 0; the incumbent may be a deeper one.
    if not ledger.closed and ledger.upper != 0:
        ledger.prove_lower(unit, "constant models")
    beside = None if engine is None or proofs is not None else DepthEngine(engine, budget)
    if engine is not None and proofs is not None:
        ledger.notes.append(f"{engine.name} took no part: proofs are of what the solver refutes")
    first = 1 if proofs is not None or ledger.closed else _skip(question, formulation, ledger, unit)
    for depth in range(first, question.shape.depth + 1):
        if ledger.stop():
            break
        at_depth = question.with_(shape=Tree(depth, question.shape.splits), objective=Objective(()))
        own_ledger = Ledger(at_depth, ledger.budget)
        own_ledger.runners, own_ledger.outer = ledger.runners, ledger
        if beside is not None:
            ledger.set_phase(f"{beside.engine.name}, depth {depth}")
            beside.try_depth(own_ledger)
            if own_ledger.impossible:
                _refuse(ledger, own_ledger, question, depth, unit)
                continue
        if own_ledger.graph is None and not ledger.stop():
            reason = formulation.supports(at_depth.shape, at_depth.data, at_depth.objective)
            if reason is not None:
                ledger.notes.append(f"{formulation.name} stopped before depth {depth}: {reason}")
                return Limit.MEMORY
            search = _search(at_depth, formulation, backend, own_ledger, ledger, proofs)
            if own_ledger.impossible:
                search.claim(ledger, unit * (depth + 1) if depth < question.shape.depth else None)
                continue
            if own_ledger.graph is None:
                return search.limit
        if own_ledger.graph is not None:
            ledger.submit(own_ledger.graph, own_ledger.claims[-1].by)
            return _break_tie(question, depth, formulation, backend, ledger, budget, beside)
    return None


def _search(
    at_depth: Question,
    formulation: Formulation,
    backend: Backend,
    own_ledger: Ledger,
    ledger: Ledger,
    proofs: ProofWriter | None,
) -> CompiledSearch:
    """Solve one depth."""
    assert isinstance(at_depth.shape, Tree)
    ledger.set_phase(f"{formulation.name} on {backend.name}, depth {at_depth.shape.depth}")
    search = CompiledSearch(at_depth, formulation, backend, own_ledger, ledger.budget, proofs)
    search.run()
    ledger.notes += own_ledger.notes
    return search


def _skip(question: Question, formulation: Formulation, ledger: Ledger, unit: int) -> int:
    """The first depth that the formulation does not rule out without a call."""
    if not isinstance(formulation, DepthHints):
        return 1
    ledger.set_phase(f"bounds of {formulation.name}")
    first = formulation.least_depth(question.data, question.requirements, question.shape.depth)
    by = f"bounds of {formulation.name}"
    if first > question.shape.depth:
        ledger.prove_infeasible(by)
    elif first > 1:
        ledger.prove_lower(unit * first, by)
    return first


def _refuse(ledger: Ledger, own_ledger: Ledger, question: Question, depth: int, unit: int) -> None:
    """Enter what the engine refuted at ``depth``."""
    claim = own_ledger.claims[-1]
    if depth < question.shape.depth:
        ledger.prove_lower(unit * (depth + 1), claim.by, claim.relaxation, claim.recheck)
    else:
        ledger.prove_infeasible(claim.by, claim.relaxation, claim.recheck)


def _break_tie(
    question: Question,
    depth: int,
    formulation: Formulation,
    backend: Backend,
    ledger: Ledger,
    budget: Budget,
    beside: DepthEngine | None,
) -> Limit | None:
    """Among the models of least depth, the best by what the formulation minimises next (DT_size)."""
    next_goal = formulation.tie_break(question.objective) if isinstance(formulation, DepthHints) else None
    if next_goal is None or ledger.graph is None:
        return None
    at_depth = question.with_(shape=Tree(depth, question.shape.splits), objective=next_goal)
    own_ledger = Ledger(at_depth, ledger.budget)
    own_ledger.runners = ledger.runners
    own_ledger.submit(ledger.graph, "the search over depths")
    ledger.set_phase(f"{formulation.name} on {backend.name}, depth {depth}: {next_goal}")
    if beside is not None:
        beside.fewest_tests(own_ledger)
    limit = None
    if not own_ledger.stop():
        search = CompiledSearch(at_depth, formulation, backend, own_ledger, budget)
        search.run()
        limit = search.limit
    assert own_ledger.graph is not None
    assert own_ledger.upper is not None
    ledger.replace(own_ledger.graph)
    lower = "" if own_ledger.closed else f", at least {as_number(at_depth.to_units(own_ledger.lower or 0))}"
    ledger.notes.append(
        f"{next_goal} at depth {depth}: {as_number(at_depth.to_units(own_ledger.upper))}{lower}"
    )
    return None if own_ledger.closed else limit
