"""Programs as nested ifs: what Python, C and JavaScript have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treeform.graph.export.program import Branch, Condition, Program
from treeform.graph.export.sums import Sum


@dataclass(frozen=True)
class Syntax:
    """How a language writes branches."""

    condition: Callable[[Condition | Sum], str]
    """A condition as an expression."""
    leaf: Callable[[int], str]
    """The statement that ends with a class code."""
    call: Callable[[int], str]
    """The statement that goes on at a shared node."""
    opening: str
    otherwise: str
    closing: str
    """``if {}``, between the branches, after them; an empty closing is left out."""


def body(program: Program, node: int, syntax: Syntax, indent: int = 1) -> list[str]:
    """The statements from a node on; shared nodes below it are called."""
    lines: list[str] = []
    waiting: list[tuple[int, int, str]] = [(node, indent, "")]
    while waiting:
        at, depth, text = waiting.pop()
        lead = "    " * depth
        if text:
            lines.append(lead + text)
            continue
        entry = program.nodes[at]
        if not isinstance(entry, Branch):
            lines.append(lead + syntax.leaf(entry))
        elif at in program.shared and at != node:
            lines.append(lead + syntax.call(at))
        else:
            lines.append(lead + syntax.opening.format(syntax.condition(entry.condition)))
            after = [(at, depth, syntax.closing)] if syntax.closing else []
            waiting += [
                *after, (entry.no, depth + 1, ""), (at, depth, syntax.otherwise), (entry.yes, depth + 1, ""),
            ]  # fmt: skip
    return lines
