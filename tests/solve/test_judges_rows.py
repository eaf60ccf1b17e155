"""Rows and violations of the requirements on drawn models, by the differential driver's rules."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import numpy as np

import treeform as tf
from treeform.errors import Infeasible
from treeform.graph import DecisionGraph, normalised
from treeform.language.ports import Ports
from treeform.model import Model
from treeform.model.blocks import violated_rows
from treeform.testing.differential import World, draw_bundle
from treeform.testing.differential.cases import Case
from treeform.testing.differential.judge import judge
from treeform.testing.differential.models import draw_model
from treeform.testing.differential.questions import holds, tracked
from treeform.testing.differential.reference import Reference
from treeform.testing.differential.ways import Way

OVER_PREDICTIONS = ("parity", "max_errors", "accuracy_parity", "group_error", "min_precision", "min_recall")


def rows_admit(requirement, graph: DecisionGraph, data, shape) -> bool:
    """Whether the rows of a requirement hold for a model, with the ports that the model gives."""
    m, tests = Model("rows"), graph.tests()
    visits, left = graph.route(data.X), graph.goes_left(data.X)
    at = [test.node for test in tests]
    if at:
        side = np.stack([visits[:, at] & left[:, at], visits[:, at] & ~left[:, at]], axis=2)
        feature = np.array([[test.weight(f) != 0 for f in range(data.n_features)] for test in tests])
    else:
        side, feature = np.zeros((data.n_samples, 1, 2)), np.zeros((1, data.n_features))
    flow = visits[:, at] if at else np.zeros((data.n_samples, 1))
    active = np.ones(len(at)) if at else np.zeros(1)
    predicted = graph.predict_codes(data.X)[:, None] == np.arange(data.n_classes)
    known = {"branch": side, "reaches": flow, "active": active, "feature": feature, "predicted": predicted}
    ports, x = Ports(data, shape, requirement.needs), []
    for name, values in known.items():
        ports.publish(name, m.bool(name, values.shape))
        x += np.asarray(values, dtype=float).reshape(-1).tolist()
    with ports.used_by(requirement):
        requirement.build(m, ports)
    return any(
        not any(violated_rows(block, np.array([*x, *more]), m.is_integer).any() for block in m.blocks)
        for more in product((0.0, 1.0), repeat=m.n_cols - len(x))
    )


@cache
def drawn():
    """(data, shape, spec, requirement, model in normal form, whether it holds by the driver's own rules)."""
    out = []
    for number in range(40):
        bundle = draw_bundle(99, number)
        if bundle.shape.hyperplanes:
            continue
        world, rng = World(bundle), random.Random(number)
        for spec in bundle.requirements:
            if spec["kind"] in ("at_least_tests", "few_positive", "apart"):
                continue
            case = Case(bundle.table, bundle.shape, bundle.goals[0], (spec,), Way())
            try:
                (requirement,) = world.problem(case).requirements
            except Infeasible:
                continue
            follow = tracked(bundle.table, (spec,), depth=True)
            reference = Reference(bundle.table, bundle.shape.widths, bundle.shape.depth, False, follow)
            for _ in range(4):
                nodes = draw_model(rng, bundle.table, min(2, bundle.shape.depth), bundle.shape.widths)
                graph = DecisionGraph.build(nodes, world.data)
                graph = normalised(graph, world.data, own_leaves=bundle.shape.widths is None)
                if graph.n_nodes <= 4:
                    good = holds(spec, judge(graph, reference).outcome, reference)
                    out.append((world.data, tf.Tree(3), spec, requirement, graph, good))
    return out


def test_rows_and_violations_agree_with_the_rules():
    seen = {}
    for data, shape, spec, requirement, graph, good in drawn():
        assert (requirement.violation(graph, data) == 0) == good, spec
        assert rows_admit(requirement, graph, data, shape) == good, (spec, graph.to_text())
        seen.setdefault(spec["kind"], set()).add(good)
    assert all(both == {True, False} for both in seen.values()), seen
    assert len(seen) == 11


def test_prediction_rows_and_totals_say_the_same():
    for data, _, spec, requirement, graph, good in drawn():
        if spec["kind"] not in OVER_PREDICTIONS:
            assert requirement.prediction_rows(data) == []
            continue
        guess = graph.predict_codes(data.X)
        sums = [
            int((coef[np.arange(data.n_samples), guess] * data.weights).sum()) - rhs
            for coef, rhs in requirement.prediction_rows(data)
        ]
        assert all(
            coef.shape == (data.n_samples, data.n_classes) for coef, _ in requirement.prediction_rows(data)
        )
        assert (max(sums, default=0) <= 0) == good
