"""Components: what formulations and requirements are made of.

A :class:`Component` needs some ports, offers some, and adds rows to a model. A :class:`Requirement` is a
component with a second, semantic face that judges a finished model exactly. `treeform.ports` has both names,
beside the ports themselves.
"""

from __future__ import annotations

import copy
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.model import Model
    from treeform.ports import Ports

C = TypeVar("C", bound="Component")


class Component:
    """The smallest piece of a formulation: it reads ports, publishes ports, and adds rows to a model.

    Attributes
    ----------
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
