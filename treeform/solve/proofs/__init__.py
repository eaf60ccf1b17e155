"""Refutations on file: written with a claim, verified from the data without any solver."""

from treeform.solve.proofs.cnf import Cnf, Statement, derive
from treeform.solve.proofs.read import verify_proof
from treeform.solve.proofs.rup import Verification, verify_drat_trim, verify_rup
from treeform.solve.proofs.write import Proofs, Written

__all__ = [
    "Cnf",
    "Proofs",
    "Statement",
    "Verification",
    "Written",
    "derive",
    "verify_drat_trim",
    "verify_proof",
    "verify_rup",
]
