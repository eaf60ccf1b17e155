"""Problem specifications: a TOML file with the names of the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError
from pydantic.fields import FieldInfo
from typer.models import ParameterInfo

from treeform.cli import options as opt
from treeform.cli.modules import import_modules
from treeform.cli.toml_file import read_toml
from treeform.errors import SpecError, TreeformError, did_you_mean
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import held_or_paid, read
from treeform.requirements import OnRows
from treeform.shape import parse_shape
from treeform.utils.text import count_of


def _checked(parse: Any) -> BeforeValidator:
    """Keep the text, but only when ``parse`` accepts it."""

    def check(value: Any) -> Any:
        if isinstance(value, str):
            parse(value)
        return value

    return BeforeValidator(check)


class RequirementTable(BaseModel):
    """One ``[[requirements]]`` table: its name, and the parameters of that requirement."""

    model_config = ConfigDict(extra="allow")
    name: StrictStr


class Stated(BaseModel):
    """What states a problem and its solve: keys of a specification file, and options of commands with their help."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    data: Annotated[
        Path | None,
        typer.Argument(
            help="Table: .csv, .tsv (also .gz), .parquet, .feather, or - for stdin (or `data` in the spec).",
            show_default=False,
        ),
    ] = None
    target: opt.Target = None
    shape: Annotated[
        str | None,
        _checked(parse_shape),
        opt.option("tree:DEPTH or diagram:WIDTH,WIDTH,… (default tree:3; for judge any shape).", "SHAPE"),
    ] = None
    minimize: Annotated[
        str | None,
        _checked(Objective.parse),
        opt.option("Objective, such as 'error + 2*nodes' (default error).", "OBJECTIVE"),
    ] = None
    ccp_alpha: Annotated[
        str | None,
        BeforeValidator(lambda value: repr(value) if type(value) in (int, float) else value),
        opt.option(
            "Complexity penalty: the price of a test as a share of the total weight, added to the objective.",
            "NUMBER",
        ),
    ] = None
    formulation: Annotated[
        str | None,
        opt.option(
            "How the problem is stated to the solver; settings may follow, as in NAME:SETTING=VALUE,…", "NAME"
        ),
    ] = None
    solver: Annotated[
        str | None,
        opt.option("The solver, see `treeform solvers`; settings may follow, as in cp-sat:threads=2.", "NAME"),
    ] = None
    warm_start: Annotated[
        str | None,
        opt.option(
            "Where to start: a native engine, a model file (JSON of treeform, or .skops of scikit-learn), or none.",
            "NAME|FILE",
        ),
    ] = None
    time_limit: Annotated[
        float | None, Field(gt=0, allow_inf_nan=False), opt.option(
            "Seconds for the search; reading the table and writing files come on top.", "SECONDS"
        )
    ] = None
    threads: Annotated[int | None, Field(ge=1), opt.option("Threads of the solver.", "NUMBER", min=1)] = None
    isolate: Annotated[
        bool | None,
        typer.Option(
            "--isolate",
            help="Run the solver in a process of its own, which may hang or crash.",
            show_default=False,
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        opt.option("Column that no test may use, but that requirements may name. Repeatable.", "COLUMN"),
    ] = None
    categorical: Annotated[
        list[str] | None,
        opt.option("Column whose values are levels, whatever they look like. Repeatable.", "COLUMN"),
    ] = None
    missing: Annotated[
        str | None,
        opt.option(
            "What a missing value is: a value that tests send where it is better (value, the default), or error.",
            "value|error",
        ),
    ] = None
    dates: Annotated[
        str | None,
        opt.option("Read dates as days since 1970-01-01 (days); by default they are refused.", "days"),
    ] = None
    abstain: Annotated[
        str | None,
        opt.option("Label of leaves that abstain, priced by abstain_cost[price=…] in --minimize.", "LABEL"),
    ] = None
    weight: opt.Weight = None
    weight_grid: Annotated[
        str | None,
        opt.option(
            "Round sample weights to multiples of this number; auto: only if they have too many digits.",
            "NUMBER|auto",
        ),
    ] = None
    sep: opt.Separator = None
    decimal: opt.Decimal = None
    encoding: opt.Encoding = None
    executor: Annotated[
        str | None,
        opt.option(
            "Where the parts of one proof are searched: loky (processes here), dask or dask:tcp://HOST:PORT.",
            "NAME",
        ),
    ] = None
    workers: Annotated[int | None, Field(ge=1), opt.option("Processes of the executor.", min=1)] = None
    journal: Annotated[
        Path | None,
        opt.option(
            "Keep finished parts of the search here; the same command resumes after a kill.", "FOLDER"
        ),
    ] = None
    model: Annotated[Path | None, opt.option("Write the model here (JSON).")] = None
    certificate: Annotated[Path | None, opt.option("Write the certificate here (JSON).")] = None
    report: Annotated[Path | None, opt.option("Write the report here: .html, .md or .json.")] = None
    proofs: Annotated[
        Path | None, opt.option("Write proofs of what a SAT solver refutes to this folder.", "FOLDER")
    ] = None


OF_FIT = ("executor", "workers", "journal", "model", "certificate", "report", "proofs")
"""What only `fit` takes as an option."""


class Spec(Stated):
    """A specification file. Each key is optional; the command line takes precedence."""

    modules: list[str] | None = Field(
        None,
        alias="import",
        description="Modules or files with your own requirements, solvers or formulations.",
    )
    requirements: list[RequirementTable | str] = Field([], description="Requirements.")


class Settings(Stated):
    """Everything that states a problem and its solve, from the file and the command line together."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    requirements: tuple[tuple[str, Requirement | Objective], ...] = ()
    """Where each was written, for messages, and the requirement, or the term that pays for what is lacking of it."""
    spec: Path | None = None
    """The specification file that some of this comes from."""

    @property
    def inputs(self) -> list[Path]:
        """The files that are read."""
        return [path for path in (self.data, self.spec) if path is not None]


def spec_keys() -> dict[str, tuple[Any, str]]:
    """The keys of a specification file as they are written, with the type and the meaning of each."""
    return {one.alias or name: (one.annotation, _meaning(one)) for name, one in Spec.model_fields.items()}


def _meaning(key: FieldInfo) -> str:
    """The help of the option, which says nothing of how to repeat it, or the description of a key without one."""
    helps = [one.help or "" for one in key.metadata if isinstance(one, ParameterInfo)]
    return (helps[0] if helps else key.description or "").removesuffix(" Repeatable.")


def read_spec(path: Path) -> Settings:
    """Read and validate a specification file.

    Raises SpecError with the file and the key at the front, such as ``problem.toml: requirements[1].ratio: …``.
    """
    return settings_of(read_toml(path), path)


def settings_of(table: dict[str, Any], path: Path) -> Settings:
    """The settings in the table of a specification file; relative paths are relative to ``path``.

    Raises SpecError as `read_spec`.
    """
    files = {name for name, one in Stated.model_fields.items() if Path in get_args(one.annotation)}
    placed = {
        name: path.parent / value if name in files and isinstance(value, str) else value
        for name, value in table.items()
    }
    try:
        spec = Spec.model_validate(placed)
    except ValidationError as error:
        raise explain(path, error, table) from error
    import_modules(spec.modules or (), path.parent)
    requirements = [_requirement(path, index, item) for index, item in enumerate(spec.requirements)]
    values = {name: getattr(spec, name) for name in Stated.model_fields}
    return Settings(**values, requirements=tuple(requirements), spec=path)


def _requirement(path: Path, index: int, item: RequirementTable | str) -> tuple[str, Requirement | Objective]:
    place = f"{path}: requirements[{index}]"
    try:
        if isinstance(item, str):
            return place, read(item)
        return place, held_or_paid(item.name, item.model_extra or {})
    except TreeformError as error:
        extra = {} if isinstance(item, str) else {"name": item.name, **(item.model_extra or {})}
        raise relocate(error, place, extra) from error


def relocate(error: TreeformError, place: str, keys: Any = ()) -> TreeformError:
    """The same error with the place in front, and the key that it names, if any."""
    text = " ".join(part for part in (error.what, error.cause) if part)
    mentions = {key: re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) for key in keys}
    named = sorted((match.start(), name) for name, match in mentions.items() if match)
    key = f".{named[0][1]}" if named else ""
    return type(error)(f"{place}{key}: {error.what}", cause=error.cause, fix=error.fix)


def explain(path: Path, error: ValidationError, table: Any) -> SpecError:
    """The first error of pydantic as a message."""
    first = error.errors()[0]
    place, value = _place(first["loc"]), first.get("input")
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, TreeformError):
        return SpecError(f"{path}: {place}: {inner.what}", cause=inner.cause, fix=inner.fix)
    if first["type"] == "extra_forbidden":
        return SpecError(
            f"{path}: {place}: there is no such key",
            cause=f"keys are {', '.join(spec_keys())}",
            fix=did_you_mean(first["loc"][-1], spec_keys(), others=2),
        )
    message = first["msg"][0].lower() + first["msg"][1:]
    if first["type"] == "is_instance_of":
        message = "it has to be the path of a file, as text"
    if first["loc"][0] == "requirements" and len(first["loc"]) > 1 and isinstance(value, dict):
        message = "name is missing: each [[requirements]] table names its requirement"
    places = {_place(one["loc"]) for one in error.errors()}  # of a union, each alternative has an error
    more = sum(not any(other.startswith(one) for other in places - {one}) for one in places) - 1
    cause = f"it is {value!r}" if not isinstance(value, dict) else None
    return SpecError(
        f"{path}: {place}: {message}",
        cause=cause,
        fix="correct it in the file" + (f", and {count_of(more, 'other key')}" if more else ""),
    )


def _place(loc: tuple[int | str, ...]) -> str:
    """``("requirements", 1, "RequirementTable", "ratio")`` as ``requirements[1].ratio``."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("RequirementTable", "str") and "[" not in part:  # names of types
            text += f".{part}" if text else str(part)
    return text


def merge(spec: Settings, given: Settings) -> Settings:
    """``given`` (the command line) over ``spec``.

    A requirement on the command line replaces those of the same name in the file; others are added.
    """
    changes = {name: value for name, value in given if name != "requirements" and value is not None}
    names = {_name(one) for _, one in given.requirements}
    kept = tuple(item for item in spec.requirements if _name(item[1]) not in names)
    return spec.model_copy(update={**changes, "requirements": (*kept, *given.requirements)})


def _name(one: Requirement | Objective) -> str:
    """The name of a requirement, held or paid, and the rows that it is asked of."""
    held = one if isinstance(one, Requirement) else one.terms[0][1].requirement  # type: ignore[attr-defined]
    return f"{held.of.name} on {held.rows} each {held.by}" if isinstance(held, OnRows) else str(held.name)
