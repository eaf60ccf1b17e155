"""Verification of a certificate from scratch.

Samples are routed one by one through the model's JSON in plain Python, errors are counted in integers, every
requirement is evaluated again, and bounds are proved again. What cannot be proved here is reported as taken on
trust, with the name of the solver or engine that claims it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from treeform.backends import Backend
from treeform.catalogue.solvers import find_backend
from treeform.certify.bounds import claim_rows
from treeform.certify.certificate import read_any
from treeform.certify.counted import counted_row
from treeform.certify.family import Family, Place
from treeform.certify.family_certificate import family_rows, known_family
from treeform.certify.files import read_json_file, read_training_table
from treeform.certify.groups import differences, digest_with, given_again, other_labels
from treeform.certify.provers import Means
from treeform.certify.rows import changes, in_order_of_training, rows_part
from treeform.certify.schema import CertificatePart, DocumentPart, FamilyPart
from treeform.certify.statements import data_of, question_of, statements, status_row
from treeform.certify.verdicts import CheckReport, false, holds
from treeform.data import Dataset
from treeform.errors import CallError, CertificateError, TreeformError
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.objectives.soft import Soft
from treeform.requirements.groups import Groups
from treeform.requirements.on_rows import OnRows
from treeform.solve.result import SolveResult
from treeform.utils.text import count_of

#: What a file that is signed but not well-formed makes its reader raise.
DAMAGE = (KeyError, IndexError, TypeError, AttributeError, ArithmeticError, ValueError)


def check(
    certificate: dict[str, Any] | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    sensitive_features: Any = None,
    time_limit: float | None = 60.0,
    proofs: str | os.PathLike[str] | None = None,
    drat_trim: bool = False,
    independent: bool = False,
    confirm: Backend | str | None = None,
) -> CheckReport:
    """Verify a certificate on the data: counts, requirements and bounds.

    Parameters
    ----------
    certificate : dict or path
        From `treeform.Result.certificate`, or the JSON file that ``certificate.save(path)`` or
        ``treeform fit --certificate`` wrote. Or that of a size table, a Pareto curve or a frontier: then every
        answer is verified, and that every optimum follows from them. Or that of near-optimal models: then their
        number is counted again.
    X, y, sample_weight
        The training data, as they were given to the problem, or the path of the table: then target and weights are the
        columns that the certificate names. Columns that were excluded from the features
        have to be there too. ``y`` may be the name of a column; left out, it is the one that the certificate names.
    sensitive_features : array, Series, DataFrame or mapping, optional
        Groups that were given to the problem as an array; a mapping of names to arrays where there are several. They
        are needed where a certificate rests on them.
    time_limit : float or None
        Seconds of work for proving each bound again, whatever is tried and in how many parts, and for each proof. Time
        in which other processes have the processor does not count, up to ten times the limit.
    proofs : path, optional
        The folder that ``solve(..., proofs=folder)`` wrote to. The clauses that a proof refutes are derived from
        the data, and each step is verified.
    drat_trim : bool
        Whether drat-trim from the PATH verifies the proofs, instead of treeform's own checker.
    independent : bool
        Whether a bound has to be proved by a proof on file or by a short reference search, and a native engine alone is
        not enough. These have statements of requirements of their own, shared with no search.
    confirm : Backend or str, optional
        Another solver that solves again what nothing else can prove. The verdict stays "on trust", in both.

    Returns
    -------
    CheckReport
        ``report.verdict`` is "verified", "on trust" or "false"; ``report.rests_on`` names the solvers and
        engines whose claims are taken on trust; ``report.ok`` is True for "verified" only; one row for each statement.

    Raises
    ------
    CertificateError
        If the file is damaged, edited, or belongs to other data; or if groups are needed and not given.
    SpecError
        If ``confirm`` is no solver, or groups are given that the certificate does not rest on.
    SolverNotAvailable
        If drat-trim or a solver is named and not installed.
    """
    body = read_any(
        read_json_file(certificate) if isinstance(certificate, str | os.PathLike) else certificate
    )
    if isinstance(X, str | os.PathLike):
        X, y, sample_weight = read_training_table(X, body, y, sample_weight)
    folder, another = None if proofs is None else Path(proofs), None if confirm is None else _another(confirm)
    means = Means(time_limit, folder, drat_trim, independent, another)
    data = data_of(body, X, body.metadata.target if y is None else y, sample_weight)
    data, groups = as_in_training(body, data, sensitive_features)
    try:
        return _check(body, data, groups, means)
    except CallError as error:  # a parameter that the class of a requirement does not have
        raise _damaged(error) from None
    except TreeformError:
        raise
    except DAMAGE as error:
        raise _damaged(error) from None


def _another(confirm: Backend | str) -> Backend:
    return find_backend(
        confirm,
        "{} cannot confirm a bound",
        cause="native engines prove what they can in any case",
        fix="name a solver such as highs, cp-sat or scip",
    )


def _check(
    body: CertificatePart | FamilyPart, data: Dataset, groups: dict[str, Groups], means: Means
) -> CheckReport:
    question = _question(body, data, groups)
    rows = [holds("data", f"{count_of(data.n_samples, 'sample')}, digest {body.data.digest[:16]}…")]
    rows += [holds(f"groups {name!r}", ", ".join(map(str, one.labels))) for name, one in groups.items()]
    if body.data.rows is not None and rows_part(data, groups)["rows"] != body.data.rows.model_dump():
        rows.append(false("rows", "their prints are not those of these rows"))
    if isinstance(body, FamilyPart):
        return CheckReport((*rows, *family_rows(body, question, data, groups, means)))
    graph = None if body.model is None else DecisionGraph.from_json(body.model)
    rows += statements(body, question, graph)
    claims = claim_rows(body.claims, question, graph, means)
    status = status_row(body, rows, claims)  # it does not rest on how many models there are
    counted = body.near_optimal and counted_row(body.near_optimal, body.claims, question, means.time_limit)
    return CheckReport((*rows, *claims, status, *([counted] if counted else [])))


def as_in_training(
    body: DocumentPart, data: Dataset, sensitive_features: Any
) -> tuple[Dataset, dict[str, Groups]]:
    """The rows in the order of the certificate, and the arrays of groups that it rests on.

    Raises CertificateError if data or groups are not those that it was made from, in any order; or groups are needed
    and not given.
    """
    groups = given_again(body.data.groups, sensitive_features, data)
    found = in_order_of_training(body.data, data, groups)
    relabelled = other_labels(body.data.groups, groups)
    if found is not None and not relabelled:
        return found
    wrong = differences(body.data.groups, groups)
    raise CertificateError(
        "the certificate is for other data",
        cause="; ".join(
            relabelled
            or changes(body.data, data)
            or wrong
            or ["values, labels or weights belong to other rows"]
        ),
        fix="give the very table, weights and groups that the model was fitted on",
    )


def question_from(body: DocumentPart, data: Dataset, sensitive_features: Any = None) -> Question:
    """The problem that a certificate answers, once the data are those that it was made from.

    Raises CertificateError if they are not, or the certificate is damaged.
    """
    data, groups = as_in_training(body, data, sensitive_features)
    try:
        return _question(body, data, groups)
    except TreeformError:
        raise
    except DAMAGE as error:
        raise _damaged(error) from None


def family_from(
    body: FamilyPart, data: Dataset, sensitive_features: Any = None
) -> tuple[Family, list[tuple[Place, SolveResult]]]:
    """The problems of a size table, curve or frontier on its data with its answers.

    Raises CertificateError if the data are others, or the certificate is damaged.
    """
    data, groups = as_in_training(body, data, sensitive_features)
    try:
        return known_family(body, _question(body, data, groups), data, groups)
    except TreeformError:
        raise
    except DAMAGE as error:
        raise _damaged(error) from None


def _question(body: DocumentPart, data: Dataset, groups: dict[str, Groups]) -> Question:
    """The problem, where it is known which of several rows that agree is the one that it names."""
    question = question_of(body, data, groups)
    if digest_with(data, groups) == body.data.digest:
        return question
    # Rows that agree are right or wrong together; what is paid for one, and whether it is in a slice, may differ.
    telling: list[Requirement] = [one for one in question.requirements if isinstance(one, OnRows)]
    telling += [term.requirement for _, term in question.objective.terms if isinstance(term, Soft)]
    named = next((one for one in telling if one.names_rows), None)
    if named is None:
        return question
    raise CertificateError(
        "the rows are those of the certificate in another order",
        cause=f"some agree in features and target and differ in weight or group, and {named} names rows by position",
        fix="give the table in the order in which the model was fitted on it",
    )


def _damaged(error: Exception) -> CertificateError:
    return CertificateError(
        "the certificate is damaged",
        cause=f"{type(error).__name__} while it was read: {error}",
        fix="write it again with result.certificate()",
    )
