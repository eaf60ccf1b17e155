"""Ports: named arrays of expressions that formulations publish and requirements read.

A *formulation* publishes arrays of expressions under agreed names ("sample i is predicted class k",
"node v tests feature f"); a *requirement* reads them and adds rows. Neither sees the other, so any
requirement works on any formulation that offers what it reads. This module holds

* the table of ports, with their axes (:data:`PORTS`);
* :class:`Ports`, the argument of a component that builds.

A component declares the ports that it reads in ``needs``. The declaration is binding: the formulation
reads it before anything is built, to know which parts must be expressible. So reading an undeclared port raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self, TypeVar

import numpy as np

from treeform.data import Dataset, Points
from treeform.errors import PortError, SpecError
from treeform.model import Expr, concatenate
from treeform.shape import UNIVARIATE, Limits, Shape
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.extensions import FORMULATIONS, extensions


@dataclass(frozen=True)
class PortSpec:
    """Axes and meaning of one port."""

    axes: tuple[str | int, ...]
    """``"n"`` samples (rows kept), ``"K"`` classes, ``"F"`` encoded features, ``"V"`` test nodes and ``"L"`` leaves or
    terminals of the skeleton (each formulation has its own count), a number for a fixed size."""
    meaning: str
    """When an entry is 1, or which number it is."""
    of_values: bool = False
    """Whether it is there only where leaves predict values in place of classes."""


PORTS: dict[str, PortSpec] = {
    "predicted": PortSpec(("n", "K"), "sample i is predicted class k"),
    "correct": PortSpec(("n",), "sample i is predicted its own class (derived from `predicted`)"),
    "reaches": PortSpec(("n", "V"), "sample i reaches test node v"),
    "branch": PortSpec(("n", "V", 2), "sample i takes the left (0) or the right (1) branch of test node v"),
    "active": PortSpec(("V",), "test node v is used, as a test or as a pass-through"),
    "feature": PortSpec(
        ("V", "F"), "test node v reads feature f (0 when v is not used, or is a pass-through)"
    ),
    "falling": PortSpec(
        ("V", "F"), "test node v reads f with a weight below 0: greater values lead to the left"
    ),
    "leaf": PortSpec(("n", "L"), "sample i ends in leaf or terminal l"),
    "label": PortSpec(("L", "K"), "leaf or terminal l predicts class k"),
    "arc": PortSpec(("V", 2, "N"), "side s of test v leads to node w; N = V test nodes, then L terminals"),
    "value": PortSpec(
        ("n",),
        "the whole number predicted for sample i: a deviation from the target's centre, in its unit",
        of_values=True,
    ),
}
"""The agreed ports. A formulation may publish others under its own names, of any shape.

A requirement that distinguishes left from right reads `feature` as well as `branch`: otherwise a
formulation may state a test with its sides swapped. A pass-through sends everything to the left and has no arc on
its right.
"""

_OTHER = PortSpec((), "a formulation's own")

DERIVED: dict[str, str] = {"correct": "predicted", "falling": "feature"}
"""Ports that are derived here, once, from another one when the formulation does not offer them.

A test of one column sends small values to the left, so nothing is `falling` in univariate shapes.
"""


def derivable(offered: Set[str], splits: str = UNIVARIATE) -> frozenset[str]:
    """All ports that can be read when ``offered`` are published, in shapes with such ``splits``."""
    known = {name for name, source in DERIVED.items() if source in offered}
    return frozenset(offered) | (known if splits == UNIVARIATE else known - {"falling"})


class Reader(Protocol):
    """What ports have to know of a component: the ports that it reads and those that it publishes."""

    needs: Set[str]
    offers: Set[str]


class Ports:
    """What a component reads and publishes while it builds: the data, the shape, and the ports published so far.

    A port is read as an attribute (``ports.predicted``) and published with :meth:`publish`.

    Parameters
    ----------
    wanted : set of str
        The ports that some component reads. Known before anything is built, so that a formulation may leave
        out, or merge, what is not read.
    limits : Limits
        The bounds that requirements put on every admissible model (`Requirement.limits`), tightened to one.
        A formulation may use them to leave out what cannot occur.
    asks_for_tests : bool
        Whether some requirement may need tests that decide nothing (`Requirement.demands_tests`). Otherwise they may
        be left out wherever they gain nothing.
    examples : ndarray of int64, optional
        The points that a formulation with lazy examples begins with; None leaves it the choice.
    """

    def __init__(
        self,
        data: Dataset,
        shape: Shape,
        wanted: Iterable[str] = (),
        limits: Limits | None = None,
        asks_for_tests: bool = False,
        examples: np.ndarray | None = None,
    ) -> None:
        self.data = data
        self.shape = shape
        self.wanted = frozenset(wanted)
        self.limits = limits or Limits()
        self.asks_for_tests = asks_for_tests
        self.examples = examples
        self.shared = SharedValues()
        """What the components of the formulation publish for each other."""
        self._exprs: dict[str, Expr] = {}
        self._sizes: dict[str, int] = {"n": data.n_samples, "K": data.n_classes, "F": data.n_features}
        self._reader: Reader | None = None

    def of_rows(self, positions: np.ndarray, data: Dataset) -> Ports:
        """The ports with those of samples cut down to the rows at these positions; other ports are unchanged.

        ``data`` are those of these rows alone.
        """
        return _PortsOfRows(self, positions, data)

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
        return derivable(self._exprs.keys(), self.shape.splits)

    def publish(self, name: str, expr: Expr) -> None:
        """Offer ``expr`` under ``name``.

        Raises PortError if the port was published before, the publisher does not list it in ``offers``, or its shape
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
                fix="publish point-level expressions as expr[ports.points.index]" if "n" in axes else None,
            )
        self._sizes = sizes

    def __getattr__(self, name: str) -> Expr:
        if name.startswith("_") or "_exprs" not in self.__dict__:
            raise AttributeError(name)
        return self.read(name)

    def read(self, name: str) -> Expr:
        """The port ``name``, derived if need be.

        Raises PortError if it is not published, or the component that is building does not declare it in ``needs``.
        """
        reader = self._reader
        if reader is not None and name not in reader.needs and name not in reader.offers:
            raise _undeclared(reader, name, known=name in PORTS or name in self._exprs)
        if name not in self._exprs and name in self.published:
            self._exprs[name] = self._derive(name)
        if name not in self._exprs:
            raise PortError(
                f"nothing publishes the port {name!r}",
                cause=f"published here: {', '.join(sorted(self._exprs)) or 'nothing yet'}",
                fix="choose a formulation that offers it",
            )
        return self._exprs[name]

    def _derive(self, name: str) -> Expr:
        if name == "falling":
            return self._exprs["feature"] * 0
        predicted = self._exprs["predicted"]
        return predicted[np.arange(self.n_samples), np.asarray(self.data.y)]

    @contextmanager
    def used_by(self, component: Reader) -> Iterator[Ports]:
        """Within the block, only what ``component`` declares may be read and published."""
        before, self._reader = self._reader, component
        try:
            yield self
        finally:
            self._reader = before


class _PortsOfRows(Ports):
    """The ports of some of the rows of a table."""

    def __init__(self, whole: Ports, positions: np.ndarray, data: Dataset) -> None:
        super().__init__(data, whole.shape, whole.wanted, whole.limits, whole.asks_for_tests)
        self._whole, self._positions = whole, positions

    def read(self, name: str) -> Expr:
        if name not in self._exprs:
            expr, by_row = self._whole.read(name), PORTS.get(name, _OTHER).axes[:1] == ("n",)
            self._exprs[name] = expr[self._positions] if by_row else expr
        return self._exprs[name]


def _undeclared(reader: Reader, name: str, known: bool) -> PortError:
    what = f"{type(reader).__name__} reads {name!r}, which it does not declare"
    if not known:
        return PortError(what, cause=f"there is no port of that name; ports are {', '.join(PORTS)}")
    declared = ", ".join(map(repr, sorted({*reader.needs, name})))
    return PortError(
        what,
        cause="formulations are told before they build which ports are read",
        fix=f"declare it: needs = {{{declared}}}",
    )


class Shared:
    """Base class of a value that one component publishes and others read."""

    publisher: ClassVar[str]

    def __init_subclass__(cls, publisher: str = "", **settings: object) -> None:
        super().__init_subclass__(**settings)
        if publisher:
            cls.publisher = publisher
    """Name of the component that publishes it, for the message where it is missing."""


S = TypeVar("S", bound=Shared)


class SharedValues:
    """The shared values of one model under construction: at most one of each type."""

    def __init__(self) -> None:
        self._values: dict[type[Shared], Shared] = {}

    def publish(self, value: S) -> S:
        """Make ``value`` readable by its type. Raises SpecError if a value of this type was published before."""
        kind = type(value)
        if kind in self._values:
            raise SpecError(
                f"{kind.__name__} is published twice",
                cause=f"two components do the work of {kind.publisher}",
                fix="leave one of them out",
            )
        self._values[kind] = value
        return value

    def get(self, kind: type[S]) -> S:
        """The value of a type. Raises SpecError if no component has published one."""
        value = self.find(kind)
        if value is None:
            raise SpecError(
                f"no component has published {kind.__name__}",
                cause=f"{kind.publisher} publishes it, and no such component was built before",
                fix=f"add {kind.publisher} to the formulation, before the components that read {kind.__name__}",
            )
        return value

    def find(self, kind: type[S]) -> S | None:
        """The value of a type, or None."""
        value = self._values.get(kind)
        assert value is None or isinstance(value, kind)
        return value


@dataclass(frozen=True)
class OfferedTests:
    """The distinct tests of the table that nodes choose from, sorted by feature and threshold."""

    feature: Ints
    """(T,) int64: encoded feature that the test reads."""
    threshold: Floats
    """(T,) float64"""
    left: Bools
    """(T, P) bool: whether a point goes left."""
    by_feature: bool
    """Whether tests of different features that part the points alike are different tests."""
    n_features: int

    @classmethod
    def of(cls, ports: Ports) -> Self:
        """The tests whose lighter side has the minimum support; no node has another."""
        data, by_feature = ports.data, "feature" in ports.wanted
        splits = data.splits(None if by_feature else "global")
        kept = splits.lighter(data.points.weights.sum(axis=1)) >= max(ports.limits.min_support, 1)
        feature = splits.feature[kept].astype(np.int64)
        return cls(feature, splits.threshold[kept], splits.left[kept], by_feature, data.n_features)

    @property
    def n_tests(self) -> int:
        """T."""
        return len(self.feature)

    @cached_property
    def _numbers(self) -> dict[tuple[int, bytes], int]:
        return {
            self._key(int(f), side): k
            for k, (f, side) in enumerate(zip(self.feature, self.left, strict=True))
        }

    def _key(self, feature: int, side: Bools) -> tuple[int, bytes]:
        return (feature if self.by_feature else -1, np.packbits(side ^ side[0]).tobytes())

    def find(self, side: Bools, feature: int) -> tuple[int, bool] | None:
        """The test of ``feature`` that sends the points ``side`` (P,) left: (number, sides swapped), or None."""
        number = self._numbers.get(self._key(feature, side))
        return None if number is None else (number, bool(self.left[number, 0] != side[0]))


def by_column(chosen: Expr, columns: Ints, n_columns: int) -> Expr:
    """The port ``feature``, (V, n_columns), over all columns, from choices (V, m) between some of them; 0 at others.

    The last of several choices of one column counts.
    """
    place = np.full(n_columns, len(columns))
    place[columns] = np.arange(len(columns))
    return concatenate([chosen, np.zeros((chosen.shape[0], 1))], axis=1)[:, place]


def not_offered(missing: list[str], reader: str, name: str, offers: Set[str], splits: str) -> PortError:
    """The error that names a reader of ports which a formulation does not offer, and the installed ones that do."""
    unknown = [one for one in missing if one not in PORTS]
    makers = [one for one, offered in _offers_of_all(splits).items() if offered >= set(missing)]
    if unknown and not makers:
        fix = f"check the spelling of {', '.join(unknown)}; the ports are {', '.join(PORTS)}"
    elif makers:
        fix = f"use a formulation that offers it: {', '.join(makers)}"
    else:
        fix = "no installed formulation offers it; add a component that does"
    what = ", ".join(map(repr, missing))
    return PortError(
        f"{reader} reads {what}, which {name} does not offer",
        cause=f"{name} offers {', '.join(sorted(derivable(offers, splits))) or 'no ports'}",
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
