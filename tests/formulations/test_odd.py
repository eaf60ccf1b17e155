"""ODD against brute force, with and without requirements; its ports; hints and decoding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from layered_reference import optimum, random_data

import treeform as tf
from treeform.backends.run import Run, Verdict
from treeform.data import Dataset
from treeform.formulations.odd import ODD, Flow, SymmetryBreaking, Topology, UnivariateSplits
from treeform.formulations.odd.thresholds import TestLiterals, Tests
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.component import Component
from treeform.language.objective import Objective
from treeform.language.ports import PORTS, Ports
from treeform.language.requirement import Requirement
from treeform.model import Model
from treeform.testing import brute_force

BACKENDS = {"highs": tf.HiGHS, "cpsat": tf.CPSAT}


def solve(
    compiled: Compiled, formulation: ODD, backend: str = "highs"
) -> tuple[DecisionGraph, np.ndarray] | None:
    """The optimum on a solver, checked against the model's own rows; None when there is no solution."""
    session = BACKENDS[backend]().open(compiled.model)
    try:
        outcome = session.solve(Run())
    finally:
        session.close()
    if outcome.verdict is Verdict.INFEASIBLE:
        return None
    assert outcome.verdict is Verdict.OPTIMAL
    assert not any(compiled.model.check(outcome.x).values())
    return formulation.decode(compiled, outcome.x), outcome.x


def agree(data: Dataset, shape, objective, requirements=(), formulation: ODD | None = None, backend="highs"):
    """ODD's optimum is brute force's; the optimum of brute force is a point of the model with the same value."""
    formulation = formulation or ODD()
    objective = Objective.of(objective)
    bound = [r.bind(data) for r in requirements]
    expected = brute_force(data, shape, objective, bound, limit=300_000)
    compiled = formulation.compile(data, shape, objective, bound)
    found = solve(compiled, formulation, backend)
    if expected is None:
        assert found is None
        return
    assert found is not None
    graph, x = found
    assert objective.evaluate(graph, data) == expected[0]
    assert float(compiled.objective_expr.value(x)) == pytest.approx(float(compiled.scale * expected[0]))
    assert all(r.violation(graph, data) == 0 for r in bound)
    hint = formulation.encode(compiled, expected[1])
    assert hint is not None
    assert not any(compiled.model.check(hint).values())
    assert compiled.objective_expr.value(hint) <= compiled.scale * expected[0]
    assert formulation.decode(compiled, hint) == expected[1].simplified(data)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(4))
def test_trees(seed: int, backend: str) -> None:
    data = random_data(seed, n_classes=2 + seed % 2, weighted=seed > 1)
    agree(data, tf.Tree(1 + seed % 2), tf.Error() + Fraction(1, 3) * tf.Nodes(), backend=backend)


@pytest.mark.parametrize("seed", range(4))
def test_costs_and_leaves(seed: int) -> None:
    data = random_data(seed + 10, n_classes=3)
    agree(data, tf.Tree(2), tf.Cost([[0, 1, 4], [2, 0, "1/2"], [1, 1, 0]]) + tf.Leaves())


REQUIREMENTS = {
    "support": [tf.MinSupport(2)],
    "support and nodes": [tf.MinSupport(0.2), tf.MaxNodes(2)],
    "ratio": [tf.StatisticalParity([0, 1] * 4, ratio=0.8, positive=1)],
    "difference": [tf.StatisticalParity([0, 1, 2, 0, 1, 2, 0, 1], difference="1/10", positive=0)],
    "errors": [tf.MaxErrors(1), tf.MinSupport(1)],
    "all": [tf.StatisticalParity([0, 1] * 4, ratio=0.8, positive=1), tf.MinSupport(2), tf.MaxNodes(2)],
}


@pytest.mark.parametrize("name", REQUIREMENTS)
@pytest.mark.parametrize("seed", [21, 22])
def test_requirements(name: str, seed: int) -> None:
    data = random_data(seed, weighted=seed == 22)
    objective = tf.Nodes() if name == "errors" else tf.Error()
    shape = tf.Tree(2) if seed == 21 else tf.Diagram(1, 2)
    backend = "cpsat" if name == "all" else "highs"
    try:
        bound = [r.bind(data) for r in REQUIREMENTS[name]]
    except tf.errors.Infeasible:
        bound = []
    agree(data, shape, objective, bound, backend=backend)


def test_constant_model_is_the_optimum_of_noise() -> None:
    data = Dataset.from_user([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    for shape in (tf.Tree(2), tf.Diagram(1, 2)):
        compiled = ODD().compile(data, shape, tf.Error() + tf.Nodes())
        found = solve(compiled, ODD())
        assert found is not None
        assert found[0].n_nodes == 0


@pytest.mark.parametrize("widths", [(1, 2, 2), (1, 2, 3), (1, 1, 2), (1, 2, 1, 2)])
@pytest.mark.parametrize("symmetry", ["first_arc", "in_degree"])
def test_diagrams(widths: tuple[int, ...], symmetry: str) -> None:
    for seed in (31, 32):
        data = random_data(seed, n=7, n_classes=seed - 29, weighted=seed == 32)
        price = Fraction(1, 2)
        formulation = ODD(symmetry=symmetry)
        compiled = formulation.compile(
            data, tf.Diagram(*widths), tf.Error() / data.weight_unit + price * tf.Nodes()
        )
        found = solve(compiled, formulation, "cpsat")
        assert found is not None
        graph = found[0]
        assert compiled.objective.evaluate(graph, data) == optimum(data, widths, price)
        # the optimum found, read and written again, still satisfies all rows
        hint = formulation.encode(compiled, graph)
        assert hint is not None
        assert not any(compiled.model.check(hint).values())


@pytest.mark.parametrize(
    "formulation",
    [
        ODD(lambdas=True),
        ODD(disaggregate=False),
        ODD() - SymmetryBreaking,
        ODD().replace(SymmetryBreaking, SymmetryBreaking("in_degree")),
    ],
    ids=["lambdas", "all layers alike", "no symmetry breaking", "in-degrees"],
)
def test_variants_agree(formulation: ODD) -> None:
    data = random_data(41, n=7)
    for widths in ((1, 2, 2), (1, 2)):
        compiled = formulation.compile(data, tf.Diagram(*widths), Objective.of(tf.Error()))
        found = solve(compiled, formulation, "cpsat")
        assert found is not None
        assert tf.Error().evaluate(found[0], data) == optimum(data, widths) * data.weight_unit
        hint = formulation.encode(compiled, found[0])
        assert hint is not None
        assert not any(compiled.model.check(hint).values())


def test_last_layer_suits_solver_and_requirements() -> None:
    data = random_data(41, n=7)
    goal = Objective.of(tf.Error())

    def by_test(formulation: ODD, *requirements: Requirement) -> bool:
        literals = formulation.compile(data, tf.Tree(2), goal, requirements).shared.get(TestLiterals)
        return literals.by_test is not None

    linear, clauses = tf.HiGHS.capabilities.forms, tf.CPSAT.capabilities.forms
    assert by_test(ODD())
    assert by_test(ODD().tuned_for(linear))
    assert not by_test(ODD().tuned_for(clauses))
    assert not by_test(ODD(), tf.MinSupport(1))
    assert by_test(ODD(disaggregate=True).tuned_for(clauses), tf.MinSupport(1))
    assert ODD().tuned_for(linear).components == ODD().components


@pytest.mark.parametrize("disaggregate", [False, True])
@pytest.mark.parametrize("seed", [71, 72])
def test_both_forms_of_the_last_layer(seed: int, disaggregate: bool) -> None:
    data = random_data(seed, n_classes=seed - 69)
    requirements = [tf.MinSupport(2), tf.StatisticalParity([0, 1] * 4, difference="1/4", positive=1)]
    agree(data, tf.Tree(2), tf.Error(), requirements, ODD(disaggregate=disaggregate))
    agree(data, tf.Tree(1), tf.Error(), [], ODD(disaggregate=disaggregate))


class Everything(Component):
    """Reads every port of models of classes, so that all are published."""

    needs = frozenset(name for name, port in PORTS.items() if not port.of_values) - {"correct"}


@pytest.mark.parametrize("shape", [tf.Tree(2), tf.Diagram(1, 2, 2)], ids=str)
def test_ports_say_what_the_graph_does(shape: tf.Tree | tf.Diagram) -> None:
    data = random_data(51)
    formulation = ODD() + Everything()
    compiled = formulation.compile(data, shape, Objective.of(tf.Error()))
    found = solve(compiled, formulation, "cpsat")
    assert found is not None
    graph, x = found
    values = {name: np.rint(compiled.ports.read(name).value(x)) for name in (*Everything.needs, "correct")}
    codes = graph.predict_codes(data.X)
    assert (values["predicted"] == np.eye(2)[codes]).all()
    assert (values["correct"] == (codes == data.y)).all()
    assert (values["leaf"] @ values["label"] == values["predicted"]).all()
    assert values["active"].sum() == graph.n_nodes
    assert (values["branch"].sum(axis=2) == values["reaches"]).all()
    assert values["reaches"].sum() == graph.route(data.X)[:, graph.feature >= 0].sum()
    assert (values["feature"].sum(axis=1) == values["active"]).all()
    used = {int(f) for f in np.flatnonzero(values["feature"].any(axis=0))}
    assert used == graph.features_used()
    arc = values["arc"]
    nodes = len(values["active"])
    assert (arc.sum(axis=2) == values["active"][:, None]).all()
    assert arc.shape[2] == nodes + len(values["label"])
    assert values["active"][0]
    # following the arcs from the root gives every sample's leaf
    for i in range(data.n_samples):
        at = 0
        while at < nodes:
            at = int(arc[at, int(values["branch"][i, at, 1])].argmax())
        assert values["leaf"][i].nonzero()[0].tolist() == [at - nodes]


class AvoidFeature(Requirement):
    """No test on one encoded feature, even where another feature parts the samples equally."""

    needs = frozenset({"feature"})

    def __init__(self, feature: int) -> None:
        self.feature = feature

    def build(self, model: Model, ports: Ports) -> None:
        model.add(ports.feature[:, self.feature].sum() <= 0, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        return int(self.feature in graph.features_used())


def test_equal_splits_of_other_features_stay_when_features_are_read() -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    data = Dataset.from_user(X, [0, 1, 0, 1])
    for feature in (0, 1):
        compiled = ODD().compile(data, tf.Tree(1), Objective.of(tf.Error()), [AvoidFeature(feature)])
        found = solve(compiled, ODD())
        assert found is not None
        assert found[0].features_used() == {1 - feature}
        assert tf.Error().evaluate(found[0], data) == 0
    plain = ODD().compile(data, tf.Tree(1), Objective.of(tf.Error()))
    assert plain.shared.get(Tests).n_tests == 1


def test_tests_without_support_are_left_out() -> None:
    data = Dataset.from_user(np.arange(10.0).reshape(-1, 1), [0, 1] * 5)
    compiled = ODD().compile(data, tf.Tree(2), Objective.of(tf.Error()), [tf.MinSupport(3)])
    assert compiled.shared.get(Tests).threshold.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5]
    none = ODD().compile(data, tf.Tree(2), Objective.of(tf.Error()), [tf.MinSupport(6)])
    found = solve(none, ODD())
    assert found is not None
    assert found[0].n_nodes == 0


def test_thresholds_are_those_of_the_data() -> None:
    low, high = 1.0, np.nextafter(1.0, 2.0)
    data = Dataset.from_user([[low], [high], [1e300]], [0, 1, 0])
    found = solve(ODD().compile(data, tf.Tree(2), Objective.of(tf.Error())), ODD())
    assert found is not None
    assert tf.Error().evaluate(found[0], data) == 0


def test_graphs_that_do_not_fit() -> None:
    data = Dataset.from_user(np.arange(8.0).reshape(-1, 1), [0, 1] * 4)
    deep = DecisionGraph.from_nested((0, 0.5, 0, (0, 1.5, 1, (0, 2.5, 0, 1))), data)
    compiled = ODD().compile(data, tf.Tree(2), Objective.of(tf.Error()))
    assert ODD().encode(compiled, deep) is None
    wide = DecisionGraph.from_nested((0, 3.5, (0, 1.5, 0, 1), (0, 5.5, 0, 1)), data)
    narrow = ODD().compile(data, tf.Diagram(1, 1), Objective.of(tf.Error()))
    assert ODD().encode(narrow, wide) is None
    supported = ODD().compile(data, tf.Tree(2), Objective.of(tf.Error()), [tf.MinSupport(3)])
    assert ODD().encode(supported, wide) is None


def test_shared_tests_fit_a_diagram_only() -> None:
    data = Dataset.from_user(
        np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float),
        [a ^ b ^ c for a in (0, 1) for b in (0, 1) for c in (0, 1)],
    )
    parity = DecisionGraph.build(
        {
            "a": {"feature": 0, "threshold": 0.5, "left": "b0", "right": "b1"},
            "b0": {"feature": 1, "threshold": 0.5, "left": "c0", "right": "c1"},
            "b1": {"feature": 1, "threshold": 0.5, "left": "c1", "right": "c0"},
            "c0": {"feature": 2, "threshold": 0.5, "left": 0, "right": 1},
            "c1": {"feature": 2, "threshold": 0.5, "left": 1, "right": 0},
            0: {"label": 0},
            1: {"label": 1},
        },
        data,
    )
    for symmetry in ("first_arc", "in_degree"):
        formulation = ODD(symmetry=symmetry)
        compiled = formulation.compile(data, tf.Diagram(1, 2, 2), Objective.of(tf.Error()))
        x = formulation.encode(compiled, parity)
        assert x is not None
        assert not any(compiled.model.check(x).values())
        assert compiled.objective_expr.value(x) == 0
        assert formulation.decode(compiled, x) == parity
    tree = ODD().compile(data, tf.Tree(3), Objective.of(tf.Error()))
    assert ODD().encode(tree, parity) is None


def test_too_large_is_said_before_building() -> None:
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.random((2000, 2)), rng.integers(0, 2, 2000))
    reason = ODD().supports(tf.Tree(13), data, Objective.of(tf.Error()))
    assert reason is not None
    assert "memory" in reason
    assert ODD().supports(tf.Tree(3), data, Objective.of(tf.Error())) is None


def test_parts_can_be_used_alone() -> None:
    data = random_data(61)
    partial = ODD() - UnivariateSplits
    assert "feature" not in partial.offers
    assert partial.components[:2] == (Flow(), Topology())
    compiled = partial.compile(data, tf.Tree(2), Objective.of(tf.Error()))
    assert compiled.model.n_cols > 0
