"""The command ``treeform near-optimal``: all models near the optimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from treeform import report
from treeform.certify.answer import CertifiedResult
from treeform.cli import options as opt
from treeform.cli.files import Unwritten, check_writable
from treeform.cli.messages import Exit, exit_code, warn
from treeform.cli.report import check_report, save_report
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.tradeoff import Kept, Shown, requirement_of, run_tradeoff
from treeform.data.table_files import check_kind, write_table
from treeform.errors import SpecError
from treeform.language.requirement import Requirement
from treeform.problem import Problem
from treeform.requirements.excluded import NoTestOn
from treeform.solve import Limit, Status, schedule
from treeform.tradeoff.axis import find_axis
from treeform.tradeoff.near_optimal import NearOptimal
from treeform.tradeoff.near_trees import NearModel
from treeform.utils.budget import Budget
from treeform.utils.text import count_of, exact_text


@states_problem("warm_start")
def near_optimal(
    settings: Settings,
    within: Annotated[
        str, typer.Option(help="The share of the optimum by which a model may be worse.", metavar="NUMBER")
    ] = "0.01",
    max_models: Annotated[int, opt.option("Most models to list.", min=1)] = 1000,
    limit: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Count models that predict alike for all rows as one.")
    ] = False,
    importance: Annotated[
        bool, typer.Option("--importance", help="Print the range of each column's importance.")
    ] = False,
    tightest: Annotated[
        str | None,
        typer.Option(
            help="Print the model that satisfies a requirement with the tightest bound, such as "
            "statistical_parity:groups=sex: the fairest one.",
            metavar="REQUIREMENT",
        ),
    ] = None,
    sparsest: Annotated[bool, typer.Option("--sparsest", help="Print the model of fewest tests.")] = False,
    multiplicity: Annotated[bool, typer.Option("--multiplicity", help="Print how far models differ.")] = False,
    disagreement: Annotated[
        Path | None,
        typer.Option(
            help="Write for each row how many models differ from the best one, and the share that predicts each "
            "class (.csv, .csv.gz, .parquet or .feather)."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(help="Print the best model that does not test this column.", metavar="COLUMN"),
    ] = None,
    sample: Annotated[int, typer.Option(help="Print a random sample of this many models.", min=0)] = 0,
    seed: Annotated[int | None, typer.Option(help="Seed of the sample.", min=0)] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the range of each column's importance (.svg, .png or .pdf).")
    ] = None,
    report_file: Annotated[
        Path | None,
        typer.Option("--report", help="Write a report of the best model and these: .html, .md or .json."),
    ] = None,
    certificate: opt.FamilyCertificate = None,
    *,
    shown: Shown,
) -> Exit:
    """All near-optimal models, the columns that they test, and the indispensable ones.

    \b
    Example: treeform near-optimal examples/data/german-credit.csv \\
               --target creditworthy --shape tree:2 --within 0.02
    """
    check_writable([report_file, disagreement], inputs=settings.inputs)
    if limit is not None:
        warn("the option --limit is called --max-models now")
        max_models = limit
    check_report(report_file)
    if disagreement is not None:
        check_kind(disagreement)
    over: list[Requirement | str] = []
    least: list[CertifiedResult] = []
    clock: list[Budget] = []

    def listed(problem: Problem, solver: Any, *, warm_start: Any, start: Any, **options: Any) -> NearOptimal:
        if tightest is not None:
            over.append(requirement_of(problem, tightest))
            find_axis(problem.question, over[0])  # refused before anything is solved
        if without is not None:
            NoTestOn(without).bind(problem.data)
        clock.append(Budget(options["time_limit"]))
        if without is not None or over or sparsest:
            options["time_limit"] = schedule.NEAR_MODELS.seconds(options["time_limit"])
        found = problem.near_optimal(solver, within=within, max_models=max_models, **options)
        if without is not None and found.limit is not Limit.INTERRUPTED:
            least.append(found.without(without, left()))
        return found

    def left() -> float | None:
        """Seconds of the command's limit, of which each question takes its own."""
        return schedule.equal_part(clock[0].remaining, 1)

    def show(found: NearOptimal, unwritten: Unwritten) -> Exit:
        if distinct and found.trees is not None:
            found = _distinct(found)
        print(found)
        if found.trees is not None and found.count:
            if importance:
                tested = found.importance().query("models > 0")
                print("no model tests a column" if tested.empty else tested.to_string(index=False))
            if multiplicity:
                _show_multiplicity(found)
            for model in found.sample(sample, seed):
                _show("drawn", model)
            if disagreement is not None:
                unwritten.write(_write_disagreement, found, disagreement)
            if plot is not None:
                unwritten.write(found.plot().save, plot)
        elif importance or multiplicity or disagreement is not None or sample or plot is not None:
            print(f"nothing more is shown or written of them: {found.uncounted or 'none was counted'}")
        if found.limit is not Limit.INTERRUPTED:
            for one in over:
                _show_tightest(found, one, left())
            if sparsest:
                _show_found("sparsest", partial(found.sparsest, left()))
        for answer in least:
            _show_without(str(without), answer)
        if report_file is not None:
            unwritten.write(save_report, report.of_result(found.best, near_optimal=found), report_file)
        return exit_code(found.best)

    return run_tradeoff(listed, settings, shown, show, Kept(certificate), plot=plot)


def _distinct(found: NearOptimal) -> NearOptimal:
    """One model for all that predict alike; all models where there are too many to compare."""
    try:
        return found.distinct()
    except SpecError as error:
        warn(str(error))
        return found


def _show_multiplicity(found: NearOptimal) -> None:
    shares = found.multiplicity()
    print(f"ambiguity {float(shares.ambiguity):.2%}: rows that some model predicts differently from the best one")
    print(f"discrepancy {float(shares.discrepancy):.2%}: the most rows that a single model predicts differently")


def _write_disagreement(found: NearOptimal, path: Path) -> None:
    rows = found.disagreement()
    write_table(path, rows)
    differ = int((rows["others"] > 0).sum())
    print(f"{path}: {differ:,} of {count_of(len(rows), 'row')} that some model predicts differently")


def _show_tightest(found: NearOptimal, over: Requirement | str, seconds: float | None) -> None:
    _, axis = find_axis(found.question, over)

    def measured(model: NearModel) -> str:
        measure = exact_text(axis.measured(model.graph, found.question.data))
        return f", {axis.measure.format(measure)}"

    _show_found("tightest", partial(found.tightest, over, seconds), measured)


def _show_found(
    what: str, ask: Callable[[], NearModel], more: Callable[[NearModel], str] = lambda model: ""
) -> None:
    """Show the answer to a question about all models; what was found before is shown where it has none."""
    try:
        model = ask()
    except SpecError as error:
        warn(str(error))
    else:
        _show(what, model, more(model))


def _show_without(column: str, answer: CertifiedResult) -> None:
    if answer.graph is None or answer.objective is None:
        print(f"without {column}: {answer}")
        return
    proof = "the optimum" if answer.status is Status.OPTIMAL else "open"
    _show(f"without {column}", NearModel(answer.objective, answer.graph), f", {proof}")


def _show(what: str, model: NearModel, more: str = "") -> None:
    objective, _, rules = str(model).partition("\n")
    print(f"{what}: {objective}{more}\n{rules}")
