"""Refutations on file: written with a claim, verified from the data without any solver."""

from treeform.certify.proofs.cnf import Cnf, Statement, derive
from treeform.certify.proofs.read import derived_clauses, verify_proof
from treeform.certify.proofs.rup import Verification, verify_drat_trim, verify_rup
from treeform.certify.proofs.write import Proofs

__all__ = [
    "Cnf",
    "Proofs",
    "Statement",
    "Verification",
    "derive",
    "derived_clauses",
    "verify_drat_trim",
    "verify_proof",
    "verify_rup",
]
