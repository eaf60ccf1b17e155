"""Names of columns as identifiers of programming languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def identifiers(names: Iterable[str], is_reserved: Callable[[str], bool]) -> dict[str, str]:
    """A different identifier for each name: letters, digits and underscores, a letter first, and no reserved word.

    Names that begin with an underscore are left to the program itself, and to the language.
    """
    taken: set[str] = set()
    made = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        base = plain if plain[:1].isalpha() else f"column{plain}"
        if is_reserved(base):
            base = f"column_{base}"
        word = base
        count = 1
        while word in taken:
            count += 1
            word = f"{base}_{count}"
        taken.add(word)
        made[name] = word
    return made
