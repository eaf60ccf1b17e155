"""The drawing of a study: errors against the size of the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeform.tradeoff.plots import field
from treeform.utils.charts import Axis, stairs

STYLE = (
    ".matrix td.chosen{outline:3px solid var(--lower,#1f6f8b);outline-offset:-3px}"
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

    @property
    def tip(self) -> str:
        """Its settings and means."""
        spread = f" ± {self.spread:.2f}" if self.spread else ""
        proved = "" if self.proved else ", not all proved"
        return f"{self.label}: {self.error:.2f}{spread}, {self.tests:.3g} tests{proved}"


def size_plot(means: Sequence[Mean], up: str) -> str:
    """An ``<svg>`` element with the mean error (``up``) against the mean number of tests, standard errors, and the
    front.
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
        chart.dot("proved" if m.proved else "open", at, y(m.error), 3, m.tip)
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
