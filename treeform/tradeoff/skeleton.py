"""The part of a skeleton that so many tests can use."""

from __future__ import annotations

from treeform.shape import Diagram, Shape, Tree


def shrunk(shape: Shape, tests: int) -> Shape:
    """The part of a skeleton that ``tests`` tests can use; every test of a layer needs half a test above it."""
    if shape.own_leaves:
        return Tree(max(1, min(shape.depth, tests)), shape.splits)
    widths = []
    for layer, width in enumerate(shape.widths):
        fitting = [w for w in range(1, width + 1) if w + above(w, layer) <= max(tests, 1)]
        if not fitting:
            break
        widths.append(max(fitting))
    return Diagram(*widths, splits=shape.splits)


def above(width: int, layer: int) -> int:
    """The least number of tests in the layers above ``layer`` when it holds ``width`` of them."""
    total = 0
    for _ in range(layer):
        width = -(-width // 2)
        total += width
    return total
