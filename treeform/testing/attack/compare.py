"""What of an answer disagrees with the list of all models."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from treeform.testing.attack import graphs, rules, values
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.models import Facts
from treeform.testing.attack.rules import Spec
from treeform.testing.attack.world import World


def exact(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value)


def of_model(
    world: World, aim: Aim, specs: Sequence[Spec], graph: Any, stated: Any
) -> tuple[list[str], Facts]:
    """What is wrong with a model that was returned, and with the value that is stated of it."""
    plain, wrong = world.plain, []
    m, misfit, leaves = graphs.read(graph, plain, sharing=world.widths is not None)
    misfit = misfit or graphs.misfit(m, world.widths, world.depth)
    if misfit is not None:
        return [f"the model does not fit {world.shape}: {misfit}"], m
    if world.of_values:
        wrong += _values_wrong(world, aim, specs, m, leaves)
        kind = str(aim.terms[0]["term"])
        value = values.loss(kind, m, leaves, plain) + aim.without(kind).value(m, plain)
    else:
        value = aim.value(m, plain)
    if exact(stated) != value:
        wrong.append(f"the model's value is {value}, and {stated} is stated")
    for spec in specs:
        if world.of_values and spec["kind"] in ("mean_parity", "monotone"):
            continue
        lack = rules.lacking(spec, m, plain)
        if lack:
            wrong.append(f"the model lacks {lack} of {spec['kind']}")
    return wrong, m


def _values_wrong(
    world: World, aim: Aim, specs: Sequence[Spec], m: Facts, leaves: Sequence[Fraction]
) -> list[str]:
    plain = world.plain
    for coef, side in values.rows_of(specs, m, plain):
        total = sum((c * v for c, v in zip(coef, leaves, strict=True)), Fraction(0))
        if total > side:
            return [f"values {list(map(str, leaves))} are beyond a bound by {total - side}"]
    return []


def of_result(
    world: World, aim: Aim, specs: Sequence[Spec], result: Any, ranked: Sequence[tuple[Fraction, Facts]],
    complete: bool,
) -> list[str]:  # fmt: skip
    """What of a `Result` disagrees; ``complete``: nothing ends the search early, so that the answer is proved."""
    wrong: list[str] = []
    optimum = ranked[0][0] if ranked else None
    status, objective, bound = str(result.status), exact(result.objective), exact(result.bound)
    if result.graph is not None:
        wrong += of_model(world, aim, specs, result.graph, objective)[0]
        if any(result.violations.values()):
            wrong.append(f"violations {result.violations} of a model that is returned")
    if status == "optimal" and objective != optimum:
        wrong.append(f"optimal at {objective}, and the optimum is {optimum}")
    if status == "infeasible" and optimum is not None:
        wrong.append(f"infeasible, and the optimum is {optimum}")
    if objective is not None and (optimum is None or objective < optimum):
        wrong.append(f"a model worth {objective}, and the optimum is {optimum}")
    if bound is not None and optimum is not None and bound > optimum:
        wrong.append(f"the bound {bound} is above the optimum {optimum}")
    for claim in result.claims:
        if claim.kind == "lower" and optimum is not None and claim.value > optimum:
            wrong.append(f"claim of {claim.by}: nothing is below {claim.value}; the optimum is {optimum}")
        if claim.kind == "infeasible" and optimum is not None:
            wrong.append(f"claim of {claim.by}: infeasible, and the optimum is {optimum}")
    if complete and status not in ("optimal", "infeasible") and not _too_fine(world, result):
        wrong.append(f"{status} without a limit")
    if status in ("feasible", "unknown") and result.limit is None and "heuristic" not in str(result.solver):
        wrong.append(f"{status} without a reason")
    return wrong


def _too_fine(world: World, result: Any) -> bool:
    """Whether a solver gave up, and says so, on weights whose sums are longer than its numbers."""
    return str(result.limit) == "solver" and world.weight_kind in ("huge", "normalised")


def least(ranked: Sequence[tuple[Fraction, Facts]], most_tests: int, most_depth: int = 99) -> Fraction | None:
    """The least value with at most so many tests."""
    return min((v for v, m in ranked if m.tests <= most_tests and m.depth <= most_depth), default=None)
