"""The brute force and the reference of the differential driver, which share no code: one optimum."""

from __future__ import annotations

import pytest

from treeform.errors import SpecError, TreeformError
from treeform.testing import brute_force
from treeform.testing.differential.cases import BUNDLE, draw_bundle, draw_case
from treeform.testing.differential.world import World

SEED = 11
MODELS = 20_000


@pytest.mark.parametrize("bundle_number", range(32))
def test_brute_force_and_reference_agree(bundle_number: int) -> None:
    bundle = draw_bundle(SEED, bundle_number)
    world = World(bundle)
    asked = set()
    for number in range(bundle_number * BUNDLE, bundle_number * BUNDLE + BUNDLE):
        case = draw_case(SEED, number, bundle)
        key = (case.goal, repr(case.requirements))
        if key in asked or len(asked) == 4:
            continue
        asked.add(key)
        try:
            question = world.problem(case).question
        except TreeformError:
            continue  # refused as infeasible, or a requirement that the data do not allow
        try:
            found = brute_force(
                question.data, question.shape, question.objective, question.requirements, limit=MODELS
            )
        except SpecError:
            pytest.skip("too many models")
        optimum = bundle.answer(case.goal, case.requirements).optimum
        assert (None if found is None else found[0]) == optimum, case
