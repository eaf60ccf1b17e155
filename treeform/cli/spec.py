"""Problem specifications: a TOML file with the names of the command line."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from treeform.cli.modules import import_modules
from treeform.errors import SpecError, TreeformError, did_you_mean
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import held_or_paid, read
from treeform.requirements import OnRows
from treeform.shape import parse_shape
from treeform.utils.files import read_text


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


class Spec(BaseModel):
    """The keys of a specification file. Each is optional; the command line takes precedence."""

    model_config = ConfigDict(extra="forbid")

    modules: list[StrictStr] | None = Field(
        None,
        alias="import",
        description="modules or files with your own requirements, solvers or formulations",
    )
    data: StrictStr | None = Field(None, description="table to learn from, relative to this file")
    target: StrictStr | None = Field(
        None, description="column with the classes, or with the values of a regression problem"
    )
    weight: StrictStr | None = Field(None, description="column with sample weights")
    exclude: list[StrictStr] | None = Field(None, description="columns that no test may use")
    categorical: list[StrictStr] | None = Field(None, description="columns whose values are levels")
    missing: StrictStr | None = Field(None, description="value (default) or error")
    dates: StrictStr | None = Field(None, description="days: days since 1970-01-01")
    abstain: StrictStr | None = Field(None, description="label of leaves that decide nothing")
    weight_grid: StrictStr | None = Field(
        None, description="sample weights are rounded to multiples; or auto"
    )
    sep: StrictStr | None = Field(None, description="what stands between cells of a CSV file, or tab")
    decimal: StrictStr | None = Field(None, description="decimal mark of a CSV file: . or ,")
    encoding: StrictStr | None = Field(None, description="encoding of a CSV file, such as cp1252")
    shape: Annotated[StrictStr, _checked(parse_shape)] | None = Field(
        None, description="tree:3, diagram:1,2,4"
    )
    minimize: Annotated[StrictStr, _checked(Objective.parse)] | None = Field(None, description="objective")
    ccp_alpha: float | StrictStr | None = Field(
        None, description="price of a test as a share of the total weight"
    )
    requirements: list[RequirementTable | StrictStr] = Field(default_factory=list, description="requirements")
    formulation: StrictStr | None = Field(None, description="how the problem is stated to the solver")
    solver: StrictStr | None = Field(None, description="the solver")
    warm_start: StrictStr | None = Field(None, description="engine for bound and first models, or none")
    time_limit: float | None = Field(None, gt=0, allow_inf_nan=False, description="seconds")
    threads: int | None = Field(None, ge=1, strict=True, description="threads of the solver")
    isolate: bool | None = Field(None, strict=True, description="true: the solver in a process of its own")
    executor: StrictStr | None = Field(None, description="who searches: loky, dask or dask:tcp://HOST:PORT")
    workers: int | None = Field(None, ge=1, strict=True, description="processes of the executor")
    journal: StrictStr | None = Field(None, description="folder that keeps parts of the search")
    model: StrictStr | None = Field(None, description="where to write the model")
    certificate: StrictStr | None = Field(None, description="where to write the certificate")
    report: StrictStr | None = Field(None, description="where to write the HTML report")
    proofs: StrictStr | None = Field(None, description="folder for proofs of what a SAT solver refutes")


PATHS = ("data", "model", "certificate", "report", "proofs", "journal")


@dataclass(frozen=True)
class Settings:
    """Everything that states a problem and its solve, from the file and the command line together."""

    data: Path | None = None
    target: str | None = None
    weight: str | None = None
    exclude: tuple[str, ...] | None = None
    categorical: tuple[str, ...] | None = None
    missing: str | None = None
    dates: str | None = None
    abstain: str | None = None
    weight_grid: str | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    shape: str | None = None
    minimize: str | None = None
    ccp_alpha: float | str | None = None
    formulation: str | None = None
    solver: str | None = None
    warm_start: str | None = None
    time_limit: float | None = None
    threads: int | None = None
    isolate: bool | None = None
    executor: str | None = None
    workers: int | None = None
    journal: Path | None = None
    model: Path | None = None
    certificate: Path | None = None
    proofs: Path | None = None
    report: Path | None = None
    requirements: tuple[tuple[str, Requirement | Objective], ...] = field(default=())
    """Where each was written, for messages, and the requirement, or the term that pays for what is lacking of it."""
    spec: Path | None = None
    """The specification file that some of this comes from."""

    @property
    def inputs(self) -> list[Path]:
        """The files that are read."""
        return [path for path in (self.data, self.spec) if path is not None]


def spec_keys() -> dict[str, Any]:
    """The keys of a specification file as they are written, with their descriptions."""
    return {field.alias or name: field for name, field in Spec.model_fields.items()}


def read_spec(path: Path) -> Settings:
    """Read and validate a specification file.

    Raises
    ------
    SpecError
        With the file and the key at the front, such as ``problem.toml: requirements[1].ratio: …``.
    """
    return settings_of(read_toml(path), path)


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file.

    Raises
    ------
    SpecError
        If it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except FileNotFoundError as error:
        raise SpecError(f"there is no file {path}", fix="check the path given with --spec") from error
    except OSError as error:
        raise SpecError(
            f"{path} cannot be read", cause=error.strerror, fix="name a file that may be read"
        ) from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path} is not UTF-8", cause="TOML files are", fix="save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, or larger or deeper than is read
        raise SpecError(
            f"{path}: this is not TOML",
            cause=_one_line(error),
            fix="correct that line; see toml.io for the format",
        ) from error


def _one_line(error: BaseException) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]


def settings_of(table: dict[str, Any], path: Path) -> Settings:
    """The settings in the table of a specification file; relative paths are relative to ``path``.

    Raises
    ------
    SpecError
        As `read_spec`.
    """
    try:
        spec = Spec.model_validate(table)
    except ValidationError as error:
        raise explain(path, error, table) from error
    import_modules(spec.modules or (), path.parent)
    values = {
        name: getattr(spec, name) for name in Spec.model_fields if name not in ("modules", "requirements")
    }
    for name in PATHS:
        values[name] = None if values[name] is None else path.parent / values[name]
    for name in ("exclude", "categorical"):
        values[name] = None if values[name] is None else tuple(values[name])
    requirements = [_requirement(path, index, item) for index, item in enumerate(spec.requirements)]
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
    if first["loc"][0] == "requirements" and len(first["loc"]) > 1 and isinstance(value, dict):
        message = "name is missing: each [[requirements]] table names its requirement"
    more = error.error_count() - 1
    cause = f"it is {value!r}" if not isinstance(value, dict) else None
    return SpecError(
        f"{path}: {place}: {message}",
        cause=cause,
        fix="correct it in the file" + (f", and {more} more" if more else ""),
    )


def _place(loc: tuple[int | str, ...]) -> str:
    """``("requirements", 1, "RequirementTable", "ratio")`` as ``requirements[1].ratio``."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("RequirementTable", "str", "function-before[check(), str]"):
            text += f".{part}" if text else str(part)
    return text


def merge(spec: Settings, given: Settings) -> Settings:
    """``given`` (the command line) over ``spec``.

    A requirement on the command line replaces those of the same name in the file; others are added.
    """
    changes = {
        f.name: getattr(given, f.name)
        for f in fields(Settings)
        if f.name != "requirements" and getattr(given, f.name) is not None
    }
    names = {_name(one) for _, one in given.requirements}
    kept = tuple(item for item in spec.requirements if _name(item[1]) not in names)
    return replace(spec, **changes, requirements=(*kept, *given.requirements))


def _name(one: Requirement | Objective) -> str:
    """The name of a requirement, held or paid, and the rows that it is asked of."""
    held = one if isinstance(one, Requirement) else one.terms[0][1].requirement  # type: ignore[attr-defined]
    return f"{held.of.name} on {held.rows} each {held.by}" if isinstance(held, OnRows) else str(held.name)
