"""The size of a model as a tree: formats without shared nodes write one out for each way to it."""

from __future__ import annotations

from collections.abc import Callable

from treeform.errors import SpecError
from treeform.graph.export.program import Branch, Program


def unrolled_size(program: Program, asks: Callable[[Branch], int] = lambda _: 1) -> int:
    """Nodes of the tree, shared ones counted once for each way to them; ``asks``: tests that lead to one yes."""
    size: dict[int, int] = {}
    for node in program.bottom_up():
        entry = program.nodes[node]
        size[node] = asks(entry) * (1 + size[entry.yes]) + size[entry.no] if isinstance(entry, Branch) else 1
    return size[program.root]


def check_size(program: Program, what: str, most: int) -> int:
    """The nodes of the tree as which ``what`` is written, such as "a PMML tree"; SpecError beyond ``most``."""
    size = unrolled_size(program)
    if size > most:
        raise SpecError(
            f"the model becomes {what} of {size} nodes",
            cause=f"it has no shared nodes, so each way to one is written out; at most {most} are",
            fix="export it to Python, C or JavaScript",
        )
    return size
