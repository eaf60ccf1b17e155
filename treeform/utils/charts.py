"""Charts as self-contained SVG elements: axes, grids, stairs, dots and texts, in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from treeform.utils.text import rounded_text

MOST_LETTERS = 84
"""Of a title."""
STYLE = (
    ".chart text{font:13px system-ui,sans-serif;fill:var(--ink,#333)}"
    ".chart .title{font-weight:600}"
    ".chart .grid{stroke:var(--ink,#333);stroke-opacity:.15}"
    ".chart .steps{fill:none;stroke:var(--lower,#1f6f8b);stroke-width:2}"
    ".chart .proved{fill:var(--lower,#1f6f8b)}"
    ".chart .mark{stroke:var(--upper,#b2560d);stroke-dasharray:4 3}"
    ".chart .open{fill:var(--paper,#fff);stroke:var(--upper,#b2560d);stroke-width:2}"
    ".chart .upper{fill:none;stroke:var(--upper,#b2560d);stroke-width:2.5}"
    ".chart .lower{fill:none;stroke:var(--lower,#1f6f8b);stroke-width:2.5}"
    ".chart .gap{fill:var(--ink,#333);fill-opacity:.07;stroke:none}"
    ".chart text.upper{fill:var(--upper,#b2560d);stroke:none;font-weight:600}"
    ".chart text.lower{fill:var(--lower,#1f6f8b);stroke:none;font-weight:600}"
    ".chart .range{stroke:var(--lower,#1f6f8b);stroke-width:8;stroke-linecap:round;stroke-opacity:.55}"
    ".chart .best{fill:var(--upper,#b2560d)}"
)

Point = tuple[float, float]


class Axis:
    """Values to pixels, with a little room at the ends."""

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
        return round_numbers(self.low, self.high, 1.0 if self.whole else 0.0)


def round_numbers(low: float, high: float, apart: float = 0.0) -> list[float]:
    """About five of them within a range, at least so far from each other."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = max(apart, next((power * m for m in (1, 2, 5) if power * m >= raw), 10 * power))
    return [round(index * step, 12) for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def stairs(points: Sequence[Point], rise_first: bool = False) -> list[Point]:
    """The corners of stairs through points, in pixels: between two of them across and then up, or up first."""
    corners = [points[0]]
    for x, y in points[1:]:
        before = corners[-1]
        corners += [(before[0], y) if rise_first else (x, before[1]), (x, y)]
    return corners


class Chart:
    """A drawing that is put together piece by piece; all positions are pixels.

    ``kind`` is the class of the element. The margins (left, right, top, bottom) are around the field that the axes
    span.
    """

    def __init__(
        self, kind: str, width: float, height: float, margins: tuple[float, float, float, float]
    ) -> None:
        self.kind, self.width, self.height = kind, width, height
        self.left, self.top = margins[0], margins[2]
        self.right, self.bottom = width - margins[1], height - margins[3]
        self.parts: list[str] = []

    def text(self, x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> None:
        """A text; ``more`` are attributes of the element."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>')

    def title(self, words: str) -> None:
        """Above the field, cut to its width; a tooltip has all of a long one."""
        short = words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…"
        self.parts.append(
            f'<text class="title" x="{self.width / 2:.1f}" y="20" text-anchor="middle">{escape(short)}'
            f"<title>{escape(words)}</title></text>"
        )

    def names(self, across: str, up: str = "") -> None:
        """What the axes are called."""
        self.text((self.left + self.right) / 2, self.height - 12, across)
        if up:
            middle = (self.top + self.bottom) / 2
            self.text(16, middle, up, more=f' transform="rotate(-90 16 {middle:.1f})"')

    def line(self, kind: str, start: Point, end: Point, tip: str = "") -> None:
        """A line, with a tooltip if there is one."""
        (a, b), (c, d) = start, end
        self.parts.append(
            f'<line class="{kind}" x1="{a:.1f}" x2="{c:.1f}" y1="{b:.1f}" y2="{d:.1f}">{_tip(tip)}</line>'
        )

    def grid_across(self, at: dict[float, str]) -> None:
        """Lines from bottom to top, each with its text below."""
        for x, words in at.items():
            self.line("grid", (x, self.top), (x, self.bottom))
            self.text(x, self.bottom + 18, words)

    def grid(self, x: Axis, y: Axis) -> None:
        """Lines at round numbers of both axes, with the numbers."""
        self.grid_across({x(value): rounded_text(value) for value in x.ticks()})
        self.grid_up(y)

    def grid_up(self, y: Axis) -> None:
        """Lines at round numbers from left to right, with the numbers."""
        for value in y.ticks():
            self.line("grid", (self.left, y(value)), (self.right, y(value)))
            self.text(self.left - 8, y(value) + 4, rounded_text(value), "end")

    def path(self, kind: str, corners: Sequence[Point], closed: bool = False) -> None:
        """Straight lines from corner to corner."""
        way = "L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self.parts.append(f'<path class="{kind}" d="M{way}{"Z" if closed else ""}"/>')

    def dot(self, kind: str, x: float, y: float, radius: float, tip: str = "") -> None:
        """A circle, with a tooltip if there is one."""
        self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">{_tip(tip)}</circle>')

    def svg(self, what: str) -> str:
        """The element; ``what`` describes it to those who cannot see it."""
        return (
            f'<svg class="{self.kind}" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(what)}" xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>'
            f'<g class="chart">{"".join(self.parts)}</g></svg>'
        )


def bare(svg: str) -> str:
    """A chart without a style sheet of its own, for a page that has `STYLE`."""
    return svg.replace(f"<style>{STYLE}</style>", "")


def _tip(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""
