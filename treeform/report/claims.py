"""What solvers and engines say, as a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.report.figures import number_of
from treeform.solve import SolveResult
from treeform.solve.result import CLAIMED
from treeform.utils.text import value_text


@dataclass(frozen=True)
class ClaimFact:
    """The claims, and the solvers and engines that proved them."""

    kind: str
    what: str
    value: str
    by: str
    seconds: float
    relaxation: tuple[str, ...]
    rechecked: str
    counters: tuple[tuple[str, int], ...] = ()


_AGAIN = {
    "engine": "by solving again",
    "lagrangian": "by its multipliers",
    "proof": "by its proof on file",
    None: "no witness: as far as treeform check can solve it again",
}


def claims_of_result(result: SolveResult, floor: Fraction) -> tuple[ClaimFact, ...]:
    """The claims of a solve; ``floor`` as in `_claim`."""
    return tuple(_claim(vars(claim), floor) for claim in result.claims)


def claims_of_certificate(certificate: Mapping[str, Any], floor: Fraction | None) -> tuple[ClaimFact, ...]:
    """The claims of a certificate; ``floor`` as in `_claim`."""
    return tuple(
        _claim(
            {
                **claim["metadata"],
                "kind": claim["kind"],
                "value": number_of(claim["value"]),
                "recheck": claim["route"] or _engine(claim["metadata"]),
            },
            floor,
        )
        for claim in certificate["claims"]
    )


def _engine(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """An engine's claim has no witness: it is solved again."""
    return {"kind": "engine"} if "engine" in metadata["details"] else None


def _claim(claim: Mapping[str, Any], floor: Fraction | None) -> ClaimFact:
    """``floor`` is what rows that agree on every feature cost anyway, where known: bounds up to it are counted."""
    kind, value = claim["kind"], claim["value"]
    if kind == "upper" or (floor is not None and value is not None and value <= floor):
        rechecked = "by counting"
    else:
        rechecked = _AGAIN[None if claim["recheck"] is None else claim["recheck"]["kind"]]
    return ClaimFact(
        kind=kind,
        what=CLAIMED[kind],
        value="" if value is None else value_text(value),
        by=claim["by"],
        seconds=float(claim["seconds"]),
        relaxation=tuple(claim["relaxation"]),
        rechecked=rechecked,
        counters=tuple(claim.get("counters", {}).items()),
    )
