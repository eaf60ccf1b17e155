"""Refutations that a SAT solver writes down: clauses in, a proof in the DRUP format out, on disk all the time.

The clauses are solved from scratch. A solver that has answered many questions could log a proof too, but one that
mentions all clauses it ever saw, and that holds for its last assumptions only if these are added as units.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from treeform.backends.packages import load
from treeform.backends.sat import SAT, in_slices
from treeform.errors import unknown_name
from treeform.utils.arrays import Ints
from treeform.utils.budget import Budget

BINARY = {"glucose42": False, "glucose4": False, "glucose3": False, "cadical195": True, "cadical153": True}
"""Solvers whose proofs are used, and whether these are in the binary format."""
DEFAULT_PROVER = "glucose42"


@dataclass
class Trace:
    """The answer of a solver about clauses."""

    satisfiable: bool | None
    """None when it was stopped."""
    proof: IO[bytes] | None
    """The proof from its beginning, until `close`."""
    binary: bool
    """Whether it is in the binary DRAT format, else in text."""
    seconds: float
    _solver: Any

    @property
    def size(self) -> int:
        """Bytes of the proof."""
        if self.proof is None:
            return 0
        position = self.proof.tell()
        size = self.proof.seek(0, 2)
        self.proof.seek(position)
        return size

    def close(self) -> None:
        """Free the solver and delete its proof."""
        self._solver.delete()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def trace(
    starts: Ints, literals: NDArray[np.int32], solver: str = DEFAULT_PROVER, budget: Budget | None = None
) -> Trace:
    """Solve clauses once, with a proof of unsatisfiability on disk.

    Clause ``i`` is ``literals[starts[i]:starts[i + 1]]``, signed variables from 1; an empty one is false. ``solver`` is
    one of `BINARY`. The budget is asked about ten times a second; once it is spent the search ends without an answer.

    Raises SpecError if the solver logs no proofs that treeform reads.
    """
    check_prover(solver)
    module = load("pysat.solvers", solver, SAT.install)
    start = time.monotonic()
    engine = module.Solver(name=solver, with_proof=True)
    try:
        satisfiable = _in_thread(lambda ending: _search(engine, starts, literals, ending), budget)
        proof = None
        if satisfiable is False:
            load("pysolvers", solver, SAT.install).flushpr(engine.solver.prfp)
            proof = engine.solver.prfile
            proof.seek(0)
    except BaseException:
        engine.delete()
        raise
    return Trace(satisfiable, proof, BINARY[solver], time.monotonic() - start, engine)


def check_prover(solver: str) -> None:
    """Refuse a solver whose proofs are not read here. Raises SpecError if it is not one of `BINARY`."""
    if solver not in BINARY:
        raise unknown_name(solver, list(BINARY), "SAT solver that writes proofs")


def _search(engine: Any, starts: Ints, literals: NDArray[np.int32], ending: threading.Event) -> bool | None:
    if bool((np.diff(starts) == 0).any()):
        return False  # an empty clause: there is nothing to prove, and not every solver digests it
    ends, lits = starts.tolist(), literals.tolist()
    add = engine.solver.add_clause
    for begin, end in pairwise(ends):
        add(lits[begin:end])
    return in_slices(engine, lambda: not ending.is_set())[0]


def _in_thread(work: Callable[[threading.Event], bool | None], budget: Budget | None) -> bool | None:
    """Run ``work`` in another thread, while this one receives signals and asks the budget."""
    ending, out = threading.Event(), dict[str, Any]()

    def run() -> None:
        try:
            out["found"] = work(ending)
        except BaseException as error:  # raised again in the caller's thread
            out["error"] = error

    thread = threading.Thread(target=run, name="treeform proof")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if budget is not None and budget.stop():
                ending.set()
    finally:
        ending.set()
        thread.join()
    if "error" in out:
        raise out["error"]
    satisfiable: bool | None = out["found"]
    return satisfiable
