"""Every bug that was found in a solver, asked of every solver."""

from __future__ import annotations

import pytest

from treeform.backends import by_name
from treeform.backends.run import Answer, Verdict
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.errors import SolverNotAvailable
from treeform.testing import check_solver_bugs
from treeform.testing.solver_bugs import BUGS, check_solver_bug


@pytest.mark.parametrize(
    ("name", "least"),
    [("highs", 18), ("cp-sat", 13), ("mathopt:scip", 19), ("cadical195", 9), ("minisat22", 9), ("gluecard4", 9),
     ("ergo", 9)],
)  # fmt: skip
def test_bugs_of_one_solver_are_asked_of_all(name: str, least: int) -> None:
    assert len(check_solver_bugs(name)) >= least


@pytest.mark.parametrize("name", ["rc2", "kissat404", "lingeling", "pyomo:cbc", "pyomo:glpk", "pyomo:appsi_highs"])
def test_they_are_asked_of_those_in_children(name: str, draw) -> None:
    try:
        backend = by_name(name)
    except SolverNotAvailable as error:
        pytest.skip(str(error.cause))
    always = next(bug for bug in BUGS if bug.name == "columns in no row")
    some = draw([bug for bug in BUGS if bug is not always], 3)
    assert check_solver_bug(backend, always) is backend.capabilities.integer
    for bug in some:
        check_solver_bug(backend, bug)


class Infeasible(EnumerationSession):
    """Says that there is nothing."""

    def _search(self, run, watch):
        return Answer(Verdict.INFEASIBLE)


def test_the_message_names_the_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Enumeration, "open", lambda self, model: Infeasible(self, model))
    with pytest.raises(AssertionError, match=r"found in .*HiGHS|found in .*LP files|found in .*Pyomo"):
        check_solver_bugs(Enumeration())
