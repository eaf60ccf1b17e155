"""Writing a proof next to the certificate: solve once more from scratch, check, trim, compress."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from treeform import __version__
from treeform.backends.drat import DEFAULT_PROVER, check_prover, trace
from treeform.backends.packages import installed_version
from treeform.catalogue.solvers import find_formulation, formulation_names
from treeform.certify.proofs.cnf import Cnf, Statement, derive
from treeform.certify.proofs.rup import PIECE, verify_rup
from treeform.errors import SpecError, TreeformError
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.solve.result import Claim
from treeform.utils.budget import Budget
from treeform.utils.files import check_folder, making, name_beside, reason

ENCODER = "python-sat"


class Proofs:
    """A folder for proofs that no model exists, or none below a bound.

    Raises SpecError if nothing can be written there, or the solver writes no proofs.

    Parameters
    ----------
    folder : path
        Made when it does not exist.
    solver : str
        The SAT solver that writes them: "glucose42", "glucose4", "glucose3", "cadical195" or "cadical153".
    """

    def __init__(self, folder: str | os.PathLike[str], *, solver: str = DEFAULT_PROVER) -> None:
        check_prover(solver)
        self.folder = Path(folder)
        self.solver = solver
        self._mine: set[str] = set()
        with making(
            f"proofs cannot be written to {self.folder}",
            fix="name a folder that can be written to, or one that does not exist yet",
        ):
            self.folder.mkdir(parents=True, exist_ok=True)
            check_folder(self.folder)

    @classmethod
    def of(cls, proofs: str | os.PathLike[str] | Proofs) -> Proofs:
        """What ``proofs=`` of a solve names.

        Raises SpecError if it is no folder.
        """
        if isinstance(proofs, Proofs):
            return proofs
        if isinstance(proofs, str | os.PathLike):
            return cls(proofs)
        raise SpecError(
            f"proofs={proofs!r} names no folder",
            cause="proofs are files in a folder",
            fix='use for example proofs="proofs", or leave it out',
        )

    def __repr__(self) -> str:
        return f"Proofs({str(self.folder)!r}, solver={self.solver!r})"

    def refute(
        self,
        question: Question,
        formulation: Formulation,
        at_most: int | None,
        examples: np.ndarray | None,
        budget: Budget,
    ) -> tuple[dict[str, Any], dict[str, int]] | str:
        """Prove again what a search has refuted, and write the proof: `Claim.recheck` and sizes; or why there is none.

        Refuted are models with an objective of ``at_most`` this, in the question's whole units (None: any), over
        ``examples`` (`Formulation.examples`). The formula is the one that `treeform.check` will derive: of the
        formulation as installed, whatever settings the search used. Nothing is written unless treeform's checker
        accepts the proof.
        """
        statement = Statement(question.shape, at_most, examples)
        if formulation.name not in formulation_names():
            return f"{formulation.name} is not installed under that name, so that a check could not derive its formula"
        standard = find_formulation(formulation.name)
        if budget.stop():
            return _why_not(None, formulation)
        start = budget.seconds
        try:
            cnf = derive(question, standard, statement)
        except TreeformError as error:
            return f"{formulation.name} cannot be stated in clauses: {error.what}"
        derived = budget.seconds
        with trace(cnf.starts, cnf.literals, self.solver, budget) as trace_of_solver:
            if trace_of_solver.proof is None:
                return _why_not(trace_of_solver.satisfiable, formulation)
            name = _name(formulation, statement, cnf)
            solved = budget.seconds
            sizes = {"clauses": cnf.n_clauses, "literals": len(cnf.literals), "variables": cnf.variables}
            sizes["raw bytes"] = trace_of_solver.size
            read = partial(trace_of_solver.proof.read, PIECE)
            digest, verdict = self._write(name, cnf, read, trace_of_solver.binary, budget, sizes)
            if verdict is not None:
                return verdict
        times = {"derive": derived - start, "solve": solved - derived, "check": budget.seconds - solved}
        sizes |= {f"{what} ms": round(1000 * seconds) for what, seconds in times.items()}
        return self._recheck(name, digest, question, standard, statement, cnf), sizes

    def _write(
        self,
        name: str,
        cnf: Cnf,
        read: Callable[[], bytes],
        binary: bool,
        budget: Budget,
        sizes: dict[str, int],
    ) -> tuple[str, str | None]:
        """Check and write; the digest of the file, and why there is none."""
        temporary = name_beside(self.folder / name)
        try:
            with temporary.open("xb") as stream:
                # Without name and time inside, so that equal proofs are equal files.
                with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
                    checked = verify_rup(cnf, read, binary=binary, write=packed.write, budget=budget)
                    sizes["bytes"] = packed.tell()
                sizes["packed bytes"] = stream.tell()
            if not checked.ok:
                return "", f"{self.solver}'s proof was not verified: {checked.detail}"
            os.chmod(temporary, 0o644)
            os.replace(temporary, self.folder / name)
        except OSError as error:  # the answer stands without its proof
            return "", f"{self.folder / name} cannot be written: {reason(error)}"
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        self._mine.add(name)
        sizes |= {key: checked.counters[key] for key in ("lemmas", "core_lemmas", "core_clauses")}
        return digest_of_file(self.folder / name), None

    def _recheck(
        self,
        name: str,
        digest: str,
        question: Question,
        formulation: Formulation,
        statement: Statement,
        cnf: Cnf,
    ) -> dict[str, Any]:
        at_most = None if statement.at_most is None else str(question.to_units(statement.at_most))
        return {
            "kind": "proof",
            "file": name,
            "sha256": digest,
            "formulation": formulation.name,
            "at_most": at_most,
            "rows": rows_of(question, statement.examples),
            "format": "drup, text, gzip",
            "solver": self.solver,
            "shape": statement.shape.to_json(),
            "cnf": {"variables": cnf.variables, "clauses": cnf.n_clauses, "sha256": cnf.digest},
            "versions": versions(),
        }

    def tidy(self, claims: Iterable[Claim]) -> None:
        """Delete the proofs of this run that no claim rests on any more."""
        needed = {claim.recheck.get("file") for claim in claims if claim.recheck}
        for name in self._mine - needed:
            with suppress(OSError):
                (self.folder / name).unlink()
        self._mine &= {str(name) for name in needed}


def versions() -> dict[str, str | None]:
    """What the clauses depend on, apart from the data."""
    return {"treeform": __version__, ENCODER: installed_version(ENCODER)}


def rows_of(question: Question, examples: np.ndarray | None) -> list[int] | None:
    """Examples as rows of the user's table: the first row with each feature vector."""
    if examples is None:
        return None
    data = question.data
    _, first = np.unique(data.points.index, return_index=True)
    return [int(row) for row in np.sort(np.asarray(data.kept_rows)[first[np.asarray(examples)]])]


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file."""
    hashed = hashlib.sha256()
    with path.open("rb") as stream:
        _pour(stream, hashed.update)
    return hashed.hexdigest()


def _pour(stream: IO[bytes], into: Callable[[bytes], Any]) -> None:
    while piece := stream.read(PIECE):
        into(piece)


def _why_not(satisfiable: bool | None, formulation: Formulation) -> str:
    if satisfiable is None:
        return "the solve was stopped before it was found"
    return f"{formulation.name} as installed, without your changes to it, does not refute it"


def _name(formulation: Formulation, statement: Statement, cnf: Cnf) -> str:
    words = re.findall(r"[a-z0-9]+", f"{formulation.name} {statement.shape}".lower())
    return f"{'-'.join(words)}-{cnf.digest[:12]}.drup.gz"
