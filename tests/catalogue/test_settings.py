"""Settings after a name: ``contree:max_gap=5``."""

from __future__ import annotations

import pytest

import treeform as tf
from treeform.catalogue.solvers import find_formulation, find_solver
from treeform.errors import SpecError
from treeform.utils.extensions import parse_name


def test_parse_name() -> None:
    assert parse_name("highs") == ("highs", "")
    assert parse_name("pyomo:cbc") == ("pyomo:cbc", "")
    assert parse_name("dl85: threads=2") == ("dl85", " threads=2")
    assert parse_name("pyomo:cbc:options=none") == ("pyomo:cbc", "options=none")


def test_engines() -> None:
    assert find_solver("contree:max_gap=5,parts=neighbourhood") == tf.ConTree(
        max_gap=5, parts=("neighbourhood",)
    )
    assert find_solver("contree:parts=none").parts == ()
    assert find_solver("contree") == tf.ConTree()


def test_backends() -> None:
    made = find_solver("cp-sat:threads=2,seed=7")
    assert (made.threads, made.seed) == (2, 7)
    assert find_solver("CP_SAT:threads=2").threads == 2
    assert find_solver("highs:threads=2").threads == 2
    assert find_solver("cadical153:memory_limit=512").memory_limit == 512


def test_formulations() -> None:
    assert find_formulation("odd").name == "odd"
    with pytest.raises(SpecError, match="odd has no setting 'depth'"):
        find_formulation("odd:depth=3")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("contree:max_gp=5", ["no setting 'max_gp'", "did you mean 'max_gap'"]),
        ("contree:max_gap=5,max_gap=6", ["twice"]),
        ("contree:max_gap=5,parts", ["no value"]),
        ("contree:simd=avx3", ["simd"]),
        ("cp-sat:threads=many", ["threads"]),
        ("contre:max_gap=5", ["no solver 'contre'", "did you mean 'contree'"]),
        ("threads=2", ["after a colon"]),
        ("sat-depth", ["no solver 'sat-depth'", "formulation='sat-depth'"]),
    ],
)
def test_refusals(text: str, parts: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        find_solver(text)
    assert all(part in str(caught.value) for part in parts), caught.value
