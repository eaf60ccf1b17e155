"""How large a model may be: shapes, known before data and solvers are, and plain bounds on weights and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from treeform.errors import SpecError
from treeform.utils.arguments import whole_number
from treeform.utils.text import count_of

MAX_DEPTH = 30
UNIVARIATE, MULTIVARIATE = "univariate", "multivariate"
MARGIN = Fraction(1, 10_000)
"""How far apart a multivariate test keeps the training samples of its two sides: the least distance of their
values, over features scaled to [0, 1] and weights whose largest is 1. The epsilon of Florio et al. (13)."""


@dataclass(frozen=True)
class Tree:
    """A binary decision tree of bounded depth.

    Parameters
    ----------
    depth : int
        The largest number of tests on a path from the root to a leaf, from 1 to 30.
    splits : {"univariate", "multivariate"}
        Whether a test reads one feature, or a weighted sum of features (a hyperplane) which parts the training
        samples with the margin `MARGIN`.
    """

    depth: int
    splits: str = UNIVARIATE
    own_leaves: ClassVar[bool] = True
    """Whether each branch ends in a leaf of its own, and no two share a test."""

    def __post_init__(self) -> None:
        _check_splits(self.splits)
        depth = whole_number(self.depth)
        if depth is None or not 1 <= depth <= MAX_DEPTH:
            raise SpecError(
                f"a tree of depth {self.depth!r} is not possible",
                cause=f"the depth counts tests on a path and is a whole number from 1 to {MAX_DEPTH}",
                fix="use for example tf.Tree(depth=3), as text tree:3",
            )
        object.__setattr__(self, "depth", depth)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of test nodes in each layer, root first: ``(1, 2, 4, ...)``."""
        return tuple(2**level for level in range(self.depth))

    @property
    def reads_columns(self) -> bool:
        """Whether each test reads one feature."""
        return self.splits == UNIVARIATE

    def of_columns(self) -> Tree:
        """The same shape with tests of one feature."""
        return Tree(self.depth)

    def at_depth(self, depth: int) -> Tree:
        """The same with so many levels."""
        return Tree(depth, self.splits)

    def without_last_layer(self) -> Tree | None:
        """The tree of one level less, whose models are models of this one; None for depth 1."""
        return self.at_depth(self.depth - 1) if self.depth > 1 else None

    def to_json(self) -> dict[str, Any]:
        return {"type": "tree", "depth": self.depth, **_splits_json(self.splits)}

    def __str__(self) -> str:
        return f"tree:{self.depth}" + _splits_text(self.splits)


@dataclass(frozen=True, init=False)
class Diagram:
    """A layered decision diagram (Florio et al., AAAI 2023): the skeleton's widths, root first.

    Parameters
    ----------
    *widths : int
        ``widths[l]`` test nodes at layer ``l``; the first is 1 and ``widths[l + 1] <= 2 * widths[l]``.
        Every arc may also go straight to a terminal, of which there is one per class.
    splits : {"univariate", "multivariate"}
        As for `Tree`.
    """

    widths: tuple[int, ...]
    splits: str
    own_leaves: ClassVar[bool] = False

    def __init__(self, *widths: int, splits: str = UNIVARIATE) -> None:
        _check_splits(splits)
        object.__setattr__(self, "splits", splits)
        if len(widths) == 1 and isinstance(widths[0], tuple | list):
            widths = tuple(widths[0])
        object.__setattr__(self, "widths", tuple(widths))
        self._check()

    def _check(self) -> None:
        text = ",".join(map(str, self.widths))
        widths = tuple(whole_number(width) or 0 for width in self.widths)
        if not widths or min(widths) < 1:
            raise SpecError(
                f"a diagram with layer widths ({text}) is not possible",
                cause="each width is a whole number of nodes, at least 1",
                fix="use for example tf.Diagram(1, 2, 4, 4, 4), as text diagram:1,2,4,4,4",
            )
        object.__setattr__(self, "widths", widths)
        if self.widths[0] != 1:
            raise SpecError(
                f"the first layer of a diagram has {count_of(self.widths[0], 'node')}",
                cause="layer 0 holds the root and nothing else",
                fix=f"use tf.Diagram({', '.join(map(str, (1, *self.widths)))}), as text diagram:1,{text}",
            )
        if len(self.widths) > MAX_DEPTH:
            raise SpecError(
                f"a diagram of {count_of(len(self.widths), 'layer')} is not possible",
                cause=f"at most {MAX_DEPTH} layers are supported",
                fix="use fewer layers",
            )
        for layer, (above, below) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            if below > 2 * above:
                raise SpecError(
                    f"layer {layer + 1} of the diagram has {count_of(below, 'node')} under {above}",
                    cause="a layer of w nodes has 2w outgoing arcs, so the next layer has at most 2w nodes",
                    fix=f"give layer {layer + 1} at most {count_of(2 * above, 'node')}",
                )

    @property
    def depth(self) -> int:
        """Number of layers: the largest number of tests on a path."""
        return len(self.widths)

    @property
    def reads_columns(self) -> bool:
        """Whether each test reads one feature."""
        return self.splits == UNIVARIATE

    def of_columns(self) -> Diagram:
        """The same shape with tests of one feature."""
        return Diagram(*self.widths)

    def at_depth(self, depth: int) -> Diagram:
        """The same with so many of its layers, from the root on."""
        return Diagram(*self.widths[:depth], splits=self.splits)

    def without_last_layer(self) -> Diagram | None:
        """The diagram of one layer less, whose models are models of this one; None for a single layer."""
        return self.at_depth(self.depth - 1) if self.depth > 1 else None

    def to_json(self) -> dict[str, Any]:
        return {"type": "diagram", "widths": list(self.widths), **_splits_json(self.splits)}

    def __str__(self) -> str:
        return "diagram:" + ",".join(map(str, self.widths)) + _splits_text(self.splits)


Shape = Tree | Diagram


def smaller_shapes(shape: Shape) -> list[Shape]:
    """The shapes of one layer, two layers, .. one less than this one has: their models are models of this one."""
    found: list[Shape] = []
    below = shape.without_last_layer()
    while below is not None:
        found.insert(0, below)
        below = below.without_last_layer()
    return found


def shrunk(shape: Shape, tests: int) -> Shape:
    """The part of a skeleton that ``tests`` tests can use; every test of a layer needs half a test above it."""
    if shape.own_leaves:
        return Tree(max(1, min(shape.depth, tests)), shape.splits)
    widths = []
    for layer, width in enumerate(shape.widths):
        fitting = [w for w in range(1, width + 1) if w + _above(w, layer) <= max(tests, 1)]
        if not fitting:
            break
        widths.append(max(fitting))
    return Diagram(*widths, splits=shape.splits)


def _above(width: int, layer: int) -> int:
    """The least number of tests in the layers above ``layer`` when it holds ``width`` of them."""
    total = 0
    for _ in range(layer):
        width = -(-width // 2)
        total += width
    return total


def parse_shape(text: str) -> Shape:
    """Read ``tree:3``, ``diagram:1,2,4,4`` or ``tree:3:multivariate``.

    Raises SpecError if the text has another form or the sizes are not possible.
    """
    kind, _, rest = text.partition(":")
    sizes, colon, splits = rest.partition(":")
    try:
        numbers = [int(part) for part in sizes.split(",")]
    except ValueError:
        numbers = []
    splits = splits.strip() if colon else UNIVARIATE
    if kind.strip() == "tree" and len(numbers) == 1:
        return Tree(numbers[0], splits)
    if kind.strip() == "diagram" and numbers:
        return Diagram(*numbers, splits=splits)
    raise SpecError(
        f"the shape {text!r} is not understood",
        cause="a shape is 'tree:DEPTH' or 'diagram:WIDTH,WIDTH,...', with ':multivariate' after it if wanted",
        fix="use for example tree:3 or diagram:1,2,4,4,4",
    )


def shape_from_json(value: dict[str, Any]) -> Shape:
    """Rebuild a shape from :meth:`Tree.to_json` or :meth:`Diagram.to_json`."""
    splits = value.get("splits", UNIVARIATE)
    if value.get("type") == "tree":
        return Tree(value["depth"], splits)
    return Diagram(*value["widths"], splits=splits)


def _check_splits(splits: str) -> None:
    if splits not in (UNIVARIATE, MULTIVARIATE):
        raise SpecError(
            f"splits={splits!r} are not known",
            cause=f"tests are {UNIVARIATE} (one feature) or {MULTIVARIATE} (a weighted sum of features)",
            fix='use for example tf.Diagram(1, 2, 2, splits="multivariate")',
        )


def _splits_json(splits: str) -> dict[str, str]:
    return {} if splits == UNIVARIATE else {"splits": splits}


def _splits_text(splits: str) -> str:
    return "" if splits == UNIVARIATE else f":{splits}"


def shape_of(shape: Any) -> Shape:
    """A shape, or the one that a text stands for.

    Raises SpecError if it is neither.
    """
    if isinstance(shape, str):
        return parse_shape(shape)
    if isinstance(shape, Tree | Diagram):
        return shape
    raise SpecError(
        f"{shape!r} is no shape",
        cause="a shape is tf.Tree(depth), tf.Diagram(widths...) or text",
        fix="use for example shape=tf.Tree(depth=3)",
    )


@dataclass(frozen=True)
class Limits:
    """Plain bounds on a model, which engines and formulations know without rows; weights in ``data.weight_unit``.

    A requirement that is such a bound and nothing else gives it in `Requirement.limits`; several are tightened to one.

    Attributes
    ----------
    min_support : int
        Least weight of each side of a test (of each leaf of a tree); 0 is no bound.
    min_flow : int
        Least weight that reaches a test; 0 is no bound.
    max_nodes : int or None
        Most tests; None is no bound.
    max_errors : int or None
        Most weight that is misclassified; None is no bound.
    max_features : int or None
        Most columns of the table that tests use; None is no bound.
    max_depth : int or None
        Most tests on a path; None is no bound.
    """

    min_support: int = 0
    min_flow: int = 0
    max_nodes: int | None = None
    max_errors: int | None = None
    max_features: int | None = None
    max_depth: int | None = None

    @property
    def names(self) -> frozenset[str]:
        """Which of the bounds are set."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    def tighten(self, other: Limits) -> Limits:
        """What satisfies both: the larger of least values, the smaller of largest ones."""
        return Limits(
            min_support=max(self.min_support, other.min_support),
            min_flow=max(self.min_flow, other.min_flow),
            max_nodes=_smaller(self.max_nodes, other.max_nodes),
            max_errors=_smaller(self.max_errors, other.max_errors),
            max_features=_smaller(self.max_features, other.max_features),
            max_depth=_smaller(self.max_depth, other.max_depth),
        )

    @classmethod
    def all_of(cls, many: Iterable[Limits | None]) -> Limits:
        """What satisfies all of them; None is no bound."""
        out = cls()
        for limits in many:
            out = out if limits is None else out.tighten(limits)
        return out


def _smaller(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


ONE_TERMINAL = "a diagram has one terminal per class, whatever its size"


def unless_tree(shape: Shape, what: str, fix: str, cause: str = ONE_TERMINAL) -> SpecError | None:
    """Why something of trees is not asked for; None where the shape is one."""
    return None if isinstance(shape, Tree) else SpecError(what, cause=cause, fix=fix)
