"""Between points of the compiled model and decision graphs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treeform.formulations.odd import hyper, values
from treeform.formulations.odd.flow import Flows
from treeform.formulations.odd.hyperplanes import Hyperplanes
from treeform.formulations.odd.objective import Arrivals
from treeform.formulations.odd.skeleton import Plan, Skeleton
from treeform.formulations.odd.thresholds import TestLiterals, Tests
from treeform.formulations.odd.topology import Design, Numbering, OrderedSides
from treeform.formulations.odd.values import LeafValues
from treeform.graph import DecisionGraph, normalised
from treeform.language.compiled import Compiled, put
from treeform.utils.arrays import Bools, Floats, Ints


def decode(compiled: Compiled, x: Floats) -> DecisionGraph:
    """The decision graph of a point: every used node is a test, as it stands."""
    plan = read(compiled, x)
    if compiled.shared.find(LeafValues) is not None:
        values.read(compiled, x, plan)
    if plan.constant >= 0:
        return _constant(compiled, plan)
    tests = compiled.shared.find(Tests)
    if tests is None:
        hyper.pass_on(compiled, x, plan)
        return graph_of(compiled, plan, hyper.tests_of(compiled, x, plan.test >= 0))
    testing = np.flatnonzero(plan.test >= 0).tolist()
    chosen = {
        u: {"feature": int(tests.feature[k]), "threshold": float(tests.threshold[k])}
        for u, k in zip(testing, plan.test[testing].tolist(), strict=True)
    }
    return graph_of(compiled, plan, chosen)


def graph_of(compiled: Compiled, plan: Plan, tests: dict[int, dict[str, Any]]) -> DecisionGraph:
    """The graph of a plan with its tests, of which those with ``"turned"`` have their sides swapped."""
    skeleton = compiled.shared.get(Skeleton)
    nodes: dict[Any, dict[str, Any]] = {}
    held: list[Fraction] = []
    for u in np.flatnonzero(plan.used).tolist():
        keys: list[Any] = []
        for side in (0, 1):
            target = int(plan.child[u, side])
            if target < 0:
                continue
            if target < skeleton.n_nodes:
                keys.append(target)
                continue
            # A tree has leaves of its own at every arc, and so has what predicts values; a diagram one per class.
            code = target - skeleton.n_nodes
            own = skeleton.is_tree or plan.value is not None
            key = ("leaf", u, side) if own else ("leaf", code)
            if plan.value is not None:
                code = len(held)
                held.append(_value(compiled, int(plan.value[u, side])))
            nodes[key] = {"label": code}
            keys.append(key)
        if plan.passes[u]:
            nodes[u] = {"pass": keys[0]}
            continue
        test = dict(tests[u])
        left, right = keys[::-1] if test.pop("turned", False) else keys
        nodes[u] = {**test, "left": left, "right": right}
    graph = DecisionGraph.build({0: nodes[0], **nodes}, compiled.data, tuple(held))
    return values.with_best_values(compiled, graph) if held else graph


def _constant(compiled: Compiled, plan: Plan) -> DecisionGraph:
    if plan.value is None:
        return DecisionGraph.leaf(plan.constant, compiled.data)
    graph = DecisionGraph.constant(_value(compiled, int(plan.value[0, 0])), compiled.data)
    return values.with_best_values(compiled, graph)


def _value(compiled: Compiled, deviation: int) -> Fraction:
    quantity = compiled.data.quantity
    assert quantity is not None
    return quantity.to_value(deviation)


def read(compiled: Compiled, x: Floats) -> Plan:
    """The design that a point stands for."""
    skeleton = compiled.shared.get(Skeleton)
    ports = compiled.ports
    used = ports.read("d").value(x) > 0.5
    n_nodes = skeleton.n_nodes
    plan = Plan.empty(n_nodes)
    if not used[0]:
        plan.constant = int(np.argmax(ports.read("constant").value(x)))
        return plan
    plan.passes = ports.read("passes").value(x) > 0.5
    testing = used & ~plan.passes
    plan.test = np.where(testing, 0, -1)
    tests = compiled.shared.find(Tests)
    if tests is not None:
        g = ports.read("g").value(x)
        # The chosen feature is the one whose first literal holds; its last literal that holds is the test.
        feature = np.argmax(g[:, tests.first], axis=1)
        chosen = (g > 0.5) & (tests.group == feature[:, None])
        plan.test = np.where(testing, tests.first[feature] + np.maximum(chosen.sum(axis=1) - 1, 0), -1)
    weight = np.zeros((n_nodes, 2, n_nodes + len(compiled.data.classes)))
    weight[skeleton.tail, skeleton.side, skeleton.head] = ports.read("y").value(x)
    weight[:, :, n_nodes:] = ports.read("y_terminal").value(x)
    plan.child = np.where(np.stack([used, testing], axis=1), weight.argmax(axis=2), -1)
    return plan


def encode(compiled: Compiled, graph: DecisionGraph) -> Floats | None:
    """The point of a graph, nan at columns that ODD does not declare; None when it does not fit.

    Layers, or a requirement, may need a test that decides nothing, so where the simplified graph does not fit its
    normal form is tried.
    """
    given, graph = graph, graph.simplified(compiled.data)
    if compiled.ports.asks_for_tests or embed(compiled, graph) is None:
        graph = normalised(given, compiled.data, own_leaves=compiled.shared.get(Skeleton).is_tree)
    plan = embed(compiled, graph)
    if plan is None:
        return None
    x = np.full(compiled.model.n_cols, np.nan)
    _put_design(compiled, plan, x)
    if plan.value is not None:
        values.put(compiled, graph, plan, x)
    univariate = compiled.shared.find(Tests) is not None
    if univariate:
        left = _put_tests(compiled, plan, x)
    else:
        left = hyper.sides(compiled, graph, plan)
    through = _put_flow(compiled, plan, left, x)
    if not univariate and not hyper.put(compiled, graph, plan, through, left, x):
        return None
    return x


def _put_design(compiled: Compiled, plan: Plan, x: Floats) -> None:
    skeleton = compiled.shared.get(Skeleton)
    n_nodes, n_classes = skeleton.n_nodes, len(compiled.data.classes)
    ways = np.arange(n_nodes + n_classes) == plan.child[:, :, None]
    design = compiled.shared.get(Design)
    put(x, design.d, plan.used)
    put(x, design.passes, plan.passes[design.passing])
    put(x, compiled.shared.get(Flows).constant, np.arange(n_classes) == plan.constant)
    put(x, design.y_terminal, ways[:, :, n_nodes:])
    if design.y is not None:
        put(x, design.y, ways[skeleton.tail, skeleton.side, skeleton.head])


def _put_tests(compiled: Compiled, plan: Plan, x: Floats) -> Bools:
    """Write the literals of the tests; gives the side (P, V) of every point at every used node."""
    skeleton = compiled.shared.get(Skeleton)
    tests, literals = compiled.shared.get(Tests), compiled.shared.get(TestLiterals)
    n_nodes, n_classes = skeleton.n_nodes, len(compiled.data.classes)
    used = plan.test >= 0
    numbers = np.arange(tests.n_tests)
    same = tests.group[plan.test][:, None] == tests.group if tests.n_tests else np.zeros((n_nodes, 0), bool)
    g = used[:, None] & same & (numbers <= plan.test[:, None])
    ways = np.arange(n_nodes + n_classes) == plan.child[:, :, None]
    terminal = ways[skeleton.last][:, :, n_nodes:]
    by_test = literals.by_test
    put(x, literals.g, g if by_test is None else g[skeleton.inner])
    if by_test is not None:
        put(x, by_test.leads, g[skeleton.last][:, :, None] & terminal[:, None, 0])
        if by_test.leads_right is not None:
            put(x, by_test.leads_right, g[skeleton.last][:, :, None] & terminal[:, None, 1])
    left = np.zeros((compiled.data.points.n_points, n_nodes), dtype=bool)
    left[:, used] = tests.left[plan.test[used]].T
    left[:, plan.passes] = True
    return left


def _put_flow(compiled: Compiled, plan: Plan, left: Bools, x: Floats) -> Bools:
    """Send every point through the design; gives which nodes (P, V) it passes."""
    skeleton = compiled.shared.get(Skeleton)
    n_nodes, n_classes = skeleton.n_nodes, len(compiled.data.classes)
    points = compiled.data.points.n_points
    used = plan.used
    through = np.zeros((points, n_nodes), dtype=bool)
    through[:, 0] = used[0]
    w = np.zeros((points, n_nodes, 2), dtype=bool)
    for u in np.flatnonzero(used).tolist():  # parents have smaller numbers
        w[:, u, 0], w[:, u, 1] = through[:, u] & left[:, u], through[:, u] & ~left[:, u]
        for side in (0, 1):
            if plan.child[u, side] < n_nodes:
                through[:, plan.child[u, side]] |= w[:, u, side]
    inner, last = skeleton.inner, skeleton.last
    ways = np.arange(n_nodes + n_classes) == plan.child[:, :, None]
    to_terminal = ways[:, :, n_nodes:]
    flows = compiled.shared.get(Flows)
    put(x, flows.w, w[:, inner])
    z_terminal = w[:, :, :, None] & to_terminal
    put(x, flows.z_terminal, z_terminal[:, inner])
    if flows.last.z is not None:
        put(x, flows.last.z, z_terminal[:, last])
    else:
        put(x, flows.last.arrival, z_terminal[:, last].any(axis=2))
    if flows.z is not None:
        on = ways[skeleton.tail, skeleton.side, skeleton.head]
        put(x, flows.z, w[:, skeleton.tail, skeleton.side] & on)
    if flows.right_in_layer is not None:
        layer = np.eye(len(skeleton.widths), dtype=bool)[skeleton.layer]
        put(x, flows.right_in_layer, (w[:, :, 1] @ layer) > 0)
    literals = compiled.shared.find(TestLiterals)
    for sides in () if literals is None else literals.sides:
        put(x, sides.left, left[:, sides.nodes])
    if literals is not None and literals.by_test is not None:
        leads = np.where(left[:, last, None], to_terminal[last, 0], to_terminal[last, 1]) & used[last, None]
        put(x, literals.by_test.reach, leads[:, :, :-1])
    arrivals = compiled.shared.find(Arrivals)
    if arrivals is not None:
        arrived = z_terminal.any(axis=(1, 2)) | (np.arange(n_classes) == plan.constant)
        put(x, arrivals.w_terminal, arrived[:, :1] if n_classes == 2 else arrived)
    hyperplanes = compiled.shared.find(Hyperplanes)
    if hyperplanes is not None and hyperplanes.takes is not None:
        put(x, hyperplanes.takes, w)
    return through


# -- embedding a graph in the skeleton ---------------------------------------------------------------------


def embed(compiled: Compiled, graph: DecisionGraph) -> Plan | None:
    """Find places for the tests of ``graph``; None when there are too few, or a test is not on offer."""
    skeleton = compiled.shared.get(Skeleton)
    n_nodes = skeleton.n_nodes
    plan = Plan.empty(n_nodes)
    passing = set(compiled.shared.get(Design).passing.tolist())
    numbering = compiled.shared.find(Numbering)
    ordered = compiled.shared.find(OrderedSides) is not None
    held = None
    if compiled.shared.find(LeafValues) is not None:
        held = values.embed(compiled, graph)
        if held is None:
            return None
        plan.value = np.zeros((n_nodes, 2))
    if graph.feature[0] < 0:
        plan.constant = int(graph.label[0])
        return plan
    place = {0: 0}
    level = [0]
    for nodes in (*skeleton.layers[1:], np.zeros(0, dtype=np.int64)):
        targets: dict[tuple[int, int], int] = {}
        idle: dict[tuple[int, int], int] = {}
        entered: dict[int, int] = {}
        for v in level:
            if graph.passes[v] and place[v] in passing:
                plan.passes[place[v]] = True
                targets[place[v], 0] = int(graph.left[v])
                continue
            positions = _find(compiled, graph, v, entered)
            if positions is None:
                return None
            plan.test[place[v]], turned = positions
            plan.turned[place[v]] = turned
            sides = (int(graph.left[v]), int(graph.right[v]))
            if graph.passes[v]:  # a hyperplane with an empty side, whose arc leads to another terminal
                is_first = graph.feature[sides[0]] < 0 and graph.label[sides[0]] == 0
                idle[place[v], int(not turned)] = int(is_first)
                targets[place[v], int(turned)] = sides[0]
                continue
            targets[place[v], 0], targets[place[v], 1] = sides[::-1] if turned else sides
        below = {at: v for at, v in sorted(targets.items()) if graph.feature[v] >= 0}
        if any(v in place for v in below.values()):
            return None  # not layered
        placed = _places(skeleton, below, nodes, numbering)
        if placed is None:
            return None
        place.update(placed)
        for (u, side), v in targets.items():
            code = 0 if v in place else int(graph.label[v])
            plan.child[u, side] = place[v] if v in place else n_nodes + (code if held is None else 0)
            if plan.value is not None and held is not None and v not in place:
                plan.value[u, side] = held[code]
        for (u, side), code in idle.items():
            plan.child[u, side] = n_nodes + code
        if ordered:  # places by in-degree may have exchanged the heads again
            back = np.flatnonzero((plan.child[:, 0] > plan.child[:, 1]) & ~plan.passes)
            plan.child[back] = plan.child[back, ::-1]
            plan.turned[back] ^= True
        level = sorted(placed, key=placed.__getitem__)
    return plan


def _find(
    compiled: Compiled, graph: DecisionGraph, v: int, entered: dict[int, int]
) -> tuple[int, bool] | None:
    """The number of a graph's test, and whether its sides are swapped; None when it is not on offer.

    A hyperplane is turned so that its left side leads where (11) wants it: to the test that an arc entered
    first (``entered`` keeps the order), to tests rather than terminals, to lower classes.
    """
    tests = compiled.shared.find(Tests)
    if tests is not None:
        if (
            graph.feature[v] >= compiled.data.n_features
        ):  # a hyperplane, or a pass-through where none gains anything
            return None
        feature = int(graph.feature[v])
        return tests.find(compiled.data.points.X[:, feature] <= graph.threshold[v], feature)
    ordered = compiled.shared.find(OrderedSides) is not None
    heads = (int(graph.left[v]), int(graph.right[v]))
    if graph.passes[v]:
        # (11): terminals come after nodes, so the empty side is the right one, unless both lead to terminals.
        if compiled.data.n_classes < 2:
            return None
        late = graph.feature[heads[0]] < 0 and int(graph.label[heads[0]]) > 0
        if graph.feature[heads[0]] >= 0:
            entered.setdefault(heads[0], len(entered))
        return v, bool(ordered and late)
    inner = [graph.feature[head] >= 0 for head in heads]
    keys = [
        (0, entered.get(head, len(entered))) if test else (1, int(graph.label[head]))
        for head, test in zip(heads, inner, strict=True)
    ]
    turned = ordered and keys[1] < keys[0]
    for head in heads[::-1] if turned else heads:
        if graph.feature[head] >= 0:
            entered.setdefault(head, len(entered))
    return v, turned


def _places(
    skeleton: Skeleton, below: dict[tuple[int, int], int], nodes: Ints, numbering: Numbering | None
) -> dict[int, int] | None:
    """Places in a layer for the tests that arcs ``(tail, side) -> test`` enter, as the rows demand."""
    heads = list(below.values())
    order = list(dict.fromkeys(heads))
    if len(order) > len(nodes):
        return None
    if not skeleton.is_tree:
        by_degree = numbering is not None and numbering.rule == "in_degree"
        if by_degree and len(nodes) and skeleton.layer[nodes[0]] > 1:
            order.sort(key=heads.count, reverse=True)
        return dict(zip(order, nodes.tolist(), strict=False))
    if len(order) < len(heads):
        return None
    at = {
        (int(u), int(s)): int(v) for u, s, v in zip(skeleton.tail, skeleton.side, skeleton.head, strict=True)
    }
    return {v: at[arc] for arc, v in below.items()}
