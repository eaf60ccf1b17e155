"""One solve, from the question to the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from treeform.backends.run import CLAUSE, LINEAR
from treeform.backends.watch import build_beside
from treeform.data import Dataset, contradictory_rows
from treeform.errors import SolverFailed, warn_caller
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.requirements.groups import CROSSED, Groups
from treeform.solve.choice import Plan, as_asked, choose, engine_for, rows_times_nodes
from treeform.solve.columns_on_demand import FEW_TESTS_BELOW, is_usual
from treeform.solve.engines import usual_engine
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import search
from treeform.solve.result import USUAL, ProofWriter, SolveOptions, SolveResult, Status, as_number
from treeform.utils.budget import Budget, Limit, interruptible, observe_steps
from treeform.utils.rows import worded
from treeform.utils.text import Caution


def solve(question: Question, options: SolveOptions = USUAL) -> SolveResult:
    """Answer ``question``; see `treeform.Problem.solve`.

    Raises SolverFailed if memory runs out before the search begins, or while its result is put together.
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
    budget = options.budget()  # the choice is part of the work: it looks at the whole table
    question = as_asked(question, options)
    with interruptible(budget):  # the choice, too: Ctrl-C there leaves the best constant model
        plan = with_outlook(question, choose(question, options))
        ledger = Ledger(question, budget, options.on_progress)
        node = Node(ledger, plan, options)
        with observe_steps(ledger.on_step):
            try:
                if _prepared(question, ledger, budget):
                    search(node)
            except MemoryError:  # of what is prepared in Python; engines and solvers report theirs
                ledger.notes.append(Caution(f"memory ran out in the phase {ledger.phase!r}"))
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
        f"{what}; {worded('result.conflict()', 'treeform conflict')} names a smallest set that conflicts, "
        "and how far each bound would have to move"
    ]


def _errors(graph: DecisionGraph, data: Dataset) -> int | None:
    """Samples that are misclassified, by what judging knows of them; None where leaves hold values."""
    return None if graph.values else int(np.count_nonzero(graph.predict_codes(data.X) != data.y))


def _who_answered(plan: Plan, ledger: Ledger) -> tuple[str, str | None]:
    """The solver and its formulation; where the solver was never started, the engines that ran."""
    if plan.engine is not None:
        return plan.engine.name, None
    if plan.backend is not None and plan.formulation is not None and plan.backend.name in ledger.runners:
        return plan.backend.name, plan.formulation.title
    return ", ".join(dict.fromkeys(ledger.runners)) or "none", None


def _searched(ledger: Ledger) -> Iterator[str]:
    """What the search for deep trees under requirements did, where it ran; and why there is a leaf alone."""
    if ledger.graph is not None and ledger.graph.depth == 0 and ledger.budget.reason is Limit.TIME:
        yield (
            "the model is a single leaf: when the time was spent, no tree with a test had been found that satisfies "
            "all that is required and costs less"
        )
    if did := ledger.did:
        yield (
            f"improvement search under requirements: {did['searches']:,} searches, {did['trees']:,} trees judged; "
            f"another test tried at a node {did['moves']:,} times"
        )


def _result(node: Node) -> SolveResult:
    question, plan, ledger = node.question, node.plan, node.ledger
    graph, status = ledger.graph, ledger.status
    stopped_by = ledger.budget.reason or node.limit
    units = question.to_units
    done = status in (Status.OPTIMAL, Status.INFEASIBLE)
    final = ledger.judged
    counters: dict[str, int] = {}
    for claim in ledger.claims:
        counters.update({f"{claim.by}: {name}": value for name, value in claim.counters.items()})
    solver, formulation = _who_answered(plan, ledger)
    own_remarks = [] if graph is None else remarks(question, graph)
    searched = () if done else _searched(ledger)
    return SolveResult(
        graph=graph,
        status=status,
        limit=None if done else stopped_by or Limit.SOLVER,
        objective=None if final is None else as_number(units(final.value)),
        bound=None if ledger.lower is None else as_number(units(ledger.lower)),
        errors=None if graph is None else _errors(graph, question.data),
        violations={} if final is None else {k: as_number(v) for k, v in final.violations.items()},
        claims=tuple(ledger.claims),
        trace=tuple(ledger.trace),
        seconds=ledger.budget.seconds,
        notes=(*plan.notes, *ledger.notes, *searched, *_refuted(question, ledger), *own_remarks, *question.data.notes),
        solver=solver,
        formulation=formulation,
        counters=counters,
        question=question,
        plan=tuple(node.ran),
    )


def remarks(question: Question, graph: DecisionGraph) -> list[str]:
    """Notes about a model that satisfies the question."""
    remarks = (term.remark(graph, question.data) for _, term in question.objective.terms)
    return [
        *(text for text in remarks if text is not None),
        *(text for one in question.requirements if (text := one.remark(question.data)) is not None),
        *_abstentions(question, graph),
        *_sensitive_tests(question, graph),
    ]


def _abstentions(question: Question, graph: DecisionGraph) -> Iterator[str]:
    data = question.data
    if data.abstain_code is not None:
        left = graph.predict_codes(data.X) == data.abstain_code
        share = 100 * int(data.weights[left].sum()) / data.total_weight
        yield f"the model abstains on {int(left.sum())} of {data.n_samples} rows, {share:.3g} % of the weight"


def _sensitive_tests(question: Question, graph: DecisionGraph) -> Iterator[str]:
    """One note for each requirement between groups whose column the model tests."""
    if not graph.is_univariate:
        return
    data = question.data
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        for column in _columns(getattr(requirement, "groups", None)):
            tests = [
                t.node for t in graph.tests() if t.columns and data.columns[t.columns[0]].source == column
            ]
            if not tests:
                continue
            rests = all(_missed_without(requirement, question, graph, node) for node in tests)
            how = (
                "it is satisfied by treating groups differently" if rests else "it treats groups differently"
            )
            yield (
                f"warning: the model tests {column!r}, whose groups {label} compares: {how}; "
                f"exclude={[column]!r} (--exclude {column}) or NoTestOn({column!r}) forbids it"
            )


def _columns(groups: Any) -> list[str]:
    """The columns that groups are made of, as far as they have names."""
    name = groups.name if isinstance(groups, Groups) else groups
    return list(dict.fromkeys([name, *name.split(CROSSED)])) if isinstance(name, str) else []


def _missed_without(requirement: Requirement, question: Question, graph: DecisionGraph, node: int) -> bool:
    """Whether the requirement is missed when a test sends everything to one side, whichever."""
    values = question.data.X[:, int(graph.feature[node])]
    for threshold in (float(values.max()), float(np.nextafter(values.min(), -np.inf))):
        moved = graph.threshold.copy()
        moved[node] = threshold
        if requirement.violation(replace(graph, threshold=moved), question.data) == 0:
            return False
    return True


LARGEST_PROVED = 2900
"""Distinct rows times test nodes, above which a warning is due: in one run of ``python -m benchmarks graph ladder``, on
a busy machine, solvers alone proved 1,878, and no tree under parity of 3,000 or more that is stated node by node."""
LARGEST_PROVED_BY_ONE_KIND = 1800
"""The same of solvers that take linear rows only, or no linear rows: in that run they proved none of 1,878."""
LARGEST_PROVED_WITHOUT_ERRORS = 21_000
"""The same of clauses where rows do not contradict each other, so that a tree may have no errors: CaDiCaL found one of
depth three for 3,000 x 30 in one CPU second, and for 10,000 x 30 none in 24. Where no errors are allowed, clauses come
row by row, and larger tables are proved."""
DEEPEST_PROVED = {"both": 28_000, "linear": 4200, "clauses": 18_000}
"""Distinct rows times test nodes times paths, by the rows that a solver takes: deeper models are harder than their
nodes tell. In that run 22,800, 3,084 and 14,392 were proved, and 35,056, 5,320 and 22,800 were not."""
DEEPEST_PROVED_OF = {
    "flow-oct": {"both": 11_000, "linear": 2000, "clauses": 2000},
    "sat-depth": {"clauses": 40_000},
    "diagram": {"both": 7000, "linear": 3400, "clauses": 7000},
}
"""The same where it is another: ``flow-oct`` proved 7,512 and 1,140, and not 14,392 and 3,084; ``sat-depth`` 22,800
and not 61,680. Of diagrams solvers that take clauses proved 3,800 and not 10,280, the others not 3,800."""
MOST_TESTS_PRICED = 2000
"""Listed tests of trees of depth three and more, above which the graph of trees has no prospect: over 1,200 columns of
300 rows HiGHS had no bound after 11 CPU seconds, and over 3,000 a native search had none after 12."""
MOST_VALUES_PRICED = 4000
"""Distinct rows times columns, above which it has none at depth four and more over all thresholds. On a busy machine
HiGHS proved 500 x 5 in 10 seconds, and not 1,000 x 5 in 25, which a native search proved in one CPU second."""


def without_prospect(question: Question, plan: Plan) -> str | None:
    """Why the plan is not likely to prove anything, and what is; None where it may, or nothing better is known."""
    if plan.backend is None or plan.warm_engine is not None or plan.start is not None:
        return None
    if plan.formulation is None or question.objective.is_depth or not question.shape.reads_columns:
        return None
    by_graph = plan.formulation.columns_on_demand
    found = _of_the_graph(question) if by_graph else _node_by_node(question, plan)
    stated = f"{plan.formulation.name} without a warm start is not likely to prove anything here"
    return None if found is None else f"{stated}: {found}"


def _is_proved(question: Question, plan: Plan) -> bool:
    """Whether models of this size that are stated node by node have been proved by such a solver."""
    assert plan.backend is not None and plan.formulation is not None
    forms, name, size = plan.backend.capabilities.forms, plan.formulation.name, rows_times_nodes(question)
    if name.startswith("sat-") and not contradictory_rows(question.data):
        return question.limits.max_errors == 0 or size <= LARGEST_PROVED_WITHOUT_ERRORS
    kind = "both" if forms >= {LINEAR, CLAUSE} else "linear" if LINEAR in forms else "clauses"
    deepest = DEEPEST_PROVED | DEEPEST_PROVED_OF.get(name if question.shape.own_leaves else "diagram", {})
    largest = LARGEST_PROVED if kind == "both" else LARGEST_PROVED_BY_ONE_KIND
    return size <= largest and size * 2**question.shape.depth <= deepest[kind]


def _node_by_node(question: Question, plan: Plan) -> str | None:
    if _is_proved(question, plan):
        return None
    graph = worded("formulation='hypergraph-flow'", "--formulation hypergraph-flow")
    by_graph = f"{graph} states what trees below a cost use"
    better = by_graph if is_usual(question) else _natively(question) or _with_a_start(question)
    size = f"{question.data.points.n_points:,} distinct rows and {sum(question.shape.widths)} test nodes"
    return None if better is None else f"{size}; {better}"


def _of_the_graph(question: Question) -> str | None:
    data, depth = question.data, question.shape.depth
    if not is_usual(question):
        size = (
            f"{data.n_tests:,} tests at depth {depth}; it has a prospect over fewer of them, or at depth two"
        )
        return size if depth > 2 and data.n_tests > MOST_TESTS_PRICED else None
    rows, columns = data.points.n_points, data.n_features
    if depth < 4 or data.n_tests <= FEW_TESTS_BELOW or rows * columns <= MOST_VALUES_PRICED:
        return None
    better = _natively(question)
    size = f"{rows:,} distinct rows x {columns} columns at depth {depth}"
    return None if better is None else f"{size}; {better}"


def _natively(question: Question) -> str | None:
    engine = engine_for(question)
    return None if engine is None else f"without solver and formulation {engine.name} searches it natively"


def _with_a_start(question: Question) -> str | None:
    engine = usual_engine(question)
    return None if engine is None else f"a warm start, the default, has bounds and models of {engine.name}"


def with_outlook(question: Question, plan: Plan) -> Plan:
    """The plan with a note where it has no prospect of a proof, and a warning at once."""
    prospect = without_prospect(question, plan)
    if prospect is None:
        return plan
    warn_caller(prospect)
    return replace(plan, notes=(*plan.notes, prospect))
