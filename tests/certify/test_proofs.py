"""Refutations on file: what the checker accepts, and what it must never accept."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from process_memory import needs_proc
from repository import ROOT

from treeform.backends.drat import BINARY, trace
from treeform.certify.proofs import Cnf, Verification, verify_rup
from treeform.certify.proofs.rup import verify_drat_trim
from treeform.errors import SpecError
from treeform.utils.budget import Budget

Clauses = list[list[int]]

# Every sign of three variables: unsatisfiable, and no clause is a unit.
CUBE: Clauses = [[a, b, c] for a in (-1, 1) for b in (-2, 2) for c in (-3, 3)]
CUBE_PROOF = ["1 2 0", "1 -2 0", "1 0", "-1 2 0", "0"]
MINIMAL = ["1 2 0", "1 0", "-1 2 0", "0"]


def cnf_of(clauses: Iterable[Iterable[int]], variables: int | None = None) -> Cnf:
    rows = [list(clause) for clause in clauses]
    flat = np.array([lit for row in rows for lit in row], dtype=np.int32)
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Cnf(starts, flat, int(np.abs(flat).max(initial=0)) if variables is None else variables)


def verify(
    clauses: Clauses | Cnf, proof: str | bytes | list[str], binary: bool = False, piece: int = 5
) -> Verification:
    text = "\n".join(proof) if isinstance(proof, list) else proof
    raw = text.encode() if isinstance(text, str) else text
    pieces = iter([raw[i : i + piece] for i in range(0, len(raw), piece)])
    cnf = clauses if isinstance(clauses, Cnf) else cnf_of(clauses)
    return verify_rup(cnf, lambda: next(pieces, b""), binary=binary)


def satisfiable(clauses: Clauses, n: int) -> bool:
    return any(
        all(any(signs[abs(lit) - 1] == (lit > 0) for lit in clause) for clause in clauses)
        for signs in itertools.product((False, True), repeat=n)
    )


def random_clauses(rng: random.Random, n: int) -> Clauses:
    out = []
    for _ in range(int(n * rng.uniform(2.0, 7.0))):
        chosen = rng.sample(range(1, n + 1), min(n, rng.choice([1, 2, 3, 3, 3, 4])))
        out.append([rng.choice((-1, 1)) * v for v in chosen])
    return out


# -- what holds -----------------------------------------------------------------------------------


def test_a_proof_written_by_hand():
    assert verify(CUBE, CUBE_PROOF).ok


def test_comments_deletions_and_line_ends():
    assert verify(CUBE, "c a proof\r\n1 2 0\r\nd 1 2 3 0 d 1 2 -3 0\n1 -2 0\n\n1 0\n-1 2 0\n").ok
    assert verify(CUBE, "c 1 2 0\n" + "\n".join(MINIMAL[1:])).verdict == "not implied"


def test_binary_form():
    def code(lit: int) -> bytes:
        value, out = 2 * abs(lit) + (lit < 0), bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        return bytes([*out, value])

    shift = 100  # two bytes a literal
    clauses = [[lit + shift if lit > 0 else lit - shift for lit in clause] for clause in CUBE]
    lemmas = [[101, 102], [101, -102], [101], [-101, 102]]
    proof = b"".join(b"a" + b"".join(map(code, lemma)) + b"\0" for lemma in lemmas)
    assert verify(clauses, proof, binary=True).ok
    assert verify(clauses, proof[:-1], binary=True).verdict == "malformed"
    assert verify(clauses, b"x" + proof, binary=True).verdict == "malformed"
    assert verify(clauses, b"a" + b"\xff" * 9 + proof, binary=True).verdict == "malformed"


def test_a_formula_that_propagation_refutes_needs_no_proof():
    assert verify([[1], [-1, 2], [-2]], "").ok
    assert verify(cnf_of([[1], []], 1), "").ok


@pytest.mark.parametrize("solver", list(BINARY))
def test_random_formulas_against_brute_force(solver: str):
    rng = random.Random(solver)
    refuted = 0
    for _ in range(60):
        n = rng.randint(3, 10)
        clauses = random_clauses(rng, n)
        cnf = cnf_of(clauses, n)
        with trace(cnf.starts, cnf.literals, solver) as told:
            assert told.satisfiable == satisfiable(clauses, n)
            if told.proof is None:
                continue
            proof = told.proof.read()
        refuted += 1
        assert verify(cnf, proof, binary=BINARY[solver], piece=1000).ok
    assert refuted > 10


@pytest.mark.parametrize("solver", ["glucose42", "cadical195"])
def test_the_trimmed_proof_is_a_proof(solver: str):
    # Seven pigeons in six holes.
    hole = [[6 * p + h + 1 for h in range(6)] for p in range(7)]
    apart = [[-hole[p][h], -hole[q][h]] for h in range(6) for p in range(7) for q in range(p)]
    cnf = cnf_of([*hole, *apart])
    kept: list[bytes] = []
    with trace(cnf.starts, cnf.literals, solver) as told:
        assert told.proof is not None
        stream = told.proof
        found = verify_rup(cnf, lambda: stream.read(1 << 16), binary=told.binary, write=kept.append)
    assert found.ok
    again = verify(cnf, b"".join(kept), piece=1 << 16)
    assert again.ok
    assert again.counters["lemmas"] == found.counters["core_lemmas"] <= found.counters["lemmas"]
    # Nothing but the numbers of a proof, that other checkers read too.
    assert set(b"".join(kept)) <= set(b"0123456789- d\n")


def follows(clauses: list[frozenset[int]], lemma: frozenset[int]) -> bool:
    """Reverse unit propagation as its definition says."""
    true = {-lit for lit in lemma}
    while True:
        before = len(true)
        for clause in clauses:
            left = [lit for lit in clause if -lit not in true]
            if not left:
                return True
            if len(left) == 1:
                true.add(left[0])
        if len(true) == before:
            return False


def follow(clauses: Clauses, proof: str) -> bool:
    """A checker of a dozen lines: every lemma in order, deletions obeyed."""
    present = [frozenset(clause) for clause in clauses]
    for line in proof.splitlines():
        words = line.split()
        lemma = frozenset(map(int, words[words[0] == "d" : -1]))
        if words[0] == "d":
            present.remove(lemma)
        elif not follows(present, lemma):
            return False
        else:
            present.append(lemma)
    return frozenset() in present


@pytest.mark.parametrize("solver", ["glucose42", "cadical195"])
def test_a_checker_of_a_dozen_lines_agrees(solver: str):
    rng = random.Random(7)
    refuted = 0
    while refuted < 15:
        clauses = random_clauses(rng, 12)
        cnf = cnf_of(clauses, 12)
        kept: list[bytes] = []
        with trace(cnf.starts, cnf.literals, solver) as told:
            if told.proof is None:
                continue
            stream = told.proof
            assert verify_rup(cnf, lambda s=stream: s.read(99), binary=told.binary, write=kept.append).ok
        refuted += 1
        assert follow(clauses, b"".join(kept).decode())


# -- what does not --------------------------------------------------------------------------------


def test_a_dropped_lemma_is_noticed():
    assert verify(CUBE, MINIMAL).ok
    for i in range(len(MINIMAL) - 1):
        assert not verify(CUBE, [line for j, line in enumerate(MINIMAL) if j != i]).ok
    assert verify(CUBE, ["1 0", *MINIMAL[2:]]).verdict == "not implied"


def test_the_message_names_the_step():
    found = verify(CUBE, ["1 2 0", "d 1 -2 3 0", *MINIMAL[1:]])
    assert found.verdict == "not implied"
    assert "step 3, the lemma 1 0" in found.detail


def test_an_empty_proof_proves_nothing():
    assert verify(CUBE, "").verdict == "no refutation"
    assert verify(CUBE, ["0"]).verdict == "not implied"


def test_a_truncated_proof_proves_nothing():
    text = "\n".join(CUBE_PROOF)
    for end in range(text.index("1 0") - 2):
        assert not verify(CUBE, text[:end]).ok


def test_other_clauses_are_not_refuted():
    for left_out in range(len(CUBE)):
        rest = [clause for i, clause in enumerate(CUBE) if i != left_out]
        assert not verify(rest, CUBE_PROOF).ok


def test_deletions_in_another_order_are_sound():
    # The clauses that a lemma needs are gone before it comes.
    assert verify(CUBE, ["d 1 2 3 0", *MINIMAL]).verdict == "not implied"
    # What is not there cannot be deleted, and what is deleted late does no harm.
    assert verify(CUBE, ["d 1 2 0", *MINIMAL]).ok
    assert verify(CUBE, [*MINIMAL[:1], "d 3 1 2 0", *MINIMAL[1:]]).ok


def test_a_deleted_copy_leaves_the_other():
    assert verify([*CUBE, [3, 2, 1]], ["d 1 2 3 0", *MINIMAL]).ok
    assert not verify([*CUBE, [3, 2, 1]], ["d 1 2 3 0", "d 1 2 3 0", *MINIMAL]).ok


def test_unit_deletions_do_not_hurt():
    clauses = [[1], [-1, 2, 3], [-1, 2, -3], [-1, -2, 3], [-2, -3]]
    assert verify(clauses, ["d 1 0", "2 0", "0"]).ok


@pytest.mark.parametrize(
    "text", ["1 2", "1 two 0", "1 -- 0", "99999999999 0", "7 0", "d 7 0", "1 2 0 x", "-", "d"]
)
def test_what_is_no_proof_is_malformed(text: str):
    found = verify(CUBE, text)
    assert found.verdict == "malformed"
    assert "step" in found.detail


def test_rat_lemmas_are_refused():
    # Blocked by variable 2, which occurs positively only: satisfiability is kept, but it is no consequence.
    found = verify([[1, 2], [-1, 3], [-3, 1]], ["-2 0", "0"])
    assert found.verdict in ("not implied", "no refutation")
    assert verify([[1, 2], [-1, 2]], ["-1 0", "-2 0", "0"]).verdict != "verified"


def test_repeated_literals_and_tautologies():
    clauses = [[*clause, clause[0]] for clause in CUBE] + [[1, -1, 2]]
    assert verify(clauses, ["1 2 2 0", "1 -1 0", *CUBE_PROOF[1:]]).ok


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.data())
def test_no_satisfiable_formula_is_ever_refuted(seed: int, data: st.DataObject):
    rng = random.Random(seed)
    n = rng.randint(2, 7)
    clauses = random_clauses(rng, n)
    while not satisfiable(clauses, n):
        clauses.pop()
    # Lemmas of any kind, the true proof of a stronger formula among them.
    stronger = cnf_of([*clauses, *([v] for v in range(1, n)), [-n, -1], [n, -1]], n)
    with trace(stronger.starts, stronger.literals) as told:
        text = told.proof.read().decode() if told.proof else ""
    extra = data.draw(st.lists(st.lists(st.integers(-n, n).filter(bool), max_size=3), max_size=6))
    lines = [*text.splitlines(), *(" ".join(map(str, [*lemma, 0])) for lemma in extra)]
    rng.shuffle(lines)
    assert not verify(cnf_of(clauses, n), lines).ok


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=4), st.floats(0, 1))
def test_damaged_bytes_never_crash(seed: int, bytes_: bytes, where: float):
    rng = random.Random(seed)
    clauses = random_clauses(rng, 8)
    cnf = cnf_of(clauses, 8)
    with trace(cnf.starts, cnf.literals, "cadical153") as told:
        proof = told.proof.read() if told.proof else b"a\2\0"
    at = int(where * len(proof))
    damaged = proof[:at] + bytes_ + proof[at + len(bytes_) :]
    for binary in (True, False):
        found = verify(cnf, damaged, binary=binary, piece=3)
        assert not found.ok or not satisfiable(clauses, 8)


# -- limits ---------------------------------------------------------------------------------------


def test_memory_is_bounded():
    proof = iter([b"1 2 3 0\n" * 1000] * 1000)
    found = verify_rup(cnf_of(CUBE), lambda: next(proof, b""), memory=1 << 20)
    assert found.verdict == "memory"


@pytest.mark.parametrize("memory", [0, -1])
def test_no_memory_is_no_memory(memory: int):
    found = verify_rup(cnf_of(CUBE), lambda: b"", memory=memory)
    assert found.verdict == "memory" and found.counters["steps"] == 0


BEYOND = """
from short_memory import short_of_memory
from treeform.certify.proofs.rup import verify_rup
from test_proofs import CUBE, cnf_of

many = cnf_of(CUBE, 10**6)  # of a variable more than a hundred bytes
lemmas = iter([b"1 2 3 0\\n" * 1000] * 10**4)  # of a lemma fifty
with short_of_memory(32):
    for cnf, read in ((many, lambda: b""), (cnf_of(CUBE), lambda: next(lemmas))):
        print(verify_rup(cnf, read, memory=16 << 20).detail)
"""


@needs_proc
def test_what_is_allowed_is_all_that_is_taken():
    """A process that may map little more ends by the limit that was stated, and not by that of the system."""
    places = [str(ROOT / "tests" / folder) for folder in ("support", "certify")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(
        [sys.executable, "-c", BEYOND], env=env, capture_output=True, text=True, timeout=280
    )
    assert done.stdout.splitlines() == ["the memory allowed does not suffice"] * 2, done.stderr


def test_a_lemma_without_end_is_refused():
    endless = itertools.repeat(b"1 2 3 " * 1000)
    assert verify_rup(cnf_of(CUBE), lambda: next(endless)).verdict == "malformed"
    assert (
        verify_rup(cnf_of(CUBE), lambda: next(itertools.repeat(b"a\2\2\2")), binary=True).verdict
        == "malformed"
    )


def test_it_stops_when_asked():
    asked = []

    def stop() -> bool:
        asked.append(1)
        return True

    endless = itertools.repeat(b"1 2 3 0\nd 1 2 3 0\n" * 1000)
    assert verify_rup(cnf_of(CUBE), lambda: next(endless), budget=Budget(over=stop)).verdict == "stopped"
    assert asked


def test_errors_of_callers_come_through():
    def broken() -> bytes:
        raise EOFError("cut off")

    with pytest.raises(EOFError, match="cut off"):
        verify_rup(cnf_of(CUBE), broken)


def test_arrays_that_are_no_clauses_are_refused():
    for starts, lits in (([0, 2], [1]), ([0, 1], [0]), ([0, 1], [5]), ([1, 1], [1]), ([0, 2, 1], [1])):
        with pytest.raises(ValueError):
            verify(Cnf(np.array(starts, dtype=np.int64), np.array(lits, dtype=np.int32), 3), "")


def test_solvers_without_proofs_are_refused():
    with pytest.raises(SpecError, match="minisat22"):
        trace(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), "minisat22")


def test_a_proof_can_be_stopped_while_it_is_made():
    n = 11
    hole = [[n * p + h + 1 for h in range(n)] for p in range(n + 1)]
    apart = [[-hole[p][h], -hole[q][h]] for h in range(n) for p in range(n + 1) for q in range(p)]
    cnf = cnf_of([*hole, *apart])
    with trace(cnf.starts, cnf.literals, "glucose42", Budget(over=lambda: True)) as told:
        assert told.satisfiable is None
        assert told.proof is None


def test_dimacs_reads_back():
    text = b"".join(cnf_of(CUBE).dimacs()).decode().split("\n")
    assert text[0] == "p cnf 3 8"
    assert [list(map(int, line.split()))[:-1] for line in text[1:-1]] == CUBE


def test_drat_trim_has_a_second_at_least(tmp_path):
    program = tmp_path / "drat-trim"
    program.write_text('#!/bin/sh\necho "s $4"\n')
    program.chmod(0o755)
    for limit, seconds in ((0.2, 1), (7.4, 7)):
        found = verify_drat_trim(cnf_of([[1], [-1]]), lambda: b"", time_limit=limit, program=str(program))
        assert found.detail == f"{program}: s {seconds}"
