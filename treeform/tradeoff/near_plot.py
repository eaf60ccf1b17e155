"""Ranges as a self-contained SVG: the least and the largest number of each column, and that of the best model."""

from __future__ import annotations

from collections.abc import Sequence

from treeform.utils.charts import Axis, Chart
from treeform.utils.text import count_of, rounded_text

ROW = 26
MOST = 30
"""Columns that are drawn."""

Bar = tuple[str, float, float, float]


def range_plot(bars: Sequence[Bar], across: str) -> str:
    """An ``<svg>`` element: a bar from the least to the largest number of each column, and a dot for the best model.

    Of the bars (name, least, best, largest) the first `MOST` are drawn.
    """
    shown = bars[:MOST]
    chart = Chart("ranges", 640, 64 + ROW * max(1, len(shown)), (190, 30, 12, 52))
    x = Axis([0.0, *(bar[3] for bar in shown)], chart.left, chart.right)
    chart.names(across)
    chart.grid_across({x(value): rounded_text(value) for value in x.ticks()})
    for row, (name, least, best, largest) in enumerate(shown):
        y = chart.top + ROW * (row + 0.5)
        chart.text(chart.left - 12, y + 4, name if len(name) <= 24 else name[:23] + "…", "end")
        chart.line("range", (x(least), y), (x(largest), y))
        chart.dot("best", x(best), y, 4.5, f"{name}: {least:.3g} to {largest:.3g}, {best:.3g} in the best model")
    return chart.svg(f"ranges of {count_of(len(shown), 'column')}: {across}")
