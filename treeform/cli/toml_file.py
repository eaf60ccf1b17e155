"""TOML files, and advice on one that cannot be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from treeform.errors import SpecError
from treeform.utils.files import read_text, reading
from treeform.utils.text import one_line

ADVICE = (
    (r"Invalid value", 'put text in straight quotes, as in target = "y"; true and false are written in small letters'),
    (r"Unclosed array", "put a comma between the entries of a list, and ] at its end"),
    (r"Invalid hex|Unescaped|Invalid.*escape", "write paths with /, or in single quotes: a backslash begins an escape"),
    (r"Illegal character|Unterminated", "end text with the quote that it begins with"),
    (r"Expected '='|Invalid statement|Invalid initial", "write name = value; put a name of several words in quotes"),
    (r"Cannot", "give each name once"),
    (r"Expected newline", "write one value on a line, a list as [1, 2], and a decimal mark as a point"),
)
"""Pattern of `tomllib`'s words, and what to do."""
SHOWN = 60
"""Characters of a line."""


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises SpecError if it cannot be read, or is not TOML."""
    with reading(path, "file", "check the path"):
        try:
            text = read_text(path).removeprefix("\ufeff")  # some editors write this mark
        except UnicodeDecodeError as error:
            raise SpecError(f"{path} is not UTF-8", cause="TOML files are", fix="save it as UTF-8") from error
        except ValueError as error:
            raise SpecError(f"{path}: this is not TOML", cause=str(error), fix="check the path") from error
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # TOMLDecodeError, or deeper than is read
            raise _not_toml(path, text, error) from error


def _not_toml(path: Path, text: str, error: Exception) -> SpecError:
    if path.suffix != ".toml":
        advice = f'name the table in a file such as examples/credit.toml: data = "{path.name}"'
    else:
        found = [fix for pattern, fix in ADVICE if re.match(pattern, str(error))]
        advice = f"{found[0] if found else 'correct that line'}; see toml.io for the format"
    cause = "it is nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]
    place = re.search(r"at line (\d+)", cause)
    if place is not None:
        line = one_line(text.split("\n")[int(place[1]) - 1].strip())
        cause += f": {line if len(line) <= SHOWN else line[:SHOWN] + ' ...'}"
    return SpecError(f"{path}: this is not TOML", cause=cause, fix=advice)
