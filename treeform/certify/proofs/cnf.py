"""The clauses that a proof is about, derived from the data alone, by the writer and by the checker."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.backends import Capabilities
from treeform.backends.run import CLAUSE
from treeform.bridges import route
from treeform.errors import CertificateError, SpecError
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.model import Clause, Model
from treeform.shape import Shape


@dataclass(frozen=True)
class Cnf:
    """Clauses as flat arrays."""

    starts: NDArray[np.int64]
    """ndarray of int64, shape (clauses + 1,): clause ``i`` is ``literals[starts[i]:starts[i + 1]]``."""
    literals: NDArray[np.int32]
    """Signed variables, from 1."""
    variables: int

    @property
    def n_clauses(self) -> int:
        return len(self.starts) - 1

    @property
    def digest(self) -> str:
        """SHA-256 of sizes, clause by clause in order."""
        hashed = hashlib.sha256(f"p cnf {self.variables} {self.n_clauses}\n".encode())
        hashed.update(np.ascontiguousarray(self.starts, dtype="<i8").tobytes())
        hashed.update(np.ascontiguousarray(self.literals, dtype="<i4").tobytes())
        return hashed.hexdigest()

    def dimacs(self) -> Iterator[bytes]:
        """The clauses in DIMACS form, piece by piece."""
        yield f"p cnf {self.variables} {self.n_clauses}\n".encode()
        ends, lits = self.starts.tolist(), self.literals.tolist()
        for first in range(0, self.n_clauses, 10_000):
            rows = range(first, min(first + 10_000, self.n_clauses))
            yield "".join(" ".join(map(str, [*lits[ends[i] : ends[i + 1]], 0])) + "\n" for i in rows).encode()


@dataclass(frozen=True)
class Statement:
    """What is refuted: "some model of this shape satisfies all requirements", and its objective is at most so much."""

    shape: Shape
    at_most: int | None = None
    """Bound of the objective in the question's whole units; None when any value would do."""
    examples: NDArray[np.int64] | None = None
    """Points of the data that the formula holds. If no model satisfies these, none satisfies all."""

    def bound(self, question: Question) -> Fraction | None:
        """The lower bound that its refutation proves, in the user's units; None: there is no model at all.

        Raises CertificateError if the refutation proves nothing about the question.
        """
        terms = question.objective.terms
        if question.objective.is_depth:
            fits = self.shape.at_depth(question.shape.depth) == question.shape and self.at_most is None
            if fits and terms[0][0] > 0:
                # No tree of this depth, so none of a smaller one.
                return (
                    None if self.shape.depth >= question.shape.depth else terms[0][0] * (self.shape.depth + 1)
                )
        elif self.shape == question.shape:
            return None if self.at_most is None else question.to_units(self.at_most + 1)
        raise CertificateError(
            "the proof is about another problem",
            cause=f"it refutes models of shape {self.shape}, and the problem is {question.objective} over "
            f"{question.shape}",
        )


def derive(question: Question, formulation: Formulation, statement: Statement) -> Cnf:
    """State to a SAT solver what the proof refutes. The same arguments give the same clauses, in order.

    The formulation is as it comes, with nothing remembered from earlier problems. Raises RouteError or SpecError if it
    cannot be stated in clauses.
    """
    objective = Objective(()) if statement.at_most is None else question.objective
    more: dict[str, Any] = {} if statement.examples is None else {"examples": statement.examples}
    compiled = formulation.compile(question.data, statement.shape, objective, question.requirements, **more)
    units: list[int] = []
    if statement.at_most is not None:
        literal = formulation.at_most(compiled, statement.at_most)
        if literal is None:
            value = compiled.linear_objective
            compiled.model.add(value <= statement.at_most, f"objective at most {statement.at_most}")
        else:
            units.append(literal)
    lowered = route(Capabilities(frozenset({CLAUSE}))).apply(compiled.model)
    return _flat(lowered, lowered.literals(units).tolist() if units else [])


def _flat(model: Model, units: list[int]) -> Cnf:
    """Columns that are fixed, then the clauses block by block, then units."""
    if not bool(model.is_binary.all()):
        raise SpecError(f"{model.name} is not a formula", cause="some of its columns are not 0/1")
    one, zero = np.flatnonzero(model.lb > 0.5) + 1, np.flatnonzero(model.ub < 0.5) + 1
    fixed = np.concatenate([one, -zero])
    blocks = [block for block in model.blocks if isinstance(block, Clause)]
    sizes = [
        np.ones(len(fixed), np.int64),
        *(np.diff(b.indptr) for b in blocks),
        np.ones(len(units), np.int64),
    ]
    parts = [fixed, *(b.lits for b in blocks), np.asarray(units, dtype=np.int64)]
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Cnf(starts, np.concatenate(parts).astype(np.int32), model.n_cols)
