"""A question on its way to an answer, and the stages that work on it one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from treeform.engines import Engine, EngineOutcome
from treeform.engines.relaxation import Relaxation, relax
from treeform.errors import BREAKDOWNS, broke_down, is_breakdown
from treeform.language.question import Question
from treeform.shape import Diagram, Shape, Tree
from treeform.solve.choice import Plan
from treeform.solve.lagrangian import Lagrangian
from treeform.solve.ledger import Ledger
from treeform.solve.result import USUAL, SolveOptions, StageRun
from treeform.utils.budget import Budget, Limit, Share


@dataclass(frozen=True)
class Relaxed:
    """What an engine found for the part of a question that it supports, and the time that it had."""

    engine: Engine
    relaxation: Relaxation
    outcome: EngineOutcome
    budget: Budget


class Work(ABC):
    """What stages work on: one question, or a table of questions."""

    question: Question
    """What is asked, or asked with several bounds."""
    plan: Plan | None
    """The plan: solver, formulation and warm start; None if an engine fills a table alone."""
    limit: Limit | None
    """What ended the last stage that says so."""
    ran: list[StageRun]
    """The stages that ran, with those of steps in between."""
    title: str = ""
    """Which step of another question it is; empty for a question of its own."""

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """The time of all stages."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether nothing is left to prove."""

    @property
    @abstractmethod
    def runners(self) -> Sequence[str]:
        """The solvers and engines that were started so far."""

    @abstractmethod
    def begin(self, stage: str) -> None:
        """Report that a stage begins."""

    @abstractmethod
    def end(self, stage: str) -> None:
        """Report that it is over, where a claim does not."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Add a note to the answer, once."""


W = TypeVar("W", bound=Work)


@dataclass
class Node(Work):
    """One question: its claims, who works on it, and what stages leave to later ones."""

    ledger: Ledger
    """With the question and the budget."""
    plan: Plan
    options: SolveOptions = USUAL
    """Of the whole run; the usual ones for a question that is a step of another one."""
    title: str = ""
    brief: bool = False
    """Whether a larger question goes on after it, so that last improvements of deep trees are left out."""
    relaxed: Relaxed | None = None
    """What the relaxed search found."""
    priced: tuple[Lagrangian, list[Fraction]] | None = None
    """The Lagrangian bound, and the multipliers of its rows."""
    deep: Any = None
    """treeform.solve.stage.deep_trees.DeepTrees, optional: the search for deep trees, with the prices of rows that it
    found."""
    parts: Any = None
    """treeform.solve.part_ledger.Reduction, optional: what the parts of an objective that is no sum have shown."""
    in_place: Any = None
    """Searches for other questions with the same models, optional: see `treeform.solve.stage.steps.paid_for`."""
    limit: Limit | None = None
    ran: list[StageRun] = field(default_factory=list)

    @property
    def question(self) -> Question:  # type: ignore[override]
        return self.ledger.question

    @property
    def warm_part(self) -> Relaxation | None:
        """What the warm engine answers of the question by one search; None: no engine, or no sum to minimise."""
        engine = self.plan.warm_engine
        return relax(self.question, engine) if engine is not None and self.question.objective.is_sum else None

    @property
    def budget(self) -> Budget:
        return self.ledger.budget

    @property
    def closed(self) -> bool:
        return self.ledger.closed

    @property
    def runners(self) -> Sequence[str]:
        return self.ledger.runners

    def begin(self, stage: str) -> None:
        self.ledger.set_phase(stage)

    def end(self, stage: str) -> None:
        return  # each claim was reported

    def note(self, text: str) -> None:
        self.ledger.note(text)

    def step(self, ledger: Ledger, plan: Plan, title: str, brief: bool = False) -> Node:
        """A question on the way to this one."""
        whole = f"{self.title}, {title}" if self.title else title
        return Node(ledger, plan, title=whole, brief=brief, ran=self.ran)


Worker = tuple[str, tuple[str, ...]]
"""Who does the work of a stage, and what of the question it leaves out."""


@dataclass(frozen=True)
class Stage(Generic[W]):
    """One step of every solve: a line in `treeform.solve.pipeline.PIPELINE`."""

    name: str
    run: Callable[[W, Budget], Limit | None]
    """``run(node, budget)`` enters what it finds and proves; returns what ended it early."""
    shapes: tuple[type[Shape], ...] = (Tree, Diagram)
    """Whose models it is for."""
    applies: Callable[[W], bool] = lambda node: True
    """Whether a plan has this stage, before anything ran."""
    ready: Callable[[W], bool] = lambda node: True
    """Whether what ran before leaves it something to do."""
    share: Share | Callable[[W], Share | None] | None = None
    """Share, callable or None: its part of the time; a callable chooses by the node. None: all that is left."""
    by: Callable[[W], Worker | None] = lambda node: None
    """Who does it, for `treeform.Problem.explain`."""
    needed: bool = False
    """Whether its breakdown is that of the run. Any other stage that breaks down is a note."""
    at_once: bool = False
    """Whether it begins even if the time is over: it has a model or a bound within milliseconds."""
    last: bool = False
    """Whether it answers the question, so that no other stage follows."""
    skipped: Callable[[W], None] | None = None
    """Called in its place where the answer was proved, or the time was over, before."""

    def is_for(self, node: W) -> bool:
        """Whether a plan has it: by the shape of the models, and what else it takes."""
        return isinstance(node.question.shape, self.shapes) and self.applies(node)

    def budget(self, node: W) -> Budget:
        """Its part of the node's time."""
        share = self.share(node) if callable(self.share) else self.share
        return node.budget if share is None else share.of(node.budget)

    def is_over(self, node: W) -> bool:
        """Whether it is too late for it."""
        return node.closed or (not self.at_once and node.budget.stop())


def applicable(node: W, stages: Iterable[Stage[W]]) -> Iterator[Stage[W]]:
    """The stages that a plan has, in order."""
    for stage in stages:
        if stage.is_for(node):
            yield stage
            if stage.last:
                return


def run_stages(node: W, stages: Iterable[Stage[W]]) -> None:
    """Run the stages that apply, until the question is answered or its time is over."""
    for stage in stages:
        over = stage.is_over(node)
        if over and stage.skipped is None:
            continue
        try:
            if not stage.is_for(node):
                continue
            if stage.skipped is not None and over:
                stage.skipped(node)
            elif stage.ready(node):
                _run(node, stage)
        except BREAKDOWNS as error:
            if stage.needed or not is_breakdown(error):
                raise
            node.note(f"{stage.name} {broke_down(error)}")
        if stage.last:
            return


def _run(node: W, stage: Stage[W]) -> None:
    began, runners, place = node.budget.seconds, len(node.runners), len(node.ran)
    try:
        node.begin(stage.name)
        node.limit = stage.run(node, stage.budget(node)) or node.limit
        node.end(stage.name)
    finally:
        by = tuple(dict.fromkeys(node.runners[runners:]))
        node.ran.insert(place, StageRun(stage.name, node.budget.seconds - began, by, node.title))
