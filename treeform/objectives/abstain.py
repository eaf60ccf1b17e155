"""The reject option: leaves that decide nothing, at a price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.errors import SpecError
from treeform.language.classes import no_abstention
from treeform.language.costs import ClassCost, Cost
from treeform.language.numbers import as_fraction
from treeform.language.objective_text import only, settings_in
from treeform.shape import Shape
from treeform.utils.text import count_of


@dataclass(frozen=True, init=False)
class AbstainCost(ClassCost):
    """Errors, or costs by a matrix, and a price for each sample whose leaf abstains.

    The problem has to name the label of such leaves: ``tf.Problem(..., abstain="ask")``.

    Parameters
    ----------
    price : float, str or Fraction
        Of a unit of weight without a decision, at least 0; taken as the decimal that it is written as.
    cost : Cost or (K, K) array, optional
        Costs of the other predictions by true and predicted class. By default an error costs 1.

    Raises
    ------
    SpecError
        If the price is negative or the matrix none; when bound to data without a label for it.

    Notes
    -----
    Chow, On optimum recognition error and reject tradeoff, IEEE Transactions on Information Theory 16, 1970: with
    costs 0 and 1 a sample is rejected where the probability of an error is above the price.
    """

    price: Fraction
    cost: Cost | None
    name: ClassVar[str] = "abstain_cost"

    def __init__(self, price: Any, cost: Any = None) -> None:
        exact = as_fraction(price, "the price of abstain_cost")
        if exact < 0:
            raise SpecError(
                "the price of abstaining is negative", fix="use for example tf.AbstainCost('0.2')"
            )
        object.__setattr__(self, "price", exact)
        object.__setattr__(self, "cost", cost if cost is None or isinstance(cost, Cost) else Cost(cost))

    def bind(self, data: Dataset, **context: Any) -> AbstainCost:
        if data.abstain_code is None:
            raise no_abstention(f"{self} prices")
        return self

    def entry(self, data: Dataset, truth: int, guess: int) -> Fraction:
        if data.abstain_code in (truth, guess):
            return self.price if truth != guess else Fraction(0)
        return Fraction(int(truth != guess)) if self.cost is None else self.cost.matrix[truth][guess]

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if self.cost is None or len(self.cost.matrix) == data.n_classes - 1:
            return super().refusal(data, shape)
        return SpecError(
            f"the cost matrix has {count_of(len(self.cost.matrix), 'row')} and the data have "
            + count_of(data.n_classes - 1, "class"),
            cause=f"the classes are {', '.join(map(repr, map(plain, data.classes[:-1])))}",
            fix="give one row and one column per class, in that order; abstaining has the price",
        )

    @classmethod
    def from_text(cls, inside: str | None) -> AbstainCost:
        given = only(settings_in(inside, cls.name), ("price", "cost"), cls.name)
        if "price" not in given:
            raise SpecError("abstain_cost has no price", fix="write for example abstain_cost[price=0.2]")
        return cls(given["price"], Cost.from_text(given["cost"]) if "cost" in given else None)

    def __str__(self) -> str:
        cost = "" if self.cost is None else f",cost={str(self.cost)[len('cost[') : -1]}"
        return f"{self.name}[price={self.price}{cost}]"
