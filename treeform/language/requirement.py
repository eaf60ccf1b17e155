"""Requirements: components that also evaluate a finished model exactly.

Every class derived from :class:`Requirement` is kept under its name; :func:`registered` lists them.
"""

from __future__ import annotations

import copy
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.errors import SpecError, unknown_name
from treeform.graph import DecisionGraph
from treeform.language.component import Component, parameters_of
from treeform.language.meetings import Meetings
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective
from treeform.language.objective_text import stated
from treeform.language.paths import PathRule
from treeform.language.ports import Ports
from treeform.language.totals import Totals, of_prediction_rows
from treeform.language.values import ValueRule
from treeform.model import Expr, Model
from treeform.shape import Limits, Shape
from treeform.utils.extensions import OBJECTIVES, REQUIREMENTS, extensions, find
from treeform.utils.text import decimal_or_plain, snake_case

R = TypeVar("R", bound="Requirement")


class Requirement(Component, ABC):
    """A condition on models, stated as rows for solvers and as an exact check of a finished model.

    ``build`` states it as rows over ports, for solvers. ``violation`` computes from a finished model and the data
    by how much it is violated. Every answer is judged by ``violation``, and the conformance kit
    (``treeform.testing.check_requirement``) compares the two.

    Subclasses are registered under ``name`` (the class name in snake case unless they set it), which is what
    the command line, specification files and certificates use.

    Attributes
    ----------
    name : str
    continuous : bool
        Whether ``build`` adds columns that are not whole numbers. Where no solver is named, one that takes them
        is chosen then; columns that are not declared are refused.
    demands_tests : bool
        Whether it may need tests that decide nothing, as "at least five tests" does. False guarantees that a model
        which satisfies it still does when such a test is left out or made a pass-through; formulations then state
        less, and are faster.
    of_values : bool
        Whether it may be asked of regression models: it reads tests and weights, and no predicted class.
    alternatives : tuple of str
        Parameters of which one is given, such as ``ratio`` and ``difference``: to set one clears the others.
    of_rows : bool
        Whether it is about rows and what is predicted for them, so that it can be asked of some of them (`on`, `each`).
        What states `totals` or `prediction_rows` over ``predicted`` always can.
    names_rows : bool
        Whether it names single rows by their positions in the table.
    bare : tuple of str
        Parameters that stand first in its text, without their names.
    words : str
        What it asks, as a clause with places for its attributes: "at most {share} of the rows are predicted yes".
    samples : tuple of str
        Texts of it that have a meaning on the tables of `treeform.testing`, whose columns are ``age``, ``owner`` and
        ``group`` and whose classes are 0 and 1. What is tested for every requirement of treeform is tested with them.
    """

    name: ClassVar[str] = ""
    continuous: ClassVar[bool] = False
    demands_tests: ClassVar[bool] = True
    of_values: ClassVar[bool] = False
    alternatives: ClassVar[tuple[str, ...]] = ()
    of_rows: ClassVar[bool] = False
    names_rows: ClassVar[bool] = False
    bare: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[str] = ""
    samples: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        """Enter the class under its name; ``listed=False`` for what is a part of something else."""
        super().__init_subclass__(**kwargs)
        if "forms" in cls.__dict__ and cls.build is Requirement.build:
            raise SpecError(
                f"{cls.__name__} states forms, and Requirement reads none",
                cause="tf.LinearRequirement derives rows, bounds and violations from them",
                fix=f"write class {cls.__name__}(tf.LinearRequirement)",
            )
        if not listed:
            return
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)
        registered = _REGISTRY.get(cls.name)
        ours = "treeform.requirements"
        if (
            registered is not None
            and registered.__module__.startswith(ours)
            and not cls.__module__.startswith(ours)
        ):
            raise SpecError(
                f"a requirement named {cls.name!r} exists already",
                cause=f"it is {registered.__module__}.{registered.__name__}",
                fix=f"rename the class, or set another `name` in {cls.__name__}",
            )
        _REGISTRY[cls.name] = cls

    @property
    def is_open(self) -> bool:
        """Whether its bound is left open, which only frontiers accept; see `treeform.Bounded`."""
        return False

    @abstractmethod
    def build(self, model: Model, ports: Ports) -> None:
        """Add the rows that state this requirement.

        Parameters
        ----------
        model : Model
            Where rows, and columns of their own, are added.
        ports : Ports
            What the formulation publishes, such as ``ports.predicted``; those of `needs` are there.
        """

    @abstractmethod
    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        """How much ``graph`` violates the requirement on ``data``, exactly; 0 if it is satisfied.

        Parameters
        ----------
        graph : DecisionGraph
        data : Dataset
            Encoded rows ``X``, class codes ``y`` and integer ``weights``.
        """

    def bind(self, data: Dataset, **context: Any) -> Requirement:
        """Resolve what depends on the data (column names, fractions) and check it.

        Parameters
        ----------
        data : Dataset
        **context
            What else is known, such as ``sensitive_features`` given to an estimator's ``fit``.

        Raises
        ------
        DataError, SpecError
            If the requirement cannot be stated on these data.
        """
        return self

    def limits(self, data: Dataset) -> Limits | None:
        """Plain bounds that are equivalent to this requirement, for native engines; None if there are none."""
        return None

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        """Linear rows over predictions that are equivalent to this requirement; no rows if there are none.

        Each pair ``(coef, rhs)``, ``coef`` of shape (n, K) int64, states: the sum over samples of weight times
        ``coef[i, class predicted for i]`` is at most ``rhs``. Used for Lagrangian bounds.
        """
        return []

    def totals(self, data: Dataset) -> Totals | None:
        """Linear constraints over sums that are equivalent to this requirement; None if there are none.

        `treeform.engines.TotalsSearch` supports requirements that declare them, and proves optima. The default derives
        it from `prediction_rows`; override it where fewer totals than rows will do, or where tests add to them.
        """
        return of_prediction_rows(self.prediction_rows(data), str(self))

    def meetings(self, data: Dataset) -> Meetings | None:
        """Marks that must not meet at a test, if they are equivalent to this requirement; else None.

        `treeform.engines.TotalsSearch` supports a requirement that declares them.
        """
        return None

    def path_rule(self, data: Dataset) -> PathRule | None:
        """An equivalent rule on the paths of a tree, for `treeform.engines.PathSearch`; None if there is none."""
        return None

    def value_rule(self, data: Dataset) -> ValueRule | None:
        """Rows and orders over the values of a regression tree that are equivalent to this requirement; else None.

        Trees are given the best values that satisfy it, and depth two is proved natively.
        """
        return None

    def allowed_features(self, data: Dataset) -> list[frozenset[int]] | None:
        """Sets of encoded features, if the requirement is that all tests read features of one of these sets.

        Every native engine supports it, by one search for each set; None when it says anything else.
        """
        return None

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        """Why this requirement has no meaning for models of ``shape``, or None."""
        return None

    def remark(self, data: Dataset) -> str | None:
        """A note of the result about this requirement on ``data``, or None."""
        return None

    def known_model(self, data: Dataset) -> DecisionGraph | None:
        """A model over the columns of ``data`` that satisfies this requirement, where one is at hand; else None."""
        return None

    def adapted(self, graph: DecisionGraph, data: Dataset) -> DecisionGraph:
        """A model with the same decisions on ``data`` in the form that this requirement needs; usually ``graph``."""
        return graph

    # -- asked of some rows ----------------------------------------------------------------------------

    def on(self, rows: Any) -> Requirement:
        """The requirement on some of the rows: ``MinRecall(0.8).on("region == 'north'")``.

        Parameters
        ----------
        rows : str or mask
            A condition on columns of the table, or one truth value for each row of it.

        Returns
        -------
        Requirement

        Raises
        ------
        SpecError
            If this requirement is about tests or paths; when bound to data, if the condition is not understood.
        """
        on_rows: Requirement = class_of("on_rows")(self, rows)  # type: ignore[call-arg]
        return on_rows

    def each(self, column: Any) -> Requirement:
        """The requirement on the rows of each value of a column: ``MinRecall(0.8).each("quarter")``.

        Parameters
        ----------
        column : str, array or Series
            The name of a column, names that are crossed (``"region & quarter"``), or one entry for each row.

        Raises
        ------
        SpecError
            As `on`.
        """
        each: Requirement = class_of("on_rows")(self, None, column)  # type: ignore[call-arg]
        return each

    def on_positions(self, positions: np.ndarray, data: Dataset) -> Requirement:
        """The requirement for a table that has only some rows: arrays with an entry for each row are cut down.

        Parameters
        ----------
        positions : (m,) int64 array
            The positions of these rows in ``data``.
        data : Dataset
            The whole table.
        """
        return self

    # -- paid instead of held ------------------------------------------------------------------------

    def soft(self, price: Any) -> Objective:
        """A term of the objective: the violation of this requirement, at ``price`` for each unit.

        ``problem.minimize(tf.Error() + tf.MaxNodes(3).soft(2))`` pays 2 for each test beyond three. What is lacking is
        `violation`, in its units, unless `shortfall` states other ones.

        Parameters
        ----------
        price : int, float, str or Fraction
            At least 0; taken as the decimal that it is written as.

        Returns
        -------
        Objective

        Raises
        ------
        SpecError
            If the price is negative; when bound to data, if what is lacking cannot be stated.
        """
        term = find(OBJECTIVES, "soft")
        assert term is not None
        soft: Objective = as_fraction(price, "a price") * term.load()(self)
        return soft

    def shortfall(self, data: Dataset) -> Totals | None:
        """The violation as the largest excess of linear constraints over sums; None if it is something else.

        The default takes the rows of `totals` in units of 1. Override it to state units that a user knows.
        """
        return self.totals(data)

    def slack_unit(self, data: Dataset) -> Fraction | None:
        """The unit of `violation` if `slack` states it as an expression; else None."""
        return None

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        """The largest violation of a model of ``shape``, in `slack_unit`."""
        raise AssertionError(f"{type(self).__name__} has a slack_unit and no largest_slack")

    def slack(self, model: Model, ports: Ports) -> Expr:
        """The violation in `slack_unit`: a scalar over the ports in `needs`, with rows that bound it from below.

        Wherever it is minimised it is `violation` in that unit.

        Parameters
        ----------
        model : Model
            Columns and rows are added to it.
        ports : Ports
            Holds those in `needs`, the data and the shape.
        """
        raise AssertionError(f"{type(self).__name__} has a slack_unit and no slack")

    def lacking(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """The violation of ``graph`` on ``data`` in the units of `soft`; 0 if the requirement is satisfied."""
        rows = self.shortfall(data)
        return Fraction(self.violation(graph, data)) if rows is None else Fraction(rows.excess(graph, data))

    # -- text and files ------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """``{"name": ..., "parameters": {...}}``; `from_json` rebuilds it."""
        parameters = {k: _plain(v) for k, v in parameters_of(self).items()}
        try:
            json.dumps(parameters)
        except (TypeError, ValueError) as error:
            raise SpecError(
                f"{self} cannot be written to a file",
                cause=str(error),
                fix="keep numbers, text, lists and mappings as its parameters, or define to_json and from_parameters",
            ) from error
        return {"name": self.name, "parameters": parameters}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Requirement:
        """Rebuild a requirement of any registered class from what its :meth:`to_json` gave.

        Raises
        ------
        SpecError
            If no class of that name is known here, see `class_of`.
        """
        return class_of(str(value.get("name"))).from_parameters(value.get("parameters", {}))

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Requirement:
        """Rebuild from the ``parameters`` of :meth:`to_json`."""
        return cls(**parameters)

    def in_words(self) -> str:
        """What it asks, as a clause for readers of a report: "each side of every test gets at least 20 rows"."""
        known = {k: decimal_or_plain(v) if isinstance(v, Fraction) else v for k, v in vars(self).items()}
        try:
            return self.words.format_map(known) or str(self)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise SpecError(
                f"the words of {self.name} cannot be filled in",
                cause=f"{type(error).__name__} in {self.words!r}: {error}",
                fix=f"name attributes of the requirement in braces: {', '.join(known) or 'it has none'}",
            ) from error

    def __str__(self) -> str:
        named = parameters_of(self)
        return stated(self.name, *[named.pop(key) for key in self.bare if key in named], **named)

    def _copy(self: R, **changes: Any) -> R:
        new = copy.copy(self)
        new.__dict__.update(changes)
        return new


_REGISTRY: dict[str, type[Requirement]] = {}
_PORTS_OF_TESTS = frozenset({"active", "arc", "falling", "feature", "reaches", "branch", "leaf", "label"})
"""Ports through which a requirement can demand tests."""
NOT_KNOWN = "import the module that defines it first; on the command line, with --import MODULE"


def asks_for_tests(requirements: Iterable[Requirement]) -> bool:
    """Whether some of them could be satisfied by a test that decides nothing, so that these have to be stated."""
    return any(r.demands_tests and bool(_PORTS_OF_TESTS & frozenset(r.needs)) for r in requirements)


def registered() -> dict[str, type[Requirement]]:
    """The requirements known in this process, by name."""
    return {name: kind for name, kind in sorted(_REGISTRY.items()) if not inspect.isabstract(kind)}


def class_of(name: str) -> type[Requirement]:
    """The class of a requirement: one of this process, or of an installed package, which is imported then.

    Raises SpecError if there is none of that name, or what is installed under it cannot be loaded.
    """
    if name in _REGISTRY:
        return _REGISTRY[name]
    extension = find(REQUIREMENTS, name)
    if extension is None:
        ours = [known for known in _REGISTRY if known in registered()]  # families together, the usual one first
        others = sorted({one.name for one in extensions(REQUIREMENTS)}.difference(ours))
        raise unknown_name(name, [*ours, *others], "requirement", fix=NOT_KNOWN)
    return extension.load_class(
        Requirement,  # type: ignore[type-abstract]
        "a requirement is a class derived from treeform.Requirement",
        "derive it from Requirement, and implement build() and violation()",
    )


def _plain(value: Any) -> Any:
    """``value`` as JSON has it; fractions as text, NumPy values as Python's, models as their files."""
    if isinstance(value, Fraction):
        return decimal_or_plain(value)
    if isinstance(value, DecisionGraph):
        return value.to_json()
    if isinstance(value, np.ndarray | pd.Series):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v) for v in value]
    return value
