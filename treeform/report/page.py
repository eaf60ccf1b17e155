"""The report as one self-contained HTML page: no scripts, no fonts, nothing is loaded from elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from treeform.report.facts import Facts


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("treeform.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


def render_html(facts: Facts, created: datetime | None = None) -> str:
    """Render a report page.

    Parameters
    ----------
    facts : Facts
        From `treeform.report.facts.of_result` or `of_model`.
    created : datetime, optional
        The time to state; now when left out.

    Returns
    -------
    str
        A page that any browser shows without a network; all text of the data is escaped.
    """
    when = (created or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC")
    largest = max((max(row) for row in facts.confusion), default=0) or 1
    # The two drawings are generated markup with escaped texts; everything else is escaped by the template.
    return str(_template().render(facts=facts, created=when, largest=largest))
