"""Parameters with scikit-learn's names, in treeform's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from treeform.errors import SpecError, did_you_mean
from treeform.language.component import parameters_of
from treeform.language.requirement import Requirement
from treeform.requirements import Monotone

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


def monotone_of(monotonic_cst: Any, names: Sequence[str], favourable: Any) -> list[Requirement]:
    """`Monotone` for each column that has a direction.

    Parameters
    ----------
    monotonic_cst : mapping from column to {1, 0, -1}, array of these, or None
        1: the greater class of two is never less likely for greater values; -1 the reverse; 0 no condition.
    names : sequence of str
        Of the columns.
    favourable : label
        The class that is meant.

    Raises
    ------
    SpecError
        If it is none of these.
    """
    if monotonic_cst is None:
        return []
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
                f"monotonic_cst={monotonic_cst!r} does not fit {len(names)} columns",
                fix="give 1, 0 or -1 for each column, or a mapping from column names",
            )
        signs_by_column = dict(zip(names, signs, strict=True))
    odd = [sign for sign in signs_by_column.values() if sign not in (-1, 0, 1)]
    if odd:
        raise SpecError(f"monotonic_cst has the entry {odd[0]!r}", fix="use 1, 0 or -1 for each column")
    words = {1: "increasing", -1: "decreasing"}
    return [Monotone(str(name), words[sign], favourable) for name, sign in signs_by_column.items() if sign]


def listed(requirements: Any) -> list[Requirement]:
    """The requirements as a list, whatever collection they came in."""
    if requirements is None:
        return []
    if isinstance(requirements, Mapping):
        return list(requirements.values())
    return list(requirements) if isinstance(requirements, Iterable) else [requirements]


def named(requirements: Any) -> dict[str, Requirement]:
    """Requirements by the names that parameters use: the user's, or those of their classes, numbered on repeats."""
    if isinstance(requirements, Mapping):
        return {str(name): requirement for name, requirement in requirements.items()}
    by_name: dict[str, Requirement] = {}
    for requirement in listed(requirements):
        base = name = getattr(requirement, "name", type(requirement).__name__)
        count = 1
        while name in by_name:
            count += 1
            name = f"{base}_{count}"
        by_name[name] = requirement
    return by_name


def nested_parameters(requirements: Any) -> dict[str, Any]:
    """``requirements__NAME__PARAMETER`` for each parameter of each requirement."""
    return {
        f"{PREFIX}{name}__{parameter}": value
        for name, requirement in named(requirements).items()
        if isinstance(requirement, Requirement)
        for parameter, value in parameters_of(requirement).items()
    }


def with_parameters(requirements: Any, changes: Mapping[str, Any]) -> Any:
    """The same requirements, with new values for ``NAME__PARAMETER``.

    Raises
    ------
    ValueError
        If there is no such requirement or parameter; scikit-learn expects this type.
    """
    current = named(requirements)
    by_name: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        name, _, parameter = key.partition("__")
        if name not in current:
            raise ValueError(
                f"there is no requirement {name!r} to set {parameter!r} of; there are {', '.join(current) or 'none'}"
            )
        known = parameters_of(current[name])
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
        by_name.setdefault(name, {})[parameter] = value
    made = {
        name: type(requirement)(**{**parameters_of(requirement), **by_name[name]})
        if name in by_name
        else requirement
        for name, requirement in current.items()
    }
    return made if isinstance(requirements, Mapping) else list(made.values())
