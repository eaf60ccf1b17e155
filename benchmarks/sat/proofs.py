"""What a proof costs: "no tree of depth k is free of errors", refuted, written down, and verified from the data.

Times are CPU seconds of one process.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, read_set, table
from treeform.certify.certificate import read
from treeform.certify.proofs import Proofs, verify_proof
from treeform.certify.schema import ProofRoute

SOLVER = "glucose42"
SETS = [
    "mouse-onehot:3", "monks-1:4", "iris:3", "zoo:3", "monks-3:5",
    *(f"folds/balance-scale-train{fold}:7" for fold in range(5)),
    "car:7", "car:7:cadical195", "car:7:cadical153",
]  # fmt: skip
NOTE = """\
The search over depths 1 .. k ends without a tree. *solve*: without a proof, glucose42, incremental, lazy examples.
*solve + proof*: the same, and for each depth the final formula is solved once more from scratch by the solver named,
its proof verified, trimmed to what the refutation needs, and written. *examples*: distinct examples in the last
formula, of those in the table. *lemmas*, *MB*: of the trimmed proof of depth k. *verify*: derive the clauses of depth
k from the data and verify each lemma. *check*: the whole of `tf.check`, with all proofs of the certificate."""


def problem_of(name: str, depth: int) -> tuple[tf.Problem, Any, Any]:
    X, y = read_set("sat", name)
    problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    return problem, X, y


def timed(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def measure(name: str, depth: int, prover: str) -> dict[str, Any]:
    problem, X, y = problem_of(name, depth)
    plain, alone = timed(lambda: problem.solve(SOLVER))
    assert plain.status is tf.Status.INFEASIBLE, (name, str(plain))
    problem, X, y = problem_of(name, depth)
    with tempfile.TemporaryDirectory() as folder:
        result, both = timed(lambda: problem.solve(SOLVER, proofs=Proofs(folder, solver=prover)))
        certificate = read(json.loads(json.dumps(result.certificate())))
        recheck = next(claim.route for claim in certificate.claims if claim.kind == "infeasible")
        assert isinstance(recheck, ProofRoute), result.notes
        path = Path(folder, recheck.file)
        with gzip.open(path) as stream:
            size = sum(len(line) for line in stream)
        (_, found, cnf), verify = timed(
            lambda: verify_proof(recheck, problem.question, None, Path(folder), None)
        )
        assert found.ok, found.detail
        report, check = timed(lambda: tf.check(result.certificate(), X, y, proofs=folder, time_limit=None))
        assert report.ok, str(report)
        packed = path.stat().st_size
    return {
        "examples": len(recheck.rows or []), "of": problem.data.points.n_points, "variables": cnf.variables,
        "clauses": f"{cnf.n_clauses:,}", "solve": f"{alone:.2f}", "solve + proof": f"{both:.2f}",
        "lemmas": f"{found.counters['lemmas']:,}", "proof MB": f"{size / 1e6:.2f}", "gzip MB": f"{packed / 1e6:.2f}",
        "verify": f"{verify:.2f}", "check": f"{check:.2f}",
    }  # fmt: skip


@table("proofs")
def proofs(rows: Rows) -> Shown:
    """The rows as they are."""
    return Shown("Proofs that no smaller depth will do", rows.frame, NOTE)


def main(sets: str = ",".join(SETS)) -> None:
    """Measure; a set is NAME:DEPTH or NAME:DEPTH:PROVER."""
    figures = Figures("proofs", ("set", "depth refuted", "proof by"))
    for item in sets.split(","):
        name, depth, prover = [*item.split(":"), SOLVER][:3]
        key = {"set": name, "depth refuted": depth, "proof by": prover}
        figures.measure(partial(measure, name, int(depth), prover), **key)
