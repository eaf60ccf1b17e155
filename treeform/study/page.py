"""The report of a study as one self-contained HTML page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any, Protocol

import pandas as pd

from treeform import __version__
from treeform.report.page import environment, page_style, policy, when
from treeform.tradeoff.plots import field
from treeform.utils.charts import Axis, bare, stairs

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


MOST_MAPS = 24
"""Heat maps of a page; more settings than two make one for each combination of the others."""


class Runs(Protocol):
    """What the page reads of a `Study`."""

    @property
    def table(self) -> pd.DataFrame: ...
    @property
    def settings(self) -> tuple[str, ...]: ...
    @property
    def total(self) -> int: ...
    @property
    def shares(self) -> bool: ...
    @property
    def score(self) -> str: ...
    def summary(self) -> pd.DataFrame: ...
    def best(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class HeatMap:
    """Mean errors by two settings, all others fixed."""

    title: str
    """The values of the other settings."""
    down: str
    across: str
    columns: Sequence[str]
    """The values of the setting ``across``."""
    rows: Sequence[tuple[str, Sequence[Mean | None]]]
    """For each value of the setting ``down``, the means; None where no run has a model."""


def render_study(study: Runs, created: datetime | None = None) -> str:
    """The page of a study: the choice, heat maps, errors against size, all means, and what failed.

    It states the time ``created``, by default that of the call.
    """
    means = means_of(study)
    failed = study.table[study.table["status"] == "error"]
    style = page_style() + STYLE
    held_out = study.score == "test_error"
    loss = "error" if study.shares else "loss"
    up = f"held-out {loss}" if held_out else f"{loss} on the rows learnt from"
    plot = size_plot(list(means.values()), up + (", %" if study.shares else "")) if means else None
    page: str = (
        environment()
        .get_template("study.html.j2")
        .render(
            study=study,
            score=up,
            held_out=held_out,
            best=study.best() if means and study.settings else {},
            chosen=next((m for m in means.values() if m.chosen), None),
            least=min(means.values(), key=lambda m: m.error, default=None),
            proved=int(study.table["status"].isin(["optimal", "infeasible"]).sum()),
            maps=heat_maps(study, means),
            shade=_shade([mean.error for mean in means.values()]),
            plot=None if plot is None else bare(plot),
            scale=100.0 if study.shares else 1.0,
            means=study.summary().to_dict("records"),
            columns=list(study.settings),
            failed=failed[["run", "message"]].to_dict("records"),
            number=_number,
            percent=" %" if study.shares else "",
            version=__version__,
            created=when(created),
            style=style,
            policy=policy(style, ""),
        )
    )
    return page


def means_of(study: Runs) -> dict[tuple[str, ...], Mean]:
    """The means of each combination of settings that has a model, by the texts of its values."""
    if not study.settings:
        return {}
    summary = study.summary()
    known = summary[summary[study.score].notna()]
    if known.empty:
        return {}
    best = study.best()
    means = {}
    scale = 100.0 if study.shares else 1.0
    for row in known.to_dict("records"):
        values = tuple(str(row[name]) for name in study.settings)
        spread = float(row["standard_error"])
        means[values] = Mean(
            label=", ".join(f"{name} {value}" for name, value in zip(study.settings, values, strict=True)),
            error=scale * float(row[study.score]),
            tests=float(row["tests"]),
            spread=0.0 if math.isnan(spread) else scale * spread,
            proved=row["proved"] == 1,
            chosen=values == tuple(str(best[name]) for name in study.settings),
        )
    return means


def heat_maps(study: Runs, means: dict[tuple[str, ...], Mean]) -> list[HeatMap]:
    """One heat map of the two settings with most values for each combination of the others."""
    values = {name: _values(study, name) for name in study.settings}
    varied = sorted((name for name in values if len(values[name]) > 1), key=lambda name: -len(values[name]))
    if not means or not varied:
        return []
    across = varied[0]
    down = varied[1] if len(varied) > 1 else next((name for name in study.settings if name != across), None)
    others = [name for name in study.settings if name not in (across, down)]
    maps = []
    for fixed in product(*(values[name] for name in others)):
        held = dict(zip(others, fixed, strict=True))

        def cell(one: str, other: str, held: dict[str, str] = held) -> Mean | None:
            at = held | {across: one} | ({} if down is None else {down: other})
            return means.get(tuple(at[name] for name in study.settings))

        rows = [
            (other, [cell(one, other) for one in values[across]])
            for other in ([""] if down is None else values[down])
        ]
        if any(mean is not None for _, row in rows for mean in row):
            title = ", ".join(f"{name} {held[name]}" for name in others if len(values[name]) > 1)
            maps.append(HeatMap(title, down or "", across, values[across], rows))
    return maps[:MOST_MAPS]


def _shade(errors: Sequence[float]) -> Callable[[Mean], int]:
    """Shade of a cell, 0 to 10: the least error is the lightest."""
    low, high = min(errors, default=0.0), max(errors, default=0.0)
    return lambda mean: round(10 * (mean.error - low) / ((high - low) or 1.0))


def _values(study: Runs, name: str) -> Sequence[str]:
    return list(dict.fromkeys(map(str, study.table[name])))


def _number(value: Any, scale: float | None = None) -> str:
    """A figure of the page: errors with this scale to two decimals, others to three digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.3g}" if scale is None else f"{scale * value:.2f}"
