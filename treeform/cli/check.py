"""``treeform check``: verify a certificate, and end with its verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from treeform.certify.check import check
from treeform.certify.schema import json_schema
from treeform.certify.verdicts import CheckReport, Verdict
from treeform.cli import options as opt
from treeform.cli.messages import Exit
from treeform.cli.progress import shown_as
from treeform.cli.stored import data_of, read_certificate
from treeform.errors import SpecError

EXITS = {
    Verdict.VERIFIED: Exit.DONE,
    Verdict.ON_TRUST: Exit.ON_TRUST,
    Verdict.VIOLATED: Exit.VIOLATED,
    Verdict.FALSE: Exit.FALSE,
}
STYLES = {
    Verdict.VERIFIED: "green",
    Verdict.ON_TRUST: "yellow",
    Verdict.VIOLATED: "bold red",
    Verdict.FALSE: "bold red",
}


def check_certificate(
    certificate: Annotated[
        Path | None, typer.Argument(help="Certificate file that fit wrote.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Table: .csv, .tsv (also .gz), .parquet, .feather, or - for stdin.", show_default=False
        ),
    ] = None,
    target: opt.Target = None,
    weight: opt.Weight = None,
    groups: opt.Groups = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds of work for proving each bound again.", min=0.1)
    ] = 60.0,
    proof: Annotated[
        Path | None,
        typer.Option(
            help="Folder that fit wrote proofs to: derive their clauses from the data and verify each step.",
            metavar="FOLDER",
        ),
    ] = None,
    drat_trim: Annotated[
        bool, typer.Option("--drat-trim", help="Verify proofs with drat-trim from the PATH.")
    ] = False,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help="Accept no native engine: only counting, proofs on file, and a short plain search over everything.",
        ),
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(
            help="Another solver that solves again what nothing else can prove.",
            metavar="SOLVER",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, only the verdict and what is not verified.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of certificates.")] = False,
) -> Exit:
    """Verify a certificate from scratch.

    Exit codes: 0 verified, 5 on trust (the last line names the programs), 6 false, 7 a judged model violates a
    requirement, 2 cannot be checked.
    """
    if schema:
        print(json.dumps(json_schema(), indent=1))
        return Exit.DONE
    if certificate is None or data is None:
        raise SpecError(
            f"no {'certificate' if certificate is None else 'table'} is given",
            cause="a certificate is checked against the table that the model was fitted on",
            fix="treeform check CERTIFICATE.json DATA.csv",
        )
    body = read_certificate(certificate)
    with shown_as(f"checking {certificate}", enabled=not quiet):
        X, y, weights, sensitive = data_of(body, data, target, weight, groups or ())
        outcome = check(
            body,
            X,
            y,
            weights,
            sensitive_features=sensitive,
            time_limit=time_limit,
            proofs=proof,
            drat_trim=drat_trim,
            independent=independent,
            confirm=confirm,
        )
    _show(outcome, quiet)
    return EXITS[outcome.verdict]


def _show(outcome: CheckReport, quiet: bool) -> None:
    """A line for each statement, those that are not verified where ``quiet``, and the verdict."""
    console = Console(highlight=False)
    width = max(map(len, Verdict))
    rows = [row for row in outcome.rows if not (quiet and row.verdict is Verdict.VERIFIED)]
    for row in rows:
        mark = (f"{row.verdict:<{width}}", STYLES[row.verdict])
        console.print(Text.assemble(mark, f"  {row.what}: {row.detail}"), soft_wrap=True)
    console.print(Text(outcome.sentence, style=f"bold {STYLES[outcome.verdict]}"), soft_wrap=True)
