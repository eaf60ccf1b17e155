"""Drawings on matplotlib's axes."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.errors import SpecError


@pytest.mark.parametrize("shape", ["tree:3", "diagram:1,2,2"])
def test_every_node_and_arc_is_drawn_within_the_axes(shape):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (60, 3)), rng.integers(0, 3, 60)
    graph = tf.Problem(X, y, shape=shape).solve().graph
    figure, ax = pyplot.subplots()
    assert graph.plot(ax=ax) is ax
    assert len(ax.patches) == graph.n_nodes + graph.n_leaves
    tests = graph.feature >= 0
    assert len(ax.lines) == 2 * int((tests & ~graph.passes).sum()) + int(graph.passes.sum())
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for patch in ax.patches:
        box = patch.get_bbox()
        assert left <= box.x0 < box.x1 <= right
        assert top <= box.y0 < box.y1 <= bottom
    figure.canvas.draw()
    pyplot.close(figure)


def test_other_things_are_refused():
    graph = tf.Problem([[0], [1]], [0, 1], shape="tree:1").solve().graph
    with pytest.raises(SpecError, match="nothing to draw on"):
        graph.plot(ax=3)
    assert graph.plot().svg == graph._repr_html_()
