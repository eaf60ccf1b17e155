"""Shapes: how large a model may be, before anything about data or solvers is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treeform.errors import SpecError

MAX_DEPTH = 30


@dataclass(frozen=True)
class Tree:
    """A binary decision tree of bounded depth.

    Parameters
    ----------
    depth : int
        The largest number of tests on a path from the root to a leaf, from 1 to 30.
    """

    depth: int

    def __post_init__(self) -> None:
        if (
            isinstance(self.depth, bool)
            or not isinstance(self.depth, int)
            or not 1 <= self.depth <= MAX_DEPTH
        ):
            raise SpecError(
                f"a tree of depth {self.depth!r} is not possible",
                cause=f"the depth counts tests on a path and is a whole number from 1 to {MAX_DEPTH}",
                fix="use for example tf.Tree(depth=3)",
            )

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of test nodes in each layer, root first: ``(1, 2, 4, ...)``."""
        return tuple(2**level for level in range(self.depth))

    def to_json(self) -> dict[str, Any]:
        return {"type": "tree", "depth": self.depth}

    def __str__(self) -> str:
        return f"tree:{self.depth}"


@dataclass(frozen=True, init=False)
class Diagram:
    """A layered decision diagram (Florio et al., AAAI 2023): the skeleton's widths, root first.

    Parameters
    ----------
    *widths : int
        ``widths[l]`` test nodes at layer ``l``; the first is 1 and ``widths[l + 1] <= 2 * widths[l]``.
        Every arc may also go straight to a terminal, of which there is one per class.
    """

    widths: tuple[int, ...]

    def __init__(self, *widths: int) -> None:
        if len(widths) == 1 and isinstance(widths[0], tuple | list):
            widths = tuple(widths[0])
        object.__setattr__(self, "widths", tuple(widths))
        self._check()

    def _check(self) -> None:
        text = ",".join(map(str, self.widths))
        if not self.widths or any(
            isinstance(w, bool) or not isinstance(w, int) or w < 1 for w in self.widths
        ):
            raise SpecError(
                f"a diagram with layer widths ({text}) is not possible",
                cause="each width is a whole number of nodes, at least 1",
                fix="use for example tf.Diagram(1, 2, 4, 4, 4)",
            )
        if self.widths[0] != 1:
            raise SpecError(
                f"the first layer of a diagram has {self.widths[0]} nodes",
                cause="layer 0 holds the root and nothing else",
                fix=f"use tf.Diagram(1, {text})",
            )
        if len(self.widths) > MAX_DEPTH:
            raise SpecError(
                f"a diagram of {len(self.widths)} layers is not possible",
                cause=f"at most {MAX_DEPTH} layers are supported",
                fix="use fewer layers",
            )
        for layer, (above, below) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            if below > 2 * above:
                raise SpecError(
                    f"layer {layer + 1} of the diagram has {below} nodes under {above}",
                    cause="a layer of w nodes has 2w outgoing arcs, so the next layer has at most 2w nodes",
                    fix=f"give layer {layer + 1} at most {2 * above} nodes",
                )

    @property
    def depth(self) -> int:
        """Number of layers: the largest number of tests on a path."""
        return len(self.widths)

    def to_json(self) -> dict[str, Any]:
        return {"type": "diagram", "widths": list(self.widths)}

    def __str__(self) -> str:
        return "diagram:" + ",".join(map(str, self.widths))


Shape = Tree | Diagram


def parse_shape(text: str) -> Shape:
    """Read ``tree:3`` or ``diagram:1,2,4,4``.

    Raises
    ------
    SpecError
        If the text has another form or the sizes are not possible.
    """
    kind, _, sizes = text.partition(":")
    try:
        numbers = [int(part) for part in sizes.split(",")]
    except ValueError:
        numbers = []
    if kind.strip() == "tree" and len(numbers) == 1:
        return Tree(numbers[0])
    if kind.strip() == "diagram" and numbers:
        return Diagram(*numbers)
    raise SpecError(
        f"the shape {text!r} is not understood",
        cause="a shape is 'tree:DEPTH' or 'diagram:WIDTH,WIDTH,...'",
        fix="use for example tree:3 or diagram:1,2,4,4,4",
    )


def shape_from_json(value: dict[str, Any]) -> Shape:
    """Rebuild a shape from :meth:`Tree.to_json` or :meth:`Diagram.to_json`."""
    if value.get("type") == "tree":
        return Tree(value["depth"])
    return Diagram(*value["widths"])
