"""A step function as a self-contained SVG: the best objective against a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from treeform.utils.text import count_of, rounded_text

WIDTH, HEIGHT = 640, 360
MOST_LETTERS = 84
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 36, 52
STYLE = (
    ".frontier text{font:13px system-ui,sans-serif;fill:var(--ink,#333)}"
    ".frontier .title{font-weight:600}"
    ".frontier .grid{stroke:var(--ink,#333);stroke-opacity:.15}"
    ".frontier .steps{fill:none;stroke:var(--lower,#1f6f8b);stroke-width:2}"
    ".frontier .proved{fill:var(--lower,#1f6f8b)}"
    ".frontier .mark{stroke:var(--upper,#b2560d);stroke-dasharray:4 3}"
    ".frontier .open{fill:var(--paper,#fff);stroke:var(--upper,#b2560d);stroke-width:2}"
)

Step = tuple[float, float, bool]


def step_plot(
    steps: Sequence[Step], across: str, up: str, mark: float | None = None, title: str = ""
) -> str:
    """Draw points and the steps between them.

    Returns an ``<svg>`` element.

    Parameters
    ----------
    steps : sequence of (measure, objective, proved)
        The loosest first. Points without proof are drawn hollow.
    across, up : str
        What the axes are called.
    mark : float, optional
        A bound that is marked by a dashed line.
    title : str
        Above the drawing; cut to its width.
    """
    parts = names_of_axes(across, up) + ([heading(title)] if title else [])
    if steps:
        x = Axis([step[0] for step in steps] + ([] if mark is None else [mark]), LEFT, WIDTH - RIGHT)
        y = Axis([step[1] for step in steps], HEIGHT - BOTTOM, TOP)
        parts += grid(x, y)
        if mark is not None:
            parts.append(
                f'<line class="mark" x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}">'
                f"<title>{escape(across)} {rounded_text(mark)}, as asked</title></line>"
            )
        parts.append(f'<path class="steps" d="{_path(steps, x, y)}"/>')
        parts += [
            f'<circle class="{"proved" if proved else "open"}" cx="{x(value):.1f}" cy="{y(objective):.1f}" r="3">'
            f"<title>{escape(across)} {rounded_text(value)}: {rounded_text(objective)}</title></circle>"
            for value, objective, proved in steps
        ]
    return svg(parts, f"{count_of(len(steps), 'point')}, {up} against {across}")


def names_of_axes(across: str, up: str) -> list[str]:
    """What the axes are called, as elements of the drawing."""
    return [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>',
        f'<text x="16" y="{(TOP + HEIGHT - BOTTOM) / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.0f})">{escape(up)}</text>',
    ]


def heading(title: str) -> str:
    """The title, as an element of the drawing; a tooltip has all of a long one."""
    shown = title if len(title) <= MOST_LETTERS else f"{title[: MOST_LETTERS - 1]}…"
    return (
        f'<text class="title" x="{WIDTH / 2:.0f}" y="20" text-anchor="middle">{escape(shown)}'
        f"<title>{escape(title)}</title></text>"
    )


def objective_words(objective: str) -> str:
    """What the objective is called beside an axis."""
    return {"error": "errors on the training rows", "": "objective"}.get(objective, objective)


def bound_words(is_upper: bool, name: str) -> str:
    """What the bound of a requirement is called beside an axis."""
    return f"{'most' if is_upper else 'least'} {name} allowed"


def grid(x: Axis, y: Axis) -> list[str]:
    """Lines at round numbers, with the numbers."""
    parts = []
    for value in x.ticks():
        at = x(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{rounded_text(value)}</text>'
        )
    for value in y.ticks():
        at = y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{rounded_text(value)}</text>')
    return parts


def svg(parts: Sequence[str], what: str) -> str:
    """The drawing of these elements; ``what`` describes it to those who cannot see it."""
    return (
        f'<svg class="frontier" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(what)}" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{"".join(parts)}</svg>'
    )


class Axis:
    """Values to pixels."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = min(values), max(values)
        pad = 0.05 * (high - low) or max(abs(high), 1.0) * 0.1
        self.low = low if low == 0 else max(0.0, low - pad) if low > 0 else low - pad
        self.high, self.first, self.last = high + pad, first, last
        self.whole = all(float(value).is_integer() for value in values)

    def __call__(self, value: float) -> float:
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        """About five round numbers."""
        raw = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((power * m for m in (1, 2, 5) if power * m >= raw), 10 * power)
        step = max(step, 1.0) if self.whole else step
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(index * step, 12) for index in range(first, last + 1)]


def _path(steps: Sequence[Step], x: Axis, y: Axis) -> str:
    """The best objective at each bound: constant from a point to the next looser one."""
    corners = [(x(steps[0][0]), y(steps[0][1]))]
    for (looser, _, _), (value, objective, _) in pairwise(steps):
        corners += [(x(looser), y(objective)), (x(value), y(objective))]
    return "M" + "L".join(f"{a:.1f},{b:.1f}" for a, b in corners)
