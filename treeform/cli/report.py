"""The command ``treeform report``: a model on a table, and on held-out rows, for people who did not make it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from treeform import report
from treeform.certify.certificate import read
from treeform.certify.statements import data_of as read_as_stated
from treeform.cli import options as opt
from treeform.cli.files import check_writable, new_file
from treeform.cli.stored import (
    data_of,
    family_in,
    held_out_rows,
    question_for,
    read_certificate,
    read_family,
    read_model_or_certificate,
)
from treeform.errors import SpecError, did_you_mean
from treeform.report.facts import Facts
from treeform.utils.files import is_special, write_text

FORMATS: dict[str, Callable[[Facts], str]] = {
    "html": report.render_html,
    "md": report.render_markdown,
    "json": report.render_json,
}


def format_of(path: Path) -> str:
    """The format that a file name ends in; HTML where it ends in none.

    Raises SpecError if it is another one.
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix in ("", "htm") or is_special(path.resolve()):
        return "html"
    if suffix not in FORMATS:
        raise SpecError(
            f"{path} is no kind of report that treeform writes",
            cause=f"a report is {', '.join(f'.{name}' for name in FORMATS)}",
            fix=f"write {path.with_suffix('.html')}; a browser prints it to a file",
        )
    return suffix


def check_report(path: Path | None) -> None:
    """Refuse a file name of an unknown kind before the solve begins."""
    if path is not None:
        format_of(path)


def save_report(facts: Facts, path: Path) -> None:
    """Write a report of the kind that the file name says."""
    write_text(path, FORMATS[format_of(path)](facts))


def report_model(
    model: Annotated[
        Path, typer.Argument(help="Model or certificate file that fit wrote.", show_default=False)
    ],
    data: opt.Data,
    target: opt.Target = None,
    weight: opt.Weight = None,
    groups: opt.Groups = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Its certificate: adds requirements and claims.")
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", help="Another table, which the model was not fitted on.", metavar="TABLE"),
    ] = None,
    row: Annotated[
        int, typer.Option(help="Of a size table, curve or frontier: which of its answers.", min=1)
    ] = 1,
    about: opt.About = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="html, md or json; by default from the name of the output.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write (default: a new report.html).")
    ] = None,
) -> None:
    """Write a report of a model on a table: one file that a browser shows without a network.

    With a certificate, rows are compared with those of training: a table that has none of them is held out.
    For example: treeform report certificate.json later.csv

    Of a size table, Pareto curve or frontier it draws the curve, lists all problems with what is proved of each, and
    shows the model of the widest one, or of --row.
    """
    if form is not None and form not in FORMATS:
        raise SpecError(
            f"there is no format {form!r}",
            cause=f"reports are written as {', '.join(FORMATS)}",
            fix=did_you_mean(form, FORMATS) or "use for example --format md",
        )
    given: dict[str, Any]
    output = output or new_file(Path(f"report.{form or 'html'}"))
    check_writable([output], inputs=[model, data, certificate, held_out, about])
    form = form or format_of(output)
    about_model = report.read_about(about)
    if (family := family_in(model)) is not None:
        given = {"target": target, "weight": weight, "groups": groups or ()}
        facts = _facts_of_answer(family, data, row, about=about_model, **given)
        write_text(output, FORMATS[form](facts))
        print(output)
        return
    graph, body = read_model_or_certificate(model)
    if certificate is not None:
        read(body := read_certificate(certificate))  # of one answer
    given = {"target": target, "weight": weight}
    question, rows_of, equal = question_for(graph, body, data, groups=groups or (), **given)
    later = None
    if held_out is not None:
        later = report.HeldOut(held_out_rows(graph, body, held_out, **given), held_out.name)
    if later is not None and body is not None and rows_of != "training":
        raise SpecError(
            f"{data} is not the table that the certificate was made from",
            cause="its rows differ, and --held-out names other rows than those of training",
            fix=f"leave out --held-out, or give the training table in the place of {data.name}",
        )
    facts = report.of_model(
        graph,
        question,
        certificate=body,
        source=data.name,
        about=about_model,
        held_out=later,
        rows_of=rows_of,
        equal_rows=equal,
    )
    write_text(output, FORMATS[form](facts))
    print(output)


def _facts_of_answer(
    certificate: dict[str, Any],
    path: Path,
    row: int,
    *,
    about: report.About,
    target: str | None,
    weight: str | None,
    groups: Sequence[str],
) -> Facts:
    """One answer of a family, whose answers are listed on stdout."""
    body = read_family(certificate)
    X, y, weights, sensitive = data_of(certificate, path, target, weight, groups)
    stated = read_as_stated(body, X, y, weights)
    facts = report.of_family(
        certificate, stated, row, sensitive_features=sensitive, source=path.name, about=about
    )
    assert facts.nested is not None
    for number, answer in enumerate(facts.nested.answers, 1):
        print(f"{'>' if number == row else ' '} {number}  {answer}")
    return facts
