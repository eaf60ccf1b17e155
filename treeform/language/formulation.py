"""Formulations: sums of components that state "a model of this shape" in rows, and read the answer back."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import ClassVar, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.alternatives import AndOrGraph
from treeform.language.compiled import Compiled, add_rows, in_order
from treeform.language.component import Component, Sum
from treeform.language.objective import Objective
from treeform.language.ports import Ports, derivable, not_offered
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.model import Form, Model
from treeform.shape import UNIVARIATE, Limits, Shape

F = TypeVar("F", bound="Formulation")


class Formulation:
    """A sum of components, with ways to turn a solver's point into a model and back.

    A published formulation is a subclass that sets ``name`` and its components and implements `decode` and
    `encode`. What it may offer beyond that has a default, which offers nothing. ``+`` adds a component, ``-`` leaves
    one out, `replace` exchanges one; each gives a new formulation of the same class.

    Parameters
    ----------
    components : Component, Sum or iterable of Component
        In any order: each is built after those whose ports it reads.
    """

    name: ClassVar[str] = "formulation"
    splits: ClassVar[frozenset[str]] = frozenset({UNIVARIATE})
    """The splits of shapes that it can state."""
    trees_only: ClassVar[bool] = False
    """Whether it cannot state diagrams."""
    columns_on_demand: ClassVar[bool] = False
    """Whether it states the trees below a cost, as `over` and `columns_of` say: where none of them is admissible, that
    cost is a bound, and more are stated. Which trees those are is found by pricing the AND/OR graph of all trees
    (`treeform.engines.and_or_graph`)."""
    _brought: frozenset[type[Component]] | None = None

    def __init__(self, components: Component | Sum | Iterable[Component] = ()) -> None:
        parts = (components,) if isinstance(components, Component) else components
        self.components: tuple[Component, ...] = tuple(parts)
        _refuse_requirements(self.components)
        self._brought = frozenset(map(type, self.components))

    # -- composing --------------------------------------------------------------------------------

    def __add__(self: F, other: Component | Sum) -> F:
        return self._with(Sum(self.components) + other)

    def __sub__(self: F, other: Component | type[Component]) -> F:
        return self._with(Sum(self.components) - other)

    def replace(self: F, old: Component | type[Component], new: Component) -> F:
        """The same formulation with a component replaced.

        Parameters
        ----------
        old, new : Component
            ``old`` may be a class: its components are replaced.

        Raises
        ------
        SpecError
            If it has no such component, or ``new`` is a requirement.
        """
        return self._with(Sum(self.components).replace(old, new))

    def _with(self: F, components: Sum) -> F:
        _refuse_requirements(components.components)
        new = copy.copy(self)
        new._brought = self._brings
        new.components = components.components
        return new

    @property
    def _brings(self) -> frozenset[type[Component]]:
        """The classes of the components that it comes with, whatever was added or left out since."""
        return frozenset(map(type, self.components)) if self._brought is None else self._brought

    @property
    def restrictions(self) -> tuple[Component, ...]:
        """The components whose rows narrow the problem; see `Component.restricts`."""
        return tuple(c for c in self.components if self._is_restricting(c))

    def _is_restricting(self, component: Component) -> bool:
        declared = type(component).__dict__.get("restricts")
        return self.is_added(component) if declared is None else bool(declared)

    def is_added(self, component: Component) -> bool:
        """Whether the formulation comes without components of this class."""
        return type(component) not in self._brings

    @property
    def title(self) -> str:
        """The name, with what was added to the formulation and left out of it."""
        added = [repr(c) for c in self.components if self.is_added(c)]
        absent = sorted(kind.__name__ for kind in self._brings - set(map(type, self.components)))
        plus = f" with {', '.join(added)}" if added else ""
        return f"{self.name}{plus}" + (f" without {', '.join(absent)}" if absent else "")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sum):
            return self.components == other.components
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.components))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' + '.join(map(repr, self.components))})"

    @property
    def offers(self) -> frozenset[str]:
        """The ports that some component publishes."""
        return frozenset().union(*(c.offers for c in self.components))

    # -- what a subclass states ---------------------------------------------------------------------

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        """Why this formulation cannot state the problem, or None when it can.

        Parameters
        ----------
        shape : Shape
        data : Dataset
        objective : Objective

        Returns
        -------
        str or None
            A clause, the cause of the error.
        """
        if any(term.is_depth for _, term in objective.terms) and len(objective.terms) > 1:
            return "the depth is minimised by its own search, not as one of several terms"
        if shape.splits not in self.splits:
            return f"it states {' and '.join(sorted(self.splits))} splits, and the shape asks for {shape.splits} ones"
        if self.trees_only and not shape.own_leaves:
            return f"it states trees, and the shape is {shape}"
        missing = objective.needs - derivable(self.offers)
        return f"it offers no port {', '.join(sorted(missing))}" if missing else None

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        """The model that a point of the compiled model stands for.

        Parameters
        ----------
        compiled : Compiled
            The model, and the ports that its components published.
        x : (n_cols,) float64 array
            A point that a solver gave.

        Raises
        ------
        SpecError
            If the class does not implement it.
        """
        raise self._without("read a model from a solver's point", "decode(compiled, x)")

    def _without(self, what: str, method: str) -> SpecError:
        return SpecError(
            f"{type(self).__name__} cannot {what}",
            cause=f"a bare sum of components has no {method.partition('(')[0]}()",
            fix=f"derive a class from Formulation and implement {method}",
        )

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        """The point of the compiled model that represents a decision model.

        Parameters
        ----------
        compiled : Compiled
        graph : DecisionGraph
            A model from elsewhere, such as CART or an engine.

        Returns
        -------
        (n_cols,) float64 array or None
            A start for solvers, nan where unknown; None when ``graph`` does not fit the shape.
        """
        return None

    # -- what it may offer beyond rows --------------------------------------------------------------

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Add rows on demand that refute a wrong candidate.

        Parameters
        ----------
        compiled : Compiled
            Rows are added to its model.
        graph : DecisionGraph
            The candidate, decoded from a point that satisfies the rows so far.

        Returns
        -------
        bool
            Whether some were added.
        """
        return False

    def examples(self, compiled: Compiled) -> np.ndarray | None:
        """The points of ``data.points`` that the rows are about.

        Parameters
        ----------
        compiled : Compiled

        Returns
        -------
        (p,) int64 array or None
            Their positions; None when the rows are about all.
        """
        return None

    def over(self, graph: AndOrGraph) -> Formulation:
        """The variant that states some trees only; see `columns_on_demand`.

        Parameters
        ----------
        graph : AndOrGraph
            The trees.

        Raises
        ------
        SpecError
            If the class does not implement it.
        """
        raise self._without("state some trees only", "over(graph)")

    def columns_of(self, compiled: Compiled) -> np.ndarray:
        """The columns of the model that say which alternatives of the graph of `over` are chosen.

        Parameters
        ----------
        compiled : Compiled

        Returns
        -------
        (A,) int64 array
            One for each alternative.

        Raises
        ------
        SpecError
            If the class does not implement it.
        """
        raise self._without("say which columns choose alternatives", "columns_of(compiled)")

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None] | None:
        """Models to start from where no native engine has any, one after the other; the caller ends it in time.

        One is None where time was spent without a model.
        """
        return None

    def least_errors(self, data: Dataset, shape: Shape) -> Iterator[tuple[int, int] | None] | None:
        """Bounds on the errors of small models, one after the other; the caller ends it in time.

        Parameters
        ----------
        data : Dataset
        shape : Shape

        Yields
        ------
        (int, int) or None
            ``(m, errors)``: every model of at most m tests gets so much weight wrong, in units of
            ``data.weight_unit``. None before time is spent.
        """
        return None

    def least_depth(self, data: Dataset, requirements: Sequence[Requirement], depth: int) -> int:
        """A depth below which no tree satisfies the requirements.

        Parameters
        ----------
        data : Dataset
        requirements : sequence of Requirement
        depth : int
            That of the shape; the answer is at most ``depth`` + 1.
        """
        return 1

    def tie_break(self, objective: Objective) -> Objective | None:
        """What it minimises next among the models of least depth, or None."""
        return None

    def at_most(self, compiled: Compiled, value: int) -> int | None:
        """A literal under which the compiled objective is at most ``value``; None where rows have to state it.

        With literals a solver without an objective searches on one formula.

        Parameters
        ----------
        compiled : Compiled
        value : int
            In units of ``1 / compiled.scale``.
        """
        return None

    def usual_solver(self, shape: Shape) -> str | None:
        """The solver that serves best when the user names none and every column is a whole number."""
        return None

    def tuned_for(self: F, forms: Set[Form]) -> F:
        """The variant that suits a solver.

        Parameters
        ----------
        forms : set of Form
            The rows that the solver takes (`Capabilities.forms`).
        """
        return self

    def for_size(
        self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> Formulation | None:
        """What states one row of a table over numbers of tests better than itself; None for itself."""
        return None

    # -- compiling ------------------------------------------------------------------------------------

    def decided(self: F, shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> F:
        """The variant whose components state this problem; itself unless components depend on the problem."""
        return self

    def check(
        self, data: Dataset, shape: Shape, objective: Objective, requirements: Sequence[Requirement]
    ) -> None:
        """Refuse what this formulation cannot state, before anything is built or searched.

        Parameters
        ----------
        data, shape, objective
            The problem.
        requirements : sequence of Requirement
            Bound to the data.

        Raises
        ------
        SpecError
            If the shape, the objective or a requirement cannot be stated.
        PortError
            If some component, requirement or the objective reads a port that none offers.
        """
        objective.check(data, shape)
        for requirement in requirements:
            refusal = requirement.refusal(data, shape)
            if refusal is not None:
                raise refusal
        if shape.splits in self.splits:
            self._check_ports(shape, objective, requirements)
        reason = self.supports(shape, data, objective)
        if reason is not None:
            raise SpecError(
                f"{self.name} cannot state this problem",
                cause=reason,
                fix="choose another formulation or shape",
            )

    def _check_ports(self, shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> None:
        variant = self.decided(shape, objective, requirements)
        offered = derivable(variant.offers, shape.splits)
        readers = [(type(c).__name__, c.needs) for c in (*variant.components, *requirements)]
        for reader, needs in (*readers, ("the objective", objective.needs)):
            missing = sorted(needs - offered)
            if missing:
                raise not_offered(missing, reader, variant.name, variant.offers, shape.splits)

    def compile(
        self,
        data: Dataset,
        shape: Shape,
        objective: Objective,
        requirements: Sequence[Requirement] = (),
        *,
        examples: np.ndarray | None = None,
    ) -> Compiled:
        """Build the model: components, then requirements, then the objective.

        The same arguments give the same model: columns and rows in the same order.

        Parameters
        ----------
        data, shape, objective, requirements
            The problem.
        examples : (p,) int64 array, optional
            What a lazy formulation may confine itself to, as `examples` gave it; None leaves it the choice.

        Raises
        ------
        SpecError
            If the formulation, the objective or a requirement cannot be stated on this shape and data.
        PortError
            If some component reads a port that none offers; found before anything is built.
        """
        bound = tuple(requirement.bind(data) for requirement in requirements)
        self.check(data, shape, objective, bound)
        components = self.decided(shape, objective, bound).components
        wanted = frozenset(objective.needs).union(*(reader.needs for reader in (*components, *bound)))
        limits = Limits.all_of(requirement.limits(data) for requirement in bound)
        chosen = None if examples is None else np.asarray(examples, dtype=np.int64)
        ports = Ports(data, shape, wanted, limits, asks_for_tests(bound), chosen)
        model = Model(self.name)
        restricting: set[str] = set()
        for component in (*in_order(components), *bound):
            _, blocks = model.mark()
            add_rows(component, model, ports)
            if any(component is one for one in self.restrictions):
                restricting.update(block.name for block in model.blocks[blocks:])
        value = objective.build(model, ports)
        if objective.terms:
            model.minimize(value)
        scale, rows = objective.scale(data), frozenset(restricting)
        return self.completed(Compiled(model, ports, data, shape, objective, bound, value, scale, rows))

    def completed(self, compiled: Compiled) -> Compiled:
        """The model with what a formulation knows from models before; as it is, by default."""
        return compiled


def _refuse_requirements(components: Iterable[Component]) -> None:
    """Refuse requirements among components: engines and checks read them from the problem."""
    for component in components:
        if isinstance(component, Requirement):
            raise SpecError(
                f"{component} is a requirement, and no component of a formulation",
                cause="a formulation states the models of a shape; what they have to satisfy is part of the problem",
                fix="add it to the problem: problem += ...",
            )
