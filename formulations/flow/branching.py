"""Branching: which node tests what, which node predicts what, and the normal form of its tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.formulations.flow.heap import Heap
from treeform.formulations.flow.tests import BinaryTests
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared, by_column
from treeform.model import Expr, Model, concatenate, constant


@dataclass(frozen=True)
class Design(Shared, publisher="Branching"):
    """The design variables."""

    b: Expr
    """(B, T): node n branches on binary feature f."""
    passes: Expr
    """(B,): node n is a pass-through: all samples leave it to the left. Zeros where no requirement asks for tests."""
    pass_columns: Expr
    """(B,) or (0,): the columns among ``passes``."""
    p: Expr
    """(N,): node n predicts."""
    w: Expr
    """(N, K): node n predicts class k."""
    reads: Expr
    """(B, F'): node n reads feature f, where that is stated: of the features with several tests."""

    @property
    def active(self) -> Expr:
        """(B,) whether node n is used as a test or as a pass-through."""
        return self.b.sum(axis=1) + self.passes


class Branching(Component):
    """Each node branches on one binary feature, predicts a class, or is below a node that predicts.

    Parameters
    ----------
    passes : bool, default False
        Whether any node may be a pass-through. The paper has none; they matter only where a requirement asks for tests.

    Notes
    -----
    The binary features are the distinct tests of the data: the paper's own on columns of zeros and ones, and all
    thresholds on others. Publishes ``active`` and ``feature`` over the nodes B that may branch, ``label`` over all
    nodes, each of which may be a leaf, and ``arc`` between them.
    """

    offers = frozenset({"active", "feature", "label", "arc"})

    def __init__(self, passes: bool = False) -> None:
        self.passes = passes

    def build(self, model: Model, ports: Ports) -> None:
        heap = ports.shared.publish(Heap(ports.shape.depth))
        tests = BinaryTests.of(ports)
        ports.shared.publish(tests)
        inner = heap.n_branching
        b = model.bool("b", (inner, tests.n_tests))
        # A pass-through has an empty side, which gets no support.
        free = self.passes and ports.limits.min_support == 0
        columns = model.bool("pass", inner if free else 0)
        passes = columns if free else constant(np.zeros(inner))
        p = model.bool("p", heap.n_nodes)
        w = model.bool("w", (heap.n_nodes, ports.n_classes))
        reads = model.bool("reads", (inner, len(tests.several) if "feature" in ports.wanted else 0))
        design = ports.shared.publish(Design(b, passes, columns, p, w, reads))
        # sum_f b_nf + p_n + sum_{m in A(n)} p_m = 1 for n in B;  p_n + sum_{m in A(n)} p_m = 1 for n in T.
        # The right subtree of a pass-through is not there: it counts as below a node that predicts.
        ended = p + heap.above.astype(float) @ p + heap.right_of.astype(float) @ passes
        model.add(
            design.active + ended[:inner] == 1, "a node branches, predicts, or is below a node that predicts"
        )
        model.add(ended[inner:] == 1, "a node of the last level predicts, or is below a node that predicts")
        # sum_k w_nk = p_n
        model.add(w.sum(axis=1) == p, "one class at a node that predicts")
        ports.publish("active", design.active)
        ports.publish("label", w)
        if "feature" in ports.wanted:
            # readers may take an entry as a literal, so a sum over several tests has a column of its own
            model.add(
                reads == (b @ tests.of_feature)[:, tests.several], "a node reads the feature of its test"
            )
            read = np.concatenate([tests.feature, tests.several])
            ports.publish("feature", by_column(concatenate([b, reads], axis=1), read, ports.n_features))
        if "arc" in ports.wanted:
            ports.publish("arc", _arcs(heap, design))


def _arcs(heap: Heap, design: Design) -> Expr:
    """The port `arc` (B, 2, B + N): to a child that is used, or to the leaf at a child."""
    entries = concatenate([design.active, design.p, np.zeros(1)])
    index = np.full((heap.n_branching, 2, heap.n_branching + heap.n_nodes), entries.size - 1)
    node = np.arange(heap.n_branching)
    for side, child in enumerate((heap.left, heap.right)):
        index[node, side, heap.n_branching + child] = heap.n_branching + child
        inner = child < heap.n_branching
        index[node[inner], side, child[inner]] = child[inner]
    return entries[index]


class NormalForm(Component):
    """Each test has samples on both sides, and each pass-through has samples.

    Notes
    -----
    Only where a requirement asks for tests: it could be satisfied by tests that part nothing otherwise.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"branch"})

    def build(self, model: Model, ports: Ports) -> None:
        design = ports.shared.get(Design)
        # sum_i z_i,n,l(n) >= a_n,   sum_i z_i,n,r(n) >= a_n - pass_n, where a_n = 1 at nodes in use
        used = ports.branch.sum(axis=0)
        model.add(used[:, 0] >= design.active, "a used node has samples on its left")
        model.add(used[:, 1] >= design.active - design.passes, "a test has samples on its right")
