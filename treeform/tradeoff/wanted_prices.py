"""The prices per test that a size table has to prove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.errors import SpecError
from treeform.language.question import Question
from treeform.tradeoff.size_table import checked_price, price_of_alpha


@dataclass(frozen=True)
class Price:
    """A price per test in scaled units, and how many tests are free."""

    each: Fraction | None
    free: int


EVERY_ROW = Price(None, 0)


def wanted_prices(question: Question, prices: Sequence[Any] | None, alphas: Sequence[Any] | None) -> list[Price]:
    """What has to be proved, the most expensive price first; without any, every row."""
    scale = question.scale
    wanted = [Price(checked_price(p) * scale, 0) for p in _several(prices, "prices")]
    wanted += [Price(price_of_alpha(question, a) * scale, 1) for a in _several(alphas, "alphas")]
    if prices is None and alphas is None:
        return [EVERY_ROW]
    return sorted(wanted, key=lambda price: -(price.each or 0))


def _several(given: Any, name: str) -> Sequence[Any]:
    """The numbers of an argument that takes several of them."""
    if given is None:
        return ()
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return list(given)
    raise SpecError(
        f"{name}={given!r} is not several numbers",
        cause="it is a list of them, also for a single one",
        fix=f"write {name}=[{given}]",
    )
