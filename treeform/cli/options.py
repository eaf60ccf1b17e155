"""The options that several commands share, each described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.models import OptionInfo

Data = Annotated[
    Path,
    typer.Argument(
        help="Table: .csv, .tsv (also .gz), .parquet, .feather, or - for stdin.", show_default=False
    ),
]
MaybeData = Annotated[
    Path | None,
    typer.Argument(
        help="Table: .csv, .tsv (also .gz), .parquet, .feather, or - for stdin (or `data` in the spec).",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="Column with the classes, or the values of a regression problem.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Weight = Annotated[
    str | None, typer.Option(help="Column with sample weights.", metavar="COLUMN", show_default=False)
]
WeightGrid = Annotated[
    str | None,
    typer.Option(
        help="Round sample weights to multiples of this number; auto: only if they have too many digits.",
        metavar="NUMBER|auto",
        show_default=False,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        help="Column that no test may use, but that requirements may name. Repeatable.", metavar="COLUMN"
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        help="Column whose values are levels, whatever they look like. Repeatable.", metavar="COLUMN"
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        help="What a missing value is: a value that tests send where it is better (value, the default), or error.",
        metavar="value|error",
        show_default=False,
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(help="Read dates as days since 1970-01-01 (days); by default they are refused.", metavar="days"),
]
Abstain = Annotated[
    str | None,
    typer.Option(
        help="Label of leaves that abstain, priced by abstain_cost[price=…] in --minimize.",
        metavar="LABEL",
        show_default=False,
    ),
]
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
        help="A value that is missing in a column that had none missing in training: error, or majority, which "
        "sends it at each test to the child of more training rows.",
        metavar="error|majority",
    ),
]
Shape = Annotated[
    str | None,
    typer.Option(
        help="tree:DEPTH or diagram:WIDTH,WIDTH,… (default tree:3; for judge any shape).",
        metavar="SHAPE",
        show_default=False,
    ),
]
FormulationName = Annotated[
    str | None,
    typer.Option(
        "--formulation",
        help="How the problem is stated to the solver; settings may follow, as in NAME:SETTING=VALUE,…",
        metavar="NAME",
    ),
]
SolverName = Annotated[
    str | None,
    typer.Option(
        "--solver",
        help="The solver, see `treeform solvers`; settings may follow, as in cp-sat:threads=2.",
        metavar="NAME",
    ),
]
WarmStart = Annotated[
    str | None,
    typer.Option(
        help="Where to start: a native engine, a model file (JSON of treeform, or .skops of scikit-learn), or none.",
        metavar="NAME|FILE",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds for everything together.", metavar="SECONDS")]
Require = Annotated[
    list[str] | None,
    typer.Option(
        help="A requirement such as statistical_parity:groups=sex,ratio=0.8 or min_support:0.05. Repeatable.",
        metavar="NAME:KEY=VALUE,…",
    ),
]
Import = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        help="Import this module or file first, so that its requirements and solvers have names. Repeatable.",
        metavar="MODULE",
    ),
]
Minimize = Annotated[
    str | None,
    typer.Option(help="Objective, such as 'error + 2*nodes' (default error).", metavar="OBJECTIVE"),
]
CcpAlpha = Annotated[
    str | None,
    typer.Option(
        help="Complexity penalty: the price of a test as a share of the total weight, added to the objective.",
        metavar="NUMBER",
        show_default=False,
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--cv",
        help="Choose depth (up to that of --shape) and complexity penalty by cross-validation with so many folds.",
        min=2,
        metavar="FOLDS",
        show_default=False,
    ),
]
SpecFile = Annotated[
    Path | None,
    typer.Option("--spec", help="Problem file (TOML); options given here override it.", metavar="FILE"),
]
Threads = Annotated[int | None, typer.Option(help="Threads of the solver.", min=1, metavar="NUMBER")]
Isolate = Annotated[
    bool | None,
    typer.Option(
        "--isolate",
        help="Run the solver in a process of its own, which may hang or crash.",
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(
        help="Where the parts of one proof are searched: loky (processes here), dask or dask:tcp://HOST:PORT.",
        metavar="NAME",
        show_default=False,
    ),
]
Workers = Annotated[int | None, typer.Option(help="Processes of the executor.", min=1, show_default=False)]
Journal = Annotated[
    Path | None,
    typer.Option(
        help="Keep finished parts of the search here; the same command resumes after a kill.",
        metavar="FOLDER",
        show_default=False,
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        help="Groups that were given to the problem as an array: a column of the table, or a file with one row "
        "for each sample. With several, NAME=COLUMN. Repeatable.",
        metavar="COLUMN or FILE",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(help="Separator of CSV files: a character, or tab.", metavar="CHARACTER"),
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of CSV files: . or ,", metavar="MARK")]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of CSV files (default UTF-8, or UTF-16 by its mark).", metavar="NAME"),
]
CSV_FORM: dict[str, tuple[Any, Any]] = {
    "sep": (Separator, None),
    "decimal": (Decimal, None),
    "encoding": (Encoding, None),
}
"""What every command takes that reads a table, with defaults."""
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Show how the table was read, each improvement, claims and notes."
    ),
]
FamilyCertificate = Annotated[
    Path | None,
    typer.Option("--certificate", help="Write the certificate here, for `treeform check`."),
]
Start = Annotated[
    Path | None,
    typer.Option(
        help="Go on from the certificate of an earlier run: its models and bounds are entered first.",
        metavar="FILE",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the answer.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]
About = Annotated[
    Path | None,
    typer.Option(
        help="TOML file with owner, purpose, version, columns and the answers of a model card, for the report.",
        metavar="FILE",
        show_default=False,
    ),
]
EVERYWHERE: dict[str, tuple[Any, Any]] = {"import_": (Import, None), "debug": (Debug, False)}
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
