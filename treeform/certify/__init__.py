"""Certificates: an answer with everything that is needed to verify it again from the data, and the verifier."""

from __future__ import annotations

from treeform.certify.certificate import make_certificate
from treeform.certify.check import check
from treeform.certify.judgement import Judgement
from treeform.certify.schema import json_schema
from treeform.certify.verdicts import CheckReport, CheckRow, Verdict

__all__ = ["CheckReport", "CheckRow", "Judgement", "Verdict", "check", "json_schema", "make_certificate"]
