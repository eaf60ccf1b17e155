"""Reports: the question, the model and the proofs, as text and as a self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeform.certify.certificate import read_any
from treeform.certify.check import family_from
from treeform.certify.schema import FamilyPart
from treeform.data import Dataset
from treeform.errors import CertificateError, SpecError
from treeform.report.about import NOTHING, About, read_about
from treeform.report.crossing import Crossing, price_crossings
from treeform.report.curves import trace_curves
from treeform.report.facts import Facts, check_answer, of_model, of_result
from treeform.report.model_facts import HeldOut
from treeform.report.nested import Nested, nested_facts
from treeform.report.page import render_html
from treeform.report.plot import plot_trace, trace_svg
from treeform.report.texts import render_json, render_markdown, render_text, warnings_of
from treeform.solve import SolveResult
from treeform.tradeoff.frontier import Frontier
from treeform.tradeoff.near_optimal import NearOptimal
from treeform.tradeoff.prices import Prices
from treeform.utils.files import write_text
from treeform.utils.text import count_of

__all__ = [
    "NOTHING",
    "About",
    "Crossing",
    "Facts",
    "HeldOut",
    "Nested",
    "html",
    "of_family",
    "of_model",
    "of_result",
    "plot_trace",
    "price_crossings",
    "read_about",
    "render_html",
    "render_json",
    "render_markdown",
    "render_text",
    "text",
    "trace_curves",
    "trace_svg",
    "warnings_of",
]


def text(result: SolveResult) -> str:
    """Summarise a result as plain text.

    Parameters
    ----------
    result : SolveResult
        From `Problem.solve`.
    """
    return render_text(of_result(result, columns=False))


def of_family(
    certificate: Mapping[str, Any],
    data: Dataset,
    row: int = 1,
    *,
    sensitive_features: Any = None,
    source: str | None = None,
    about: About = NOTHING,
) -> Facts:
    """The facts of a size table, Pareto curve or frontier: all its problems, and the model of one answer.

    Parameters
    ----------
    certificate : dict
        From `SizeTable.certificate`, `Frontier.certificate` or that of `Problem.pareto`.
    data : Dataset
        The training data, such as ``problem.data``.
    row : int, default 1
        Which answer of the certificate, the widest problem first.
    sensitive_features : optional
        Groups that were given as arrays.
    source : str, optional
        A name for the data.
    about : About, optional
        What people say about the model.

    Raises
    ------
    CertificateError
        If it is no such certificate, is damaged, or the data are others.
    SpecError
        If it has no such answer.
    """
    body = read_any(dict(certificate))
    if not isinstance(body, FamilyPart):
        raise CertificateError(
            "the certificate is that of a single answer",
            cause="a size table, Pareto curve or frontier has several",
            fix="use report.html(result), or treeform report",
        )
    family, answers = family_from(body, data, sensitive_features)
    if not 1 <= row <= len(answers):
        raise SpecError(
            f"the certificate has no answer {row}",
            cause=f"it has {count_of(len(answers), 'answer')}; those of other problems follow from them",
            fix=f"give a row from 1 to {len(answers)}",
        )
    facts = of_result(answers[row - 1][1], certificate=certificate, source=source, about=about)
    return replace(facts, nested=nested_facts(family, answers, row))


def html(
    result: SolveResult,
    path: str | Path | None = None,
    *,
    certificate: Mapping[str, Any] | None = None,
    source: str | None = None,
    prices: Prices | None = None,
    frontiers: Sequence[Frontier] | None = None,
    near_optimal: NearOptimal | None = None,
    about: About = NOTHING,
    held_out: HeldOut | None = None,
) -> str:
    """Make a self-contained HTML report of a result.

    Parameters
    ----------
    result : SolveResult
        From `Problem.solve`.
    path : str or Path, optional
        Where to write it.
    certificate : dict, optional
        The certificate that goes with it; its digest is quoted.
    source : str, optional
        A name for the data.
    prices : Prices, optional
        What `treeform.Result.prices` found.
    frontiers : sequence of Frontier, optional
        Curves of the best objective against the bound of a requirement, from `Problem.frontier`. By default,
        those that a native engine finds in as long as the solve took; see `trace_curves`.
    near_optimal : NearOptimal, optional
        Models that are almost as good, from `Problem.near_optimal`: what they have in common and where they differ.
    about : About, optional
        What people say about the model; `read_about` reads it from a file.
    held_out : HeldOut, optional
        Rows that it was not fitted on, shown beside those that it was.

    Returns
    -------
    str
        The page.
    """
    check_answer(result)
    shown = trace_curves(result) if frontiers is None else frontiers
    facts = of_result(
        result,
        certificate=certificate,
        source=source,
        prices=prices,
        frontiers=shown,
        crossed=price_crossings(result, frontiers=shown),
        near_optimal=near_optimal,
        about=about,
        held_out=held_out,
    )
    page = render_html(facts)
    if path is not None:
        write_text(path, page)
    return page
