"""FlowOCT and BendersOCT against brute force; their two kinds of flows, their ports, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from asking_for_tests import AtLeastTests
from layered_reference import random_data

import treeform as tf
from treeform.backends.run import Run
from treeform.data import Dataset
from treeform.errors import PortError, SpecError
from treeform.formulations import BendersOCT, FlowOCT
from treeform.formulations.flow import Branching, ClassFlow, CorrectFlow, CutFlow, NormalForm
from treeform.formulations.flow.cuts import Guesses
from treeform.formulations.flow.heap import Heap
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.ports import PORTS
from treeform.testing import all_models, brute_force


def solved(
    formulation: Formulation, data: Dataset, depth: int, objective: Any, *requirements: tf.Requirement
) -> Any:
    """The optimum on HiGHS, from the formulation alone."""
    problem = tf.Problem(data, None, shape=tf.Tree(depth)).minimize(objective)
    problem += list(requirements)
    return problem.solve("highs", formulation=formulation, warm_start=None)


WAYS = [(FlowOCT(), 0), (FlowOCT(), 2), (FlowOCT(correct_only=False), 0), (FlowOCT(), 1), (BendersOCT(), 1)]


@pytest.mark.parametrize(("formulation", "seed"), WAYS)
def test_optima_are_those_of_brute_force(formulation: Formulation, seed: int) -> None:
    data = random_data(seed, n_classes=2 + seed % 2, weighted=seed > 0)
    costs = tf.Cost([[0, 1, 4], [2, 0, "1/2"], [1, 1, 0]]) if seed == 1 else tf.Error()
    objective = Objective.of(costs + Fraction(1, 3) * tf.Nodes())
    expected = brute_force(data, tf.Tree(2), objective)
    result = solved(formulation, data, 2, objective)
    assert expected is not None
    assert (str(result.status), result.objective) == ("optimal", expected[0])


def compiled(
    formulation: Formulation, data: Dataset, objective: Any = "error", *held: tf.Requirement
) -> Compiled:
    return formulation.compile(data, tf.Tree(2), Objective.of(objective), [r.bind(data) for r in held])


@pytest.mark.parametrize("formulation", [FlowOCT(), FlowOCT(correct_only=False)])
def test_every_tree_is_a_point_of_the_rows_with_its_value(formulation: Formulation) -> None:
    data = random_data(5, n=7, n_classes=3, weighted=True)
    model = compiled(formulation, data)
    trees = [
        g for g, _ in zip(all_models(data, tf.Tree(2), rng=np.random.default_rng(1)), range(15), strict=False)
    ]
    trees = [g.simplified(data) for g in trees]
    for graph in trees:
        x = formulation.encode(model, graph)
        assert x is not None
        assert not np.isnan(x).any()
        assert not any(model.model.check(x).values())
        assert model.objective_expr.value(x) == model.scale * model.objective.evaluate(graph, data)
        assert formulation.decode(model, x) == graph


class Everything(tf.Requirement):
    """Reads all ports about single samples, as rows that every tree satisfies."""

    name: ClassVar[str] = "everything_for_flow"
    needs = frozenset(
        {"active", "arc", "branch", "correct", "feature", "label", "leaf", "predicted", "reaches"}
    )
    demands_tests = False

    def build(self, model, ports) -> None:
        assert all(ports.read(name).ndim == len(PORTS[name].axes) for name in self.needs)
        tests, leaves = ports.active.shape[0], ports.label.shape[0]
        model.add(ports.reaches == ports.branch.sum(axis=2))
        model.add(ports.reaches <= ports.active)
        model.add(ports.feature.sum(axis=1) <= ports.active)
        model.add(ports.arc.sum(axis=2) == ports.active[:, None] * np.ones((1, 2)))
        model.add(ports.leaf.sum(axis=1) == 1)
        # a sample that ends in a leaf is predicted its class
        for leaf in range(leaves):
            model.add(ports.predicted >= ports.leaf[:, leaf, None] + ports.label[None, leaf] - 1)
        # an arc enters a used node other than the root, and a leaf unless the root is one
        entered = ports.arc.sum(axis=(0, 1))
        model.add(entered[1:tests] == ports.active[1:])
        model.add(entered[tests + 1 :] == ports.label[1:].sum(axis=1))

    def violation(self, graph, data) -> int:
        return 0


def test_ports_fit_together() -> None:
    data = random_data(3, n_classes=3)
    free, held = (solved(FlowOCT(), data, 2, "error", *more) for more in ((), (Everything(),)))
    assert held.objective == free.objective
    assert str(held.status) == "optimal"
    classes = {name for name, port in PORTS.items() if not port.of_values}
    assert classes - {"falling"} <= FlowOCT().offers | {"correct"}


class Reader(tf.Component):
    """Reads what single samples do."""

    needs = frozenset({"reaches"})


def test_pass_throughs_where_a_requirement_asks_for_tests() -> None:
    for seed, k in ((0, 3), (2, 2)):
        data = random_data(seed, n=6)
        expected = brute_force(data, tf.Tree(2), "error", [AtLeastTests(k)])
        result = solved(FlowOCT(), data, 2, "error", AtLeastTests(k))
        assert expected is not None
        assert (str(result.status), result.objective, result.graph.n_nodes >= k) == (
            "optimal",
            expected[0],
            True,
        )
    table = Dataset.from_user([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    most = solved(FlowOCT(), table, 3, "error", AtLeastTests(7))
    assert (most.objective, most.graph.n_nodes, int(most.graph.passes.sum())) == (0, 7, 4)
    assert str(solved(FlowOCT(), table, 3, "error", AtLeastTests(8)).status) == "infeasible"


def test_only_right_points_flow_where_nothing_else_reads_them() -> None:
    def flow(formulation: FlowOCT, objective: Any, *held: tf.Requirement) -> set[type]:
        parts = formulation.decided(tf.Tree(2), Objective.of(objective), held).components
        return {type(part) for part in parts} - {Branching}

    assert flow(FlowOCT(), "error + nodes") == {CorrectFlow}
    assert flow(FlowOCT(), "error", tf.MaxNodes(2)) == {CorrectFlow}
    assert flow(FlowOCT(correct_only=False), "error") == {ClassFlow}
    assert flow(FlowOCT(), "cost[0 5; 1 0]") == {ClassFlow}
    assert flow(FlowOCT(), "nodes") == {ClassFlow}
    # accuracy parity could be met by points that do not flow though they are right
    assert flow(FlowOCT(), "error", tf.AccuracyParity(groups=[0, 1], difference=0.1)) == {ClassFlow}
    assert flow(FlowOCT(), "error", AtLeastTests(1)) == {ClassFlow, NormalForm}
    assert flow(FlowOCT() + Reader(), "error") == {ClassFlow, Reader}


def test_cuts_come_in_rounds_and_are_not_repeated() -> None:
    data = random_data(4, n=9)
    formulation = BendersOCT()
    made = compiled(formulation, data)
    session = tf.HiGHS().open(made.model)
    worth: list[float] = []
    for _ in range(50):
        outcome = session.solve(Run())
        worth.append(float(made.objective_expr.value(outcome.x)))
        before = set(made.shared.get(Guesses).stated)
        if not formulation.refine(made, formulation.decode(made, outcome.x)):
            break
        assert made.shared.get(Guesses).stated > before
        session.extend()
    session.close()
    assert worth == sorted(worth)  # a relaxation, that gets tighter
    assert len(worth) > 2
    expected = brute_force(data, tf.Tree(2), "error")
    assert expected is not None
    assert worth[-1] == made.scale * expected[0]


def test_what_they_refuse() -> None:
    data = random_data(0)
    for formulation in (FlowOCT(), BendersOCT()):
        for shape, told in (
            (tf.Diagram(1, 2), "states trees"),
            (tf.Tree(2, splits="multivariate"), "univariate"),
        ):
            with pytest.raises(SpecError, match=told):
                formulation.compile(data, shape, Objective.of("error"))
        large = Dataset.from_user(np.random.default_rng(0).random((4000, 4)), np.arange(4000) % 2)
        assert "do not fit in memory" in str(formulation.supports(tf.Tree(4), large, Objective.of("error")))
    with pytest.raises(SpecError, match="benders-oct cannot state at_least_tests:k=1"):
        compiled(BendersOCT(), data, "error", AtLeastTests(1))
    with pytest.raises(PortError, match="flow-oct"):
        compiled(BendersOCT(), data, "error", tf.MinSupport(2))
    with pytest.raises(SpecError, match="no component has published Heap"):
        compiled(FlowOCT() - Branching, data)


def test_the_heap() -> None:
    heap = Heap(3)
    assert (heap.n_branching, heap.n_nodes) == (7, 15)
    assert heap.path(11) == [(0, 1), (2, 0), (5, 0)]
    assert np.flatnonzero(heap.above[11]).tolist() == [0, 2, 5]
    assert np.flatnonzero(heap.right_of[11]).tolist() == [0]


def test_they_are_found_by_name_and_are_sums() -> None:
    assert FlowOCT() == Branching() + ClassFlow()
    assert BendersOCT() == Branching() + CutFlow()
    data = random_data(1)
    problem = tf.Problem(data, None, shape=tf.Tree(2))
    values = {
        problem.solve("cp-sat", formulation=f, warm_start=None).objective
        for f in ("flow-oct", "benders-oct", "odd")
    }
    assert len(values) == 1
