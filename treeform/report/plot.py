"""The search trace as a self-contained SVG: incumbent and bound over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from treeform.solve import SolveResult
from treeform.solve.result import Number
from treeform.utils.text import rounded_text

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 148, 16, 48

Point = tuple[float, float]


def trace_svg(trace: Sequence[tuple[float, Number | None, Number | None]], seconds: float) -> str | None:
    """Draw the trace of a search.

    Returns an ``<svg>`` element; None when there is nothing to draw. Colours come from the CSS variables ``--upper``,
    ``--lower`` and ``--ink``, with fallbacks.

    Parameters
    ----------
    trace : sequence of (seconds, upper, lower)
        Every improvement, in order.
    seconds : float
        When the search ended.
    """
    upper = [(t, float(u)) for t, u, _ in trace if u is not None and math.isfinite(u)]
    lower = [(t, float(v)) for t, _, v in trace if v is not None and math.isfinite(v)]
    if not upper and not lower:
        return None
    scale = _Scale([t for t, _ in upper + lower], [v for _, v in upper + lower], seconds)
    parts = [*scale.grid(), *_titles()]
    if upper and lower:
        parts.append(f'<path class="gap" d="{_area(scale, upper, lower)}"/>')
    for name, series in (("lower", lower), ("upper", upper)):
        if series:
            parts.append(f'<path class="{name}" d="{_steps(scale, series)}"/>')
    parts += _labels(scale, upper, lower)
    what = f"incumbent {_text(upper)}, bound {_text(lower)} after {seconds:.1f} seconds"
    return (
        f'<svg class="trace" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(what)}" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{"".join(parts)}</svg>'
    )


STYLE = (
    ".trace text{font:13px system-ui,sans-serif;fill:var(--ink,#333)}"
    ".trace .grid{stroke:var(--ink,#333);stroke-opacity:.15}"
    ".trace .upper{fill:none;stroke:var(--upper,#b2560d);stroke-width:2.5}"
    ".trace .lower{fill:none;stroke:var(--lower,#1f6f8b);stroke-width:2.5}"
    ".trace .gap{fill:var(--ink,#333);fill-opacity:.07;stroke:none}"
    ".trace text.upper{fill:var(--upper,#b2560d);stroke:none;font-weight:600}"
    ".trace text.lower{fill:var(--lower,#1f6f8b);stroke:none;font-weight:600}"
)


def _titles() -> list[str]:
    """What the axes are."""
    foot, middle = HEIGHT - 6, (TOP + HEIGHT - BOTTOM) / 2
    return [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{foot}" text-anchor="middle">time</text>',
        f'<text x="14" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 14 {middle:.0f})">objective</text>',
    ]


class _Scale:
    """Seconds and values to pixels; time is logarithmic when it spans more than a decade."""

    def __init__(self, times: list[float], values: list[float], seconds: float) -> None:
        self.end = max([seconds, *times, 1e-3])
        first = min((t for t in times if t > 0), default=self.end)
        self.start = max(first, self.end / 1e4)
        self.log = self.end / self.start > 10
        low, high = min(values), max(values)
        pad = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
        self.low = low if low == 0 else low - pad
        self.high = high + pad

    def x(self, t: float) -> float:
        if self.log:
            share = math.log(max(t, self.start) / self.start) / math.log(self.end / self.start)
        else:
            share = t / self.end
        return LEFT + min(1.0, share) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    def grid(self) -> list[str]:
        """Lines and labels of both axes."""
        parts = []
        right = WIDTH - RIGHT
        for value in _nice(self.low, self.high):
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rounded_text(value)}</text>'
            )
        for t in self._times():
            x = self.x(t)
            foot = HEIGHT - BOTTOM
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{foot}"/>')
            parts.append(f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle">{t:g} s</text>')
        return parts

    def _times(self) -> list[float]:
        if not self.log:
            return _nice(0, self.end)
        low, high = math.ceil(math.log10(self.start)), math.floor(math.log10(self.end))
        return [10.0**power for power in range(low, high + 1)]


def _nice(low: float, high: float, count: int = 5) -> list[float]:
    """About ``count`` round numbers within the range."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    first = math.ceil(low / step)
    last = math.floor(high / step)
    return [round(index * step, 12) for index in range(first, last + 1)]


def _corners(scale: _Scale, series: Sequence[Point]) -> list[Point]:
    """The stairs of a series: a value holds until the next one."""
    corners: list[Point] = []
    for t, value in series:
        if corners:
            corners.append((scale.x(t), corners[-1][1]))
        corners.append((scale.x(t), scale.y(value)))
    corners.append((scale.x(scale.end), corners[-1][1]))
    return corners


def _steps(scale: _Scale, series: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in _corners(scale, series))


def _area(scale: _Scale, upper: Sequence[Point], lower: Sequence[Point]) -> str:
    """The region between incumbent and bound, from when both are known."""
    start = max(upper[0][0], lower[0][0])

    def since(series: Sequence[Point]) -> list[Point]:
        before = [value for t, value in series if t <= start]
        return [(start, before[-1]), *[(t, v) for t, v in series if t > start]]

    there, back = _corners(scale, since(upper)), _corners(scale, since(lower))[::-1]
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in there + back) + "Z"


def _labels(scale: _Scale, upper: Sequence[Point], lower: Sequence[Point]) -> list[str]:
    x = WIDTH - RIGHT + 8
    if upper and lower and upper[-1][1] == lower[-1][1]:
        return [
            f'<text class="upper" x="{x}" y="{scale.y(upper[-1][1]) + 4:.1f}">optimal {_text(upper)}</text>'
        ]
    labels = []
    shift = 0.0
    if upper and lower:
        shift = max(0.0, 16 - (scale.y(lower[-1][1]) - scale.y(upper[-1][1]))) / 2
    for name, word, series, sign in (("upper", "incumbent", upper, -1), ("lower", "bound", lower, 1)):
        if series:
            y = scale.y(series[-1][1]) + 4 + sign * shift
            labels.append(f'<text class="{name}" x="{x}" y="{y:.1f}">{word} {_text(series)}</text>')
    return labels


def _text(series: Sequence[Point]) -> str:
    return rounded_text(series[-1][1]) if series else "unknown"


def plot_trace(result: SolveResult) -> str | None:
    """The trace of a result as SVG; None when it has none."""
    return trace_svg(result.trace, result.seconds)
