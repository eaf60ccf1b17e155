"""Components: what formulations and requirements are made of.

A :class:`Component` needs some ports, offers some, and adds rows to a model; a :class:`Sum` is several of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.ports import Ports
from treeform.model import Model


class Component:
    """The smallest piece of a formulation: it reads ports, publishes ports, and adds rows to a model.

    Attributes
    ----------
    needs : set of str
        Ports that :meth:`build` reads.
    offers : set of str
        Ports that :meth:`build` publishes.
    restricts : bool or None
        What its rows do to the problem where it is added to a formulation. False: they leave a best model of every
        problem, as symmetry breaking and valid inequalities do. True: they narrow the problem. None, if the class does
        not say so itself: they narrow it, unless the formulation comes with a component of this class. A
        declaration holds for the class that makes it, and not for classes derived from it.
    """

    needs: Set[str] = frozenset()
    offers: Set[str] = frozenset()
    restricts: ClassVar[bool | None] = None

    def build(self, model: Model, ports: Ports) -> None:
        """Add this component's columns and rows to ``model``, reading from and publishing to ``ports``.

        Parameters
        ----------
        model : Model
            Where columns and rows are added.
        ports : Ports
            Expressions by name, such as ``ports.predicted``: those of `needs` are there.
        """

    def __add__(self, other: Component | Sum) -> Sum:
        return Sum((self,)) + other

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(vars(self), vars(other))

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = {k: v for k, v in parameters_of(self).items() if v is not None or defaults[k].default is not None}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


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
        """The same sum with ``new`` in the place of ``old``, a component, or of all that are of the class ``old``.

        Raises SpecError if the sum has no such component.
        """
        self.__sub__(old)  # raises when there is none
        return Sum(tuple(_as_component(new) if _is(c, old) else c for c in self.components))

    def __iter__(self) -> Iterator[Component]:
        return iter(self.components)


def parameters_of(component: Component) -> dict[str, Any]:
    """The constructor's arguments as kept in attributes of the same name."""
    init = type(component).__init__
    if init is object.__init__:
        return {}
    named = list(inspect.signature(init).parameters)[1:]
    return {n: getattr(component, n) for n in named if hasattr(component, n)}


def _same(a: Any, b: Any) -> bool:
    """Whether two attributes have the same content; True is not 1, and what cannot be compared differs."""
    if a is b:
        return True
    if isinstance(a, bool | np.ndarray) or isinstance(b, bool | np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Dataset) and isinstance(b, Dataset):
        return a.digest == b.digest
    if isinstance(a, pd.Series | pd.DataFrame) or isinstance(b, pd.Series | pd.DataFrame):
        return type(a) is type(b) and bool(a.equals(b))
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
