"""``treeform solvers``: what can be used here, and which known bugs a solver has."""

from __future__ import annotations

from typing import Annotated

import typer

from treeform.backends import Backend
from treeform.catalogue.solvers import find_backend
from treeform.catalogue.solvers import solvers as tf_solvers
from treeform.cli.messages import Exit


def list_solvers(
    bugs: Annotated[
        str | None,
        typer.Option(
            "--bugs",
            help="Ask this solver the models that other solvers got wrong, and show its answers.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
) -> Exit:
    """List solvers: what is installed, what is not and why.

    With --bugs the exit code is 6 where the solver gets a model wrong.
    """
    if bugs is None:
        print(tf_solvers())
        return Exit.DONE
    solver = find_backend(
        bugs,
        "{} is a native engine",
        cause="known bugs are listed for solvers only",
        fix="name a solver, such as --bugs highs",
    )
    return _ask_bugs(solver)


def _ask_bugs(solver: Backend) -> Exit:
    from treeform.testing.solver_bugs import BUGS, check_solver_bug

    has = False
    for bug in BUGS:
        try:
            answer = "right" if check_solver_bug(solver, bug) else "not asked: it cannot be stated"
        except AssertionError as error:
            has, answer = True, f"WRONG: {str(error).splitlines()[0]}"
        print(f"{bug.name}: {answer}", flush=True)
    return Exit.FALSE if has else Exit.DONE
