"""Thumbnails of the gallery, and its calls in the reference: how each requirement and objective is constructed.

The calls are read from ``every_requirement.py`` and ``every_objective.py`` in ``examples/requirements``, which run
when the documentation is built.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Any

import treeform as tf
from treeform.language.objective import Term

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "requirements"
STATED = {"every_requirement": "problem += {}", "every_objective": "problem.minimize({})"}
"""What becomes of a call in a problem, by example."""


def constructed() -> dict[str, tuple[str, list[str]]]:
    """By class name: the example that constructs it, and its calls."""
    found: dict[str, tuple[str, list[str]]] = {}
    for example in STATED:
        calls = defaultdict(list)
        for node in ast.walk(ast.parse((EXAMPLES / f"{example}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("tf."):
                text = ast.unparse(node).replace("**YES", "positive='yes'")
                calls[ast.unparse(node.func).removeprefix("tf.")].append(text)
        found |= {name: (example, texts) for name, texts in calls.items() if name not in found}
    return found


def add_example(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Append the first call to the text of a requirement or objective that has no example of its own."""
    found = constructed().get(name.removeprefix("treeform."))
    if found is None or not isinstance(obj, type) or not issubclass(obj, tf.Requirement | Term):
        return
    if any(line.startswith(".. rubric:: Example") for line in lines):
        return
    example, calls = found
    code = STATED[example].format(calls[0])
    lines += ["", ".. rubric:: Example", "", ".. code-block:: python", "", f"   {code}", ""]
    lines += [f":doc:`/auto_examples/requirements/{example}` has its optimum on a table.", ""]


def draw_model(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """Draw the first model of an example: its thumbnail, which is not shown on the page."""
    paths = block_vars["image_path_iterator"]
    for value in list(block_vars["example_globals"].values()) if not len(paths) else ():
        graph = getattr(value, "graph", value)
        if isinstance(graph, tf.DecisionGraph):
            Path(next(paths)).with_suffix(".svg").write_text(graph.to_svg(), encoding="utf-8")
            break
    return ""


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", add_example, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "version": "1"}
