"""Objectives: weighted sums of a few terms, with exact coefficients.

``2 * Error() + Fraction(1, 2) * Nodes()`` is an :class:`Objective`: ``evaluate`` gives the exact value of a model, and
``build`` an expression with whole coefficients that is ``scale`` times that value, an integer at every model.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from inspect import isabstract
from typing import Any, ClassVar, NoReturn, cast

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.graph.routing import counts
from treeform.language.numbers import as_fraction, require_exact_sum
from treeform.language.objective_text import names_of_terms, settings_of, terms_in, written
from treeform.language.ports import Ports
from treeform.model import Expr, Model, Quadratic, constant
from treeform.shape import Shape
from treeform.utils.arguments import public
from treeform.utils.rows import worded
from treeform.utils.text import snake_case


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

    def __sub__(self, other: Any) -> NoReturn:
        raise SpecError(
            "terms of an objective are not subtracted",
            cause="everything in it is minimised, and what is not wanted has a price above 0",
            fix="write for example tf.Error() + 2*tf.Nodes()",
        )

    __rsub__ = __sub__

    def __truediv__(self, divisor: Any) -> Objective:
        return self * (1 / as_fraction(divisor, "a divisor of the objective"))


class Term(_Arithmetic):
    """One term of an objective.

    Values are in the user's units: those of sample weights, costs or the target.

    Attributes
    ----------
    name : str
        What it is called in text.
    needs : set of str
        The ports that `build` reads.
    is_sum : bool
        Whether its value adds up over samples and tests; what does not: see `treeform.language.composed`.
    is_whole : bool
        Whether every value is a whole multiple of `unit`.
    of_values : bool
        Whether leaves predict values under it, and not classes: then the problem is one of regression.
    of_size : bool
        Whether it counts tests or leaves, and can be added to any loss as a price.
    is_depth : bool
        Whether it is the depth, which is minimised by a search of its own.
    per_test : int
        What the value is at least for each test of a model.
    has_whole_values : bool
        Whether the best of these are whole multiples of the target's unit.
    is_squared : bool
        Whether `build` states squares, which few solvers take.
    """

    name: ClassVar[str]
    needs: ClassVar[Set[str]] = frozenset()
    is_sum: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True
    of_values: ClassVar[bool] = False
    of_size: ClassVar[bool] = False
    is_depth: ClassVar[bool] = False
    per_test: ClassVar[int] = 0
    has_whole_values: ClassVar[bool] = False
    is_squared: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        terms = [base for base in cls.__bases__ if issubclass(base, Term) and not isabstract(base)]
        if "name" not in cls.__dict__:
            cls.name = terms[0].name if terms else snake_case(cls.__name__)

    @property
    def terms(self) -> tuple[tuple[Fraction, Term], ...]:
        return ((Fraction(1), self),)

    @abstractmethod
    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The exact value of a model, in the user's units."""

    @abstractmethod
    def unit(self, data: Dataset) -> Fraction:
        """A number of which every value of this term is a whole multiple."""

    @abstractmethod
    def build(self, model: Model, ports: Ports) -> Expr | Quadratic:
        """The value divided by `unit`.

        Parameters
        ----------
        model, ports
            As in `Component.build`.

        Returns
        -------
        Expr or Quadratic
            A scalar with whole coefficients; where `is_squared`, with squares.

        Raises
        ------
        SpecError
            If it has no expression.
        """

    @abstractmethod
    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        """A value that no model of ``shape`` exceeds."""

    def least(self, data: Dataset, classes: int) -> Fraction:
        """A value that no model is below; rows alike in all features share one prediction.

        Parameters
        ----------
        data : Dataset
        classes : int
            How many classes the models predict at most.
        """
        return Fraction(0)

    @classmethod
    def from_text(cls, inside: str | None) -> Term:
        """The term as written: by default ``name[field=value, ...]``, with the fields of a dataclass.

        Parameters
        ----------
        inside : str or None
            What stands between its brackets; None where there are none.

        Raises
        ------
        SpecError
            If that is not understood.
        """
        return cls(**settings_of(cls, inside))

    def reading(self, data: Dataset) -> Dataset:
        """The data with the target as this term reads it: as labels, unless it is overridden.

        Raises
        ------
        DataError
            If the target cannot be read so.
        """
        return data

    def bind(self, data: Dataset, **context: Any) -> Term:
        """Resolve what depends on the data, such as groups, and check it.

        Parameters
        ----------
        data, **context
            As in `Requirement.bind`.

        Raises
        ------
        DataError, SpecError
            If the term cannot be stated on these data.
        """
        return self

    def called(self, name: str) -> str:
        """The text with groups that were given as an array under the name ``@name``."""
        return str(self)

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        """Why this term cannot be stated over ``shape``, or None."""
        return None

    def remark(self, graph: DecisionGraph, data: Dataset) -> str | None:
        """What the reader of an answer has to know about the model's value, or None."""
        return None

    def __str__(self) -> str:
        return written(self) if vars(self) else self.name


@dataclass(frozen=True)
class Error(Term):
    """Weight of the misclassified samples (their number when all weights are 1)."""

    name: ClassVar[str] = "error"
    needs: ClassVar[Set[str]] = frozenset({"correct"})

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        leaves = np.flatnonzero(graph.feature < 0)
        right = int(counts(graph, data)[leaves, graph.label[leaves]].sum())
        return data.weight_unit * (data.total_weight - right)

    def unit(self, data: Dataset) -> Fraction:
        return data.weight_unit

    def least(self, data: Dataset, classes: int) -> Fraction:
        missing = np.sort(data.class_weights)[: max(0, data.n_classes - classes)].sum()
        return data.weight_unit * max(data.points.least_errors, int(missing))

    def build(self, model: Model, ports: Ports) -> Expr:
        # (18), first term: sum_i sum_v phi_iv w_iv, with phi = 1 at the terminals of other classes.
        return ((1 - ports.correct) * ports.weights).sum()

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(data.total_weight * data.weight_unit)


class Objective(_Arithmetic):
    """A sum of terms with positive coefficients, minimised. The empty sum stands for any admissible model.

    Equal terms are added up; terms of coefficient 0 vanish. Raises SpecError if a coefficient is negative.
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
        """An objective from a term or its class, a sum of terms, or text. Raises SpecError if it is none of these."""
        if isinstance(value, _Arithmetic):
            return cls(value.terms)
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, type) and issubclass(value, Term):
            return cls(public(value)().terms)
        raise SpecError(
            f"{value!r} is no objective",
            cause=f"an objective is a weighted sum of terms: {', '.join(names_of_terms())}",
            fix="use for example tf.Error() + 2 * tf.Nodes()",
        )

    def bind(self, data: Dataset, **context: Any) -> Objective:
        """The objective with what its terms leave to the data, such as groups, resolved; see `Term.bind`."""
        return Objective((weight, term.bind(data, **context)) for weight, term in self.terms)

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        """A value that no model of ``shape`` exceeds; see `Term.largest`."""
        return sum((weight * term.largest(data, shape) for weight, term in self.terms), Fraction(0))

    @property
    def is_sum(self) -> bool:
        """Whether the value adds up over samples and tests; the depth counts as such, it has its own search."""
        return all(term.is_sum for _, term in self.terms)

    @property
    def is_depth(self) -> bool:
        """Whether the objective is the depth. Raises SpecError if the depth is one of several terms."""
        depth = any(term.is_depth for _, term in self.terms)
        if depth and len(self.terms) > 1:
            raise SpecError(
                f"the objective {self} mixes the depth with other terms",
                cause="the depth is minimised by a search of its own, one depth after the other",
                fix=f"minimise {worded('tf.Depth()', 'depth')} under requirements such as "
                f"{worded('tf.MaxErrors(0)', 'max_errors:0')}, or bound the depth by the shape",
            )
        return depth

    @property
    def is_regression(self) -> bool:
        """Whether leaves predict values, and not classes."""
        return any(term.of_values for _, term in self.terms)

    def reading(self, data: Dataset) -> Dataset:
        """The data with the target as the terms read it: as labels, or as a quantity.

        Raises SpecError if terms on classes are mixed with terms on values, DataError if the target cannot be read so.
        """
        value_terms = [term for _, term in self.terms if term.of_values]
        others = [term for _, term in self.terms if not term.of_values and not term.of_size]
        if value_terms and (others or len(value_terms) > 1):
            raise SpecError(
                f"the objective {self} mixes {value_terms[0].name} with {(others or value_terms[1:])[0].name}",
                cause="a regression problem has one loss, beside the price of tests",
                fix=f"minimise for example {value_terms[0].name} + 2*nodes",
            )
        return value_terms[0].reading(data) if value_terms else data

    @property
    def is_whole(self) -> bool:
        """Whether some `scale` makes every value whole."""
        return all(term.is_whole for _, term in self.terms)

    @property
    def is_squared(self) -> bool:
        """Whether `build` states squares."""
        return any(term.is_squared for _, term in self.terms)

    @property
    def needs(self) -> frozenset[str]:
        """The ports that `build` reads."""
        return frozenset().union(*(term.needs for _, term in self.terms))

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The exact value of a model, in the user's units; see `Term.evaluate`."""
        return sum((weight * term.evaluate(graph, data) for weight, term in self.terms), Fraction(0))

    def scale(self, data: Dataset) -> int:
        """The smallest whole number that makes ``scale * evaluate(...)`` whole for every model."""
        return math.lcm(*((weight * term.unit(data)).denominator for weight, term in self.terms))

    def check(self, data: Dataset, shape: Shape) -> None:
        """Raise SpecError if a term cannot be stated over these, or is no sum and has others beside it."""
        for _, term in self.terms:
            refusal = term.refusal(data, shape)
            if refusal is not None:
                raise refusal
        alone = [term for _, term in self.terms if not term.is_sum]
        if len(self.terms) > 1 and (alone := [term for term in alone if not term.is_whole]):
            raise SpecError(
                f"the objective {self} mixes {alone[0].name} with other terms",
                cause="it is no sum over samples and tests, and is minimised by a method of its own",
                fix="minimise it alone, and bound the rest by requirements such as "
                + worded("tf.MaxNodes(7)", "max_nodes:7"),
            )

    def build(self, model: Model, ports: Ports) -> Expr | Quadratic:
        """``scale`` times the value, with whole coefficients except of squares; see `Term.build`.

        Raises SpecError if coefficients add up beyond what float64 holds exactly.
        """
        self.check(ports.data, ports.shape)
        scale = self.scale(ports.data)
        out: Any = constant(0.0)
        for weight, term in self.terms:
            factor = int(weight * term.unit(ports.data) * scale)
            part = term.build(model, ports)
            if not isinstance(part, Quadratic):
                part = part.reshape(()).coalesced()
                require_exact_sum(term, part, factor, scale, len(self.terms))
            out = part * factor + out if isinstance(part, Quadratic) else out + part * factor
        return cast(Expr | Quadratic, out.coalesced())

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Read ``error + 2*nodes``, ``1/2*leaves``, ``cost[0 5; 1 0] + 0.1*nodes``, ``f1_loss[positive=yes]``.

        Raises SpecError, which lists the terms, if some part is none.
        """
        return cls(terms_in(text))

    def __str__(self) -> str:
        return " + ".join(str(term) if weight == 1 else f"{weight}*{term}" for weight, term in self.terms)

    def __repr__(self) -> str:
        return f"Objective({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Objective) and set(self.terms) == set(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))
