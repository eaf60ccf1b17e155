"""The check-list *A formulation* of CONTRIBUTING.md, followed from the one of `docs/howto/own_formulation.rst`."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from house_copy import HouseCopy, files_of
from repository import ROOT

import treeform as tf
from treeform.catalogue import find_formulation
from treeform.errors import ModelError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.formulation import Formulation
from treeform.testing import check_formulation
from treeform.utils.extensions import BUILT_IN, FORMULATIONS

PAGE = (ROOT / "docs" / "howto" / "own_formulation.rst").read_text(encoding="utf-8")


def source_of_the_page() -> str:
    """Step 1: components that build rows and publish ports, and a formulation that reads a point."""
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE)
    (source,) = [block for block in blocks if "class PickOne" in block]
    return textwrap.dedent(source)


def from_the_page() -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, "tf": tf, "__name__": "pick_one_of_the_page"}
    exec(source_of_the_page(), names)
    return names


THEIRS = from_the_page()


class PickedTrees(THEIRS["PickOne"]):  # type: ignore[misc]
    """The same with what it supports, and with models as starts."""

    name = "picked-trees"

    def supports(self, shape: Any, data: Any, objective: Any) -> str | None:
        """Step 2."""
        reason: str | None = super().supports(shape, data, objective)
        return reason if THEIRS["tests_of"](data) else "no column has two values"

    def encode(self, compiled: Any, graph: DecisionGraph) -> np.ndarray | None:
        """A tree of less depth has any tests below its leaves, with its label in all that follows."""
        data, depth = compiled.data, compiled.ports.shape.depth
        if not graph.is_tree or graph.depth > depth or graph.passes.any():
            return None
        tests = THEIRS["tests_of"](data)
        sides = np.array([data.X[:, f] <= c for f, c in tests])
        picked, label = np.zeros((2**depth - 1, len(tests))), np.zeros((2**depth, data.n_classes))
        leaf = np.zeros((data.n_samples, 2**depth))

        def fill(place: int, node: int, rows: np.ndarray) -> None:
            is_leaf = graph.feature[node] < 0
            if place >= len(picked):
                label[place - len(picked), graph.label[node]] = leaf[rows, place - len(picked)] = 1
                return
            own = data.X[:, graph.feature[node]] <= graph.threshold[node]
            test = 0 if is_leaf else int(np.flatnonzero((sides == own).all(axis=1))[0])
            picked[place, test] = 1
            for side, child in enumerate((graph.left[node], graph.right[node])):
                fill(2 * place + 1 + side, node if is_leaf else int(child), rows & (sides[test] != side))

        fill(0, 0, np.ones(data.n_samples, dtype=bool))
        x = np.full(compiled.model.n_cols, np.nan)
        for family, values in (("picks", picked), ("label", label), ("leaf", leaf)):
            (block,) = [one for one in compiled.model.variables if one.name == family]
            x[block.start : block.start + block.size] = values.reshape(-1)
        return x


SOLVE = """
import treeform as tf
from treeform.catalogue import formulation_names
from treeform.formulations import PickOne
from treeform.testing.matrix import ways
problem = tf.Problem([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape=tf.Tree(2))
result = problem.solve("highs", formulation="pick-one", warm_start=None)
print(result.objective, result.formulation, PickOne.name in formulation_names())
print("pick-one" in {way.formulation for way in ways(["highs"])})
"""


def test_the_list_names_the_files_that_a_formulation_touches(tmp_path: Path) -> None:
    house = HouseCopy(tmp_path)
    house.write("formulations/picks/__init__.py", f"import numpy as np\n\n{source_of_the_page()}")
    home = "treeform.formulations.picks"
    house.add("formulations/__init__.py", '    "ODD": ', f'    "PickOne": "{home}",\n')
    house.add("pyproject.toml", "odd-paper = ", f'pick-one = "{home}:PickOne"\n')
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = guide.split("**A formulation** (")[1].split("5. Tests")[0].split("\n", 1)[1]
    assert house.touched() == files_of(steps, "picks")
    assert house.run(SOLVE).split() == ["0", "pick-one", "True", "True"]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> str:
    """Step 3: a name, which a package states as an entry point."""
    monkeypatch.setitem(BUILT_IN[FORMULATIONS], "picked-trees", f"{__name__}:PickedTrees")  # type: ignore[arg-type]
    return "picked-trees"


def test_it_agrees_with_brute_force_under_requirements() -> None:
    """Step 4."""
    report = check_formulation(PickedTrees(), ["highs"], [tf.MaxErrors(2), tf.FeatureBudget(1)], cases=2, models=2)
    assert report.cases and report.solves and report.models


def test_a_start_is_read_back_as_the_model_that_it_is() -> None:
    data = tf.Dataset.from_user([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], [0, 1, 1, 0, 1])
    problem = tf.Problem(data, None, shape=tf.Tree(2))
    compiled = PickedTrees().compile(data, tf.Tree(2), problem.question.objective)
    graph = problem.solve().graph
    x = PickedTrees().encode(compiled, graph)
    assert x is not None
    again = PickedTrees().decode(compiled, np.nan_to_num(x))
    assert (again.predict_codes(data.X) == graph.predict_codes(data.X)).all()


def test_it_is_found_by_its_name(known: str) -> None:
    assert isinstance(find_formulation(known), PickedTrees)
    problem = tf.Problem([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape=tf.Tree(2))
    result = problem.solve("highs", formulation=known, warm_start=None)
    assert (result.status, result.objective, result.formulation) == (tf.Status.OPTIMAL, 0, known)


def test_what_it_does_not_support_is_refused_with_the_reason(known: str) -> None:
    diagram = tf.Problem([[0.0], [1.0]], [0, 1], shape="diagram:1,1")
    with pytest.raises(SpecError, match="it states trees"):
        diagram.solve("highs", formulation=known)
    assert issubclass(PickedTrees, Formulation)


def test_the_formulation_of_other_models_passes_the_kit() -> None:
    """It is one component, and what reads other ports than it offers is left out and named."""
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE)
    (source,) = [textwrap.dedent(block) for block in blocks if "class Stump" in block]
    exec(source.partition("stumps = ")[0], names := dict(THEIRS))
    report = check_formulation(names["Stump"](), backends=["highs"])
    assert report.solves and "error + 1/2*nodes reads active" in report.skipped


@pytest.mark.parametrize(
    "wrong",
    [
        lambda model, ports: model.add(ports.feature * ports.feature <= 1),
        lambda model, ports: model.add(ports.feature.sum()),
        lambda model, ports: ports.feature.sum() <= 1 and None,
    ],
)
def test_a_mistake_in_its_rows_is_raised(wrong: Any) -> None:
    """Models of earlier stages do not make it a note."""

    class Wrong(THEIRS["PickedTests"]):  # type: ignore[misc]
        def build(self, model: Any, ports: Any) -> None:
            super().build(model, ports)
            wrong(model, ports)

    class Mistaken(THEIRS["PickOne"]):  # type: ignore[misc]
        name, parts = "mistaken", (Wrong,)

    problem = tf.Problem([[0.0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], shape=tf.Tree(2))
    with pytest.raises(ModelError):
        problem.solve("highs", formulation=Mistaken(), warm_start=None)
