"""Names of columns as identifiers of programming languages."""

from __future__ import annotations

import re
from collections.abc import Iterable


def identifiers(names: Iterable[str], reserved: Iterable[str]) -> dict[str, str]:
    """A different identifier for each name: letters, digits and underscores, and none of the reserved words."""
    taken = set(reserved)
    made = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII) or "column"
        base = word = f"_{plain}" if plain[0].isdigit() else plain
        count = 1
        while word in taken:
            count += 1
            word = f"{base}_{count}"
        taken.add(word)
        made[name] = word
    return made
