"""Requirements by name: from command-line text, specification files and certificates."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from treeform.errors import SpecError, TreeformError, no_such_part
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective
from treeform.language.objective_text import bare, items_in
from treeform.language.requirement import Requirement, class_of
from treeform.utils.arguments import current_names

SOFT = "soft"
"""The key of a price, beside the parameters of a requirement."""
ON, EACH = "on", "each"
"""The keys of a condition on rows, and of a column each of whose values is a slice."""


def parse(text: str) -> Requirement:
    """Read ``statistical_parity:groups=sex,ratio=0.8``, ``min_support:0.05``, ``max_nodes:7``.

    A value that holds a comma is quoted: ``groups="race, ethnicity"``; a quote within is doubled. Numbers are taken as
    the decimals that they are written as.

    Raises SpecError if the name or a parameter is unknown, or a value does not have its type.
    """
    return make(*_parts(text))


def read(text: str) -> Requirement | Objective:
    """As `parse`; with ``soft=PRICE`` among the parameters it is the term of the objective that pays for it.

    Raises SpecError as `parse`, or if the price is no number.
    """
    return held_or_paid(*_parts(text))


def held_or_paid(name: str, parameters: Mapping[str, Any]) -> Requirement | Objective:
    """As `make`; with a price under the key ``soft`` it is the term of the objective that pays for it."""
    rest = {key: value for key, value in parameters.items() if key != SOFT}
    requirement = make(name, rest)
    return requirement.soft(parameters[SOFT]) if SOFT in parameters else requirement


def _parts(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters that text gives."""
    name, _, rest = text.partition(":")
    kind = class_of(name.strip())
    parameters: dict[str, Any] = {}
    positional = list(signature(kind))
    for item in items_in(rest):
        quoted = item.lstrip()[:1] in ("'", '"')  # a bare value, whatever stands in it
        key, sign, value = (item, "", item) if quoted else item.partition("=")
        if not sign:
            if not positional:
                raise SpecError(
                    f"the value {item.strip()!r} in {text!r} belongs to no parameter of {kind.name}",
                    cause=f"its parameters, in their order, are {', '.join(signature(kind)) or 'none'}",
                    fix="write values with commas in them in quotes",
                )
            key, value = positional[0], item
        key = next(iter(current_names(kind.__init__, {key.strip(): None}, kind.__name__)))
        if key in parameters:
            raise SpecError(
                f"the parameter {key!r} appears twice in {text!r}",
                cause="each parameter has one value",
                fix="leave out one of the two",
            )
        parameters[key] = bare(value)
        positional = [p for p in positional if p != key]
    return kind.name, parameters


def make(name: str, parameters: Mapping[str, Any]) -> Requirement:
    """A requirement from its name and parameters, which are checked against its constructor's types.

    Raises SpecError if the name or a parameter is unknown, a parameter is missing, or a value does not have its type.
    """
    from pydantic import ValidationError

    kind = class_of(name)
    fields = signature(kind)
    if not fields.keys() & {ON, EACH} and parameters.keys() & {ON, EACH}:
        rest = {key: value for key, value in parameters.items() if key not in (ON, EACH)}
        whole: Any = class_of("on_rows")
        on_rows: Requirement = whole(make(name, rest), parameters.get(ON), parameters.get(EACH))
        return on_rows
    parameters = current_names(kind.__init__, parameters, kind.__name__)
    for key in parameters:
        if key not in fields:
            raise no_such_part(kind.name, "parameter", key, fields, next(iter(kind.samples), None))
    try:
        values = _schema(kind).model_validate(dict(parameters))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or kind.name
        form, inner = f"{kind.name}:{','.join(f'{f}=...' for f in fields)}", first.get("ctx", {}).get("error")
        own = inner if isinstance(inner, TreeformError) else None
        lacks = first["type"] == "missing"
        raise SpecError(
            f"{kind.name} lacks its parameter {where!r}"
            if lacks
            else f"the parameter {where!r} of {kind.name} cannot be {first.get('input')!r}",
            cause="it has no default" if lacks else first["msg"] if own is None else own.cause,
            fix=f"write it as {form}" if own is None or own.fix is None else own.fix,
        ) from None
    arguments = {key: getattr(values, key) for key in parameters}
    try:
        return kind(**arguments)
    except TreeformError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:  # of a class that is not treeform's
        given = ",".join(f"{key}={value}" for key, value in arguments.items())
        example = next(iter(kind.samples), f"{kind.name}:{','.join(f'{field}=...' for field in fields)}")
        raise SpecError(
            f"{kind.name}:{given} is not possible", cause=str(error), fix=f"write for example {example}"
        ) from error


def signature(kind: type[Requirement]) -> dict[str, inspect.Parameter]:
    """The parameters of a requirement's constructor that have a name."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p for p in parameters if p.kind in named}


@lru_cache(maxsize=256)  # a model takes milliseconds to make
def _schema(kind: type[Requirement]) -> Any:
    """A pydantic model of the constructor: annotations are the types, unannotated values are guessed."""
    from pydantic import BeforeValidator, ConfigDict, create_model

    try:
        hints = typing.get_type_hints(kind.__init__)
    except NameError:  # names imported for type checkers only
        hints = {}
    fields: dict[str, Any] = {}
    for name, parameter in signature(kind).items():
        hint = hints.get(name, Any)
        if Fraction in (hint, *typing.get_args(hint)):
            hint = Annotated[Any, BeforeValidator(_exact)]
        elif hint is Any:
            hint = Annotated[Any, BeforeValidator(_guess)]
        required = parameter.default is inspect.Parameter.empty
        fields[name] = (hint, ... if required else parameter.default)
    config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(kind.__name__, __config__=config, **fields)


def _exact(value: Any) -> Any:
    """A whole number stays one (it counts), a fraction in (0, 1) becomes exact."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*\d+\s*", value):
        return int(value)
    return as_fraction(value, "a number")


def _guess(value: Any) -> Any:
    """Text of a parameter without a type: a whole number, a decimal, or text."""
    if not isinstance(value, str):
        return value
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            continue
    return value
