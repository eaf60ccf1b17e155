"""Ports: shapes are checked, needs are binding, and mismatches are found before anything is built."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.errors import PortError, SpecError
from treeform.formulations.odd import ODD, Accuracy, Flow, SymmetryBreaking, Topology, UnivariateSplits
from treeform.language.compiled import in_order
from treeform.language.component import Component, Sum
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.ports import PORTS, Ports
from treeform.language.requirement import Requirement, registered
from treeform.model import Model

X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


@pytest.fixture
def data() -> Dataset:
    return Dataset.from_user(X, ["a", "b", "a", "b"])


@pytest.fixture
def ports(data: Dataset) -> Ports:
    return Ports(data, tf.Tree(1), wanted={"predicted"})


class Reads(Component):
    def __init__(self, *names: str, declare: bool = True) -> None:
        self.names = names
        self.needs = frozenset(names) if declare else frozenset()

    def build(self, model: Model, ports: Ports) -> None:
        for name in self.names:
            getattr(ports, name)


class Offers(Component):
    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.shape = name, shape
        self.offers = frozenset({name})

    def build(self, model: Model, ports: Ports) -> None:
        ports.publish(self.name, model.bool(self.name, self.shape))


def test_sizes_and_points(ports: Ports) -> None:
    assert (ports.n_samples, ports.n_features, ports.n_classes) == (4, 2, 2)
    assert ports.weights.tolist() == [1, 1, 1, 1]
    assert ports.points.n_points == 4


@pytest.mark.parametrize("name", sorted(PORTS))
def test_shapes_of_the_table_are_checked(ports: Ports, name: str) -> None:
    m = Model()
    with pytest.raises(PortError, match=name):
        ports.publish(name, m.bool("x", (9, 9, 9, 9)))


def test_free_axes_agree_between_ports(ports: Ports) -> None:
    m = Model()
    ports.publish("active", m.bool("d", 3))
    with pytest.raises(PortError, match=r"V = 3"):
        ports.publish("reaches", m.bool("w", (4, 2)))
    ports.publish("reaches", m.bool("w", (4, 3)))


def test_own_ports_are_free(ports: Ports) -> None:
    ports.publish("margin", Model().continuous("margin", (7, 7)))
    assert ports.margin.shape == (7, 7)


def test_published_once(ports: Ports) -> None:
    m = Model()
    ports.publish("active", m.bool("d", 3))
    with pytest.raises(PortError, match="twice"):
        ports.publish("active", m.bool("e", 3))


def test_correct_is_derived(ports: Ports) -> None:
    m = Model()
    predicted = m.bool("predicted", (4, 2))
    ports.publish("predicted", predicted)
    x = np.arange(8.0)
    # classes are a, b: rows 0 and 2 read column 0, rows 1 and 3 column 1
    assert ports.correct.value(x).tolist() == [0.0, 3.0, 4.0, 7.0]


def test_missing_port_names_what_there_is(ports: Ports) -> None:
    ports.publish("active", Model().bool("d", 1))
    with pytest.raises(PortError, match="published here: active"):
        ports.read("reaches")
    assert not hasattr(ports, "_private")


def test_undeclared_reading_is_refused(ports: Ports) -> None:
    ports.publish("active", Model().bool("d", 1))
    reader = Reads("active", declare=False)
    with ports.used_by(reader), pytest.raises(PortError, match=r"needs = \{'active'\}"):
        reader.build(Model(), ports)
    with (
        ports.used_by(Reads("acitve", declare=False)),
        pytest.raises(PortError, match="no port of that name"),
    ):
        ports.read("acitve")


def test_undeclared_publishing_is_refused(ports: Ports) -> None:
    with ports.used_by(Reads()), pytest.raises(PortError, match="offers"):
        ports.publish("active", Model().bool("d", 1))


def test_components_are_values() -> None:
    assert Flow() == Flow()
    assert Flow() != Flow(lambdas=True)
    assert repr(Flow(lambdas=True)) == "Flow(lambdas=True)"


def test_sum_is_what_odd_is() -> None:
    parts = Flow() + Topology() + SymmetryBreaking() + UnivariateSplits() + Accuracy()
    assert isinstance(parts, Sum)
    assert ODD() == parts
    assert ODD() - SymmetryBreaking == Flow() + Topology() + UnivariateSplits() + Accuracy()
    assert type(ODD() - SymmetryBreaking) is ODD
    assert ODD().replace(Flow, Flow(lambdas=True)) == ODD(lambdas=True)
    assert (ODD() - SymmetryBreaking) + SymmetryBreaking() != ODD()  # another order
    with pytest.raises(SpecError, match="Flow, Topology"):
        ODD() - SymmetryBreaking - SymmetryBreaking
    with pytest.raises(SpecError, match="no component"):
        ODD() + 3  # type: ignore[operator]


def test_components_are_put_in_order() -> None:
    a, b, c = Reads("active"), Offers("active", (1,)), Reads()
    assert in_order([a, b, c]) == [b, a, c]


def test_circles_are_refused() -> None:
    a, b = Offers("active", (1,)), Offers("label", (1, 2))
    a.needs, b.needs = frozenset({"label"}), frozenset({"active"})
    with pytest.raises(PortError, match="wait for each other"):
        in_order([a, b])


def test_missing_need_names_formulations_that_have_it(data: Dataset) -> None:
    class Bare(Formulation):
        name = "bare"

    class NeedsFlow(Reads):
        pass

    with pytest.raises(PortError) as caught:
        (Bare() + NeedsFlow("reaches")).compile(data, tf.Tree(1), Objective())
    assert "NeedsFlow" in caught.value.what
    assert "bare" in caught.value.what
    assert "odd" in str(caught.value.fix)


def test_unknown_need_is_told(data: Dataset) -> None:
    with pytest.raises(PortError, match="spelling"):
        (ODD() + Reads("flwo")).compile(data, tf.Tree(1), Objective())


def test_bare_sum_cannot_decode(data: Dataset) -> None:
    compiled = Formulation(Flow() + Topology()).compile(data, tf.Tree(1), Objective())
    with pytest.raises(SpecError, match="decode"):
        Formulation().decode(compiled, np.zeros(1))


def test_requirements_register_under_snake_case() -> None:
    class AtMostXYZFeatures(Requirement):
        def __init__(self, k: int) -> None:
            self.k = k

        def build(self, model: Model, ports: Ports) -> None: ...

        def violation(self, graph, data):
            return 0

    assert registered()["at_most_xyz_features"] is AtMostXYZFeatures
    made = AtMostXYZFeatures(3)
    assert made.to_json() == {"name": "at_most_xyz_features", "parameters": {"k": 3}}
    assert Requirement.from_json(made.to_json()) == made
    assert str(made) == "at_most_xyz_features:k=3"


def test_names_of_treeform_are_taken() -> None:
    assert tf.MaxNodes.name == "max_nodes"
    with pytest.raises(SpecError, match="exists already"):

        class MaxNodes(Requirement):
            def build(self, model, ports): ...

            def violation(self, graph, data):
                return 0


def test_unknown_requirement_in_file() -> None:
    with pytest.raises(SpecError, match="import the module"):
        Requirement.from_json({"name": "from_somebody_else", "parameters": {}})
