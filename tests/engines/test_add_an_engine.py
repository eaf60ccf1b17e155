"""The check-list *Add an engine* of `docs/design/engines.rst`, followed with an engine of stumps."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from house_copy import HouseCopy, files_of
from repository import ROOT

import treeform as tf
from treeform.engines import ConTree, Engine, EngineOutcome, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.solve import engines as router
from treeform.utils import extensions


@dataclass(frozen=True)
class Stumps(Engine):
    """The best tree of at most one test, by trying all of them."""

    name: ClassVar[str] = "stumps"
    understands: ClassVar[frozenset[str]] = frozenset({"min_support", "weights"})

    def unsupported(self, data: tf.Dataset, task: TreeTask) -> str | None:
        return f"it makes one test, not trees of depth {task.depth}" if task.depth > 1 else None

    def run(self, data: tf.Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        best = DecisionGraph.leaf(int(data.class_weights.argmax()), data)
        least = int(data.weights[best.predict_codes(data.X) != data.y].sum())
        for f in range(data.n_features):
            values = np.unique(data.X[:, f])
            for threshold in (values[1:] + values[:-1]) / 2:
                left = data.X[:, f] <= threshold
                sides = [np.bincount(data.y[s], data.weights[s], data.n_classes) for s in (left, ~left)]
                if min(side.sum() for side in sides) < task.min_support:
                    continue
                cost = int(sum(side.sum() - side.max() for side in sides))
                if cost < least:
                    least, labels = cost, [int(side.argmax()) for side in sides]
                    best = DecisionGraph.from_nested((f, float(threshold), *labels), data)
        return EngineOutcome(best, least, least, proved=True)


def problem(depth: int, seed: int = 0) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (30, 3)).astype(float)
    return tf.Problem(X, (X[:, 0] > 2) ^ (rng.random(30) < 0.3), shape=tf.Tree(depth))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("support", [1, 9])
def test_it_proves_what_the_others_prove(seed: int, support: int) -> None:
    asked = problem(1, seed).add(tf.MinSupport(support))
    own, other = asked.solve(Stumps()), asked.solve(ConTree())
    assert own.status is tf.Status.OPTIMAL and own.objective == other.objective
    assert own.graph is not None and own.graph.n_nodes <= 1 and own.solver == "stumps"


def test_what_it_does_not_declare_is_refused() -> None:
    with pytest.raises(SpecError, match="stumps cannot support max_nodes"):
        problem(1).add(tf.MaxNodes(0)).solve(Stumps())


def test_it_is_one_line_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    group = extensions.ENGINES
    table = {"stumps": f"{__name__}:Stumps", **extensions.BUILT_IN[group]}
    monkeypatch.setitem(cast(dict[str, Any], extensions.BUILT_IN), group, table)
    assert tf.Problem([[0], [1]], [0, 1], shape=tf.Tree(1)).solve("stumps").solver == "stumps"
    monkeypatch.setattr(router, "ENGINES", router.chosen_by_default())  # as at the next start
    assert problem(1).solve().solver == "stumps"
    assert problem(2).solve().solver == "contree"  # it says that it cannot
    fair = problem(1).add(tf.MinRecall(at_least="0.5", positive=True))
    assert fair.solve().solver == "totals-search"  # which leaves out less
    bound = fair.solve("cp-sat", formulation="odd", warm_start=Stumps(), time_limit=250)
    assert "stumps" in [claim.by for claim in bound.claims if claim.relaxation]
    assert next(run for run in bound.plan if run.name == "relaxed search").by == ("stumps",)


HEAD = '''"""The best tree of at most one test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.graph import DecisionGraph

if TYPE_CHECKING:
    import treeform as tf


'''
SOLVE = """
import treeform as tf
for depth in (1, 2):
    problem = tf.Problem([[0.0], [1.0], [2.0]] * 4, [0, 0, 1] * 4, shape=tf.Tree(depth))
    result = problem.solve()
    print(result.solver, tf.check(result.certificate(), [[0.0], [1.0], [2.0]] * 4, [0, 0, 1] * 4).verdict)
print([row.available for row in tf.solvers() if row.name == "stumps"])
"""


def test_the_list_names_the_files_that_an_engine_touches(tmp_path: Path) -> None:
    """It has no core, so no folder of C++."""
    house = HouseCopy(tmp_path)
    house.write("treeform/engines/stumps.py", HEAD + inspect.getsource(Stumps))
    line = '        "stumps": "treeform.engines.stumps:Stumps",\n'
    house.add("treeform/utils/extensions.py", '        "dl85":', line)
    page = (ROOT / "docs" / "design" / "engines.rst").read_text(encoding="utf-8")
    steps = page.split("Add an engine\n")[1].split("\n6. ")[0]
    assert house.touched() == files_of(steps, "stumps") - {"treeform/native/stumps/"}
    assert house.run(SOLVE).splitlines() == ["stumps verified", "contree verified", "[True]"]
