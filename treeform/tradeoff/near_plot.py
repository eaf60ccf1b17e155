"""Ranges as a self-contained SVG: the least and the largest number of each column, and that of the best model."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from treeform.tradeoff.frontier_plot import WIDTH, Axis
from treeform.utils.text import count_of

LEFT, RIGHT, TOP, ROW, BELOW = 190, 30, 12, 26, 52
MOST = 30
"""Columns that are drawn."""
STYLE = (
    ".ranges text{font:13px system-ui,sans-serif;fill:var(--ink,#333)}"
    ".ranges .grid{stroke:var(--ink,#333);stroke-opacity:.15}"
    ".ranges .range{stroke:var(--lower,#1f6f8b);stroke-width:8;stroke-linecap:round;stroke-opacity:.55}"
    ".ranges .best{fill:var(--upper,#b2560d)}"
)

Bar = tuple[str, float, float, float]


def range_plot(bars: Sequence[Bar], across: str) -> str:
    """Draw a bar from the least to the largest number of each column, and a dot for the best model.

    Returns an ``<svg>`` element.

    Parameters
    ----------
    bars : sequence of (name, least, best, largest)
        The first `MOST` are drawn.
    across : str
        What the numbers are.
    """
    shown = bars[:MOST]
    height = TOP + ROW * max(1, len(shown)) + BELOW
    end = height - BELOW
    x = Axis([0.0, *(bar[3] for bar in shown)], LEFT, WIDTH - RIGHT)
    parts = []
    for value in x.ticks():
        parts.append(f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{TOP}" y2="{end}"/>')
        parts.append(f'<text x="{x(value):.1f}" y="{end + 18}" text-anchor="middle">{value:g}</text>')
    for row, (name, least, best, largest) in enumerate(shown):
        y = TOP + ROW * (row + 0.5)
        label = name if len(name) <= 24 else name[:23] + "…"
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>')
        parts.append(
            f'<line class="range" x1="{x(least):.1f}" x2="{x(largest):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        text = f"{escape(name)}: {least:.3g} to {largest:.3g}, {best:.3g} in the best model"
        parts.append(
            f'<circle class="best" cx="{x(best):.1f}" cy="{y:.1f}" r="4.5"><title>{text}</title></circle>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{height - 12}" text-anchor="middle">{escape(across)}</text>')
    what = f"ranges of {count_of(len(shown), 'column')}: {across}"
    return (
        f'<svg class="ranges" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(what)}" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{"".join(parts)}</svg>'
    )
