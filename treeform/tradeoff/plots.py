"""What trade-offs look like, as self-contained SVG: the best objective against a bound, and ranges of columns."""

from __future__ import annotations

from collections.abc import Sequence

from treeform.utils.charts import Axis, Chart, stairs
from treeform.utils.text import count_of, rounded_text

Step = tuple[float, float, bool]


def field() -> Chart:
    """An empty field for values of two axes."""
    return Chart("frontier", 640, 360, (76, 20, 36, 52))


def step_plot(steps: Sequence[Step], across: str, up: str, mark: float | None = None, title: str = "") -> str:
    """An ``<svg>`` element with points (measure, objective, proved), the loosest first, and the steps between them.

    Points without proof are drawn hollow. A dashed line marks the bound ``mark``. The title is cut to the width.
    """
    chart = field()
    chart.names(across, up)
    if title:
        chart.title(title)
    if steps:
        x = Axis([step[0] for step in steps] + ([] if mark is None else [mark]), chart.left, chart.right)
        y = Axis([step[1] for step in steps], chart.bottom, chart.top)
        chart.grid(x, y)
        if mark is not None:
            tip = f"{across} {rounded_text(mark)}, as asked"
            chart.line("mark", (x(mark), chart.top), (x(mark), chart.bottom), tip)
        # The best objective at each bound: constant from a point to the next looser one.
        chart.path("steps", stairs([(x(value), y(objective)) for value, objective, _ in steps], rise_first=True))
        for value, objective, proved in steps:
            tip = f"{across} {rounded_text(value)}: {rounded_text(objective)}"
            chart.dot("proved" if proved else "open", x(value), y(objective), 3, tip)
    return chart.svg(f"{count_of(len(steps), 'point')}, {up} against {across}")


def objective_words(objective: str) -> str:
    """What the objective is called beside an axis."""
    return {"error": "errors on the training rows", "": "objective"}.get(objective, objective)


def bound_words(is_upper: bool, name: str) -> str:
    """What the bound of a requirement is called beside an axis."""
    return f"{'most' if is_upper else 'least'} {name} allowed"


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
