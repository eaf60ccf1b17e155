"""Graphs as Graphviz source; `to_svg` draws without Graphviz."""

from __future__ import annotations

from treeform.graph.graph import FlatGraph
from treeform.graph.rules import branches, class_text, counts_known, question_text, support_text
from treeform.graph.structure import levels


def to_dot(graph: FlatGraph) -> str:
    """See `DecisionGraph.to_dot`."""
    known = counts_known(graph)
    reached = levels(graph.feature, graph.left, graph.right) >= 0
    lines = ["digraph model {", '  node [shape=box, fontname="Helvetica"];', '  edge [fontname="Helvetica"];']
    for node in range(len(graph.feature)):
        if not reached[node]:
            continue
        support = f"\n{support_text(graph, node)}" if known else ""
        if graph.feature[node] < 0:
            lines.append(f'  n{node} [label="{_quoted(class_text(graph, node) + support)}", style=rounded];')
            continue
        lines.append(f'  n{node} [label="{_quoted(question_text(graph, node) + support)}"];')
        lines += [f'  n{node} -> n{child} [label="{arc}"];' for arc, child in branches(graph, node)]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", "\\n")
