"""A requirement of each kind, for the cells of the matrix: what its class gives as `samples`."""

from __future__ import annotations

import pandas as pd

from treeform import requirements as ours
from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.requirement import Requirement, registered
from treeform.language.requirement_text import parse
from treeform.requirements import Fix, MinCoverage, Monotone, StayCloseTo

_TABLE = Dataset.from_user(
    pd.DataFrame({"age": [18.5, 30.25, 47.0, 47.0], "owner": [False, True, False, True]}), [0, 1, 1, 0]
)


def samples_of(kind: type[Requirement]) -> tuple[Requirement, ...]:
    """The samples that a class itself gives."""
    return tuple(map(parse, vars(kind).get("samples", ())))


_OURS = [kind for kind in registered().values() if kind.__module__.startswith(ours.__name__)]

SAMPLES: tuple[Requirement, ...] = (
    *(one for kind in _OURS if "value" not in kind.needs for one in samples_of(kind)),
    # A model is no text.
    Fix(DecisionGraph.from_nested((0, 38.0, 0, 1), _TABLE)),
    StayCloseTo(DecisionGraph.from_nested((0, 24.0, 0, (1, 0.5, 1, 0)), _TABLE), at_most="0.3"),
)
"""Over the tables of `treeform.testing.draw_cases`, whose columns and groups they name."""

ABSTAINING: tuple[type[Requirement], ...] = (MinCoverage,)
"""Those that are asked over the tables of ``draw_cases(abstain=True)``, whose leaves may decide nothing."""

SAMPLES_OF_VALUES: tuple[Requirement, ...] = (
    *(one for kind in _OURS if kind.of_values and kind is not Monotone for one in samples_of(kind)),
    Monotone("age"),  # without a class
    Monotone("owner", "decreasing"),
)
"""Those that may be asked of regression models, over the tables of ``draw_cases(of_values=True)``."""
