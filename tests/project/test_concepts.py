"""The page of named concepts is that of the code, and the count does not grow unseen."""

from __future__ import annotations

from concept_table import PAGE, concepts, table, written

MOST = 40
"""No more than this; lower it when a concept goes."""


def test_the_page_lists_the_concepts_of_the_code() -> None:
    assert written() == table(), f"python tests/support/concept_table.py writes {PAGE.name}"


def test_there_are_no_more_concepts_than_before() -> None:
    found = concepts()
    assert sum(map(len, found.values())) <= MOST
    assert all(what for rows in found.values() for _, what, _ in rows)
    names = {name for rows in found.values() for name, _, _ in rows}
    assert {"Question", "Objective", "Formulation", "Engine", "Ledger", "Claim"} <= names
    assert "ConTree" not in names  # a kind of Engine
