"""Certificates: an answer with everything that is needed to verify it again from the data, and the verifier."""

from __future__ import annotations

from treeform.certify.certificate import make_certificate
from treeform.certify.check import CheckReport, check
from treeform.certify.statements import CheckRow

__all__ = ["CheckReport", "CheckRow", "check", "make_certificate"]
