"""Settings of engines: whole numbers of NumPy are those of Python."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.errors import SpecError


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (tf.ConTree, {"threads": 2, "seed": 3}),
        (tf.DL85, {"threads": 2}),
        (tf.DiagramSearch, {"threads": 1}),
        (tf.RegressionSearch, {"seed": 5}),
        (tf.PathSearch, {"memory_limit": 2**30}),
        (tf.DeepTreeSearch, {"seed": 2, "work_limit": 10**6}),
    ],
)
def test_whole_numbers_of_numpy_are_settings(kind: Any, settings: dict[str, int]) -> None:
    made = kind(**{name: np.int64(value) for name, value in settings.items()})
    assert made == kind(**settings) and repr(made) == repr(kind(**settings))
    assert {name: type(asdict(made)[name]) for name in settings} == dict.fromkeys(settings, int)


@pytest.mark.parametrize("value", [np.int64(0), np.bool_(True), np.float64(2)])
def test_other_numbers_of_numpy_are_refused(value: object) -> None:
    with pytest.raises(SpecError, match="threads="):
        tf.ConTree(threads=value)
