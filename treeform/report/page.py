"""The report as one self-contained HTML page: nothing is loaded, and nothing but its own script may run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any

from treeform.graph.svg import PALETTE
from treeform.report.facts import Facts
from treeform.report.fairness import GroupTable
from treeform.report.figures import interval_text, percent
from treeform.utils.charts import STYLE, bare

SCRIPTS = ("explore.js", "decide.js", "ask.js")


@lru_cache(maxsize=1)
def environment() -> Any:
    """The templates; all texts of the data are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=PackageLoader("treeform.report", "templates"),
        autoescape=select_autoescape(["html.j2"], default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"cell": _cell, "breakable": _breakable, "as_link": _as_link, "aligned": _aligned}
    made.globals |= {
        "percent": percent,
        "interval": interval_text,
        "difference": _difference,
        "ratio": _ratio,
        "shade": _shade,
        "colour": lambda code: PALETTE[code % len(PALETTE)],
    }
    return made


def render_html(facts: Facts, created: datetime | None = None) -> str:
    """Render a report page.

    Returns a page that any browser shows without a network; all text of the data is escaped. Its content security
    policy admits this one style sheet and this one script, by their digests. Without a script it shows everything but
    the form and what a click on a node shows.

    Parameters
    ----------
    facts : Facts
        From `treeform.report.facts.of_result` or `of_model`.
    created : datetime, optional
        The time to state; by default that of the call.
    """
    style = page_style()
    script = "\n".join(_text(f"scripts/{name}") for name in SCRIPTS)
    # Drawings are generated markup with escaped texts; everything else is escaped by the template.
    page: str = (
        environment()
        .get_template("report.html.j2")
        .render(
            facts=_plain(facts),
            created=when(created),
            sections=_sections(facts),
            style=style,
            script=script,
            policy=policy(style, script),
            explore=in_script(facts.explore),
            ask=in_script(facts.ask),
        )
    )
    return page


def when(created: datetime | None) -> str:
    """The time of a report, in UTC."""
    return (created or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")


def in_script(value: Any) -> str:
    """JSON that may stand in a script element: no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style sheet and this script only."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def page_style() -> str:
    """The style sheet of every page."""
    return "\n" + _text("templates/report.css") + STYLE + "\n"


@lru_cache(maxsize=8)
def _text(name: str) -> str:
    return files("treeform.report").joinpath(name).read_text(encoding="utf-8")


def _plain(facts: Facts) -> Facts:
    """The drawings without style sheets of their own, which the policy would refuse: the page has them."""
    curves = tuple(replace(curve, svg=bare(curve.svg)) for curve in facts.curves)
    trace = None if facts.trace is None else bare(facts.trace)
    near, nested = facts.alternatives, facts.nested
    if near is not None:
        near = replace(near, svg=bare(near.svg))
    if nested is not None:
        nested = replace(nested, svg=tuple(map(bare, nested.svg)))
    return replace(facts, curves=curves, trace=trace, alternatives=near, nested=nested)


def _sections(facts: Facts) -> list[tuple[str, str]]:
    """Anchors and titles of what the page has."""
    sections = [
        ("guarantee", "What is guaranteed"),
        ("problem", "The problem"),
        ("dictionary", "The columns"),
    ]
    if facts.groups:
        sections.insert(0, ("fairness", "Groups"))
    if facts.residuals:
        sections.insert(0, ("residuals", "Residuals"))
    if facts.requirements:
        sections.insert(0, ("requirements", "Requirements"))
    if facts.nested:
        sections.insert(0, ("nested", "All problems"))
    if facts.svg:
        sections.insert(0, ("rules", "Rules"))
        if facts.ask and facts.explore:
            sections.insert(0, ("ask", "Ask"))
        sections.insert(0, ("model", "The model"))
    return sections


def _difference(table: GroupTable, of: str) -> str:
    spread = table.spread(of)
    return "–" if spread is None else f"{float(spread[0]):.3f}"


def _ratio(table: GroupTable, of: str) -> str:
    spread = table.spread(of)
    return "–" if spread is None or spread[1] is None else f"{float(spread[1]):.3f}"


def _cell(value: object) -> str:
    """A text in one cell of a Markdown table: no line ends, and no bar that would end it."""
    return " ".join(str(value).split()).replace("|", "\\|")


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    """A table in plain text, its columns to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  " + "  ".join(map(str.rjust, row, widths)) for row in cells)


def _shade(count: int, counts: Sequence[Sequence[int]]) -> int:
    """How dark a cell is, 0 to 10."""
    return round(10 * count / (max(map(max, counts)) or 1))


def _breakable(value: object) -> Any:
    """A label that may be broken after its commas and its colon, so that no word of it is."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[,:])", str(value))
    return Markup("<wbr>").join(escape(part) for part in parts)


def _as_link(value: Any) -> str:
    """A JSON file within the page, as the address of a link."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return "data:application/json;base64," + base64.b64encode(text.encode("utf-8")).decode("ascii")
