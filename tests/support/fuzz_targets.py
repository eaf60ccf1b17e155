"""What is fuzzed: readers of models, certificates, proofs, specifications and studies, and the native core.

A target makes two functions: ``draw(rng)``, an example, and ``run(example)``, whether it was accepted. What is refused
has an error of treeform; any other exception is a fault, and so is an answer that is wrong.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fuzz_documents import changed, torn

import treeform as tf
from treeform.errors import TreeformError

Example = Any
Target = Callable[[], tuple[Callable[[random.Random], Example], Callable[[Example], bool]]]
TESTS = Path(__file__).resolve().parent.parent

# -- readers ------------------------------------------------------------------------------------------------


def tables() -> pd.DataFrame:
    """A few rows of each kind of column."""
    return pd.DataFrame(
        {
            "a": [0.5, 1, 2, 3, 4, np.nan, 2.5, 7],
            "b": ["x", "y", "x", "z", "x", "x", None, "y"],
            "c": [True, False, True, True, False, False, True, False],
            "d": pd.to_datetime(["2020-01-01", "2021-01-01"] * 4),
        }
    )


def models() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Model files: trees, diagrams, hyperplanes, values; categories, dates, missing values, sums."""
    from graph_samples import random_graph

    X, y = tables(), ["n", "n", "p", "p", "n", "p", "q", "q"]
    plain = X[["a"]].fillna(0.0).assign(e=[3.0, 1, 2, 5, 4, 0, 2, 2])
    found = [
        tf.Problem(X, y, shape="tree:2", dates="days").solve(time_limit=5).graph,
        tf.Problem(X, y, shape="diagram:1,2,2", dates="days").minimize("error + 1/3*nodes").solve(time_limit=5).graph,
        tf.Problem(plain, [0, 1, 0, 1, 1, 0, 0, 1], shape="tree:1:multivariate").solve(time_limit=5).graph,
        tf.Problem(X, np.arange(8) / 4, shape="tree:2", dates="days").minimize("squared_error").solve().graph,
        tf.Problem(plain, np.arange(8.0), shape="tree:2").minimize(tf.AbsoluteError()).solve(time_limit=5).graph,
        random_graph(2)[0],
        random_graph(3)[0],
    ]  # fmt: skip
    bodies = [graph.to_json() for graph in found if graph is not None]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))

    def draw(rng: random.Random) -> Example:
        body = rng.choice(bodies)
        if rng.random() < 0.2:
            return torn(rng, json.dumps(body).encode())
        return changed(rng, body), rng.choice(["structure", "structure", "signed"])

    def run(example: Example) -> bool:
        from treeform.cli.stored import load_model
        from treeform.graph.jsonio import digest

        try:
            if isinstance(example, bytes):
                (folder / "model.json").write_bytes(example)
                graph = load_model(folder / "model.json")
            elif example[1] == "structure":
                graph = tf.DecisionGraph.from_json(example[0], validate="structure")
            else:
                graph = tf.DecisionGraph.from_json({**example[0], "digest": digest(example[0])})
        except TreeformError:
            return False
        except ValueError as error:  # no JSON, so that it has no digest
            if "JSON compliant" in str(error):
                return False
            raise
        used(graph)
        return True

    return draw, run


def used(graph: tf.DecisionGraph) -> None:
    """What one does with a model that was read."""
    points = np.zeros((2, len(graph.columns)))
    assert len(graph.predict_codes(points)) == 2
    again = tf.DecisionGraph.from_json(json.loads(json.dumps(graph.to_json())))
    assert (again.apply(points) == graph.apply(points)).all()
    for show in (
        graph.rules,
        graph.to_svg,
        graph.to_dot,
        graph.to_python,
        graph.to_c,
        graph.to_sql,
        graph.to_pmml,
    ):
        try:
            assert show()
        except TreeformError:  # a form that cannot say it
            continue


def certificates() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Certificates of many kinds, signed again: whatever is called verified is true, by enumeration."""
    sys.path.insert(0, str(TESTS / "certify"))
    from test_certificate_mutations import KINDS, table, untrue

    from treeform.certify.certificate import sign
    from treeform.cli.stored import read_certificate

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    cases = [kind(folder) for kind in KINDS]
    X, _ = table(1)
    for loss in (tf.SquaredError(), tf.AbsoluteError()):
        problem = tf.Problem(X, np.arange(9) / 4, shape="tree:2").minimize(loss)
        problem += tf.MinSupport(2)
        body = json.loads(json.dumps(problem.solve(time_limit=5).certificate()))
        cases.append(type(cases[0])(body, (X, np.arange(9) / 4), {}))

    def draw(rng: random.Random) -> Example:
        at = rng.randrange(len(cases))
        body = cases[at].certificate
        return at, torn(rng, json.dumps(body).encode()) if rng.random() < 0.15 else changed(rng, body)

    def run(example: Example) -> bool:
        at, body = example
        case = cases[at]
        try:
            if isinstance(body, bytes):
                (folder / "certificate.json").write_bytes(body)
                read_certificate(folder / "certificate.json")
                return True
            signed = sign(body)
        except (TreeformError, ValueError):  # what JSON cannot hold
            return False
        try:
            report = tf.check(signed, *case.args, time_limit=0.5, **case.more)
        except TreeformError:
            return False
        if report.ok and body["problem"] == case.certificate["problem"] and at < len(KINDS):
            wrong = untrue(signed, case)
            assert wrong is None, wrong
        return True

    return draw, run


def proofs() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Proofs of refutations, as text, as bytes and packed: what can be satisfied is never refuted."""
    sys.path.insert(0, str(TESTS / "certify"))
    from test_proofs import CUBE, CUBE_PROOF, cnf_of, random_clauses, satisfiable, verify

    from treeform.backends.drat import BINARY, trace

    rng = random.Random(0)
    known: list[tuple[list[list[int]], int, bytes, bool]] = [(CUBE, 3, "\n".join(CUBE_PROOF).encode(), False)]
    for _ in range(60):
        n = rng.randint(4, 9)
        clauses = random_clauses(rng, n)
        for solver, binary in BINARY.items():
            cnf = cnf_of(clauses, n)
            with trace(cnf.starts, cnf.literals, solver) as told:
                if told.proof is not None:
                    known.append((clauses, n, told.proof.read(), binary))

    def line(rng: random.Random) -> str:
        literals = [rng.choice([-4, -3, -2, -1, 1, 2, 3, 4]) for _ in range(rng.randrange(5))]
        return " ".join([*(["d"] if rng.random() < 0.3 else []), *map(str, literals), "0"])

    def draw(rng: random.Random) -> Example:
        clauses, n, proof, binary = rng.choice(known)
        clauses = [list(clause) for clause in clauses]
        kind = rng.randrange(4)
        if kind == 0:
            proof = torn(rng, proof)
        elif kind == 1:
            proof = rng.randbytes(rng.randrange(120))
        elif kind == 2:
            proof, binary = "\n".join(line(rng) for _ in range(rng.randrange(12))).encode(), False
        if rng.random() < 0.6:
            del clauses[rng.randrange(len(clauses))]
        if rng.random() < 0.3 and clauses:
            clauses[rng.randrange(len(clauses))] = [
                rng.choice([-1, 1]) * rng.randint(1, n) for _ in range(rng.randrange(4))
            ]
        return clauses, n, proof, binary if rng.random() < 0.9 else not binary, rng.randint(1, 60)

    def run(example: Example) -> bool:
        clauses, n, proof, binary, piece = example
        found = verify(cnf_of(clauses, n), proof, binary=binary, piece=piece)
        assert found.ok or found.detail
        if found.ok:
            assert not satisfiable(clauses, n), "refuted, and it can be satisfied"
        return bool(found.ok)

    return draw, run


def proof_files() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Packed proofs beside a certificate that names them by their digest."""
    sys.path.insert(0, str(TESTS / "certify"))
    from test_certificate_mutations import least_depth

    from treeform.certify.certificate import sign
    from treeform.certify.proofs.write import digest_of_file

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    case = least_depth(folder)
    (path,) = folder.iterdir()
    packed = path.read_bytes()
    plain = gzip.decompress(packed)

    def draw(rng: random.Random) -> Example:
        raw = torn(rng, packed) if rng.random() < 0.5 else gzip.compress(torn(rng, plain), 1)
        return raw, changed(rng, case.certificate) if rng.random() < 0.3 else None

    def run(example: Example) -> bool:
        raw, body = example
        path.write_bytes(raw)
        body = json.loads(json.dumps(case.certificate)) if body is None else body
        try:
            for claim in body["claims"]:
                if claim["route"] is not None and claim["route"]["kind"] == "proof":
                    claim["route"]["sha256"] = digest_of_file(path)
        except (KeyError, TypeError):  # changed beyond that; its reader is to find out
            pass
        try:
            body = sign(body)
        except (TreeformError, ValueError):
            return False
        try:
            return bool(tf.check(body, *case.args, time_limit=0.5, proofs=folder).ok)
        except TreeformError:
            return False

    return draw, run


# -- specifications -----------------------------------------------------------------------------------------

SPEC: dict[str, Any] = {
    "data": "t.csv", "target": "y", "weight": "w", "exclude": ["a"], "categorical": ["b"], "missing": "value",
    "dates": "days", "abstain": "?", "sep": ",", "decimal": ".", "encoding": "utf-8", "shape": "tree:2",
    "minimize": "error + 1/2*nodes", "formulation": "odd", "solver": "highs", "warm_start": "contree",
    "time_limit": 3.5, "threads": 1, "isolate": True,
    "executor": "loky", "workers": 2, "journal": "j", "model": "m.json", "certificate": "c.json", "report": "r.html",
    "proofs": "p",
    "requirements": [
        {"name": "min_support", "at_least": 1}, "statistical_parity:groups=c,difference=0.1",
        {"name": "max_nodes", "at_most": 3},
        {"name": "statistical_parity", "groups": "c", "ratio": "4/5", "positive": "p"},
        "max_errors:3",
        {"name": "monotone", "column": "a", "direction": "increasing", "positive": "p"},
        {"name": "feature_budget", "at_most": 2},
        {"name": "max_thresholds", "column": "a", "at_most": 2}, {"name": "exclusive", "columns": ["a", "b"]},
    ],
}  # fmt: skip
GRID: dict[str, Any] = {
    "shape": ["tree:1", "tree:2"], "price": [0, "1/2", 1.5], "min_support__at_least": [1, 2],
    "solver": ["contree", None],
    "rows": [5], "alpha": [0.1], "minimize": ["error"], "formulation": ["odd"],
}  # fmt: skip
STUDY: dict[str, Any] = {
    "grid": GRID,
    "cv": 2,
    "seeds": [0, 1],
    "executor": "loky",
    "workers": 1,
    "folder": "f",
    "output": "o.csv",
}


def toml(document: Any) -> str:
    """A table as TOML, all of it in one line for each key."""
    return "".join(f"{json.dumps(str(key))} = {inline(entry)}\n" for key, entry in document.items())


def inline(entry: Any) -> str:
    if isinstance(entry, dict):
        return (
            "{" + ", ".join(f"{json.dumps(str(key))} = {inline(inner)}" for key, inner in entry.items()) + "}"
        )
    if isinstance(entry, list):
        return "[" + ", ".join(map(inline, entry)) + "]"
    return {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "null": '""'}.get(
        text := json.dumps(entry), text
    )


def specifications() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Specification files and study files, read, and the problem that they state; nothing is solved."""
    from treeform.cli.problems import state
    from treeform.cli.spec import read_spec, settings_of
    from treeform.cli.sweep import StudyPart, _part
    from treeform.cli.toml_file import read_toml
    from treeform.data import Dataset

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    X = tables().drop(columns="d")
    rows = Dataset.from_user(X, ["n", "n", "p", "p", "n", "p", "n", "p"], allow_quantities=True)

    def draw(rng: random.Random) -> Example:
        chosen = {key: entry for key, entry in SPEC.items() if rng.random() < 0.4}
        study = rng.random() < 0.3
        if study:
            chosen |= {key: entry for key, entry in STUDY.items() if rng.random() < 0.7}
        text = toml(changed(rng, chosen) if chosen and rng.random() < 0.9 else chosen)
        raw = text.encode("utf-8", "surrogatepass")
        return torn(rng, raw) if rng.random() < 0.25 else raw, study

    def run(example: Example) -> bool:
        raw, study = example
        path = folder / "spec.toml"
        path.write_bytes(raw)
        try:
            if study:
                table = read_toml(path)
                part = _part(path, {key: table.pop(key) for key in StudyPart.model_fields if key in table})
                settings = settings_of(table, path)
                problem = state(rows, settings)
                from treeform.study.runs import combinations, folds_of
                from treeform.study.subject import subject_of

                what = subject_of(problem, None, None)
                points = combinations(part.grid)
                folds = folds_of(
                    part.cv, part.seeds, what.labels, what.has_classes, any("rows" in p for p in points)
                )
                for point in points:
                    what.check(point, folds[0])
            else:
                state(rows, read_spec(path))
        except TreeformError:
            return False
        return True

    return draw, run


# -- the native core ----------------------------------------------------------------------------------------


def bindings() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Calls of the functions of the core, changed."""
    import bindings_fuzz

    known: dict[str, list[bindings_fuzz.Call]] = {}
    for one in bindings_fuzz.many():
        known.setdefault(one[0], []).append(one)
    names = sorted(known)
    return lambda rng: bindings_fuzz.changed(rng.choice(known[rng.choice(names)]), rng), bindings_fuzz.answers


def parts() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Questions about parts of a search, changed, and what they are asked about."""
    import bindings_fuzz

    known = [one for _, one in sorted(bindings_fuzz.parts().items())]
    return lambda rng: bindings_fuzz.changed(rng.choice(known), rng), bindings_fuzz.answers


def contree() -> tuple[Callable[[random.Random], Example], Callable[[Example], bool]]:
    """Any arrays at ConTree's call."""
    from contree_fuzz import check_call

    return lambda rng: rng, check_call


TARGETS: dict[str, Target] = {
    "models": models,
    "certificates": certificates,
    "proofs": proofs,
    "proof_files": proof_files,
    "specifications": specifications,
    "bindings": bindings,
    "parts": parts,
    "contree": contree,
}
