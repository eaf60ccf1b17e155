"""Certificates: an answer with everything that is needed to verify it again from the data, and the verifier."""

from __future__ import annotations

from treeform.utils.first_use import on_first_use

_HOMES = {
    **dict.fromkeys(("CheckReport", "CheckRow", "Verdict"), ".verdicts"), "Judgement": ".judgement",
    "json_schema": ".schema", "make_certificate": ".certificate",
}  # fmt: skip
__all__ = sorted(_HOMES)
__getattr__, __dir__ = on_first_use(__name__, _HOMES)
