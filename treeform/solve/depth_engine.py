"""What a native engine says about one depth of the ladder, before a formula is built for it.

An engine that ignores some requirements still refutes: when its fewest errors are too many, so are all others.
Its tree answers for the depth when exact evaluation finds nothing wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treeform.engines import Engine, EngineRun, TreeTask
from treeform.graph import DecisionGraph
from treeform.language.costs import LARGEST_COST
from treeform.language.objective import Error, Nodes, Objective
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.engines import recheck_of
from treeform.solve.ledger import Ledger
from treeform.solve.relaxation import Relaxation, relax
from treeform.solve.simple_bounds import allowed_errors


@dataclass
class DepthEngine:
    """A native engine that is asked about each depth first.

    Parameters
    ----------
    engine : Engine
    budget : Budget
        Of the whole run. An engine that could not answer for a depth in its share is not asked again.
    alone : bool
        Whether all the time is the engine's, since nobody else is asked.
    """

    engine: Engine
    budget: Budget
    alone: bool = False
    gave_up: bool = False

    def try_depth(self, rung: Ledger) -> None:
        """Enter a model of the rung's depth, or that there is none, or nothing."""
        told = self._task(rung.question)
        if self.gave_up or told is None:
            return
        relaxation, allowed = told
        part = self._part()

        def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
            if graph is not None and upper <= allowed:
                rung.offer(graph, self.engine.name)

        run = EngineRun(
            time_limit=part.remaining,
            stop=lambda: part.stop() or rung.graph is not None,
            upper=allowed + 1,
            on_incumbent=on_incumbent,
        )
        rung.runners.append(self.engine.name)
        outcome = self.engine.run(rung.question.data, relaxation.task, run)
        if outcome.graph is not None:
            rung.offer(outcome.graph, self.engine.name)
        if outcome.lower > allowed:
            rung.prove_infeasible(self.engine.name, relaxation.dropped, recheck_of(self.engine))
        self.gave_up = outcome.reason is not None and rung.graph is None

    def fewest_tests(self, ledger: Ledger) -> None:
        """Bounds and models for the fewest tests without training errors, at the depth of the ledger's shape.

        With ``M = 2^k``, more than a tree of depth ``k`` has tests, the least of ``M errors + tests`` is the
        fewest tests, since a tree without errors exists.
        """
        question = ledger.question
        told = self._task(question)
        if told is None or told[1] != 0 or str(question.objective) != str(Objective.of(Nodes())):
            return
        relaxation, _ = told
        task = self._priced(question, relaxation.task)
        if task is None or not {"cost", "node_penalty"} <= self.engine.understands:
            return
        part = self._part()

        def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
            if graph is not None:
                ledger.offer(graph, self.engine.name)
            ledger.prove_lower(lower * question.scale, self.engine.name, relaxation.dropped)

        run = EngineRun(
            time_limit=part.remaining,
            stop=lambda: part.stop() or ledger.closed,
            start=ledger.graph,
            on_incumbent=on_incumbent,
        )
        outcome = self.engine.run(question.data, task, run)
        if outcome.graph is not None:
            ledger.offer(outcome.graph, self.engine.name)
        ledger.prove_lower(outcome.lower * question.scale, self.engine.name, relaxation.dropped)

    def _task(self, question: Question) -> tuple[Relaxation, int] | None:
        """What the engine is asked, and how many errors (in weight units) are allowed; None if any number is."""
        errors = question.with_(objective=Objective.of(Error()))
        allowed, relaxation = allowed_errors(errors), relax(errors, self.engine)
        return None if allowed is None or relaxation is None else (relaxation, allowed)

    def _priced(self, question: Question, task: TreeTask) -> TreeTask | None:
        each = 1 << task.depth
        if each * (question.data.total_weight + 1) >= LARGEST_COST:
            return None
        cost = each * (1 - np.eye(question.data.n_classes, dtype=np.int64))
        return replace(task, cost=cost, node_penalty=1)

    def _part(self) -> Budget:
        if self.alone:
            return self.budget
        return schedule.EACH_DEPTH.of(self.budget)
