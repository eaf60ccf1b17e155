"""Ports: the words in which formulations and requirements speak of a model that is not known yet.

A *formulation* publishes arrays of expressions under agreed names ("sample i is predicted class k",
"node v tests feature f"); a *requirement* reads them and adds rows. Neither sees the other, so any
requirement works on any formulation that offers what it reads. This module holds

* the table of ports, with their axes (:data:`PORTS`);
* :class:`Component`, the smallest piece: it needs some ports, offers some, and adds rows;
* :class:`Requirement`, a component with a second, semantic face that judges a finished model exactly;
* :class:`Ports`, what a component is handed when it builds.

A component declares the ports that it reads in ``needs``. The declaration is binding: it tells the
formulation, before anything is built, which parts must be expressible, so reading an undeclared port raises.
"""

from __future__ import annotations

import copy
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from treeform.errors import PortError, SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset, Points
    from treeform.graph import DecisionGraph
    from treeform.model import Expr, Model
    from treeform.shape import Shape


@dataclass(frozen=True)
class PortSpec:
    """Axes and meaning of one port.

    Attributes
    ----------
    axes : tuple of str or int
        ``"n"`` samples (rows kept), ``"K"`` classes, ``"F"`` encoded features, ``"V"`` test nodes and ``"L"``
        leaves or terminals of the skeleton (each formulation has its own count), a number for a fixed size.
    meaning : str
        When an entry is 1.
    """

    axes: tuple[str | int, ...]
    meaning: str


PORTS: dict[str, PortSpec] = {
    "predicted": PortSpec(("n", "K"), "sample i is predicted class k"),
    "correct": PortSpec(("n",), "sample i is predicted its own class (derived from `predicted`)"),
    "flow": PortSpec(("n", "V"), "sample i passes test node v"),
    "side": PortSpec(("n", "V", 2), "sample i leaves test node v to the left (0) or to the right (1)"),
    "active": PortSpec(("V",), "test node v is used"),
    "feature": PortSpec(("V", "F"), "test node v tests feature f (0 when v is not used)"),
    "sink": PortSpec(("n", "L"), "sample i ends in leaf or terminal l"),
    "label": PortSpec(("L", "K"), "leaf or terminal l predicts class k"),
    "arc": PortSpec(("V", 2, "N"), "side s of test v leads to node w; N = V test nodes, then L terminals"),
}
"""The agreed ports. A formulation may publish further ones under names of its own, whose shape is free."""

DERIVED: dict[str, str] = {"correct": "predicted"}
"""Ports that are derived here, once, from another one when the formulation does not offer them."""


def derivable(offered: Set[str]) -> frozenset[str]:
    """All ports that can be read when ``offered`` are published."""
    return frozenset(offered) | {name for name, source in DERIVED.items() if source in offered}


class Ports:
    """What a component sees while it builds: the data, the shape, and the ports published so far.

    A port is read as an attribute (``t.predicted``) and published with :meth:`publish`.

    Parameters
    ----------
    data : Dataset
    shape : Tree or Diagram
    wanted : set of str
        The ports that some component reads. Known before anything is built, so that a formulation may leave
        out, or merge, what nobody asks for.
    facts : mapping of str to int
        What requirements promise of every admissible model in engine terms (`Requirement.native`), such as
        ``{"min_support": 50}``; a formulation may use them to leave out what cannot occur.
    """

    def __init__(
        self,
        data: Dataset,
        shape: Shape,
        wanted: Iterable[str] = (),
        facts: Mapping[str, int] | None = None,
    ) -> None:
        self.data = data
        self.shape = shape
        self.wanted = frozenset(wanted)
        self.facts = dict(facts or {})
        self.state: dict[str, Any] = {}
        """Anything that is no expression and that components share: thresholds, node numbering, …"""
        self._exprs: dict[str, Expr] = {}
        self._sizes: dict[str, int] = {"n": data.n_samples, "K": data.n_classes, "F": data.n_features}
        self._reader: Component | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows of the data set (rows of weight 0 dropped)."""
        return int(self.data.n_samples)

    @property
    def n_features(self) -> int:
        """Number of encoded features."""
        return int(self.data.n_features)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.data.n_classes)

    @property
    def weights(self) -> np.ndarray:
        """(n,) int64 weight of every sample, in units of ``data.weight_unit``."""
        return np.asarray(self.data.weights)

    @property
    def points(self) -> Points:
        """The distinct feature vectors; ``points.index`` maps a sample to its point."""
        return self.data.points

    @property
    def published(self) -> frozenset[str]:
        """The ports published so far, with those that can be derived from them."""
        return derivable(self._exprs.keys())

    def publish(self, name: str, expr: Expr) -> None:
        """Offer ``expr`` under ``name``.

        Raises
        ------
        PortError
            If the port was published before, the publisher does not list it in ``offers``, or its shape
            contradicts the table or a port published earlier.
        """
        if name in self._exprs:
            raise PortError(f"the port {name!r} is published twice", fix="drop one of the two components")
        if self._reader is not None and name not in self._reader.offers:
            raise PortError(
                f"{type(self._reader).__name__} publishes {name!r} without listing it in `offers`",
                fix=f"add {name!r} to {type(self._reader).__name__}.offers",
            )
        if name in PORTS:
            self._check_shape(name, tuple(expr.shape))
        self._exprs[name] = expr

    def _check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        axes = PORTS[name].axes
        sizes = dict(self._sizes)
        fits = len(axes) == len(shape)
        for axis, size in zip(axes, shape, strict=False):
            fits &= (axis if isinstance(axis, int) else sizes.setdefault(axis, size)) == size
        if not fits:
            known = ", ".join(f"{axis} = {size}" for axis, size in self._sizes.items())
            raise PortError(
                f"the port {name!r} has shape {shape}, expected ({', '.join(map(str, axes))})",
                cause=f"here {known}; an entry says: {PORTS[name].meaning}",
                fix="publish point-level expressions as expr[t.points.index]" if "n" in axes else None,
            )
        self._sizes = sizes

    def __getattr__(self, name: str) -> Expr:
        if name.startswith("_") or "_exprs" not in self.__dict__:
            raise AttributeError(name)
        return self.read(name)

    def read(self, name: str) -> Expr:
        """The port ``name``, derived if need be.

        Raises
        ------
        PortError
            If nobody publishes it, or the component that is building does not declare it in ``needs``.
        """
        reader = self._reader
        if reader is not None and name not in reader.needs and name not in reader.offers:
            raise _undeclared(reader, name, known=name in PORTS or name in self._exprs)
        if name not in self._exprs and name in DERIVED and DERIVED[name] in self._exprs:
            self._exprs[name] = self._derive(name)
        if name not in self._exprs:
            raise PortError(
                f"nothing publishes the port {name!r}",
                cause=f"published here: {', '.join(sorted(self._exprs)) or 'nothing yet'}",
                fix="choose a formulation that offers it",
            )
        return self._exprs[name]

    def _derive(self, name: str) -> Expr:
        assert name == "correct"
        predicted = self._exprs["predicted"]
        return predicted[np.arange(self.n_samples), np.asarray(self.data.y)]

    @contextmanager
    def used_by(self, component: Component) -> Iterator[Ports]:
        """Within the block, only what ``component`` declares may be read and published."""
        before, self._reader = self._reader, component
        try:
            yield self
        finally:
            self._reader = before


def _undeclared(reader: Component, name: str, known: bool) -> PortError:
    what = f"{type(reader).__name__} reads {name!r}, which it does not declare"
    if not known:
        return PortError(what, cause=f"there is no port of that name; ports are {', '.join(PORTS)}")
    declared = ", ".join(map(repr, sorted({*reader.needs, name})))
    return PortError(
        what,
        cause="formulations are told before they build which ports are read",
        fix=f"declare it: needs = {{{declared}}}",
    )


C = TypeVar("C", bound="Component")


class Component:
    """The smallest piece of a formulation: it reads ports, publishes ports, and adds rows to a model.

    Class attributes
    ----------------
    needs : set of str
        Ports that :meth:`build` reads.
    offers : set of str
        Ports that :meth:`build` publishes.
    """

    needs: Set[str] = frozenset()
    offers: Set[str] = frozenset()

    def build(self, m: Model, t: Ports) -> None:
        """Add this component's columns and rows to ``m``, reading and publishing ports of ``t``."""

    def __add__(self, other: Component | Sum) -> Sum:
        return Sum((self,)) + other

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(vars(self), vars(other))

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in _parameters(self).items())})"


@dataclass(frozen=True)
class Sum:
    """Several components, in the order in which they were added. Immutable; ``+`` and ``-`` give new sums."""

    components: tuple[Component, ...]

    def __add__(self, other: Component | Sum) -> Sum:
        if isinstance(other, Sum):
            return Sum(self.components + other.components)
        return Sum((*self.components, _as_component(other)))

    def __sub__(self, other: Component | type[Component]) -> Sum:
        kept = tuple(c for c in self.components if not _is(c, other))
        if len(kept) == len(self.components):
            raise SpecError(
                f"there is no {_name_of(other)} to leave out",
                cause=f"the components are {', '.join(type(c).__name__ for c in self.components)}",
            )
        return Sum(kept)

    def replace(self, old: Component | type[Component], new: Component) -> Sum:
        """The same sum with ``new`` in the place of ``old``."""
        self.__sub__(old)  # raises when there is none
        return Sum(tuple(_as_component(new) if _is(c, old) else c for c in self.components))

    def __iter__(self) -> Iterator[Component]:
        return iter(self.components)


class Requirement(Component, ABC):
    """Something that every admissible model satisfies; it has two faces.

    ``build`` is the symbolic face: rows over ports, for solvers. ``violation`` is the semantic face: what a
    finished model lacks, computed from the model and the data alone. Every answer is judged by the second
    face, and the conformance kit (``treeform.testing.check_requirement``) checks one against the other.

    Subclasses are registered under ``name`` (the class name in snake case unless they set it), which is what
    the command line, specification files and certificates use.
    """

    name: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
        held = _REGISTRY.get(cls.name)
        ours = "treeform.requirements"
        if held is not None and held.__module__.startswith(ours) and not cls.__module__.startswith(ours):
            raise SpecError(
                f"a requirement named {cls.name!r} exists already",
                cause=f"it is {held.__module__}.{held.__name__}",
                fix=f"rename the class, or set another `name` in {cls.__name__}",
            )
        _REGISTRY[cls.name] = cls

    @abstractmethod
    def build(self, m: Model, t: Ports) -> None:
        """Add the rows that state this requirement."""

    @abstractmethod
    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        """By how much ``graph`` misses the requirement on ``data``, exactly; 0 when it is satisfied."""

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

    def native(self, data: Dataset) -> dict[str, int] | None:
        """This requirement in the words of the native engines, when they honour it exactly; else None.

        ``{"min_support": w}``: every leaf of a tree gets at least weight ``w`` (in weight units);
        ``{"max_nodes": k}``: at most ``k`` tests; ``{"max_errors": w}``: at most weight ``w`` misclassified.
        """
        return None

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        """This requirement as linear rows over predictions, when it is nothing else; else no rows.

        Each pair ``(coef, rhs)``, ``coef`` of shape (n, K) int64, says: the sum over samples of weight times
        ``coef[i, class predicted for i]`` is at most ``rhs``. Used for Lagrangian bounds.
        """
        return []

    def to_json(self) -> dict[str, Any]:
        """``{"name": ..., "parameters": {...}}``; `treeform.requirements.from_json` rebuilds it."""
        return {"name": self.name, "parameters": {k: _plain(v) for k, v in _parameters(self).items()}}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Requirement:
        """Rebuild a requirement of any registered class from what its :meth:`to_json` gave.

        Raises
        ------
        SpecError
            If no class of that name is known in this process.
        """
        kind = _REGISTRY.get(str(value.get("name")))
        if kind is None:
            raise SpecError(
                f"there is no requirement named {value.get('name')!r}",
                cause=f"known here: {', '.join(sorted(_REGISTRY))}",
                fix="import the module that defines it first",
            )
        return kind.from_parameters(value.get("parameters", {}))

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Requirement:
        """Rebuild from the ``parameters`` of :meth:`to_json`."""
        return cls(**parameters)

    def __str__(self) -> str:
        given = {k: v for k, v in _parameters(self).items() if v is not None}
        return self.name + (":" + ",".join(f"{k}={v}" for k, v in given.items()) if given else "")

    def _copy(self: C, **changes: Any) -> C:
        new = copy.copy(self)
        new.__dict__.update(changes)
        return new


_REGISTRY: dict[str, type[Requirement]] = {}


def registered() -> dict[str, type[Requirement]]:
    """The requirements known in this process, by name."""
    return dict(sorted(_REGISTRY.items()))


def _parameters(component: Component) -> dict[str, Any]:
    """The constructor's arguments as kept in attributes of the same name."""
    init = type(component).__init__
    if init is object.__init__:
        return {}
    named = list(inspect.signature(init).parameters)[1:]
    return {n: getattr(component, n) for n in named if hasattr(component, n)}


def _plain(value: Any) -> Any:
    """``value`` as JSON has it; fractions as text, NumPy values as Python's."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v) for v in value]
    return value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    return bool(a == b)


def _is(component: Component, wanted: Component | type[Component]) -> bool:
    return isinstance(component, wanted) if isinstance(wanted, type) else component == wanted


def _name_of(component: Component | type[Component]) -> str:
    return component.__name__ if isinstance(component, type) else type(component).__name__


def _as_component(value: Any) -> Component:
    if isinstance(value, type) and issubclass(value, Component):
        return value()
    if not isinstance(value, Component):
        raise SpecError(
            f"{value!r} is no component", cause="formulations are sums of treeform.Component objects"
        )
    return value
