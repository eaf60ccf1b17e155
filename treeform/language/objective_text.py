"""Objectives as text: ``error + 2*nodes`` cut into weights, terms and what stands in brackets.

What holds for requirements, too: items between commas, and values in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from treeform.data.exact import fraction_of
from treeform.errors import SpecError, did_you_mean, no_such_part
from treeform.utils.extensions import OBJECTIVES, extensions, find, parameters
from treeform.utils.text import count_of, decimal_or_plain

_ITEMS = {mark: re.compile(rf"""(?:[^{mark}"']|"[^"]*"|'[^']*')+""") for mark in ",;"}
_SETTING = re.compile(r"""((?:"[^"]*")+|(?:'[^']*')+|[^="']+)=(.*)""", re.DOTALL)
_TERM = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:\[(.*)\])?\s*", re.DOTALL)


def terms_in(text: str) -> list[tuple[Fraction, Any]]:
    """The terms of a sum, with their weights. Raises SpecError, which lists the terms, if a part is none."""
    return [_weighted(part) for part in _outside_brackets(text, "+")] if text.strip() else []


def names_of_terms() -> list[str]:
    """The terms known by name: those of treeform, and those of other packages."""
    return [one.name for one in extensions(OBJECTIVES)]


def _weighted(part: str) -> tuple[Fraction, Any]:
    """A weight and a term; a part that is no product of numbers and one name is no term."""
    weight, names = Fraction(1), []
    for factor in _outside_brackets(part, "*"):
        first, *divisors = _outside_brackets(factor, "/")
        for number, power in [(first, 1), *((divisor, -1) for divisor in divisors)]:
            try:
                weight *= fraction_of(number) ** power
            except (ValueError, ZeroDivisionError):
                names.append(number if power == 1 else factor)
    found = _TERM.fullmatch(names[0]) if len(names) == 1 else None
    extension = None if found is None else find(OBJECTIVES, found[1])
    if found is None or extension is None:
        raise _not_a_term(part.strip() if found is None else found[1])
    return weight, extension.load().from_text(found[2])


def _outside_brackets(text: str, mark: str) -> list[str]:
    """``text`` cut at ``mark`` where no bracket is open; those in quotes within brackets do not count."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, sign in enumerate(text):
        if quote or (depth and sign in "\"'"):
            quote = "" if sign == quote else quote or sign
            continue
        depth += (sign == "[") - (sign == "]")
        if sign == mark and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def items_in(text: str, mark: str = ",") -> list[str]:
    """What stands between commas, or other marks, of which those in quotes do not count.

    Raises SpecError if a quote is not closed.
    """
    item = _ITEMS[mark]
    if set(item.sub("", text)) - {mark}:
        raise SpecError(
            f"a quote in {text!r} is not closed",
            cause="quotes stand on both sides of a value",
            fix="""write a value that holds one in quotes of the other kind, such as "it's" or '2" pipes'""",
        )
    return item.findall(text)


def settings_in(inside: str | None, owner: str) -> dict[str, str]:
    """``key=value, key=value`` as a dict; a value that holds a comma is quoted.

    Raises SpecError if a part has no key, or a key appears twice.
    """
    settings: dict[str, str] = {}
    for item in items_in(inside or ""):
        found = _SETTING.fullmatch(item.strip())
        key = "" if found is None else bare(found[1])
        if found is None or key in settings:
            raise SpecError(
                f"{item.strip()!r} in {owner}[{inside}] is not understood",
                cause="settings are KEY=VALUE, separated by commas, each key once",
                fix=f"write for example {owner}[groups=sex]",
            )
        settings[key] = bare(found[2])
    return settings


def bare(text: str) -> str:
    """``text`` without blanks around it, and without quotes around all of it; doubled quotes within are one."""
    text = text.strip()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "\"'":
        return text
    quote, inside = text[0], text[1:-1]
    # 'a' == 'b' begins and ends with quotes of two values
    return text if quote in inside.replace(2 * quote, "") else inside.replace(2 * quote, quote)


def settings_of(kind: Any, inside: str | None) -> dict[str, Any]:
    """The settings in brackets as arguments of a term.

    Raises SpecError if a key is none of its parameters, or one without a default is missing.
    """
    known = parameters(kind)
    if inside is not None and not known:
        raise SpecError(
            f"the objective {kind.name} takes nothing in brackets, and {inside!r} is given",
            fix=f"write {kind.name} alone",
        )
    given = only(settings_in(inside, kind.name), list(known), kind.name)
    for name, one in known.items():
        if name not in given and one.default is one.empty:
            raise SpecError(f"{kind.name} has no {name}", fix=f"write {kind.name}[{name}=...]")
    return {name: _like(known[name].default, text) for name, text in given.items()}


def _like(default: object, text: str) -> Any:
    """The text as a truth value or a whole number where the default is one, and it can be read so."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    return int(text) if isinstance(default, int) and re.fullmatch(r"[+-]?\d+", text) else text


def written(term: Any) -> str:
    """A term as `settings_of` reads it back: its name, and those of its parameters that are not None."""
    known = {name: getattr(term, name) for name in parameters(type(term))}
    parts = [f"{name}={quoted(str(value))}" for name, value in known.items() if value is not None]
    return f"{term.name}[{','.join(parts)}]" if parts else str(term.name)


def quoted(value: str) -> str:
    """A value as `settings_in` reads it back."""
    if not set(value) & set(",;\"'[]+*=") and value == value.strip():
        return value
    return in_quotes(value)


def stated(name: str, *values: object, **settings: object) -> str:
    """A requirement as text: ``NAME:VALUE,KEY=VALUE``; what is None is left out.

    >>> stated("monotone", "a,b", "increasing", positive=None)
    'monotone:"a,b",increasing'
    """
    parts = [_shown(value) for value in values if value is not None]
    parts += [f"{key}={_shown(value)}" for key, value in settings.items() if value is not None]
    return f"{name}:{','.join(parts)}" if parts else name


def list_text(values: Iterable[str]) -> str:
    """Names as one text with commas between them."""
    return ",".join(map(quoted, values))


FEW = 8
"""Lists of so many values are written out in texts."""


def _shown(value: object) -> str:
    """A value in a text; of a long array, or of the list that a file makes of it, its size."""
    if isinstance(value, np.ndarray | pd.Series):
        value = value.tolist()
    if isinstance(value, list) and len(value) > FEW:
        return f"({count_of(len(value), 'value')})"
    if isinstance(value, Fraction):
        return decimal_or_plain(value)
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        value = list_text(value)
    return quoted(value) if isinstance(value, str) else str(value)


def in_quotes(value: str) -> str:
    """A value in quotes, as `bare` reads it back: in double ones if it holds none, else in single ones.

    >>> in_quotes("it's"), in_quotes('2" pipes'), in_quotes("2\" o'clock")
    ('"it\'s"', '\'2" pipes\'', '\'2" o\'\'clock\'')
    """
    quote = "'" if '"' in value else '"'
    return quote + value.replace(quote, 2 * quote) + quote


def only(settings: dict[str, str], known: Sequence[str], owner: str) -> dict[str, str]:
    """``settings``, if they have no other keys than ``known``. Raises SpecError naming another one."""
    for key in settings:
        if key not in known:
            example = f"{owner}[{known[0]}=...]" if known else owner
            raise no_such_part(f"the objective {owner}", "setting", key, known, example)
    return settings


def _not_a_term(part: str) -> SpecError:
    names = names_of_terms()
    return SpecError(
        f"{part!r} in the objective is not understood",
        cause=f"an objective is a sum of NUMBER*TERM; terms: {', '.join(names)}",
        fix=did_you_mean(part, names)
        or "use for example 'error + 2*nodes' or 'cost[0 5; 1 0]'; register a class of your own before "
        "(treeform.catalogue.register; on the command line --import FILE)",
    )
