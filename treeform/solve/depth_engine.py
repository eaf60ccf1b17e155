"""What a native engine proves about one depth, before a formula is built for it.

An engine that ignores some requirements still refutes: when its fewest errors are too many, so are all others.
Its tree answers for the depth when exact evaluation finds nothing wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.costs import LARGEST_COST
from treeform.language.objective import Error, Nodes, Objective
from treeform.language.question import Question, allowed_errors
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.engines import recheck_of
from treeform.solve.ledger import Ledger


@dataclass
class DepthEngine:
    """A native engine that tries each depth first.

    Parameters
    ----------
    engine : Engine
    budget : Budget
        Of the whole run. An engine that did not finish a depth in its share is not run again.
    alone : bool
        Whether all the time is the engine's, since nothing else runs.
    """

    engine: Engine
    budget: Budget
    alone: bool = False
    gave_up: bool = False

    def try_depth(self, ledger: Ledger) -> None:
        """Enter a model of the depth of the ledger's shape, or that there is none, or nothing."""
        task_and_limit = self._task(ledger.question)
        if self.gave_up or task_and_limit is None:
            return
        relaxation, allowed = task_and_limit
        part = self._part()

        def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
            if graph is not None and upper <= allowed:
                ledger.submit(graph, self.engine.name)

        run = EngineRun(
            time_limit=part.remaining,
            stop=lambda: part.stop() or ledger.graph is not None,
            upper=allowed + 1,
            on_incumbent=on_incumbent,
        )
        ledger.runners.append(self.engine.name)
        outcome = self.engine.answer(ledger.question.data, relaxation.task, run)
        if outcome.graph is not None:
            ledger.submit(outcome.graph, self.engine.name)
        if outcome.lower > allowed:
            ledger.prove_infeasible(self.engine.name, relaxation.dropped, recheck_of(self.engine))
        self.gave_up = outcome.reason is not None and ledger.graph is None

    def fewest_tests(self, ledger: Ledger) -> None:
        """Bounds and models for the fewest tests without training errors, at the depth of the ledger's shape.

        With ``M = 2^k``, more than a tree of depth ``k`` has tests, the least of ``M errors + tests`` is the
        fewest tests, since a tree without errors exists.
        """
        question = ledger.question
        task_and_limit = self._task(question)
        if (
            task_and_limit is None
            or task_and_limit[1] != 0
            or str(question.objective) != str(Objective.of(Nodes()))
        ):
            return
        relaxation, _ = task_and_limit
        task = self._task_with_price(question, relaxation.task)
        if task is None or not {"cost", "node_penalty"} <= self.engine.understands:
            return
        part = self._part()

        def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
            if graph is not None:
                ledger.submit(graph, self.engine.name)
            ledger.prove_lower(lower * question.scale, self.engine.name, relaxation.dropped)

        run = EngineRun(
            time_limit=part.remaining,
            stop=lambda: part.stop() or ledger.closed,
            start=ledger.graph,
            on_incumbent=on_incumbent,
        )
        outcome = self.engine.answer(question.data, task, run)
        if outcome.graph is not None:
            ledger.submit(outcome.graph, self.engine.name)
        ledger.prove_lower(outcome.lower * question.scale, self.engine.name, relaxation.dropped)

    def _task(self, question: Question) -> tuple[Relaxation, int] | None:
        """The task of the engine, and how many errors (in weight units) are allowed; None if any number is."""
        errors = question.with_(objective=Objective.of(Error()))
        allowed, relaxation = allowed_errors(errors), relax(errors, self.engine)
        return None if allowed is None or relaxation is None else (relaxation, allowed)

    def _task_with_price(self, question: Question, task: TreeTask) -> TreeTask | None:
        each = 1 << task.depth
        if each * (question.data.total_weight + 1) >= LARGEST_COST:
            return None
        cost = each * (1 - np.eye(question.data.n_classes, dtype=np.int64))
        return replace(task, cost=cost, node_penalty=1)

    def _part(self) -> Budget:
        if self.alone:
            return self.budget
        return schedule.EACH_DEPTH.of(self.budget)
