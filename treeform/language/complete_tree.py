"""Formulations of complete trees: what follows from the ports ``feature``, ``leaf`` and ``label``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.component import Component, Sum
from treeform.language.formulation import Formulation
from treeform.language.ports import Ports
from treeform.model import Model


class LabelOfLeaf(Component):
    """Each row is predicted the label of its leaf.

    z_il + w_lk - 1 <= p_ik, where p_ik says that row i is predicted class k, z_il that it ends in leaf l, and w_lk that
    leaf l has label k.
    """

    needs = frozenset({"leaf", "label"})
    offers = frozenset({"predicted"})

    def build(self, model: Model, ports: Ports) -> None:
        leaf, label = ports.leaf, ports.label
        predicted = model.bool("predicted", (ports.n_samples, ports.n_classes))
        model.add(predicted.sum(axis=1) == 1, "one class for each row")
        for end in range(label.shape[0]):
            for k in range(ports.n_classes):
                model.add(predicted[:, k] >= leaf[:, end] + label[end, k] - 1, "the label of the leaf")
        ports.publish("predicted", predicted)


class CompleteTree(Formulation):
    """A formulation in which each node of a complete tree has a test.

    A subclass names its components in ``parts``. They publish three ports: ``feature`` of nodes level by level, where
    the children of node v are 2v + 1 and 2v + 2; ``leaf`` and ``label`` of leaves from left to right. Rows whose value
    is at most a node's threshold are in leaves on its left. The model is read from these ports, and `LabelOfLeaf`
    states what rows are predicted.

    Parameters
    ----------
    components : Sum or iterable of Component, optional
        In place of the parts and `LabelOfLeaf`.
    """

    parts: ClassVar[tuple[type[Component], ...]] = ()
    trees_only: ClassVar[bool] = True

    def __init__(self, components: Sum | Iterable[Component] | None = None) -> None:
        super().__init__([kind() for kind in (*self.parts, LabelOfLeaf)] if components is None else components)

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        """The tree of a point: at each node its column, and a threshold that parts its rows as the leaves do."""
        data, ports = compiled.data, compiled.ports
        column, leaf, label = (port.value(x).argmax(axis=1) for port in (ports.feature, ports.leaf, ports.label))
        depth = compiled.shape.depth
        nodes: list[dict[str, Any]] = []
        for v, f in enumerate(column):
            level = (v + 1).bit_length() - 1
            first = (v + 1 - 2**level) << (depth - level)  # of the leaves below the node
            middle = first + (1 << (depth - level - 1))
            right = data.X[(leaf >= middle) & (leaf < 2 * middle - first), f]
            cuts = data.ranks.thresholds(int(f))
            below = cuts if right.size == 0 else cuts[cuts < right.min()]
            nodes.append({"feature": int(f), "threshold": float(below[-1]), "left": 2 * v + 1, "right": 2 * v + 2})
        return DecisionGraph.build([*nodes, *({"label": int(k)} for k in label)], data)
