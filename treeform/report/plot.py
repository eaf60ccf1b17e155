"""The search trace as a self-contained SVG: incumbent and bound over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treeform.solve import SolveResult
from treeform.solve.result import Number
from treeform.utils.charts import Axis, Chart, Point, round_numbers, stairs
from treeform.utils.text import rounded_text


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
    chart = Chart("trace", 720, 300, (76, 148, 16, 48))
    clock = _Clock([t for t, _ in upper + lower], seconds, chart)
    y = Axis([value for _, value in upper + lower], chart.bottom, chart.top)
    chart.names("time", "objective")
    chart.grid_across({clock(t): f"{t:g} s" for t in clock.ticks()})
    chart.grid_up(y)

    def held(series: Sequence[Point]) -> list[Point]:
        """A value holds until the next one, and the last one to the end."""
        return stairs([(clock(t), y(v)) for t, v in [*series, (clock.end, series[-1][1])]])

    if upper and lower:  # the region between them, from when both are known
        start = max(upper[0][0], lower[0][0])
        chart.path("gap", held(_since(upper, start)) + held(_since(lower, start))[::-1], closed=True)
    for kind, series in (("lower", lower), ("upper", upper)):
        if series:
            chart.path(kind, held(series))
    _label(chart, y, upper, lower)
    return chart.svg(f"incumbent {_text(upper)}, bound {_text(lower)} after {seconds:.1f} seconds")


class _Clock:
    """Seconds to pixels, logarithmic when they span more than a decade."""

    def __init__(self, times: list[float], seconds: float, chart: Chart) -> None:
        self.end = max([seconds, *times, 1e-3])
        self.start = max(min((t for t in times if t > 0), default=self.end), self.end / 1e4)
        self.log = self.end / self.start > 10
        self.chart = chart

    def __call__(self, t: float) -> float:
        if self.log:
            share = math.log(max(t, self.start) / self.start) / math.log(self.end / self.start)
        else:
            share = t / self.end
        return self.chart.left + min(1.0, share) * (self.chart.right - self.chart.left)

    def ticks(self) -> list[float]:
        """Round numbers of seconds."""
        if not self.log:
            return round_numbers(0, self.end)
        low, high = math.ceil(math.log10(self.start)), math.floor(math.log10(self.end))
        return [10.0**power for power in range(low, high + 1)]


def _since(series: Sequence[Point], start: float) -> list[Point]:
    before = [value for t, value in series if t <= start]
    return [(start, before[-1]), *[(t, v) for t, v in series if t > start]]


def _label(chart: Chart, y: Axis, upper: Sequence[Point], lower: Sequence[Point]) -> None:
    """The last values, beside the field."""
    if upper and lower and upper[-1][1] == lower[-1][1]:
        words = [("upper", f"optimal {_text(upper)}", y(upper[-1][1]))]
    else:
        last = [("upper", "incumbent", upper, -1), ("lower", "bound", lower, 1)]
        apart = 16 - (y(lower[-1][1]) - y(upper[-1][1])) if upper and lower else 0.0
        words = [
            (kind, f"{word} {_text(series)}", y(series[-1][1]) + sign * max(0.0, apart) / 2)
            for kind, word, series, sign in last
            if series
        ]
    for kind, text, at in words:
        chart.text(chart.right + 8, at + 4, text, "start", more=f' class="{kind}"')


def _text(series: Sequence[Point]) -> str:
    return rounded_text(series[-1][1]) if series else "unknown"


def plot_trace(result: SolveResult) -> str | None:
    """The trace of a result as SVG; None when it has none."""
    return trace_svg(result.trace, result.seconds)
