"""``treeform judge``: the value of a given model, and which requirements it violates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from treeform import report
from treeform.certify.judgement import Judgement
from treeform.cli import options as opt
from treeform.cli.files import Unwritten, check_writable
from treeform.cli.messages import Exit, warn
from treeform.cli.problems import load_rows, state
from treeform.cli.progress import shown_as
from treeform.cli.report import check_report, save_report
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.stored import columns_read, own_shape, read_model
from treeform.language.objective import Objective
from treeform.report.crossing import crossings
from treeform.report.facts import of_model


@states_problem("formulation", "solver", "warm_start", "time_limit", "threads", "isolate")
def judge_model(
    settings: Settings,
    model: Annotated[
        Path,
        typer.Option(
            help="Model file, certificate, a description of a tree (JSON; see the how-to), or a tree of "
            "scikit-learn (.skops).",
            show_default=False,
        ),
    ],
    certificate: Annotated[
        Path | None, typer.Option(help="Write what was found here (JSON), for `treeform check`.")
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", help="Write the report here: .html, .md or .json.")
    ] = None,
    about: opt.About = None,
    quiet: opt.Quiet = False,
) -> Exit:
    """Evaluate a given model: errors, objective, and how much it violates each requirement.

    Without --exclude, columns that a model file does not know are excluded. Exit codes: 0 every requirement is
    satisfied, 7 one is violated or the shape does not fit, 2 bad input.
    """
    check_writable([certificate, report_file], inputs=[*settings.inputs, model, about])
    check_report(report_file)
    described = report.read_about(about)
    with shown_as(f"judging {model}", enabled=not quiet):
        rows = load_rows(settings, columns_read(model), learnt=True)
        read = rows if settings.minimize is None else Objective.parse(settings.minimize).reading(rows)
        graph = read_model(model, read)
        judgement = state(rows, settings, own_shape(graph)).judge(graph)
    for text in report.warnings_of((), crossings(judgement.graph, judgement.question)):
        warn(text)
    _show(judgement, quiet)
    unwritten = Unwritten()
    body = judgement.certificate().with_weight(settings.weight)
    if certificate is not None:
        unwritten.write(body.save, certificate)
    if report_file is not None:
        source = None if settings.data is None else settings.data.name
        facts = of_model(
            judgement.graph, judgement.question, certificate=body, source=source, about=described, rows_of="given"
        )
        unwritten.write(save_report, facts, report_file)
    return unwritten.end(Exit.DONE if judgement.ok else Exit.VIOLATED)


def _show(judgement: Judgement, quiet: bool) -> None:
    """The judgement, and unless ``quiet`` the rules of the model."""
    text = Text(f"{judgement}" if quiet else f"{judgement}\n")
    text.highlight_regex(r"(?m)^(VIOLATED|DOES NOT FIT)", "bold red")
    text.highlight_regex(r"(?m)^satisfied", "green")
    Console(highlight=False).print(text, soft_wrap=True)
    for rule in () if quiet else judgement.graph.rules():
        print(rule)
