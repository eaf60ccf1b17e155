"""Clause templates: encode a shape of row once, write it out for all rows of that shape at once.

Rows of a family mostly differ only in which literals they hold. An encoding of one row over placeholders
``1 .. L`` and new variables ``L + 1 .. L + A`` becomes the clauses of ``g`` rows by one NumPy gather.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from treeform.model import Clause, Model, csr
from treeform.model.csr import Rows
from treeform.utils.arrays import Ints

__all__ = ["Family", "Template", "instantiate"]


@dataclass(frozen=True)
class Template:
    """The encoding of one row."""

    n_literals: int
    n_new: int
    """Placeholders ``1 .. n_literals`` are the row's literals, the next ``n_new`` are new variables."""
    definitions: Sequence[Sequence[int]]
    """Clauses that constrain the new variables only given the literals: they can always be satisfied."""
    assertions: Sequence[Sequence[int]]
    """Clauses that state the row; with an enforcement literal only these depend on it."""

    @property
    def n_clauses(self) -> int:
        return len(self.definitions) + len(self.assertions)


@dataclass(frozen=True)
class Family:
    """Rows that share a template: ``lits (g, L)`` signed literals, ``when (g,)`` or None."""

    template: Template
    lits: Ints
    when: Ints | None


def instantiate(name: str, families: Iterable[Family], model: Model) -> list[Clause]:
    """Write out all families; their new variables become one family of columns of ``model``.

    Returns a plain block and, if assertions are enforced, a second block with enforcement literals.
    """
    todo = list(families)
    total = sum(f.template.n_new * len(f.lits) for f in todo)
    start = model.n_cols
    if total:
        model.bool(f"{name} (encoding)", total)
    plain: list[Rows] = []
    stated: list[Rows] = []
    enforced: list[Rows] = []
    whens: list[Ints] = []
    for family in todo:
        count = family.template.n_new * len(family.lits)
        new = np.arange(start + 1, start + 1 + count, dtype=np.int64).reshape(len(family.lits), -1)
        start += count
        table = np.concatenate([family.lits, new], axis=1) if count else family.lits
        plain.append(_write(family.template.definitions, table))
        assertions = _write(family.template.assertions, table)
        if family.when is None:
            stated.append(assertions)
        else:
            enforced.append(assertions)
            whens.append(np.repeat(family.when, len(family.template.assertions)))
    out = [_block(name, [*plain, *stated], None)] if todo else []
    if enforced:
        out.append(_block(name, enforced, np.concatenate(whens)))
    return [block for block in out if block.n_rows]


def _write(clauses: Sequence[Sequence[int]], table: Ints) -> Rows:
    lengths = np.array([len(c) for c in clauses], dtype=np.int64)
    flat = np.fromiter((lit for c in clauses for lit in c), dtype=np.int64, count=int(lengths.sum()))
    lits = (table[:, np.abs(flat) - 1] * np.sign(flat)).ravel()
    return Rows(csr.indptr_of(np.tile(lengths, len(table))), lits, np.ones(len(lits)))


def _block(name: str, parts: list[Rows], when: Ints | None) -> Clause:
    rows = csr.concatenate_rows(parts)
    return Clause(name, rows.indptr, rows.cols, when)
