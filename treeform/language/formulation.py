"""Formulations: sums of components that state "a model of this shape" in rows, and read the answer back."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.errors import PortError, SpecError
from treeform.language.component import Component, Sum
from treeform.language.objective import Depth, Objective
from treeform.language.ports import PORTS, Ports, SharedValues, derivable
from treeform.language.requirement import Requirement, asks_for_tests
from treeform.model import Expr, Form, Model, Quadratic, concatenate
from treeform.model.expr import Relation
from treeform.shape import UNIVARIATE, Limits
from treeform.utils.extensions import FORMULATIONS, extensions

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.alternatives import AndOrGraph
    from treeform.shape import Shape

F = TypeVar("F", bound="Formulation")


@dataclass
class Compiled:
    """A problem as a model, with what is needed to read its points."""

    model: Model
    """Columns, rows and the objective, ``scale`` times the stated one."""
    ports: Ports
    """Everything that was published."""
    data: Dataset
    shape: Shape
    objective: Objective
    requirements: tuple[Requirement, ...]
    objective_expr: Expr | Quadratic
    """The objective as a scalar expression with whole coefficients, or with squares."""
    scale: int
    """Model value = ``scale`` times the objective in the user's units."""
    restricting: frozenset[str] = frozenset()
    """Names of the blocks of rows by components that narrow the problem."""

    @property
    def linear_objective(self) -> Expr:
        """The objective for rows that bound it, which none with squares have."""
        assert isinstance(self.objective_expr, Expr)
        return self.objective_expr

    @property
    def shared(self) -> SharedValues:
        """What the formulation's components published for each other, and for `decode` and `encode`."""
        return self.ports.shared


class Formulation:
    """A sum of components, with ways to turn a solver's point into a model and back.

    A published formulation is a subclass that sets ``name`` and its components and implements `decode` and
    `encode`. What it may offer beyond that has a default, which offers nothing. ``+`` adds a component, ``-`` leaves
    one out, `replace` exchanges one; each gives a new formulation of the same class.

    Parameters
    ----------
    components : Sum or iterable of Component
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

    def __init__(self, components: Sum | Iterable[Component] = ()) -> None:
        self.components: tuple[Component, ...] = tuple(components)
        _refuse_requirements(self.components)
        self._brought = frozenset(map(type, self.components))

    # -- composing --------------------------------------------------------------------------------

    def __add__(self: F, other: Component | Sum) -> F:
        return self._with(Sum(self.components) + other)

    def __sub__(self: F, other: Component | type[Component]) -> F:
        return self._with(Sum(self.components) - other)

    def replace(self: F, old: Component | type[Component], new: Component) -> F:
        """The same formulation with ``new`` in the place of the component ``old``."""
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
        """
        if any(isinstance(term, Depth) for _, term in objective.terms) and len(objective.terms) > 1:
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
        x : (n_cols,) array
            A point that a solver gave.
        """
        raise self._without("read a model from a solver's point", "decode(compiled, x)")

    def _without(self, what: str, method: str) -> SpecError:
        return SpecError(
            f"{type(self).__name__} cannot {what}",
            cause=f"a bare sum of components has no {method.partition('(')[0]}()",
            fix=f"derive a class from Formulation and implement {method}",
        )

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        """A start (n_cols,) for solvers, nan where unknown; None when ``graph`` does not fit the shape.

        Parameters
        ----------
        compiled : Compiled
        graph : DecisionGraph
            A model from elsewhere, such as CART or an engine.
        """
        return None

    # -- what it may offer beyond rows --------------------------------------------------------------

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Add rows on demand that refute a wrong candidate; True when some were added."""
        return False

    def examples(self, compiled: Compiled) -> np.ndarray | None:
        """The points of ``data.points`` that the rows are about; None when about all."""
        return None

    def over(self, graph: AndOrGraph) -> Formulation:
        """The variant that states the trees of ``graph`` only; see `columns_on_demand`."""
        raise self._without("state some trees only", "over(graph)")

    def columns_of(self, compiled: Compiled) -> np.ndarray:
        """(A,) int64: the column of the model that says whether each alternative of the graph is chosen."""
        raise self._without("say which columns choose alternatives", "columns_of(compiled)")

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None] | None:
        """Models to start from where no native engine has any, one after the other; the caller ends it in time.

        One is None where time was spent without a model.
        """
        return None

    def least_errors(self, data: Dataset, shape: Shape) -> Iterator[tuple[int, int] | None] | None:
        """``(m, errors)``: every model of at most m tests gets so much weight wrong; None before time is spent."""
        return None

    def least_depth(self, data: Dataset, requirements: Sequence[Requirement], depth: int) -> int:
        """A depth, at most ``depth`` + 1, below which no tree satisfies the requirements."""
        return 1

    def tie_break(self, objective: Objective) -> Objective | None:
        """What it minimises next among the models of least depth, or None."""
        return None

    def at_most(self, compiled: Compiled, value: int) -> int | None:
        """A literal under which the compiled objective is at most ``value``; None where rows have to state it.

        With literals a solver without an objective searches on one formula.
        """
        return None

    def usual_solver(self, shape: Shape) -> str | None:
        """The solver that serves best when the user names none and every column is a whole number."""
        return None

    def tuned_for(self: F, forms: Set[Form]) -> F:
        """The variant that suits a solver which takes rows of these forms (`Capabilities.forms`)."""
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
                raise _missing(variant, reader, missing, shape.splits)

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
        examples : ndarray of int64, optional
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
            before, blocks = model.mark()
            with ports.used_by(component):
                returned: object = component.build(model, ports)  # type: ignore[func-returns-value]
            if isinstance(returned, Relation):
                raise SpecError(
                    f"build of {component!r} returns rows, and does not add them",
                    cause="only what model.add() is given is part of the model",
                    fix="write model.add(...) in place of return ...",
                )
            if any(component is one for one in self.restrictions):
                restricting.update(block.name for block in model.blocks[blocks:])
            if isinstance(component, Requirement):
                _check_columns(component, model, before)
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


def _check_columns(requirement: Requirement, model: Model, before: int) -> None:
    """Refuse continuous columns that a requirement does not declare: the usual solver depends on them."""
    whole = model.is_integer[before:] | model.is_relaxed[before:]
    if requirement.continuous or bool(whole.all()):
        return
    kind = type(requirement).__name__
    raise SpecError(
        f"{kind} adds continuous columns, which it does not declare",
        cause="the solver is chosen before anything is built, and some take whole numbers only",
        fix=f"set continuous = True in {kind}",
    )


def in_order(components: Sequence[Component]) -> list[Component]:
    """Components such that each comes after those that publish what it reads; else in the order given.

    Raises PortError if components need each other's ports in a cycle.
    """
    waiting, done, out = list(components), set[str](), list[Component]()
    offered = frozenset().union(*(c.offers for c in components))
    while waiting:
        ready = next((c for c in waiting if derivable(done) >= (c.needs & offered) - c.offers), None)
        if ready is None:
            names = ", ".join(type(c).__name__ for c in waiting)
            raise PortError(f"{names} wait for each other's ports", fix="split one of them in two")
        waiting = [c for c in waiting if c is not ready]
        done |= ready.offers
        out.append(ready)
    return out


def _missing(formulation: Formulation, reader: str, missing: list[str], splits: str) -> PortError:
    """The reader of what is missing, and the installed formulations that offer it."""
    unknown = [name for name in missing if name not in PORTS]
    makers = [name for name, offers in _offers_of_all(splits).items() if offers >= set(missing)]
    if unknown and not makers:
        fix = f"check the spelling of {', '.join(unknown)}; the ports are {', '.join(PORTS)}"
    elif makers:
        fix = f"use a formulation that offers it: {', '.join(makers)}"
    else:
        fix = "no installed formulation offers it; add a component that does"
    what = ", ".join(repr(name) for name in missing)
    return PortError(
        f"{reader} reads {what}, which {formulation.name} does not offer",
        cause=f"{formulation.name} offers "
        f"{', '.join(sorted(derivable(formulation.offers, splits))) or 'no ports'}",
        fix=fix,
    )


def _offers_of_all(splits: str) -> dict[str, frozenset[str]]:
    """What can be read in every formulation of such splits that is installed and can be made without arguments."""
    out = {}
    for point in extensions(FORMULATIONS):
        try:
            made = point.load()()
            if splits in made.splits:
                out[point.name] = derivable(made.offers, splits)
        except Exception:  # a broken or partial extension must not hide the error
            continue
    return out


def by_column(chosen: Expr, columns: NDArray[np.int64], n_columns: int) -> Expr:
    """(V, n_columns) with ``chosen`` (V, m) at these columns, the last of several at one, and 0 elsewhere."""
    place = np.full(n_columns, len(columns))
    place[columns] = np.arange(len(columns))
    return concatenate([chosen, np.zeros((chosen.shape[0], 1))], axis=1)[:, place]
