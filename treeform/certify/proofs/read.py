"""Checking a proof that a certificate names: derive the clauses from the data, and verify each step."""

from __future__ import annotations

import gzip
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from treeform.catalogue.formulations import find_formulation
from treeform.certify.proofs.cnf import Cnf, Statement, derive
from treeform.certify.proofs.rup import PIECE, Verification, verify_drat_trim, verify_rup
from treeform.certify.proofs.write import digest_of_file, versions
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.shape import shape_from_json
from treeform.solve.budget import Budget


def verify_proof(
    recheck: dict[str, Any],
    question: Question,
    folder: Path,
    time_limit: float | None,
    drat_trim: bool = False,
) -> tuple[Fraction | None, Verification, Cnf]:
    """Verify the proof that a claim rests on.

    Parameters
    ----------
    recheck : dict
        What the certificate says about it.
    question : Question
        Made from the data.
    folder : Path
        Where proofs are.
    time_limit : float or None
        Seconds.
    drat_trim : bool
        Whether drat-trim, instead of our own checker, is asked.

    Returns
    -------
    bound : Fraction or None
        What a verified proof implies, in the user's units: nothing is below it; None: there is no model.
    verification : Verification
    cnf : Cnf
        The clauses derived from the data.

    Raises
    ------
    CertificateError
        If the file is missing, was changed, or is about another problem.
    """
    statement = _statement(recheck, question)
    bound = statement.bound(question)
    path = _file(recheck, folder)
    cnf = derive(question, find_formulation(str(recheck["formulation"])), statement)
    budget = Budget(time_limit)
    try:
        with gzip.open(path, "rb") as stream:

            def read() -> bytes:
                if budget.stop():
                    raise TimeoutError
                return stream.read(PIECE)

            if drat_trim:
                found = verify_drat_trim(cnf, read, time_limit=time_limit)
            else:
                found = verify_rup(cnf, read, stop=budget.stop)
    except TimeoutError:
        found = Verification("stopped", f"not finished within {time_limit} s", {})
    except (OSError, EOFError, zlib.error) as error:
        raise CertificateError(
            f"the proof {path.name} cannot be read", cause=str(error), fix="use the file as it was written"
        ) from error
    if found.verdict not in ("verified", "stopped", "memory"):
        found = Verification(found.verdict, found.detail + _other_formula(recheck, cnf), found.counters)
    return bound, found, cnf


def _statement(recheck: dict[str, Any], question: Question) -> Statement:
    at_most = None
    if recheck["at_most"] is not None:
        scaled = Fraction(recheck["at_most"]) * question.scale
        if scaled.denominator != 1:
            raise CertificateError(
                "the proof's bound is no value of the objective", cause=str(recheck["at_most"])
            )
        at_most = int(scaled)
    return Statement(shape_from_json(recheck["shape"]), at_most, _examples(recheck["rows"], question))


def _examples(rows: list[int] | None, question: Question) -> np.ndarray | None:
    """Rows of the user's table as points of the data."""
    if rows is None:
        return None
    kept = np.asarray(question.data.kept_rows)
    given = np.asarray(rows, dtype=np.int64)
    if given.ndim != 1 or not bool(np.isin(given, kept).all()):
        raise CertificateError("the proof names rows that the data do not have")
    return np.unique(question.data.points.index[np.searchsorted(kept, given)])


def _file(recheck: dict[str, Any], folder: Path) -> Path:
    name = str(recheck["proof"])
    path = folder / Path(name).name
    if Path(name).name != name or not path.is_file():
        raise CertificateError(
            f"there is no proof {name} in {folder}",
            fix="name the folder that solve(..., proofs=folder) wrote to",
        )
    if digest_of_file(path) != recheck["sha256"]:
        raise CertificateError(
            f"the proof {name} was changed after it was written",
            cause="its digest is not the one in the certificate",
            fix="use the original file",
        )
    return path


def _other_formula(recheck: dict[str, Any], cnf: Cnf) -> str:
    """Why a proof may fail that was good once: never a part of the check, only of the message."""
    told = recheck.get("cnf") or {}
    if told.get("sha256") == cnf.digest:
        return ""
    then = ", ".join(f"{name} {number}" for name, number in (recheck.get("versions") or {}).items())
    now = ", ".join(f"{name} {number}" for name, number in versions().items())
    return f"; it was written for other clauses than those derived here ({then} then, {now} now)"
