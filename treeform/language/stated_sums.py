"""Rows that a requirement states in `build`, recognised as linear constraints over sums of samples, tests and leaves.

The rows are stated over columns that stand for predictions, tests and leaves of any tree. A row in which all leaves of
a class have the same coefficient, and so have all tests of a feature, is a sum: its meaning does not depend on the
number of nodes.
"""

from __future__ import annotations

import math

import numpy as np

from treeform.data import Dataset
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.language.totals import TotalRow, Totals
from treeform.model import Linear, Model
from treeform.model.csr import as_matrix
from treeform.shape import Shape
from treeform.utils.arrays import Floats, Ints

READ = frozenset({"predicted", "correct", "active", "feature", "label"})
"""Ports over which rows are recognised."""
OF_NODES = frozenset({"active", "feature", "label"})
"""Those with an entry for each test or leaf."""
FEW_NODES = (3, 5)
"""Numbers of leaves (and of tests) for which rows are stated, beside that of the shape: a row that differs between them
is no sum."""
MOST_NODES = 4096
"""The most leaves of a shape for which rows over tests and leaves are stated for all of them. In a larger shape a rule
over some of its leaves could be mistaken for one over all."""
MOST_ENTRIES = 10_000_000
LARGEST = 2**40
ROUNDING = 1e-6
"""A side this close to a whole number, and below it, may be that number: solvers do not tell them apart."""


def stated_sums(requirement: Requirement, data: Dataset, shape: Shape) -> Totals | None:
    """Linear constraints over sums, equivalent to the rows of `build`; None if some row is no such sum.

    A tree without one of its tests has to satisfy the rows as well, since no search builds a test that separates no
    samples.
    """
    if not requirement.needs <= READ:
        return None
    leaves = sum(shape.widths) + 1
    if leaves > MOST_NODES and requirement.needs & OF_NODES:
        return None
    found = None
    for nodes in (*FEW_NODES, min(leaves, MOST_NODES)):
        one = _of(requirement, data, shape, nodes)
        if one is None or not (found is None or _alike(found, one)):
            return None
        found = one
    return found


def _of(requirement: Requirement, data: Dataset, shape: Shape, nodes: int) -> Totals | None:
    ports, model = Ports(data, shape, requirement.needs), Model()
    sizes: dict[str, tuple[int, ...]] = {
        "predicted": (data.n_samples, data.n_classes)
        if requirement.needs & {"predicted", "correct"}
        else (0,),
        "active": (nodes,) if "active" in requirement.needs else (0,),
        "feature": (nodes, data.n_features) if "feature" in requirement.needs else (0,),
        "label": (nodes, data.n_classes) if "label" in requirement.needs else (0,),
    }
    for name, size in sizes.items():
        column = model.bool(name, size)
        if 0 not in size:
            ports.publish(name, column)
    width = model.n_cols
    try:
        with ports.used_by(requirement):
            requirement.build(model, ports)
    except Exception:  # it reads more than these ports, or has an error that every formulation raises
        return None
    if model.n_cols > width or not model.blocks:
        return None
    parts: list[tuple[Ints, Ints, Ints]] = []
    rows: list[int] = []
    for block in model.blocks:
        if not isinstance(block, Linear) or block.when is not None or block.n_rows * width > MOST_ENTRIES:
            return None
        sides = zip(as_matrix(block.rows, width).toarray(), block.lo.tolist(), block.hi.tolist(), strict=True)
        for dense, low, high in sides:
            for coef, side in ((dense, high), (-dense, -low)):
                if side == math.inf:
                    continue
                added = _added(coef, sizes, data)
                if added is None or not abs(side) < LARGEST or 0 < math.ceil(side) - side < ROUNDING:
                    return None
                parts.append(added)
                rows.append(math.floor(side))
    if not rows:
        return None
    unit = np.eye(len(rows), dtype=np.int64).tolist()
    names = tuple(f"{requirement}, row {r + 1}" for r in range(len(rows)))
    per_sample, of_tests, of_leaves = (np.stack(part, axis=-1) for part in zip(*parts, strict=True))
    return Totals(
        names,
        per_sample,
        tuple(TotalRow(tuple(unit[r]), hi=side) for r, side in enumerate(rows)),
        of_tests if of_tests.any() else None,
        per_leaf=of_leaves if of_leaves.any() else None,
    )


def _added(coef: Floats, sizes: dict[str, tuple[int, ...]], data: Dataset) -> tuple[Ints, Ints, Ints] | None:
    """What a unit of weight of each sample, a test of each feature, and a leaf of each class add; None for no sum."""
    if not ((np.rint(coef) == coef).all() and np.abs(coef).max(initial=0) < LARGEST):
        return None
    ends = np.cumsum([math.prod(size) for size in sizes.values()])[:-1]
    of = {
        name: part.astype(np.int64).reshape(size)
        for (name, size), part in zip(sizes.items(), np.split(coef, ends), strict=True)
    }
    nodes = [of["active"], of["feature"], of["label"]]
    if any((one < 0).any() or (one != one[:1]).any() for one in nodes):
        return None
    per_sample = (
        of["predicted"] if of["predicted"].ndim == 2 else np.zeros((data.n_samples, data.n_classes), np.int64)
    )
    weight = np.asarray(data.weights)[:, None]
    if (per_sample % weight).any():
        return None
    per_test = np.zeros(data.n_features, dtype=np.int64) + of["active"][:1].sum()
    per_test = per_test + of["feature"][0] if of["feature"].ndim == 2 else per_test
    per_leaf = of["label"][0] if of["label"].ndim == 2 else np.zeros(data.n_classes, dtype=np.int64)
    return per_sample // weight, per_test, per_leaf


def _alike(a: Totals, b: Totals) -> bool:
    """Whether two totals are equal."""
    of_tests, of_leaves = (a.per_test, b.per_test), (a.per_leaf, b.per_leaf)
    return (
        [row.hi for row in a.rows] == [row.hi for row in b.rows]
        and np.array_equal(a.added, b.added)
        and all(x is y if x is None or y is None else np.array_equal(x, y) for x, y in (of_tests, of_leaves))
    )
