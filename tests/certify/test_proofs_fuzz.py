"""Proofs of any bytes: read to a verdict, and none is believed about clauses that can be satisfied."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_proofs import CUBE, CUBE_PROOF, satisfiable, verify

AMOUNT = int(os.environ.get("TREEFORM_FUZZ_EXAMPLES", "40"))
FUZZ = settings(max_examples=AMOUNT, suppress_health_check=list(HealthCheck))
LITERALS = st.integers(-4, 4).filter(bool)
LINES = st.builds(
    lambda deleted, literals: " ".join([*(["d"] if deleted else []), *map(str, literals), "0"]),
    st.booleans(),
    st.lists(LITERALS, max_size=4),
)
TEXTS = st.one_of(
    st.lists(LINES, max_size=12).map(lambda lines: "\n".join(lines).encode()),
    st.text(alphabet="0123456789-d \n\tc", max_size=80).map(str.encode),
    st.binary(max_size=120),
)


def edited(data: st.DataObject, proof: bytes) -> bytes:
    """The proof with some bytes in it replaced, left out or put in."""
    out = bytearray(proof)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(out)))
        out[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    return bytes(out)


@FUZZ
@given(raw=TEXTS, binary=st.booleans(), piece=st.integers(1, 40))
def test_no_bytes_refute_what_can_be_satisfied(raw: bytes, binary: bool, piece: int) -> None:
    clauses = CUBE[1:]
    assert satisfiable(clauses, 3)
    found = verify(clauses, raw, binary=binary, piece=piece)
    assert found.verdict != "verified"
    assert found.detail


@FUZZ
@given(data=st.data(), binary=st.booleans(), piece=st.integers(1, 40))
def test_edited_proofs_are_read_to_a_verdict(data: st.DataObject, binary: bool, piece: int) -> None:
    proof = "\n".join(CUBE_PROOF).encode()
    raw = edited(data, proof)
    assert verify(CUBE[1:], raw, binary=binary, piece=piece).verdict != "verified"
    verify(CUBE, raw, binary=binary, piece=piece)  # may hold still


@FUZZ
@given(
    clauses=st.lists(st.lists(LITERALS, max_size=4), max_size=16),
    lines=st.lists(LINES, max_size=10),
    deletions=st.integers(0, 3),
)
def test_what_is_verified_cannot_be_satisfied(
    clauses: list[list[int]], lines: list[str], deletions: int
) -> None:
    if verify([*clauses, [4, -4]], [*lines, *["0"] * deletions]).verdict == "verified":
        assert not satisfiable(clauses, 4)
