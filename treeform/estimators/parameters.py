"""Parameters with scikit-learn's names, in treeform's terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from treeform.data.alignment import in_row_order
from treeform.errors import SpecError, did_you_mean
from treeform.language.component import parameters_of
from treeform.language.named import named
from treeform.language.requirement import Requirement
from treeform.requirements import Monotone
from treeform.utils.text import count_of

PREFIX = "requirements__"


def weights_of(class_weight: Any, y: NDArray[Any], sample_weight: Any) -> Any:
    """Sample weights times the weights of their classes; None where neither is given.

    Raises
    ------
    SpecError
        If ``class_weight`` is neither a mapping from labels nor ``"balanced"``.
    """
    if class_weight is None:
        return sample_weight
    try:
        by_class = compute_sample_weight(class_weight, y)
    except (ValueError, TypeError) as error:
        raise SpecError(
            f"class_weight={class_weight!r} is not possible",
            cause=str(error).splitlines()[0],
            fix="use 'balanced', or a weight for each label, such as {'bad': 5, 'good': 1}",
        ) from None
    return by_class if sample_weight is None else by_class * np.asarray(sample_weight, dtype=np.float64)


def monotone_of(monotonic_cst: Any, names: Sequence[str], positive: Any) -> list[Requirement]:
    """`Monotone` for each column that has a direction.

    Parameters
    ----------
    monotonic_cst : mapping from column to {1, 0, -1}, array of these, or None
        1: the greater class of two is never less likely for greater values; -1 the reverse; 0 no condition.
    names : sequence of str
        Of the columns.
    positive : label
        The class that is meant.

    Raises
    ------
    SpecError
        If it is none of these.
    """
    if monotonic_cst is None:
        return []
    monotonic_cst = in_row_order(monotonic_cst, pd.Index(names), "monotonic_cst", "monotonic_cst")
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise SpecError(
                f"monotonic_cst names {unknown[0]!r}, which is no column",
                cause=f"the columns are {', '.join(map(str, names[:20]))}",
                fix=did_you_mean(unknown[0], names) or "name columns of the table",
            )
        signs_by_column = dict(monotonic_cst)
    else:
        signs = np.asarray(monotonic_cst).tolist()
        if not isinstance(signs, list) or len(signs) != len(names):
            raise SpecError(
                f"monotonic_cst={monotonic_cst!r} does not fit {count_of(len(names), 'column')}",
                fix="give 1, 0 or -1 for each column, or a mapping from column names",
            )
        signs_by_column = dict(zip(names, signs, strict=True))
    odd = [sign for sign in signs_by_column.values() if sign not in (-1, 0, 1)]
    if odd:
        raise SpecError(f"monotonic_cst has the entry {odd[0]!r}", fix="use 1, 0 or -1 for each column")
    words = {1: "increasing", -1: "decreasing"}
    return [Monotone(str(name), words[sign], positive) for name, sign in signs_by_column.items() if sign]


def nested_parameters(requirements: Any) -> dict[str, Any]:
    """``requirements__NAME__PARAMETER`` for each parameter of each requirement."""
    return {
        f"{PREFIX}{name}__{parameter}": value
        for name, requirement in named(requirements).items()
        if isinstance(requirement, Requirement)
        for parameter, value in parameters_of(requirement).items()
    }
