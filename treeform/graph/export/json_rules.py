"""A model as a list of rules for rule engines: plain JSON, one rule for each path to a leaf."""

from __future__ import annotations

from typing import Any

from treeform.errors import SpecError
from treeform.graph.export.program import Branch, Program
from treeform.graph.graph import FlatGraph
from treeform.graph.labeljson import label_to_json

FORMAT = "treeform.rules/1"
MOST_RULES = 20_000


def to_json_rules(graph: FlatGraph) -> dict[str, Any]:
    """See `DecisionGraph.to_json_rules`."""
    program = Program.of(graph)
    rules: list[dict[str, Any]] = []
    waiting: list[tuple[int, list[dict[str, Any]]]] = [(program.root, [])]
    while waiting:
        node, conditions = waiting.pop()
        entry = program.nodes[node]
        if not isinstance(entry, Branch):
            rules.append({"if": conditions, "then": label_to_json(program.labels[entry])})
            if len(rules) > MOST_RULES:
                raise SpecError(
                    f"the model has more than {MOST_RULES} paths",
                    cause="a diagram has a rule for each way to a leaf",
                    fix="export it to Python, C or JavaScript",
                )
            continue
        asked = entry.condition.to_json()
        waiting += [
            (entry.no, [*conditions, {**asked, "holds": False}]),
            (entry.yes, [*conditions, {**asked, "holds": True}]),
        ]
    return {"format": FORMAT, "never_missing": list(program.refusing), "rules": rules}
