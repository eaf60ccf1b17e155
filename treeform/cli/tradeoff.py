"""What the commands ``size-table`` and ``pareto`` share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treeform.cli.files import check_writable, write_text
from treeform.cli.messages import err_console
from treeform.cli.problems import choose_how, gather, load_problem
from treeform.cli.progress import ProgressDisplay
from treeform.cli.spec import Settings
from treeform.errors import SpecError


def run_tradeoff(
    method: Callable[..., Any],
    spec: Path | None,
    given: Settings,
    require: Sequence[str] | None,
    output: Path | None,
    quiet: bool,
    **more: Any,
) -> Any:
    """Call a method of `Problem` that returns several models, and write its result as JSON if a file is given.

    Raises
    ------
    SpecError
        If threads are asked for and no solver is named.
    """
    settings = gather(spec, given, require or [])
    if settings.threads is not None and settings.solver is None:
        raise SpecError(
            "--threads needs --solver here",
            cause="several solvers share the work when none is named",
            fix=f"name one, such as --solver cp-sat --threads {settings.threads}",
        )
    if output is not None:
        check_writable([output], inputs=[path for path in (settings.data, spec) if path is not None])
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    with ProgressDisplay(err_console(), enabled=not quiet) as display:
        curve = method(
            problem,
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            on_progress=display,
            **more,
        )
    if output is not None:
        write_text(output, json.dumps(curve.to_json(), indent=1) + "\n")
    return curve
