"""Every solver against enumeration, on random tiny models of every form."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from treeform.backends import CPSAT, SAT, Backend, HiGHS, MathOpt, MaxSAT, Pyomo
from treeform.backends.base import Session
from treeform.backends.run import Answer, Run, Verdict
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.backends.watch import Watch
from treeform.model import Kind, Model
from treeform.testing import check_backend


def test_the_template_is_a_solver() -> None:
    report = check_backend(Enumeration(), models=12)
    assert report.models == 12
    assert report.runs >= 10 * report.models
    assert len(report.forms) == 2 * len(Kind)
    assert "no disagreement" in str(report)


@pytest.mark.parametrize("backend", [HiGHS(), CPSAT(), MathOpt("scip")], ids=lambda b: b.name)
def test_solvers_with_an_objective(backend: Backend, nightly: bool) -> None:
    report = check_backend(backend, models=36 if nightly else 8)
    assert len(report.forms) == 2 * len(Kind)


@pytest.mark.parametrize(
    "name",
    ["cadical195", "cadical153", "cadical103", "cadical300", "glucose42", "glucose4", "glucose3", "minisat22",
     "minisatep", "maplechrono", "maplecm", "mergesat3", "minicard", "gluecard3", "gluecard4", "ergo"],
)  # fmt: skip
def test_sat_solvers(name: str, nightly: bool) -> None:
    check_backend(name, models=24 if nightly else 4)


@pytest.mark.parametrize("name", ["kissat404", "lingeling"])
def test_sat_solvers_in_a_child_process(name: str, nightly: bool) -> None:
    check_backend(SAT(name), models=8 if nightly else 2)


def test_maxsat(nightly: bool) -> None:
    check_backend(MaxSAT(), models=12 if nightly else 3)


@pytest.mark.parametrize("name", ["cbc", "glpk", "appsi_highs"])
def test_pyomo(name: str, nightly: bool) -> None:
    found = Pyomo.availability(f"pyomo:{name}")
    if not found.available:
        pytest.skip(str(found.reason))
    check_backend(Pyomo(name), models=6 if nightly else 1)


class Wrong(Enumeration):
    """Deviates from the truth in one way."""

    name = "wrong"

    def __init__(self, change: str) -> None:
        super().__init__()
        self.change = change

    def open(self, model: Model) -> Session:
        return WrongSession(self, model)


class WrongSession(EnumerationSession):
    backend: Wrong

    def _search(self, run: Run, watch: Watch) -> Answer:
        # Even a wrong solver's points go through the checker; what is left to get wrong are verdicts and bounds.
        silent = SimpleNamespace(
            ending=watch.ending, remaining=watch.remaining, reason=None, solution=lambda x: None
        )
        true = super()._search(run, silent)  # type: ignore[arg-type]
        if self.backend.change == "infeasible" and true.x is not None:
            return Answer(Verdict.INFEASIBLE)
        if self.backend.change == "bound" and true.bound is not None:
            watch.bound(true.bound + 1.0)
        if self.backend.change == "ignores assumptions" and run.assumptions:
            return super()._search(Run(cutoff=run.cutoff), silent)  # type: ignore[arg-type]
        if self.backend.change == "worse" and true.x is not None and true.verdict is Verdict.OPTIMAL:
            x = self._another(true.x)
            return true if x is None else Answer(Verdict.OPTIMAL, x, self.lowered.objective.value(x))
        return true

    def _another(self, x):  # type: ignore[no-untyped-def]
        for col in range(len(x)):
            other = x.copy()
            other[col] = 1.0 - x[col]
            inside = self.lowered.lb[col] <= other[col] <= self.lowered.ub[col]
            worth = self.lowered.objective.value(other) - self.lowered.objective.value(x)
            if inside and worth > 0.3 and not any(self.lowered.check(other).values()):
                return other
        return None


@pytest.mark.parametrize("change", ["infeasible", "bound", "ignores assumptions", "worse"])
def test_the_kit_finds_wrong_solvers(change: str) -> None:
    with pytest.raises(AssertionError, match="minimize"):
        check_backend(Wrong(change), models=12)
