"""Which columns may be tested together on one path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective_text import items_in, list_text, stated
from treeform.language.paths import ColumnRule, PathRule
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Model
from treeform.requirements.columns import (
    check_columns,
    column_groups,
    column_list,
    features_of,
    on_paths,
    paths_taken,
    reads,
    sources,
    tests_on,
)
from treeform.utils.rows import worded


class Interaction(Requirement):
    """The columns tested on one path are from one of these sets.

    Columns that are in none of the sets are one more set. A path is what a row of the training data takes; in a tree
    these are all paths.

    Parameters
    ----------
    sets : sequence of sequences of str, or str
        ``[["age", "income"], ["debt"]]``; as text ``"age,income;debt"``. A column may be in several sets.

    Raises
    ------
    SpecError
        If no set is given, or one is empty.
    DataError
        When bound to data: a column that is not there.

    Notes
    -----
    ``interaction_cst`` of scikit-learn's HistGradientBoostingClassifier, with the same meaning of columns left out.
    """

    name: ClassVar[str] = "interaction"
    samples: ClassVar[tuple[str, ...]] = ('interaction:"age;owner,group"',)
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"feature", "reaches"})

    def __init__(self, sets: Any) -> None:
        listed = [part for part in items_in(sets, ";") if part.strip()] if isinstance(sets, str) else sets
        if (
            not isinstance(listed, Sequence)
            or not listed
            or (any(isinstance(one, str) for one in listed) and not isinstance(sets, str))
        ):
            raise SpecError(
                f"the sets {sets!r} are not possible",
                cause="there is a list of columns for each set",
                fix="write for example "
                + worded("Interaction([['age', 'income'], ['debt']])", "interaction:'age,income; debt'"),
            )
        self.sets = tuple(column_list(one, "Interaction") for one in listed)

    def bind(self, data: Dataset, **context: Any) -> Interaction:
        check_columns(data, [name for one in self.sets for name in one], self)
        return self

    def _membership(self, data: Dataset) -> tuple[list[str], np.ndarray]:
        """The columns, and (sets, columns) whether each is in each set; the last set holds those left out."""
        names = sources(data)
        named = {name for one in self.sets for name in one}
        sets = [*map(set, self.sets), set(names) - named]
        held = [one for one in sets if one]
        return names, np.array([[name in one for name in names] for one in held], dtype=bool)

    def build(self, model: Model, ports: Ports) -> None:
        # on[p, c] + chosen[p, s] <= 1 for columns c outside the set s,   sum_s chosen[p, s] = 1
        names, held = self._membership(ports.data)
        if held.all(axis=1).any():
            return
        on = on_paths(model, ports, tests_on(model, ports, names, str(self)), str(self))
        chosen = model.bool("set of the path", (on.shape[0], len(held)))
        model.add(chosen.sum(axis=1) == 1, f"{self}: one set for each path")
        for index, inside in enumerate(held):
            outside = np.flatnonzero(~inside)
            model.add(on[:, outside] + chosen[:, index][:, None] <= 1, f"{self}: columns outside a set")

    def violation(self, graph: DecisionGraph, data: Dataset) -> int:
        """The number of different paths whose columns are in no set together."""
        names, held = self._membership(data)
        paths = paths_taken(graph, data)
        on = (paths.astype(int) @ reads(graph, data, names).astype(int)) > 0
        fits = ~(on[:, None, :] & ~held[None, :, :]).any(axis=2)
        return int((~fits.any(axis=1)).sum())

    def allowed_features(self, data: Dataset) -> list[frozenset[int]] | None:
        """Where no column is in two sets: each path has the first test, whose set is that of all paths."""
        names, held = self._membership(data)
        if (held.sum(axis=0) > 1).any():
            return None
        inside = [[name for name, one in zip(names, row, strict=True) if one] for row in held]
        return [frozenset(int(f) for name in each for f in features_of(data, name)) for each in inside]

    def path_rule(self, data: Dataset) -> PathRule:
        return _OneSet(self, data)

    def __str__(self) -> str:
        return stated(self.name, ";".join(map(list_text, self.sets)))

    def in_words(self) -> str:
        sets = "; or ".join(" and ".join(one) for one in self.sets)
        return f"the columns tested on one path are among {sets}; or among the columns not named here"


class _OneSet(ColumnRule):
    """The columns of a path are in one of the sets together."""

    def __init__(self, of: Interaction, data: Dataset) -> None:
        names, self.held = of._membership(data)
        super().__init__(column_groups(data, ([name] for name in names)))

    def may_follow(self, tested: frozenset[int], group: int) -> bool:
        return bool(self.held[:, [*tested, group]].all(axis=1).any())
