"""Values that components share are read by type, and a missing one is named with its publisher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.formulations.odd import ODD, Flow
from treeform.formulations.sat import ExamplePaths, LeafClasses, NodeFeatures, SatDepth
from treeform.language.component import Component
from treeform.language.objective import Objective
from treeform.language.ports import Shared, SharedValues


@dataclass(frozen=True)
class Order(Shared):
    publisher: ClassVar[str] = "Ordering"
    first: int


DATA = Dataset.from_user(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0])


def test_a_value_is_read_by_its_type() -> None:
    values = SharedValues()
    assert values.find(Order) is None
    assert values.publish(Order(3)).first == 3
    assert values.get(Order) == values.find(Order) == Order(3)


def test_a_missing_value_names_the_component_that_publishes_it() -> None:
    with pytest.raises(SpecError, match="no component has published Order") as caught:
        SharedValues().get(Order)
    assert "Ordering" in str(caught.value.cause)
    assert "add Ordering" in str(caught.value.fix)


def test_a_value_is_published_once() -> None:
    values = SharedValues()
    values.publish(Order(1))
    with pytest.raises(SpecError, match="Order is published twice"):
        values.publish(Order(2))


class OtherFlow(Flow):
    """Publishes the ports of `Flow`, and not the values that other components need of it."""

    def build(self, model, ports):
        k = ports.n_classes
        for name, shape in {
            "w": (4, 0, 2),
            "z": (4, 0),
            "z_terminal": (4, 0, 2, k),
            "arrival": (4, 1, k),
        }.items():
            ports.publish(name, model.bool(name, shape))
        ports.publish("constant", model.bool("constant", k))


def test_components_that_lack_a_value_say_whose_it_is() -> None:
    with pytest.raises(SpecError, match="published Skeleton") as caught:
        ODD().replace(Flow, OtherFlow()).compile(DATA, tf.Tree(1), Objective.of(tf.Error()))
    assert "Flow publishes it" in str(caught.value.cause)
    components: tuple[Component, ...] = (ExamplePaths(), NodeFeatures(), LeafClasses())
    with pytest.raises(SpecError, match="published Formula") as caught:
        SatDepth(components).compile(DATA, tf.Tree(1), Objective.of(tf.Error()))
    assert "NodeFeatures" in str(caught.value.fix)
