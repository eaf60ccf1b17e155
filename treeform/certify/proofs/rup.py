"""The proof checker: reverse unit propagation, in `treeform._core`; and drat-trim, if wanted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeform import _core
from treeform.certify.proofs.cnf import Cnf
from treeform.errors import SolverNotAvailable
from treeform.utils.budget import Budget

PIECE = 1 << 20
MEMORY = 4 << 30
"""Bytes that the checker may hold."""


@dataclass(frozen=True)
class Verification:
    """What became of a proof."""

    verdict: str
    """"verified", "no refutation" (it ends without a contradiction), "not implied" (a step does not follow),
    "malformed", "stopped" or "memory"."""
    detail: str
    """Which step, and what is wrong with it."""
    counters: dict[str, int]
    """Steps and lemmas read, lemmas and clauses that the refutation needs, propagations, bytes held."""

    @property
    def ok(self) -> bool:
        return self.verdict == "verified"


def verify_rup(
    cnf: Cnf,
    read: Callable[[], bytes],
    *,
    binary: bool = False,
    write: Callable[[bytes], Any] | None = None,
    budget: Budget | None = None,
    memory: int = MEMORY,
) -> Verification:
    """Check that a proof refutes clauses, by unit propagation alone.

    Each lemma that the refutation needs has to follow from the clauses and the lemmas before it by reverse unit
    propagation. Steps that rest on the RAT property are refused, as every lemma that does not follow.

    ``read``: gives the next piece of the proof, ``b""`` at its end. ``binary``: whether the proof is in the binary DRAT
    format, else in text: lemmas ``1 -2 0``, deletions ``d 1 -2 0``. ``write``: takes the part of the proof that is
    needed, as text, once all of it is verified. ``budget``: asked about ten times a second. ``memory``: bytes that may
    be held; the verdict is "memory" where they do not suffice, as 0 never does.
    """
    checked = _core.rup_check(
        cnf.starts,
        cnf.literals,
        variables=cnf.variables,
        read=read,
        write=write,
        binary=binary,
        memory=max(1, memory),  # to the core 0 is no limit
        poll=None if budget is None else budget.stop,
    )
    counters = {key: int(value) for key, value in checked.items() if key not in ("verdict", "detail")}
    return Verification(checked["verdict"], checked["detail"], counters)


def verify_drat_trim(
    cnf: Cnf, read: Callable[[], bytes], *, time_limit: float | None = None, program: str = "drat-trim"
) -> Verification:
    """Check a proof in text form with drat-trim (Wetzler, Heule and Hunt, SAT 2014) from the PATH.

    Raises SolverNotAvailable if it is not installed.
    """
    executable = shutil.which(program)
    if executable is None:
        raise SolverNotAvailable(
            f"{program} is not installed",
            cause="there is no such program on the PATH",
            fix="build it from its one C file, or use the checker of treeform",
        )
    with tempfile.TemporaryDirectory(prefix="treeform-") as folder:
        formula, proof = Path(folder, "formula.cnf"), Path(folder, "proof.drat")
        with formula.open("wb") as stream:
            stream.writelines(cnf.dimacs())
        with proof.open("wb") as stream:
            stream.writelines(iter(read, b""))
        command = [executable, str(formula), str(proof)]
        command += [] if time_limit is None else ["-t", str(max(1, round(time_limit)))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.strip() for line in done.stdout.splitlines()]
    if "s VERIFIED" in lines:
        return Verification("verified", program, {})
    if "s TIMEOUT" in lines or any("time out" in line.lower() for line in lines):
        return Verification("stopped", f"{program} did not finish", {})
    return Verification("not implied", f"{program}: {(lines or [done.stderr.strip()])[-1]}", {})
