"""The standing attack: random tiny problems, every way to an answer, and a reference that shares nothing with them.

``python -m treeform.testing.differential --cases 100000 --processes 2 --out FILE`` runs it; see `report`.
"""

from __future__ import annotations

from treeform.testing.differential.cases import (
    Bundle,
    Case,
    bundle_of,
    case_from_json,
    draw_bundle,
    draw_case,
)
from treeform.testing.differential.drive import Verdict, run
from treeform.testing.differential.world import World

__all__ = [
    "Bundle",
    "Case",
    "Verdict",
    "World",
    "bundle_of",
    "case_from_json",
    "draw_bundle",
    "draw_case",
    "run",
]
