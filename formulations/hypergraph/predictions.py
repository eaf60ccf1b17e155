"""What each point is predicted, read off the leaves of the graph that it reaches."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from treeform.formulations.hypergraph.flow import Choice
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Model


class LeafPredictions(Component):
    """The predictions: a point is predicted the label of the one leaf in use that it reaches.

    Publishes ``predicted`` and, where they are read, ``leaf`` and ``label``: a leaf is a node of the graph that may
    be one.
    """

    needs = frozenset[str]()
    offers = frozenset({"predicted", "leaf", "label"})

    def build(self, model: Model, ports: Ports) -> None:
        choice = ports.shared.get(Choice)
        graph, leaves = choice.graph, choice.graph.leaves
        points, classes, index = ports.points.n_points, ports.n_classes, ports.points.index
        if "predicted" in ports.wanted or "correct" in ports.wanted:
            which, point = np.nonzero(graph.covers[graph.node[leaves]])
            entry = point * classes + graph.label[leaves[which]]
            sums = _sums(entry, leaves[which], (points * classes, graph.n_alternatives))
            # predicted_ik = sum of x_a over the leaves a of label k that point i reaches
            ports.publish("predicted", (sums @ choice.x).reshape(points, classes)[index])
        if not {"leaf", "label"} & ports.wanted:
            return
        ends, of_leaf = np.unique(graph.node[leaves], return_inverse=True)
        if "label" in ports.wanted:
            entry = of_leaf * classes + graph.label[leaves]
            sums = _sums(entry, leaves, (len(ends) * classes, graph.n_alternatives))
            ports.publish("label", (sums @ choice.x).reshape(len(ends), classes))
        if "leaf" in ports.wanted:
            which, point = np.nonzero(graph.covers[graph.node[leaves]])
            entry = point * len(ends) + of_leaf[which]
            sums = _sums(entry, leaves[which], (points * len(ends), graph.n_alternatives))
            ports.publish("leaf", (sums @ choice.x).reshape(points, len(ends))[index])


def _sums(entry: np.ndarray, alternative: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix that adds up alternatives by entry."""
    return sparse.csr_array((np.ones(len(entry)), (entry, alternative)), shape=shape)
