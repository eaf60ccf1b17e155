"""The strategies of the binary engine as values: DL85, CADL85, Blossom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from treeform import _core
from treeform.data import Dataset
from treeform.engines.binary.engine import BinaryEngine
from treeform.engines.checks import impossible, one_of
from treeform.engines.distributed import Distributable, Evaluator
from treeform.engines.native_call import Room
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.utils.rows import worded

RELAXATIONS = ("monotonic", "exponential", "luby")


def rule_names() -> tuple[str, ...]:
    """The rules that CA-DL8.5 offers: the table of ``treeform/native/binary/rule_table.cpp``."""
    return tuple(_core.binary_rules())


@dataclass(frozen=True, kw_only=True)
class DL85(BinaryEngine, Distributable):
    """DL8.5: depth-first search over subproblems with a cache, and the depth-three solver below it.

    Source: Aglin, Nijssen and Schaus, Learning optimal decision trees using caching branch-and-bound search,
    AAAI 2020.

    Parameters
    ----------
    parts : tuple of str
        The parts of the search in use: ``cache`` (keep solved subproblems), ``similarity`` (the bound of that name) and
        ``warm-up`` (find a good tree with a few rule-guided restarts before the proof). All are exact; leave some out
        only to study their effect.
    **common
        See `BinaryEngine`.

    Examples
    --------
    >>> DL85(memory_limit=2**28).name
    'dl85'
    """

    parts: tuple[str, ...] = ("cache", "similarity", "warm-up")

    name: ClassVar[str] = "dl85"
    bounded: ClassVar[bool] = True
    strategy: ClassVar[str] = "dl85"

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return data.are_bits  # it is the faster one there

    def _choices(self) -> dict[str, Any]:
        return super()._choices() | {"use": list(self.parts)}

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`. With ``ask`` tests at the root are asked of others.

        Raises SpecError if the task is not possible, its costs exceed 2**60, or others answer parts of the search and
        the task limits the tests of the whole tree.
        """
        if run.ask is not None and task.max_nodes is not None and task.max_nodes < 2**task.depth - 1:
            raise SpecError(
                f"{self.name} cannot share a search with max_nodes={task.max_nodes} between workers",
                cause="both sides of the root draw on one budget of tests",
                fix=f"solve with {worded('tf.ConTree()', 'contree')}, which can, or without executor and journal",
            )
        return super().run(data, task, run)

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What searches both sides of a root test."""
        arrays = self.session(data, task, EngineRun()).arrays()
        asked = self.keywords(task, 1, Room(self.memory_limit).left())
        evaluator: Evaluator = _core.BinaryEvaluator(*arrays, **asked)
        return evaluator


@dataclass(frozen=True, kw_only=True)
class CADL85(BinaryEngine):
    """CA-DL8.5: complete anytime beam search, restarts under ever weaker rules until the proof is complete.

    Source: Kiossou, Nijssen and Schaus, A generic complete anytime beam search for optimal decision tree,
    Algorithm 2 and Table 1.

    Parameters
    ----------
    rule : str or tuple of str
        ``discrepancy``, ``gain``, ``purity``, ``top-k`` or ``top-k*``, or your own rule (a class in
        ``treeform/native/binary/rule_table.cpp``); several act together.
    relaxation : str
        ``exponential`` (doubling), ``monotonic`` (a fixed step) or ``luby``. With the default rule, doubling has
        the best average primal integral on the published sets (``benchmarks/binary/anytime.py``).
    step : float or None
        The step of the relaxation; None for the step of the rule.
    **common
        See `BinaryEngine`.

    Examples
    --------
    >>> CADL85(rule=("gain", "discrepancy")).rule
    ('gain', 'discrepancy')
    """

    rule: str | tuple[str, ...] = "discrepancy"
    relaxation: str = "exponential"
    step: float | None = None

    name: ClassVar[str] = "cadl85"
    strategy: ClassVar[str] = "beam"
    by_name_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = (self.rule,) if isinstance(self.rule, str) else tuple(self.rule)
        if not 1 <= len(rules) <= 4:
            cause = "one to four rules act together"
            raise impossible("CADL85", "rule", self.rule, cause, "use for example rule='discrepancy'")
        for rule in rules:
            one_of("CADL85", "rule", rule, rule_names())
        object.__setattr__(self, "rule", rules[0] if len(rules) == 1 else rules)
        one_of("CADL85", "relaxation", self.relaxation, RELAXATIONS)
        step = self.step
        number = isinstance(step, int | float) and not isinstance(step, bool)
        if step is not None and not (number and 0 < step < float("inf")):
            cause = "the step of a relaxation is a positive number"
            raise impossible("CADL85", "step", step, cause, "leave it out for the rule's own step")

    def _choices(self) -> dict[str, Any]:
        rules = [self.rule] if isinstance(self.rule, str) else list(self.rule)
        return super()._choices() | {
            "rules": rules,
            "relaxation": self.relaxation,
            "step": float(self.step or 0.0),
        }


@dataclass(frozen=True, kw_only=True)
class Blossom(BinaryEngine):
    """Blossom: depth-first search over whole trees; no cache, memory linear in the data.

    Source: Demirovic, Hebrard and Jean, Blossom: an anytime algorithm for computing optimal decision trees,
    ICML 2023, Algorithm 1. Candidates are in Gini order.

    Parameters
    ----------
    **common
        See `BinaryEngine`; `order` and `memory_limit` have no effect.

    Examples
    --------
    >>> Blossom(exact_depth=2).name
    'blossom'
    """

    name: ClassVar[str] = "blossom"
    strategy: ClassVar[str] = "blossom"
    by_name_only: ClassVar[bool] = True
    understands: ClassVar[frozenset[str]] = frozenset({"cost", "node_penalty", "min_support", "weights"})
