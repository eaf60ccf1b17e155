"""Between points of the compiled model and trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeform.formulations.flow.branching import Design
from treeform.formulations.flow.cuts import Guesses
from treeform.formulations.flow.flows import Flows
from treeform.formulations.flow.heap import Heap
from treeform.formulations.flow.tests import BinaryTests
from treeform.graph import DecisionGraph, normalised
from treeform.language.compiled import Compiled, put
from treeform.utils.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Placed:
    """A tree on the heap."""

    test: Ints
    """(B,) int64: number of the test, -1 where there is none."""
    passes: Bools
    """(B,) bool"""
    label: Ints
    """(N,) int64: class of a node that predicts, else -1."""

    def ends(self, heap: Heap, tests: BinaryTests) -> Ints:
        """(P,) the node at which every point is predicted."""
        at = np.zeros(tests.left.shape[1], dtype=np.int64)
        for node in range(heap.n_branching):  # parents come before their children
            here = at == node
            if self.passes[node]:
                at[here] = heap.left[node]
            elif self.test[node] >= 0:
                at[here] = np.where(tests.left[self.test[node], here], heap.left[node], heap.right[node])
        return at


def decode(compiled: Compiled, x: Floats) -> DecisionGraph:
    """The tree of a point, as it stands."""
    shared = compiled.shared
    heap, design, tests = shared.get(Heap), shared.get(Design), shared.get(BinaryTests)
    b, w = design.b.value(x), design.w.value(x)
    passes, predicts = design.passes.value(x) > 0.5, design.p.value(x) > 0.5
    nodes: dict[Any, dict[str, Any]] = {}
    waiting = [0]
    while waiting:
        n = waiting.pop()
        if predicts[n]:
            nodes[n] = {"label": int(w[n].argmax())}
        elif passes[n]:
            nodes[n] = {"pass": int(heap.left[n])}
            waiting.append(int(heap.left[n]))
        else:
            k, sides = int(b[n].argmax()), {"left": int(heap.left[n]), "right": int(heap.right[n])}
            nodes[n] = {"feature": int(tests.feature[k]), "threshold": float(tests.threshold[k]), **sides}
            waiting += sides.values()
    return DecisionGraph.build(nodes, compiled.data)


def encode(compiled: Compiled, graph: DecisionGraph) -> Floats | None:
    """The point of a tree, nan at columns that other components declare; None when it has no place."""
    data = compiled.data
    asked = compiled.ports.asks_for_tests
    placed = place(compiled, normalised(graph, data, own_leaves=True) if asked else graph.simplified(data))
    if placed is None:
        return None
    shared = compiled.shared
    heap, design, tests = shared.get(Heap), shared.get(Design), shared.get(BinaryTests)
    x = np.full(compiled.model.n_cols, np.nan)
    classes = np.arange(compiled.data.n_classes)
    put(x, design.b, placed.test[:, None] == np.arange(tests.n_tests))
    if design.pass_columns.size:
        put(x, design.pass_columns, placed.passes)
    if design.reads.size:
        reads = tests.of_feature[placed.test] * (placed.test >= 0)[:, None]
        put(x, design.reads, reads[:, tests.several])
    put(x, design.p, placed.label >= 0)
    put(x, design.w, placed.label[:, None] == classes)
    ends = placed.ends(heap, tests)
    predicted = placed.label[ends]
    flows = compiled.shared.find(Flows)
    if flows is not None:
        _put_flows(x, heap, flows, ends, predicted, classes)
    guesses = compiled.shared.find(Guesses)
    if guesses is not None:
        put(x, guesses.g, predicted[:, None] == classes)
    return x


def _put_flows(x: Floats, heap: Heap, flows: Flows, ends: Ints, predicted: Ints, classes: Ints) -> None:
    """Send every point down its path; without those of another class where only the right ones flow."""
    nodes = np.arange(heap.n_nodes)
    end, label = ends[flows.point], predicted[flows.point]
    here = nodes == end[:, None]
    if flows.wanted is None:
        sink = here[:, :, None] & (label[:, None, None] == classes)
    else:
        sink = here = here & (label == flows.wanted)[:, None]
    # A point is at the node where it ends and at all nodes above.
    through = here | ((here.astype(np.int64) @ heap.above.astype(np.int64)) > 0)
    first = heap.n_branching - flows.into.shape[1]
    put(x, flows.into, through[:, first : heap.n_branching])
    put(x, flows.to_sink, sink)


def place(compiled: Compiled, graph: DecisionGraph) -> Placed | None:
    """Find a place for each test of ``graph``, as it stands; None when there are too few, or a test is not on offer."""
    data = compiled.data
    shared = compiled.shared
    heap, design, tests = shared.get(Heap), shared.get(Design), shared.get(BinaryTests)
    if not graph.is_tree:
        return None
    test = np.full(heap.n_branching, -1, dtype=np.int64)
    passes: Bools = np.zeros(heap.n_branching, dtype=np.bool_)
    label: Ints = np.full(heap.n_nodes, -1, dtype=np.int64)
    waiting = [(0, 0)]
    while waiting:
        n, v = waiting.pop()
        if graph.feature[v] < 0:
            label[n] = graph.label[v]
            continue
        if n >= heap.n_branching:
            return None  # too deep
        left, right = int(graph.left[v]), int(graph.right[v])
        if graph.passes[v]:
            if not design.pass_columns.size:
                return None
            passes[n] = True
            waiting.append((2 * n + 1, left))
            continue
        feature = int(graph.feature[v])
        if feature >= data.n_features:
            return None  # a hyperplane
        found = tests.find(data.points.X[:, feature] <= graph.threshold[v], feature)
        if found is None:
            return None
        test[n], swapped = found
        waiting += [(2 * n + 1, right if swapped else left), (2 * n + 2, left if swapped else right)]
    return Placed(test, passes, label)
