"""Objectives: weighted sums of a few terms, with exact coefficients.

``2 * Error() + Fraction(1, 2) * Nodes()`` is an :class:`Objective`. It has the two faces of a requirement:
``evaluate`` gives the exact value of a finished model, ``build`` an expression with whole coefficients that
is ``scale`` times that value, so that a solver's objective is an integer at every model.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.model import Expr, Model, constant
from treeform.shape import Tree

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.shape import Shape

LARGEST_COST = 2**60
"""All samples at their worst cost stay below this: native engines count in 64 bits."""

LARGEST = 2**53
"""Solvers hold objectives in float64: whole numbers up to here are exact."""


class _Arithmetic(ABC):
    """``+`` and ``*`` shared by terms and sums of terms."""

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[Fraction, Term], ...]: ...

    def __add__(self, other: Any) -> Objective:
        return Objective((*self.terms, *Objective.of(other).terms))

    def __radd__(self, other: Any) -> Objective:
        if isinstance(other, int) and other == 0:  # sum([...]) starts from 0
            return Objective(self.terms)
        return Objective.of(other) + self

    def __mul__(self, factor: Any) -> Objective:
        number = as_fraction(factor, "a coefficient of the objective")
        return Objective(tuple((number * weight, term) for weight, term in self.terms))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Objective:
        return self * (1 / as_fraction(divisor, "a divisor of the objective"))


class Term(_Arithmetic):
    """One thing to minimise."""

    name: ClassVar[str]
    needs: ClassVar[Set[str]] = frozenset()

    @property
    def terms(self) -> tuple[tuple[Fraction, Term], ...]:
        return ((Fraction(1), self),)

    @abstractmethod
    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The exact value of a model, in the user's units."""

    @abstractmethod
    def unit(self, data: Dataset) -> Fraction:
        """Every value of this term is a whole multiple of this number."""

    @abstractmethod
    def build(self, m: Model, t: Ports) -> Expr:
        """The value divided by `unit`, as an expression with whole coefficients."""

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        """Why this term cannot be stated over ``shape``, or None."""
        return None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Error(Term):
    """Weight of the misclassified samples (their number when all weights are 1)."""

    name: ClassVar[str] = "error"
    needs: ClassVar[Set[str]] = frozenset({"correct"})

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        wrong = graph.predict_codes(data.X) != data.y
        return data.weight_unit * int(np.asarray(data.weights)[wrong].sum())

    def unit(self, data: Dataset) -> Fraction:
        return data.weight_unit

    def build(self, m: Model, t: Ports) -> Expr:
        # (18), first term: sum_i sum_v phi_iv w_iv, with phi = 1 at the terminals of other classes.
        return ((1 - t.correct) * t.weights).sum()


@dataclass(frozen=True, init=False)
class Cost(Term):
    """Cost of predictions: ``matrix[true class, predicted class]`` per unit of sample weight.

    Parameters
    ----------
    matrix : array of shape (K, K)
        Finite, not negative; classes in the order of ``Dataset.classes`` (sorted). Floats are read as the
        decimals they are written as.
    """

    matrix: tuple[tuple[Fraction, ...], ...]
    name: ClassVar[str] = "cost"
    needs: ClassVar[Set[str]] = frozenset({"predicted"})

    def __init__(self, matrix: Any) -> None:
        try:
            rows = [list(row) for row in (matrix.tolist() if isinstance(matrix, np.ndarray) else matrix)]
        except TypeError:
            raise SpecError(
                f"{matrix!r} is no cost matrix",
                cause="there is one row per true class and one column per predicted class",
                fix="use for example tf.Cost([[0, 5], [1, 0]])",
            ) from None
        if not rows or any(len(row) != len(rows) for row in rows):
            raise SpecError(
                f"a cost matrix with rows of {[len(row) for row in rows]} entries is not square",
                cause="there is one row per true class and one column per predicted class",
                fix="use for example tf.Cost([[0, 5], [1, 0]]) for two classes",
            )
        exact = tuple(tuple(as_fraction(v, "a cost") for v in row) for row in rows)
        if min(min(row) for row in exact) < 0:
            raise SpecError(
                "a cost is negative", cause="costs are at least 0", fix="add a constant to its row"
            )
        object.__setattr__(self, "matrix", exact)

    def entry(self, data: Dataset, truth: int, guess: int) -> Fraction:
        """Cost of predicting class code ``guess`` for a sample of class code ``truth``."""
        return self.matrix[truth][guess]

    def whole(self, data: Dataset) -> np.ndarray:
        """(K, K) int64 costs in multiples of ``unit / weight_unit``."""
        step = self._step()
        return np.array([[int(v / step) for v in row] for row in self.matrix], dtype=np.int64)

    def _step(self) -> Fraction:
        entries = [v for row in self.matrix for v in row]
        return Fraction(1, math.lcm(*(v.denominator for v in entries)))

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        guess = graph.predict_codes(data.X)
        each = self.whole(data)[np.asarray(data.y), guess].astype(object)
        return self.unit(data) * int((each * np.asarray(data.weights)).sum())

    def unit(self, data: Dataset) -> Fraction:
        return data.weight_unit * self._step()

    def build(self, m: Model, t: Ports) -> Expr:
        each = self.whole(t.data)[np.asarray(t.data.y)] * t.weights[:, None]
        cost: Expr = (t.predicted * each).sum()
        return cost

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if len(self.matrix) == data.n_classes:
            return self._too_large(data)
        return SpecError(
            f"the cost matrix has {len(self.matrix)} rows and the data have {data.n_classes} classes",
            cause=f"the classes are {', '.join(map(str, data.classes))}",
            fix="give one row and one column per class, in that order",
        )

    def _too_large(self, data: Dataset) -> SpecError | None:
        dearest = max(map(max, self.matrix)) / self._step()
        if dearest * data.total_weight < LARGEST_COST:
            return None
        return SpecError(
            "the costs are too large for exact 64-bit arithmetic",
            cause=f"as whole numbers they have up to {len(str(math.ceil(dearest)))} digits, on a total weight of "
            f"{data.total_weight:.3g}, and the largest sum is {LARGEST_COST}",
            fix="round costs and sample weights to fewer digits",
        )

    def __str__(self) -> str:
        return "cost[" + "; ".join(" ".join(map(str, row)) for row in self.matrix) + "]"


@dataclass(frozen=True)
class Nodes(Term):
    """Number of tests (internal nodes) of the model."""

    name: ClassVar[str] = "nodes"
    needs: ClassVar[Set[str]] = frozenset({"active"})

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return Fraction(graph.n_nodes)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, m: Model, t: Ports) -> Expr:
        return t.active.sum()


@dataclass(frozen=True)
class Leaves(Term):
    """Number of leaves of a tree: arcs that end, one more than tests, however many leaf nodes the arrays have.

    A pass-through counts as a test with two arcs, one of them empty. A diagram's leaves are just the classes.
    """

    name: ClassVar[str] = "leaves"
    needs: ClassVar[Set[str]] = frozenset({"active"})

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return Fraction(graph.n_nodes + 1)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, m: Model, t: Ports) -> Expr:
        return t.active.sum() + 1

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if isinstance(shape, Tree):
            return None
        return SpecError(
            f"the leaves of {shape} cannot be counted as an objective",
            cause="a diagram has one terminal per class, whatever its size",
            fix="use tf.Nodes()",
        )


@dataclass(frozen=True)
class Depth(Term):
    """Largest number of tests on a path. Minimised by a search over depths, so it has no expression."""

    name: ClassVar[str] = "depth"

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return Fraction(graph.depth)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, m: Model, t: Ports) -> Expr:
        raise SpecError(
            "the depth is no part of a compiled objective",
            cause="it is minimised by solving for depth 1, 2, 3, ... in turn",
            fix="use problem.minimize(tf.Depth()) and problem.solve(), or bound the depth by the shape",
        )


class Objective(_Arithmetic):
    """A sum of terms with positive coefficients, minimised. The empty sum asks for any admissible model.

    Parameters
    ----------
    terms : iterable of (Fraction, Term)
        Equal terms are added up; terms of coefficient 0 vanish.

    Raises
    ------
    SpecError
        If a coefficient is negative.
    """

    def __init__(self, terms: Any = ()) -> None:
        total: dict[Term, Fraction] = {}
        for weight, term in terms:
            total[term] = total.get(term, Fraction(0)) + as_fraction(weight, f"the coefficient of {term}")
        for term, weight in total.items():
            if weight < 0:
                raise SpecError(
                    f"the objective has {weight} times {term}",
                    cause="objectives are minimised and their coefficients are positive",
                    fix="bound the term by a requirement instead",
                )
        self._terms = tuple((weight, term) for term, weight in total.items() if weight)

    @property
    def terms(self) -> tuple[tuple[Fraction, Term], ...]:
        return self._terms

    @classmethod
    def of(cls, value: Any) -> Objective:
        """An objective from a term, a sum of terms, or their text form."""
        if isinstance(value, _Arithmetic):
            return cls(value.terms)
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, type) and issubclass(value, Term):
            return cls(value().terms)
        raise SpecError(
            f"{value!r} is no objective",
            cause=f"an objective is a weighted sum of {', '.join(c.__name__ for c in _TERMS.values())}",
            fix="use for example tf.Error() + 2 * tf.Nodes()",
        )

    @property
    def needs(self) -> frozenset[str]:
        """The ports that `build` reads."""
        return frozenset().union(*(term.needs for _, term in self.terms))

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The exact value of a model, in the user's units."""
        return sum((weight * term.evaluate(graph, data) for weight, term in self.terms), Fraction(0))

    def scale(self, data: Dataset) -> int:
        """The smallest whole number that makes ``scale * evaluate(...)`` whole for every model."""
        return math.lcm(*((weight * term.unit(data)).denominator for weight, term in self.terms))

    def check(self, data: Dataset, shape: Shape) -> None:
        """Raise a SpecError if some term cannot be stated over this shape and these data."""
        for _, term in self.terms:
            refusal = term.refusal(data, shape)
            if refusal is not None:
                raise refusal

    def build(self, m: Model, t: Ports) -> Expr:
        """``scale`` times the value as a scalar expression with whole coefficients.

        Raises
        ------
        SpecError
            If coefficients add up beyond what float64 holds exactly.
        """
        self.check(t.data, t.shape)
        scale = self.scale(t.data)
        out = constant(0.0)
        for weight, term in self.terms:
            factor = int(weight * term.unit(t.data) * scale)
            part = term.build(m, t).reshape(()).coalesced()
            largest = factor * float(np.abs(part.rows.vals).sum() + np.abs(part.const).sum())
            if largest > LARGEST / len(self.terms):
                raise SpecError(
                    f"the term {term} reaches {largest:.3g} in the objective's whole units of 1/{scale}",
                    cause="solvers hold objectives in float64, exact up to 2**53",
                    fix="round sample weights and coefficients to fewer digits",
                )
            out = out + part * factor
        return out.coalesced()

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Read ``error + 2*nodes``, ``1/2*leaves``, ``cost[0 5; 1 0] + 0.1*nodes``, ``depth``.

        Raises
        ------
        SpecError
            If some part is no term; the message lists the terms.
        """
        if not text.strip():
            return cls()
        terms: list[tuple[Fraction, Term]] = []
        for part in text.split("+"):
            weight = Fraction(1)
            names = []
            for factor in re.split(r"\*", part):
                try:
                    weight *= Fraction(factor.strip())
                except (ValueError, ZeroDivisionError):
                    names.append(factor.strip())
            if len(names) != 1:
                raise _not_a_term(part.strip(), text)
            terms.append((weight, _term(names[0], text)))
        return cls(terms)

    def __str__(self) -> str:
        return " + ".join(str(term) if weight == 1 else f"{weight}*{term}" for weight, term in self.terms)

    def __repr__(self) -> str:
        return f"Objective({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Objective) and dict(_swapped(self)) == dict(_swapped(other))

    def __hash__(self) -> int:
        return hash(frozenset(_swapped(self)))


_TERMS: dict[str, type[Term]] = {c.name: c for c in (Error, Cost, Nodes, Leaves, Depth)}


def _swapped(objective: Objective) -> list[tuple[Term, Fraction]]:
    return [(term, weight) for weight, term in objective.terms]


def _term(name: str, text: str) -> Term:
    body = re.fullmatch(r"cost\s*\[(.*)\]", name)
    if body is not None:
        try:
            return Cost([[Fraction(v) for v in row.split()] for row in body[1].split(";")])
        except (ValueError, ZeroDivisionError):
            raise _not_a_term(name, text) from None
    if name not in _TERMS or name == "cost":
        raise _not_a_term(name, text)
    return _TERMS[name]()


def _not_a_term(part: str, text: str) -> SpecError:
    return SpecError(
        f"{part!r} in the objective {text!r} is not understood",
        cause="an objective is a sum of NUMBER*TERM; terms: error, cost[a b; c d], nodes, leaves, depth",
        fix="use for example 'error + 2*nodes'",
    )


def _meant(value: float | np.floating[Any]) -> Fraction:
    """The number that a float stands for: the decimal that it prints as, or 2/3 for 0.6666666666666666."""
    written = Fraction(str(value))  # the shortest text of the value's own precision: float32(0.8) is 4/5 too
    if written.denominator <= 10**14:
        return written
    near = Fraction(float(value)).limit_denominator(10**6)
    return near if float(near) == float(value) else written


def as_fraction(value: Any, what: str) -> Fraction:
    """A finite number as the fraction that it is written as: 0.8 is 4/5, and the float of 2/3 is 2/3.

    Raises
    ------
    SpecError
        If ``value`` is no finite number.
    """
    try:
        if isinstance(value, str):
            return Fraction(value.strip())
        if isinstance(value, Rational) and not isinstance(value, bool):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, float | np.floating):
            return _meant(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise SpecError(
        f"{value!r} cannot be {what}", cause="it is no finite number", fix="use for example 0.8 or 4/5"
    )
