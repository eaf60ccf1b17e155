"""What a proof costs: "no tree of depth k is free of errors", refuted, written down, and verified from the data.

Usage: ``python benchmarks/proofs.py [set:depth[:prover] ...]``. Data: folder in ``TREEFORM_DATA``.
Times are CPU seconds of one process.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from tables import HERE, write

import treeform as tf
from treeform.certify.certificate import read
from treeform.certify.proofs import Proofs, verify_proof
from treeform.certify.schema import ProofRoute

DATA = Path(os.environ.get("TREEFORM_DATA", HERE.parent.parent / "shared" / "data")) / "sat"
SOLVER = "glucose42"
SETS = [
    "mouse-onehot:3", "monks-1:4", "iris:3", "zoo:3", "monks-3:5",
    *(f"folds/balance-scale-train{fold}:7" for fold in range(5)),
    "car:7", "car:7:cadical195", "car:7:cadical153",
]  # fmt: skip
HEADER = [
    "set", "depth refuted", "proof by", "examples", "of", "variables", "clauses", "solve", "solve + proof",
    "lemmas", "proof MB", "gzip MB", "verify", "check",
]  # fmt: skip
NOTE = """\
The ladder over depths 1 .. k ends without a tree. *solve*: without a proof, {solver}, incremental, lazy examples.
*solve + proof*: the same, and for each depth the final formula is solved once more from scratch by the solver named,
its proof verified, trimmed to what the refutation needs, and written. *examples*: distinct examples in the last
formula, of those in the table. *lemmas*, *MB*: of the trimmed proof of depth k. *verify*: derive the clauses of depth
k from the data and verify each lemma. *check*: the whole of `tf.check`, with all proofs of the certificate."""


def problem_of(name: str, depth: int) -> tuple[tf.Problem, Any, Any]:
    frame = pd.read_csv(DATA / f"{name}.csv.gz")
    X, y = frame.drop(columns="target"), frame["target"]
    problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    return problem, X, y


def timed(work: Any) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def measure(name: str, depth: int, prover: str) -> list[Any]:
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
    return [
        name, depth, prover, len(recheck.rows or []), problem.data.points.n_points, cnf.variables, f"{cnf.n_clauses:,}",
        f"{alone:.2f}", f"{both:.2f}", f"{found.counters['lemmas']:,}", f"{size / 1e6:.2f}", f"{packed / 1e6:.2f}",
        f"{verify:.2f}", f"{check:.2f}",
    ]  # fmt: skip


def main(sets: list[str]) -> None:
    rows = []
    for item in sets or SETS:
        name, depth, prover = [*item.split(":"), SOLVER][:3]
        rows.append(measure(name, int(depth), prover))
        print(rows[-1], flush=True)
    write("proofs", "Proofs that no smaller depth will do", HEADER, rows, NOTE.format(solver=SOLVER))


if __name__ == "__main__":
    main(sys.argv[1:])
