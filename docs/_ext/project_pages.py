"""Directives that show what stands elsewhere in the repository: the change log, and the README's table of figures."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

ROOT = Path(__file__).resolve().parents[2]
# Last, so that the treeform that is installed is the one that is imported.
sys.path.append(str(ROOT))


def as_rst(markdown: str) -> str:
    """The little Markdown of a change log as reStructuredText: headings, lists, code, and links."""
    lines = []
    for line in markdown.splitlines():
        heading = re.fullmatch(r"(#+) (.*)", line)
        if heading:
            lines += ["", heading[2], "=-~^"[len(heading[1]) - 1] * len(heading[2]), ""]
        else:
            lines.append(_inline(line))
    return "\n".join(lines)


def _inline(line: str) -> str:
    """Code between double backticks, links with their address; a bare ``*`` or ``_`` outside of code is no markup."""
    parts = re.split(r"(`[^`]+`|\[[^\]]+\]\([^)]+\))", line)
    for index, part in enumerate(parts):
        link = re.fullmatch(r"\[([^\]]+)\]\(([^)]+)\)", part)
        if link:
            parts[index] = f"`{link[1]} <{link[2]}>`__"
        elif part.startswith("`"):
            parts[index] = f"`{part}`\\ " if parts[index + 1][:1].isalnum() else f"`{part}`"
        else:
            parts[index] = re.sub(r"([*_|\\])", r"\\\1", part)
    return "".join(parts)


class Markdown(Directive):
    """``.. markdown:: CHANGELOG.md``: that file of the repository, below the page's own title."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = ROOT / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        text = re.sub(r"\A# .*\n|(?m:^<!--.*-->\n)", "", path.read_text(encoding="utf-8"))
        section = nodes.section(document=self.state.document)
        lines = StringList(as_rst(text).splitlines(), source=str(path))
        self.state.nested_parse(lines, 0, section, match_titles=True)
        return section.children


class ReadmeFigures(Directive):
    """The table of speeds in README.md, made from the figures in ``docs/benchmarks``."""

    def run(self) -> list[nodes.Node]:
        from benchmarks.project import readme

        head, *rows = readme.rows()
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
        for row in [head, *rows]:
            lines += [f"   {'* -' if index == 0 else '  -'} {cell}" for index, cell in enumerate(row)]
        container = nodes.container()
        self.state.nested_parse(StringList([*lines, ""], source="README.md"), 0, container)
        return container.children


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("markdown", Markdown)
    app.add_directive("readme-figures", ReadmeFigures)
    return {"parallel_read_safe": True, "version": "1"}
