"""The options that several commands share, each described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.models import OptionInfo


def option(help_: str, metavar: str | None = None, **more: Any) -> Any:
    """An option that has no default to show."""
    return typer.Option(help=help_, metavar=metavar, show_default=False, **more)


Data = Annotated[
    Path,
    typer.Argument(
        help="Table: .csv, .tsv (also .gz), .parquet, .feather, or - for stdin.", show_default=False
    ),
]
Target = Annotated[
    str | None, option("Column with the classes, or the values of a regression problem.", "COLUMN")
]
Weight = Annotated[str | None, option("Column with sample weights.", "COLUMN")]
Unseen = Annotated[
    str,
    typer.Option(
        help="What to do about levels that were not there in training: error, warn or other (nothing).",
        metavar="error|warn|other",
    ),
]
MissingAtPrediction = Annotated[
    str,
    typer.Option(
        help="A missing value in a column that had none in training: error, or majority (each test sends it to "
        "the child of more training rows).",
        metavar="error|majority",
    ),
]
Groups = Annotated[
    list[str] | None,
    option(
        "Groups that were given to the problem as an array: a column of the table, or a file with one row "
        "for each sample. With several, NAME=COLUMN. Repeatable.",
        "COLUMN or FILE",
    ),
]
Separator = Annotated[str | None, option("Separator of CSV files: a character, or tab.", "CHARACTER")]
Decimal = Annotated[str | None, option("Decimal mark of CSV files: . or ,", "MARK")]
Encoding = Annotated[
    str | None, option("Encoding of CSV files (default UTF-8, or UTF-16 by its mark).", "NAME")
]
CSV_FORM: dict[str, tuple[Any, Any]] = {
    "sep": (Separator, None),
    "decimal": (Decimal, None),
    "encoding": (Encoding, None),
}
"""What every command takes that reads a table, with defaults."""
Require = Annotated[
    list[str] | None,
    option(
        "A requirement such as statistical_parity:groups=sex,ratio=0.8 or min_support:0.05. Repeatable.",
        "NAME:KEY=VALUE,…",
    ),
]
SpecFile = Annotated[Path | None, option("Problem file (TOML); options given here override it.", "FILE")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the answer with its models here (JSON).")
]
FamilyCertificate = Annotated[
    Path | None, typer.Option("--certificate", help="Write the certificate here, for `treeform check`.")
]
Start = Annotated[
    Path | None,
    option("Go on from the certificate of an earlier run: its models and bounds are entered first.", "FILE"),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show how the table was read, each improvement, claims and notes."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the answer.")]
About = Annotated[
    Path | None,
    option(
        "TOML file with owner, purpose, version, columns and the answers of a model card, for the report.",
        "FILE",
    ),
]
EVERYWHERE: dict[str, tuple[Any, Any]] = {
    "import_": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--import",
                help="Import this module or file first, so that its requirements and solvers have names. Repeatable.",
                metavar="MODULE",
            ),
        ],
        None,
    ),
    "debug": (Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")], False),
}
"""What every command takes."""


def accept(function: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> None:
    """Let a function show these parameters, of which Typer makes its options."""
    parameters = list(parameters)
    for parameter in parameters:
        _name_value(parameter.annotation)
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}


_VALUES = {Path: "FILE", int: "NUMBER", float: "NUMBER", str: "TEXT"}


def _name_value(annotation: Any) -> None:
    """Give an option without a name for its value the one of its type; flags take no value."""
    option = next((one for one in get_args(annotation)[1:] if isinstance(one, OptionInfo)), None)
    if option is None or option.metavar is not None:
        return
    kind = get_args(annotation)[0]
    option.metavar = next((_VALUES[one] for one in (kind, *get_args(kind)) if one in _VALUES), None)
