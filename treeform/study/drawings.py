"""Drawings of a study: a heat map over two settings, and errors against the size of the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from treeform.tradeoff.frontier_plot import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    grid,
    names_of_axes,
    svg,
)

CELL, LABEL, HEAD = 96, 150, 44
"""Width of a cell, width of the names of rows, height of the names of columns: in pixels."""
COLD, WARM = (247, 247, 247), (178, 86, 13)
"""Colours of the least and of the largest error."""
STYLE = (
    ".heat text{font:13px system-ui,sans-serif;fill:var(--ink,#333)}.heat .cell text{fill:#222}"
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
    width, height = LABEL + CELL * len(across[1]) + 8, HEAD + 34 * len(cells) + 8
    parts = [
        _text(LABEL - 10, 16, down[0], "end"),
        _text(LABEL + CELL * len(across[1]) / 2, 16, across[0]),
    ]
    parts += [_text(LABEL + CELL * (i + 0.5), HEAD - 8, value) for i, value in enumerate(across[1])]
    for number, (value, row) in enumerate(zip(down[1], cells, strict=True)):
        y = HEAD + 34 * number
        parts.append(_text(LABEL - 10, y + 21, value, "end"))
        parts += [_cell(LABEL + CELL * i, y, cell, limits) for i, cell in enumerate(row)]
    return (
        f'<svg class="heat" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="mean error by {escape(down[0])} and {escape(across[0])}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _cell(x: float, y: float, cell: Mean | None, limits: tuple[float, float]) -> str:
    at = f'x="{x:.0f}" y="{y}" width="{CELL - 4}" height="30"'
    if cell is None:
        return f'<g class="cell"><rect {at} fill="none" stroke="#999" stroke-dasharray="3 3"/></g>'
    low, high = limits
    share = (cell.error - low) / (high - low) if high > low else 0.0
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(COLD, WARM, strict=True))
    kind = "cell" + (" dark" if share > 0.6 else "") + (" chosen" if cell.chosen else "")
    what = f"{cell.label}: {_described(cell)}"
    return (
        f'<g class="{kind}"><rect {at} fill="rgb({red},{green},{blue})"/><title>{escape(what)}</title>'
        f"{_text(x + CELL / 2 - 2, y + 20, f'{cell.error:.2f}' + ('' if cell.proved else '*'))}</g>"
    )


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
    ends = [m.error + sign * m.spread for m in means for sign in (-1, 1)]
    x, y = Axis([m.tests for m in means], LEFT, WIDTH - RIGHT), Axis(ends, HEIGHT - BOTTOM, TOP)
    least = min(means, key=lambda m: m.error)
    parts = names_of_axes("tests (mean)", up) + grid(x, y)
    top, bottom = y(least.error + least.spread), y(least.error)
    parts.append(
        f'<rect class="within" x="{LEFT}" width="{WIDTH - LEFT - RIGHT}" y="{top:.1f}" '
        f'height="{max(0.0, bottom - top):.1f}"><title>within one standard error of the least</title></rect>'
    )
    front = front_of(means)
    parts.append(f'<path class="steps" d="{_steps(front, x, y)}"/>')
    for m in means:
        a, b = x(m.tests), y(m.error)
        if m.spread:
            parts.append(
                f'<line class="error" x1="{a:.1f}" x2="{a:.1f}" y1="{y(m.error - m.spread):.1f}" '
                f'y2="{y(m.error + m.spread):.1f}"/>'
            )
        parts.append(
            f'<circle class="{"proved" if m.proved else "open"}" cx="{a:.1f}" cy="{b:.1f}" r="3">'
            f"<title>{escape(m.label)}: {_described(m)}</title></circle>"
        )
        if m.chosen:
            parts.append(f'<circle class="chosen" cx="{a:.1f}" cy="{b:.1f}" r="8"/>')
    return svg(parts, f"{len(means)} settings, {up} against tests")


def front_of(means: Sequence[Mean]) -> list[Mean]:
    """Those that no other beats in tests and error at once, the smallest first."""
    front: list[Mean] = []
    for m in sorted(means, key=lambda m: (m.tests, m.error)):
        if not front or m.error < front[-1].error:
            front.append(m)
    return front


def _steps(front: Sequence[Mean], x: Axis, y: Axis) -> str:
    """The least error with at most so many tests."""
    corners = [(x(front[0].tests), y(front[0].error))]
    for m in front[1:]:
        corners += [(x(m.tests), corners[-1][1]), (x(m.tests), y(m.error))]
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def _described(mean: Mean) -> str:
    spread = f" ± {mean.spread:.2f}" if mean.spread else ""
    return f"{mean.error:.2f}{spread}, {mean.tests:.3g} tests" + ("" if mean.proved else ", not all proved")


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
