"""The commands. Each gathers its inputs, calls the library, and shows or writes the outcome."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from treeform import __version__, report
from treeform.cli import export, near_optimal, sweep
from treeform.cli import options as opt
from treeform.cli.check import check_certificate
from treeform.cli.files import Unwritten, check_writable
from treeform.cli.judge import judge_model
from treeform.cli.messages import Exit, command, exit_code, warn
from treeform.cli.predictions import predictions
from treeform.cli.problems import How, choose_how, load_problem
from treeform.cli.progress import ProgressDisplay, err_console, shown_as
from treeform.cli.report import check_report, report_model, save_report
from treeform.cli.solvers import list_solvers
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.stored import load_model, with_policy
from treeform.cli.tradeoff import conflict, frontier, pareto, read_problem, size_table
from treeform.cli.usage import Commands
from treeform.data.table_files import check_kind, write_table
from treeform.errors import SpecError
from treeform.problem import Problem
from treeform.report.facts import Facts
from treeform.result import Result
from treeform.solve import Budget, Status
from treeform.tradeoff.prices import Prices
from treeform.utils.budget import interruptible, observe_steps
from treeform.utils.files import write_text

app = typer.Typer(
    cls=Commands,
    name="treeform",
    help="Provably optimal decision trees and diagrams under your own requirements.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"treeform {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Provably optimal decision trees and diagrams under your own requirements."""


@app.command(short_help="Learn the best model, and write model, certificate and report.")
@command
@states_problem(of_fit=True)
def fit(
    settings: Settings,
    cv: Annotated[
        int | None,
        opt.option(
            "Choose depth (up to that of --shape) and complexity penalty by cross-validation with so many folds.",
            "FOLDS",
            min=2,
        ),
    ] = None,
    select: Annotated[
        str | None,
        opt.option(
            "With --cv: the smallest tree close to the best score (default), the best score itself, or the smallest "
            "tree within one standard error of it.",
            "close|best|one_standard_error",
        ),
    ] = None,
    scoring: Annotated[
        str | None,
        opt.option(
            "With --cv: what the rows held out are scored by, such as balanced_accuracy, roc_auc_ovr or r2 (a name of "
            "scikit-learn; default accuracy, for values r2).",
            "NAME",
        ),
    ] = None,
    prices: Annotated[
        bool, typer.Option("--prices", help="Solve without each requirement too, and show what each costs.")
    ] = False,
    about: opt.About = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """Learn the best model, print its rules, and write model, certificate and report.

    \b
    Example: treeform fit examples/data/credit.csv --target creditworthy --shape tree:2 \\
               --exclude sex --require statistical_parity:groups=sex,difference=0.05 \\
               --report report.html

    Exit codes: 0 done, 2 bad input or usage, 3 infeasible, 4 stopped at a limit without any model,
    130 interrupted by Ctrl-C, 143 by SIGTERM (the best model found is still written; a second one ends at once).
    """
    check_writable([settings.model, settings.certificate, settings.report], inputs=[*settings.inputs, about])
    check_report(settings.report)
    about_model = report.read_about(about)
    unwritten = Unwritten()
    with ProgressDisplay(err_console(), enabled=not quiet, log=verbose) as display:
        choice = None
        if cv is None:
            for option, value in (("--select", select), ("--scoring", scoring)):
                if value is not None:
                    raise SpecError(
                        f"{option} is for --cv",
                        cause="it is of what cross-validation compares",
                        fix=f"add for example --cv 5, or leave out {option}",
                    )
        else:
            from treeform.cli.cross_validation import choose_size  # loads scikit-learn

            display.begin(f"cross-validation, {cv} folds")
            choice = choose_size(settings, cv, display, select=select, scoring=scoring)
            settings = choice.settings
        problem, how = read_problem(settings, display, verbose=verbose)
        if choice is not None and settings.warm_start is None:
            how = replace(how, warm_start=choice.tree)
        # From the first search to the last file: what was found when Ctrl-C comes is written.
        with interruptible(whole := Budget()):
            result = _solve(problem, how, settings, display, verbose=verbose, quiet=quiet)
            costs = None
            if prices and not whole.interrupted:
                costs = result.prices(
                    how.solver,
                    formulation=how.formulation,
                    time_limit=settings.time_limit,
                    on_progress=display,
                )
            display.begin("writing")
            with observe_steps(display.on_step):
                facts = _write(result, settings, costs, about_model, unwritten)
    for text in report.warnings_of(result.notes, facts.crossings):
        if text not in problem.data.notes:  # those were shown when the table was read
            warn(text)
    if result.graph is not None:
        for rule in result.graph.rules():
            print(rule)
    if choice is not None and not quiet:
        print(f"\n{choice.sentence}")
    if not quiet or result.graph is None:
        _summary(facts, verbose)
    if result.status is Status.INFEASIBLE and not whole.interrupted:
        with ProgressDisplay(err_console(), enabled=not quiet) as display:
            conflict = result.conflict(
                how.solver, formulation=how.formulation, time_limit=_rest(settings), on_progress=display
            )
        print(f"\n{conflict}")
    return unwritten.end(Exit.INTERRUPTED if whole.interrupted else exit_code(result))


CONFLICT_SECONDS = 30.0
"""For the explanation of an infeasible problem, where no time limit is given."""


def _rest(settings: Settings) -> float:
    return CONFLICT_SECONDS if settings.time_limit is None else settings.time_limit


def _solve(
    problem: Problem, how: How, settings: Settings, display: ProgressDisplay, *, verbose: bool, quiet: bool
) -> Result:
    console = err_console()
    if not quiet:
        console.print(Text(repr(problem)), soft_wrap=True)
    if verbose:
        console.print(Text(str(problem.explain(how.solver, formulation=how.formulation))), soft_wrap=True)
    return problem.solve(
        how.solver,
        formulation=how.formulation,
        warm_start=how.warm_start,
        time_limit=settings.time_limit,
        on_progress=display,
        proofs=settings.proofs,
        executor=settings.executor,
        workers=settings.workers,
        journal=settings.journal,
    )


def _write(
    result: Result, settings: Settings, prices: Prices | None, about: report.About, unwritten: Unwritten
) -> Facts:
    """Write what was asked for, as far as there is something to write."""
    certificate: dict[str, Any] | None = None
    if result.graph is not None or result.claims:
        certificate = result.certificate().with_weight(settings.weight)
    source = None if settings.data is None else settings.data.name
    frontiers = () if settings.report is None else report.trace_curves(result, settings.time_limit)
    crossed = (
        None if settings.report is None else report.price_crossings(result, settings.time_limit, frontiers)
    )
    facts = report.of_result(
        result,
        certificate=certificate,
        source=source,
        prices=prices,
        frontiers=frontiers,
        crossed=crossed,
        about=about,
        columns=settings.report is not None,
    )
    if settings.model is not None:
        if result.graph is not None:
            unwritten.write(write_text, settings.model, json.dumps(result.graph.to_json(), indent=1) + "\n")
        else:
            warn(f"{settings.model} is not written: there is no model")
    if settings.certificate is not None:
        if certificate is not None:
            unwritten.write(write_text, settings.certificate, json.dumps(certificate, indent=1) + "\n")
        else:
            warn(f"{settings.certificate} is not written: nothing was found or proved")
    if settings.report is not None:
        unwritten.write(save_report, facts, settings.report)
    return facts


def _summary(facts: Facts, verbose: bool) -> None:
    console = Console(highlight=False)
    text = Text("\n" + report.render_text(facts, verbose=verbose, warned=True))
    style = {"optimal": "green", "feasible": "yellow"}.get(facts.status or "", "red")
    text.highlight_regex(f"(?m)^{re.escape(facts.verdict)}", f"bold {style}")
    text.highlight_regex(r"VIOLATED[^\n]*", "bold red")
    console.print(text, soft_wrap=True)


@app.command(short_help="Show solver, formulation and sizes; nothing is solved.")
@command
@states_problem("time_limit")
def explain(
    settings: Settings,
    rows: Annotated[int, opt.option("Show so many rows of each block of the formulation.", min=0)] = 0,
    lp: Annotated[Path | None, opt.option("Write the formulation as an LP file, in linear rows.")] = None,
    mps: Annotated[Path | None, opt.option("Write it as an MPS file.")] = None,
) -> None:
    """Show how the problem would reach the solver: route and size of every block. Nothing is solved.

    \b
    Example: treeform explain examples/data/credit.csv --target creditworthy --shape tree:2 \\
               --formulation odd --rows 2 --lp odd.lp

    Rows are those of --formulation, odd by default.
    """
    check_writable([lp, mps], inputs=settings.inputs)
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    print(problem)
    print(problem.explain(how.solver, formulation=how.formulation))
    if not (rows or lp or mps):
        return
    stated = problem.model(how.formulation)
    if rows:
        print()
        stated.show(rows)
    if lp is not None:
        stated.to_lp(lp)
    if mps is not None:
        stated.to_mps(mps)


@app.command(short_help="Predict every row of a table.")
@command
def predict(
    model: Annotated[Path, typer.Argument(help="Model file that fit wrote.", show_default=False)],
    data: opt.Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of stdout.")
    ] = None,
    proba: Annotated[bool, typer.Option(help="Also the share of each class at the leaf reached.")] = False,
    rule: Annotated[
        bool, typer.Option(help="Also the number of the rule that fired, as `fit` prints them.")
    ] = False,
    id_column: Annotated[
        list[str] | None, typer.Option("--id", help="Keep this column. Repeatable.", metavar="COLUMN")
    ] = None,
    unseen: opt.Unseen = "warn",
    missing: opt.MissingAtPrediction = "error",
) -> None:
    """Predict every row of a table; other columns than the model's features are ignored.

    The output is CSV, or what its name ends in: .csv, .csv.gz, .parquet or .feather.
    """
    if output == Path("-"):
        output = None
    if output is not None:
        check_writable([output], inputs=[model, data])
        check_kind(output)
    graph = with_policy(load_model(model), missing)
    with shown_as(f"predicting {data}"):
        table = predictions(graph, data, id_column or (), unseen, proba=proba, rule=rule)
        if output is not None:
            write_table(output, table)
    if output is None:
        sys.stdout.write(table.to_csv(index=False, lineterminator="\n"))


for _name, _function, _help in (
    ("check", check_certificate, "Verify a certificate from scratch."),
    ("judge", judge_model, "Evaluate a given model: errors, objective, violations."),
    ("report", report_model, "Write a report of a model on a table."),
    ("export", export.export, "Write a model as SQL, C, Python, ONNX and others."),
    ("size-table", size_table, "The least error with at most m tests, for each m."),
    ("pareto", pareto, "The best models in depth, number of tests and errors."),
    ("sweep", sweep.sweep, "Solve every combination of a grid on every fold."),
    ("frontier", frontier, "The exact trade-off between objective and a requirement."),
    ("conflict", conflict, "Requirements that cannot hold together."),
    ("near-optimal", near_optimal.near_optimal, "All models near the optimum."),
    ("solvers", list_solvers, "List solvers: installed or not, and why."),
):
    app.command(name=_name, short_help=_help)(command(_function))
