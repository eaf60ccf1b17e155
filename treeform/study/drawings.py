"""Drawings of a study: a heat map over two settings, and errors against the size of the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from treeform.tradeoff.frontier_plot import field
from treeform.utils.charts import Axis, Chart, stairs

CELL, LABEL, HEAD = 96, 150, 44
"""Width of a cell, width of the names of rows, height of the names of columns: in pixels."""
COLD, WARM = (247, 247, 247), (178, 86, 13)
"""Colours of the least and of the largest error."""
STYLE = (
    ".heat .cell text{fill:#222}"
    ".heat .cell.dark text{fill:#fff}.heat .chosen rect{stroke:var(--lower,#1f6f8b);stroke-width:4}"
    ".frontier .error{stroke:var(--ink,#333);stroke-opacity:.45}.frontier .within{fill:var(--lower,#1f6f8b);"
    "fill-opacity:.09}.frontier .chosen{fill:none;stroke:var(--upper,#b2560d);stroke-width:2.5}"
)


@dataclass(frozen=True)
class Mean:
    """One combination of settings."""

    label: str
    """Its settings as text."""
    error: float
    tests: float
    """Means over the folds; an error is in percent, a loss in units of the target."""
    spread: float
    """The standard error of the mean error; 0 where it is not known."""
    proved: bool
    """Whether every run was proved."""
    chosen: bool
    """Whether it is the one that the study chooses."""


def heat_map(
    cells: Sequence[Sequence[Mean | None]],
    down: tuple[str, Sequence[str]],
    across: tuple[str, Sequence[str]],
    limits: tuple[float, float],
) -> str:
    """Mean errors as a table of coloured cells.

    Parameters
    ----------
    cells : rows of cells
        None where no run has a model.
    down, across : (name, values)
        The two settings.
    limits : (least, largest)
        Errors of the lightest and of the darkest colour.

    Returns
    -------
    str
        An ``<svg>`` element.
    """  # fmt: skip
    wide = CELL * len(across[1])
    chart = Chart("heat", LABEL + wide + 8, HEAD + 34 * len(cells) + 8, (LABEL, 8, HEAD, 8))
    chart.text(LABEL - 10, 16, down[0], "end")
    chart.text(LABEL + wide / 2, 16, across[0])
    for i, value in enumerate(across[1]):
        chart.text(LABEL + CELL * (i + 0.5), HEAD - 8, value)
    for number, (value, row) in enumerate(zip(down[1], cells, strict=True)):
        y = HEAD + 34 * number
        chart.text(LABEL - 10, y + 21, value, "end")
        for i, cell in enumerate(row):
            _cell(chart, LABEL + CELL * i, y, cell, limits)
    svg = chart.svg(f"mean error by {down[0]} and {across[0]}")
    return svg.replace('role="img"', f'width="{chart.width:g}" role="img"', 1)


def _cell(chart: Chart, x: float, y: float, cell: Mean | None, limits: tuple[float, float]) -> None:
    at = f'x="{x:.0f}" y="{y}" width="{CELL - 4}" height="30"'
    if cell is None:
        chart.parts.append(f'<g class="cell"><rect {at} fill="none" stroke="#999" stroke-dasharray="3 3"/></g>')
        return
    low, high = limits
    share = (cell.error - low) / (high - low) if high > low else 0.0
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(COLD, WARM, strict=True))
    kind = "cell" + (" dark" if share > 0.6 else "") + (" chosen" if cell.chosen else "")
    what = escape(f"{cell.label}: {_described(cell)}")
    chart.parts.append(
        f'<g class="{kind}"><rect {at} fill="rgb({red},{green},{blue})"/><title>{what}</title>'
    )
    chart.text(x + CELL / 2 - 2, y + 20, f"{cell.error:.2f}" + ("" if cell.proved else "*"))
    chart.parts.append("</g>")


def size_plot(means: Sequence[Mean], up: str) -> str:
    """Mean error against the mean number of tests, with standard errors and the front of both.

    Returns an ``<svg>`` element.

    Parameters
    ----------
    means : sequence of Mean
        At least one.
    up : str
        What the error is called.
    """
    chart = field()
    ends = [m.error + sign * m.spread for m in means for sign in (-1, 1)]
    x = Axis([m.tests for m in means], chart.left, chart.right)
    y = Axis(ends, chart.bottom, chart.top)
    least = min(means, key=lambda m: m.error)
    chart.names("tests (mean)", up)
    chart.grid(x, y)
    top, bottom = y(least.error + least.spread), y(least.error)
    chart.parts.append(
        f'<rect class="within" x="{chart.left}" width="{chart.right - chart.left}" y="{top:.1f}" '
        f'height="{max(0.0, bottom - top):.1f}"><title>within one standard error of the least</title></rect>'
    )
    # The least error with at most so many tests.
    chart.path("steps", stairs([(x(m.tests), y(m.error)) for m in front_of(means)]))
    for m in means:
        at = x(m.tests)
        if m.spread:
            chart.line("error", (at, y(m.error - m.spread)), (at, y(m.error + m.spread)))
        chart.dot("proved" if m.proved else "open", at, y(m.error), 3, f"{m.label}: {_described(m)}")
        if m.chosen:
            chart.dot("chosen", at, y(m.error), 8)
    return chart.svg(f"{len(means)} settings, {up} against tests")


def front_of(means: Sequence[Mean]) -> list[Mean]:
    """Those that no other beats in tests and error at once, the smallest first."""
    front: list[Mean] = []
    for m in sorted(means, key=lambda m: (m.tests, m.error)):
        if not front or m.error < front[-1].error:
            front.append(m)
    return front


def _described(mean: Mean) -> str:
    spread = f" ± {mean.spread:.2f}" if mean.spread else ""
    return f"{mean.error:.2f}{spread}, {mean.tests:.3g} tests" + ("" if mean.proved else ", not all proved")
