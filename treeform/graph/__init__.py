"""Graphs: the models that are learnt, their exact evaluation, and how they are shown and stored."""

from __future__ import annotations

from treeform.graph import evaluate
from treeform.graph.decision import DecisionGraph
from treeform.graph.forms import LinearForm
from treeform.graph.nodetest import NodeTest
from treeform.graph.rewrite import normalised

__all__ = ["DecisionGraph", "LinearForm", "NodeTest", "evaluate", "normalised"]
