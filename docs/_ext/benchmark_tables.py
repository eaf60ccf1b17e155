"""``.. benchmark-table:: NAME``: a table made from the figures in ``docs/benchmarks``, as ``benchmarks/`` states it.

Machine, date and the command that makes the figures again stand below every table. With the option ``:when-measured:``
there is nothing where the file of figures is missing.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

# Last, so that the treeform that is installed is the one that is imported.
sys.path.append(str(Path(__file__).resolve().parents[2]))


class BenchmarkTable(Directive):
    """The table of that name, where it stands, with its note."""

    required_arguments = 1
    option_spec: ClassVar = {"when-measured": directives.flag}

    def run(self) -> list[nodes.Node]:
        from benchmarks.harness.figures import exists, packed
        from benchmarks.harness.tables import DOCS, all_tables

        tables = all_tables()
        if self.arguments[0] not in tables:
            raise self.error(f"no table {self.arguments[0]!r}; there are {', '.join(sorted(tables))}")
        table = tables[self.arguments[0]]
        source = DOCS / f"{table.source}.csv"
        self.state.document.settings.record_dependencies.add(
            str(source if source.exists() else packed(source))
        )
        if "when-measured" in self.options and not exists(source):
            return []
        shown, facts = table.shown()
        body = io.StringIO()
        csv.writer(body, lineterminator="\n").writerows(
            [shown.frame.columns, *shown.frame.itertuples(index=False)]
        )
        lines = [f".. csv-table:: {shown.title}", "   :header-rows: 1", ""]
        lines += [f"   {row}" for row in body.getvalue().splitlines()]
        commits = f", treeform at {facts['commits']}" if facts["commits"] else ""
        origin = f"``{facts['command']}``, {facts['machine']}, {facts['date']}{commits}."
        lines += ["", origin, "", *shown.note.splitlines(), ""]
        container = nodes.container()
        text = StringList(lines, source=f"benchmark-table {table.name}")
        self.state.nested_parse(text, self.content_offset, container)
        return list(container.children)


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("benchmark-table", BenchmarkTable)
    return {"parallel_read_safe": True, "version": "1"}
