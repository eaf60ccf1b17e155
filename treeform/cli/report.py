"""The command ``treeform report``: a model on a table, and on held-out rows, for people who did not make it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from treeform import report
from treeform.certify.certificate import read
from treeform.cli import options as opt
from treeform.cli.files import check_writable, new_file
from treeform.cli.stored import held_out_rows, question_for, read_certificate, read_model_or_certificate
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
    about: opt.About = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="html, md or json; by default from the name of the output.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (default: a new report.html)."),
    ] = None,
) -> None:
    """Write a report of a model on a table: one file that a browser shows without a network.

    With a certificate, rows are compared with those of training: a table that has none of them is held out.
    For example: treeform report certificate.json later.csv
    """
    if form is not None and form not in FORMATS:
        raise SpecError(
            f"there is no format {form!r}",
            cause=f"reports are written as {', '.join(FORMATS)}",
            fix=did_you_mean(form, FORMATS) or "use for example --format md",
        )
    output = output or new_file(Path(f"report.{form or 'html'}"))
    inputs = [path for path in (model, data, certificate, held_out, about) if path is not None]
    check_writable([output], inputs=inputs)
    form = form or format_of(output)
    about_model = report.NOTHING if about is None else report.read_about(about)
    graph, body = read_model_or_certificate(model)
    if certificate is not None:
        read(body := read_certificate(certificate))  # of one answer
    given: dict[str, Any] = {"target": target, "weight": weight}
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
