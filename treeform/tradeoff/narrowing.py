"""How far one requirement of a conflict has to be moved: halving between a refuted bound and the measure of a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from treeform.certify.answer import CertifiedResult
from treeform.certify.family import with_axis
from treeform.language.bounded import Bounded, Value
from treeform.language.question import Question
from treeform.solve.result import Status
from treeform.tradeoff.conflict import BoundNeeded
from treeform.utils.budget import Budget

Ask = Callable[[Question, str, bool], "CertifiedResult | None"]
"""The answer to a question; what progress says of it; whether the objective counts."""


class Narrowing:
    """The range between a bound that is too tight and one that would do, which can be halved again and again.

    Parameters
    ----------
    axis : Bounded
        The requirement, with the bound that is too tight.
    others : Question
        Without it.
    refuted : CertifiedResult
        The answer to the question with all requirements.
    """

    def __init__(self, label: str, axis: Bounded, others: Question, refuted: CertifiedResult) -> None:
        self.label, self.axis, self.others = label, axis, others
        assert axis.bound is not None
        self._too_tight: Value = axis.bound
        self._refuted = refuted
        self._value: Value | None = None
        self._model: CertifiedResult | None = None
        self._without: CertifiedResult | None = None
        self._halve = True
        self._proved = False

    @property
    def decided(self) -> bool:
        """Whether the tightest bound is proved, or that none would do, and the best model under it was asked for."""
        if self._value is None:
            return self._without is not None and self._without.status is Status.INFEASIBLE
        return self._proved and self._model is not None and self._model.status is Status.OPTIMAL

    def run(self, ask: Ask, budget: Budget) -> None:
        """Go on until it is decided, or a question is left open."""
        if self._value is None and not self._loosest(ask):
            return
        while not self._proved and not budget.stop():
            if not self._step(ask):
                break
        if not budget.interrupted and self._value is not None:
            stated = with_axis(self.others, self.axis, self._value)
            best = ask(stated, f"the best with {self.axis.bound_name} {float(self._value):.6g}", True)
            if best is not None and best.graph is not None:
                self._model = best

    def _loosest(self, ask: Ask) -> bool:
        """Whether a model satisfies the others, whatever its measure."""
        self._without = ask(self.others, f"without {self.label}", False) or self._without
        if self._without is None or self._without.graph is None:
            return False
        self._value = self.axis.measured(self._without.graph, self.others.data)
        return True

    def _step(self, ask: Ask) -> bool:
        """Ask for a bound within the range; False if that is not decided."""
        axis = self.axis
        assert self._value is not None
        following = axis.beyond(self._value, self.others.data)
        if following is None or not axis.is_tighter(self._too_tight, following):
            self._proved = self._refuted.status is Status.INFEASIBLE
            return False
        # Every second question asks for anything tighter than the best model, which ends the search when that model is
        # the tightest.
        bound = _middle(axis, self._too_tight, following) if self._halve else following
        tried = ask(
            with_axis(self.others, axis, bound),
            f"{self.label} with {axis.bound_name} {float(bound):.6g}",
            False,
        )
        self._halve = not self._halve
        if tried is not None and tried.graph is not None:
            self._value, self._model = axis.measured(tried.graph, self.others.data), None
        elif tried is not None and tried.status is Status.INFEASIBLE:
            self._too_tight, self._refuted = bound, tried
        else:
            return False
        return True

    def needed(self) -> BoundNeeded | None:
        """The answer; None where nothing was asked."""
        if self._value is not None:
            return BoundNeeded(self.label, self.axis, self._value, self._model, self._refuted, self._proved)
        if self._without is None:
            return None
        return BoundNeeded(self.label, self.axis, None, None, self._without, self.decided)


def _middle(axis: Bounded, tight: Value, loose: Value) -> Value:
    """A bound half way, looser than ``tight`` and at most as loose as ``loose``."""
    middle = Fraction(tight + loose) / 2
    if isinstance(tight, int) and isinstance(loose, int):
        return math.ceil(middle) if axis.is_upper else math.floor(middle)
    return middle
