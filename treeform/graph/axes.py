"""Graphs on the axes of matplotlib, with the geometry of the SVG drawing."""

from __future__ import annotations

from typing import Any

from treeform.errors import SpecError
from treeform.graph.graph import FlatGraph
from treeform.graph.svg import SMALL, TEXT, Picture, leaf_colour


def draw(graph: FlatGraph, ax: Any) -> Any:
    """Draw on `ax`; see `DecisionGraph.plot`.

    Raises SpecError if `ax` is nothing that matplotlib draws on.
    """
    if not hasattr(ax, "add_patch") or not hasattr(ax, "annotate"):
        raise SpecError(
            f"ax={ax!r} is nothing to draw on",
            cause="it is the axes of a matplotlib figure",
            fix="use fig, ax = matplotlib.pyplot.subplots(), or leave out ax for an SVG drawing",
        )
    from matplotlib.patches import FancyBboxPatch

    picture = Picture(graph)
    ax.set_xlim(0, picture.width)
    ax.set_ylim(picture.height, 0)  # rows grow downwards
    ax.set_aspect("equal")
    ax.axis("off")
    points = _points_per_unit(ax, picture)
    for (node, side), _ in picture.layout.bends.items():
        xs, ys = picture.corners((node, side))
        ax.plot(xs, ys, color="#8a8a8a", linewidth=1, zorder=1)
        ax.text(
            xs[1], ys[1], picture.arcs[node][side][0], ha="center", va="center", fontsize=SMALL * points, zorder=2,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )  # fmt: skip
    for node, box in enumerate(picture.boxes):
        x, y = picture.corner(node)
        leaf = picture.graph.feature[node] < 0
        colour = leaf_colour(picture.graph, node) if leaf else "#444444"
        ax.add_patch(
            FancyBboxPatch(
                (x, y), box.width, box.height, boxstyle=f"round,pad=0,rounding_size={10 if leaf else 3}",
                facecolor="white", edgecolor=colour, linewidth=1.5 if leaf else 1, zorder=3,
            )
        )  # fmt: skip
        text = "\n".join([*box.lines, *([box.detail] if box.detail else [])])
        weight = "bold" if leaf else "normal"
        ax.text(
            x + box.width / 2, y + box.height / 2, text, ha="center", va="center", fontsize=TEXT * points,
            weight=weight, zorder=4,
        )  # fmt: skip
    return ax


def _points_per_unit(ax: Any, picture: Picture) -> float:
    """The size of one unit of the drawing in typographic points, so that texts fit their boxes."""
    box = ax.get_window_extent()
    scale = min(box.width / picture.width, box.height / picture.height)
    return float(scale * 72 / ax.figure.dpi * 0.92)
