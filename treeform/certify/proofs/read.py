"""Checking a proof that a certificate names: derive the clauses from the data, and verify each step."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from treeform.catalogue.solvers import find_formulation, formulation_names
from treeform.certify.proofs.cnf import Cnf, Statement, derive
from treeform.certify.proofs.rup import PIECE, Verification, verify_drat_trim, verify_rup
from treeform.certify.proofs.write import digest_of_file, versions
from treeform.certify.provers import at_depth, depth_below, is_least_depth
from treeform.certify.schema import ProofRoute
from treeform.errors import CertificateError
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.utils.budget import Budget, ProcessorBudget


def verify_proof(
    route: ProofRoute,
    question: Question,
    value: Fraction | None,
    folder: Path,
    time_limit: float | None,
    drat_trim: bool = False,
) -> tuple[Fraction | None, Verification, Cnf]:
    """Verify the proof that a claim rests on: what it implies (nothing is below that; None: there is no model), how it
    was verified, and the clauses derived from the data.

    ``question`` is made from the data; the refuted statement has its own shape and splits. ``value``, in the user's
    units, is the bound that is claimed; None: that there is no model. ``folder``: where proofs are. ``drat_trim``: in
    place of treeform's checker.

    Raises CertificateError if the file is missing, was changed, or is about another problem.
    """
    bound = _statement(route, question, value).bound(question)
    path = _file(route, folder)
    cnf = derived_clauses(route, question, value)
    # drat-trim is a process of its own, so only elapsed time limits it.
    budget = Budget(time_limit) if drat_trim else ProcessorBudget(time_limit)
    try:
        with gzip.open(path, "rb") as stream:

            def read() -> bytes:
                if budget.stop():
                    raise TimeoutError
                return stream.read(PIECE)

            if drat_trim:
                verification = verify_drat_trim(cnf, read, time_limit=time_limit)
            else:
                verification = verify_rup(cnf, read, budget=budget)
    except TimeoutError:
        verification = Verification("stopped", f"not finished within {time_limit} s", {})
    except (OSError, EOFError, zlib.error) as error:
        raise CertificateError(
            f"the proof {path.name} cannot be read", cause=str(error), fix="use the file as it was written"
        ) from error
    if verification.verdict not in ("verified", "stopped", "memory"):
        now = ", ".join(f"{name} {number}" for name, number in versions().items())
        why = f"; a proof goes with the clauses that its versions derived (here {now})"
        verification = replace(verification, detail=verification.detail + why)
    return bound, verification, cnf


def derived_clauses(route: ProofRoute, question: Question, value: Fraction | None) -> Cnf:
    """The clauses that a proof of the claim ``value`` is about, as the requirements of ``question`` state them."""
    return derive(question, _formulation(route.formulation), _statement(route, question, value))


def _statement(route: ProofRoute, question: Question, value: Fraction | None) -> Statement:
    """What the proof has to refute: the shape is that of the problem, or its tree of the depth below the claim."""
    shape = question.shape
    if is_least_depth(question.objective):
        shape = at_depth(question, depth_below(question, value)).shape
    at_most = None
    if route.at_most is not None:
        scaled = Fraction(route.at_most) * question.scale
        if scaled.denominator != 1:
            raise CertificateError("the proof's bound is no value of the objective", cause=route.at_most)
        at_most = int(scaled)
    return Statement(shape, at_most, _examples(route.rows, question))


def _formulation(name: str) -> Formulation:
    """The formulation as it is installed: settings might leave models out."""
    if name not in formulation_names():
        raise CertificateError(
            f"there is no formulation {name!r}",
            cause=f"installed are {', '.join(sorted(formulation_names()))}",
            fix="install the package that brings it",
        )
    return find_formulation(name)


def _examples(rows: list[int] | None, question: Question) -> np.ndarray | None:
    """Rows of the user's table as points of the data."""
    if rows is None:
        return None
    kept = np.asarray(question.data.kept_rows)
    examples = np.asarray(rows, dtype=np.int64)
    if examples.ndim != 1 or not bool(np.isin(examples, kept).all()):
        raise CertificateError("the proof names rows that the data do not have")
    return np.unique(question.data.points.index[np.searchsorted(kept, examples)])


def _file(route: ProofRoute, folder: Path) -> Path:
    name = route.file
    path = folder / Path(name).name
    if Path(name).name != name or not _is_file(path):
        raise CertificateError(
            f"there is no proof {name} in {folder}",
            fix="name the folder that solve(..., proofs=folder) wrote to",
        )
    if digest_of_file(path) != route.sha256:
        raise CertificateError(
            f"the proof {name} was changed after it was written",
            cause="its digest is not the one in the certificate",
            fix="use the original file",
        )
    return path


def _is_file(path: Path) -> bool:
    """Whether there is such a file; no file has a name that is longer than the system takes."""
    try:
        return path.is_file()
    except OSError:
        return False
