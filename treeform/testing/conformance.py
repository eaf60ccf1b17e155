"""Conformance of requirements and formulations: every combination against brute force."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.backends import Backend, by_name
from treeform.backends.registry import backend_classes
from treeform.catalogue.solvers import find_formulation, formulation_names
from treeform.errors import DataError, Infeasible, RouteError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.formulation import Formulation
from treeform.language.ports import derivable
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.solve import SolveOptions, SolveResult, Status, misfit
from treeform.solve import solve as solve_question
from treeform.testing.brute import all_models, brute_force
from treeform.testing.cases import GROUP, Case, draw_cases
from treeform.testing.rows_against_violation import Fixer, compare_faces
from treeform.testing.samples import ABSTAINING
from treeform.utils.text import count_of

PATIENCE = 5
"""Cases drawn for each one used: some requirements are impossible on many data sets."""
SECONDS = 600.0
"""For one tiny problem; a solver that needs longer is reported."""
TELL_EVERY = 10.0
"""Seconds between two lines about a check under way."""


@dataclass
class Report:
    """What a check did."""

    subject: str
    cases: int = 0
    solves: int = 0
    models: int = 0
    """Random problems, solves compared with brute force, and single models judged."""
    infeasible: int = 0
    """Problems without any admissible model."""
    skipped: set[str] = field(default_factory=set)
    """Combinations that do not apply, and why."""
    cells: set[tuple[str, str]] = field(default_factory=set)
    """set of (str, str): formulation and solver of the solves."""

    def __str__(self) -> str:
        text = (
            f"{self.subject}: {count_of(self.cases, 'case')} ({self.infeasible} infeasible), {self.solves} solves and "
            f"{self.models} single models agree with brute force"
        )
        return text + "".join(f"\n  not applicable: {why}" for why in sorted(self.skipped))


def check_requirement(
    requirement: Requirement,
    formulations: Iterable[Formulation | str] | None = None,
    backends: Iterable[Backend | str] | None = None,
    *,
    cases: int = 6,
    models: int = 40,
    seed: int = 0,
    in_turn: bool = False,
    of_values: bool = False,
    on_progress: Callable[[Report], object] | None = None,
) -> Report:
    """Compare a requirement's rows with its `violation` on tiny random problems.

    On every formulation that offers the ports it reads, and every solver that takes the result: the optimum
    equals that of brute force, which knows `violation` only, and the model found has violation 0. Then single
    models, right and wrong ones, are fixed in the formulation: its rows have to forbid what `violation` forbids,
    and nothing else.

    Parameters
    ----------
    requirement : Requirement
        May name the column ``"group"`` (values ``"p"`` and ``"q"``) or leave its groups open.
    formulations, backends : optional
        Objects or names; all that are installed by default, which takes minutes: ``backends=["highs"]`` takes seconds.
    cases : int
        Number of random problems.
    models : int
        Number of single models per problem and formulation.
    seed : int
    in_turn : bool
        Give each problem to one of the solvers, by turns, and not to all of them.
    of_values : bool
        Problems of regression, under absolute errors, in place of classes.
    on_progress : callable, optional
        Called after each solve with the report so far; by default a line on stderr says every ten seconds how far the
        check has come.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        On the first disagreement, with code that reproduces it; or when the requirement fits none of the cases.

    Examples
    --------
    >>> import treeform as tf
    >>> print(tf.testing.check_requirement(tf.MaxNodes(2), ["odd"], ["cp-sat"], cases=2, models=5))
    max_nodes:2: 2 cases (0 infeasible), 2 solves and 10 single models agree with brute force
    """
    if not isinstance(requirement, Requirement):
        raise SpecError(f"{requirement!r} is no requirement", fix="pass for example tf.MaxNodes(2)")
    report = Report(str(requirement))
    tell = on_progress or _teller(cases)
    solvers = _backends(backends)
    first = sum(map(ord, str(requirement)))  # so that a shape does not always meet the same solver
    turns: dict[str, int] = defaultdict(lambda: first)
    abstain = isinstance(requirement, ABSTAINING)
    for case in draw_cases(PATIENCE * cases, seed, of_values=of_values, abstain=abstain):
        if report.cases == cases:
            break
        try:
            bound = requirement.bind(case.data, sensitive_features=case.frame[GROUP])
        except (SpecError, DataError) as error:
            report.skipped.add(f"a case with the columns {', '.join(map(str, case.frame))}: {error.what}")
            if isinstance(error, Infeasible):
                _really_infeasible(case, requirement)
            continue
        report.cases += 1
        expected = brute_force(case.data, case.shape, case.goal, [bound])
        report.infeasible += expected is None
        some = _some_models(case, models, seed)
        for formulation in _applicable(formulations, case, bound, report):
            turn = turns[formulation.name]
            turns[formulation.name] += 1
            for backend in [solvers[turn % len(solvers)]] if in_turn else solvers:
                report.solves += _same_optimum(case, formulation, backend, [bound], expected, report)
                tell(report)
            judge = _judge(formulation, solvers)
            report.models += compare_faces(case, bound, formulation, judge, some)
    if not report.solves:
        raise AssertionError("nothing could be checked:\n" + "\n".join(sorted(report.skipped)))
    return report


def check_formulation(
    formulation: Formulation | str,
    backends: Iterable[Backend | str] | None = None,
    requirements: Sequence[Requirement] = (),
    *,
    cases: int = 9,
    models: int = 40,
    seed: int = 0,
    on_progress: Callable[[Report], object] | None = None,
) -> Report:
    """Compare a formulation with brute force on tiny random problems.

    The optimum on every solver that takes it, without requirements and with each of those given; and for
    single models: what `encode` states, the rows admit, and `decode` reads back to the same predictions.

    Parameters
    ----------
    formulation : Formulation or str
    backends : optional
        Objects or names; all that are installed by default.
    requirements : sequence of Requirement
        Those whose ports it does not offer are left out.
    cases, models, seed, on_progress
        As in `check_requirement`.

    Raises
    ------
    AssertionError
        On the first disagreement, with code that reproduces it.
    """
    subject = find_formulation(formulation)
    report = Report(subject.name)
    tell = on_progress or _teller(cases)
    solvers = _backends(backends)
    for case in draw_cases(PATIENCE * cases, seed):
        if report.cases == cases:
            break
        offered = derivable(subject.offers)
        reason = subject.supports(case.shape, case.data, case.goal)
        if reason is None and not case.goal.needs <= offered:
            reason = f"{case.goal} reads {', '.join(sorted(case.goal.needs - offered))}"
        if reason is not None:
            report.skipped.add(reason)
            continue
        report.cases += 1
        for chosen in ((), *((r,) for r in requirements if r.needs <= offered)):
            try:
                bound = [r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in chosen]
            except (SpecError, DataError):
                continue
            expected = brute_force(case.data, case.shape, case.goal, bound)
            report.infeasible += expected is None
            for backend in solvers:
                report.solves += _same_optimum(case, subject, backend, bound, expected, report)
                tell(report)
        report.models += _round_trips(
            case, subject, _judge(subject, solvers), _some_models(case, models, seed)
        )
    if not report.solves:
        raise AssertionError("nothing could be checked:\n" + "\n".join(sorted(report.skipped)))
    return report


def _teller(cases: int) -> Callable[[Report], None]:
    """What says on stderr, now and then, how far a check has come."""
    told = time.monotonic()

    def tell(report: Report) -> None:
        nonlocal told
        if time.monotonic() - told >= TELL_EVERY:
            told = time.monotonic()
            done = f"{report.subject}: case {report.cases} of {cases}, {count_of(report.solves, 'solve')} so far"
            print(done, file=sys.stderr)

    return tell


def _really_infeasible(case: Case, requirement: Requirement) -> None:
    """`bind` refused the requirement as infeasible: then no model may satisfy it."""
    for graph in all_models(case.data, case.shape):
        if requirement.violation(graph, case.data) == 0:
            raise AssertionError(
                f"bind() calls {requirement} infeasible, and this model has violation 0\n{graph}\n"
                + case.code(requirement)
            )


def _same_optimum(
    case: Case,
    formulation: Formulation,
    backend: Backend,
    bound: Sequence[Requirement],
    expected: tuple[Fraction, DecisionGraph] | None,
    report: Report,
) -> int:
    """Solve and compare; 0 when the solver does not take the model."""
    question = Question(case.data, case.shape, case.goal, tuple(bound))
    what = f"{formulation.name} on {backend.name}"
    try:
        result = solve_question(question, SolveOptions(backend, formulation, None, SECONDS))
    except RouteError as error:
        report.skipped.add(f"{what}: {error.what}")
        return 0
    wrong = fault(result, expected)
    if wrong:
        best = "" if expected is None else f"\nbrute force has {expected[0]}:\n{expected[1].to_text()}"
        drawn = "" if result.graph is None else f"\nfound:\n{result.graph.to_text()}"
        raise AssertionError(f"{what}: {wrong}{best}{drawn}\n{case.code(*bound)}")
    report.cells.add((formulation.name, backend.name))
    return 1


def fault(result: SolveResult, expected: tuple[Fraction, DecisionGraph] | None) -> str | None:
    """What is wrong with an answer, where brute force has ``expected``; None when nothing is."""
    if expected is None:
        return (
            None
            if result.status is Status.INFEASIBLE
            else f"status {result.status}, but no model is admissible"
        )
    if result.status is not Status.OPTIMAL:
        return f"status {result.status} (limit {result.limit})"
    if result.objective != expected[0]:
        return f"optimum {result.objective}, not {expected[0]}"
    left = {name: value for name, value in result.violations.items() if value}
    return f"violations {left} are left" if left else None


def _round_trips(
    case: Case, formulation: Formulation, judge: Backend, models: Sequence[DecisionGraph]
) -> int:
    """What is encoded is admitted, and reads back with the same predictions."""
    fixer = Fixer(case, formulation, judge)
    done = 0
    try:
        for graph in models:
            point = formulation.encode(fixer.compiled, graph)
            if point is None:
                continue
            read = formulation.decode(fixer.compiled, np.where(np.isnan(point), 0.0, point))
            same = (read.predict_codes(case.data.X) == graph.predict_codes(case.data.X)).all()
            if not same or not fixer.admits(graph):
                what = "its rows forbid" if same else "decode() reads otherwise"
                raise AssertionError(
                    f"{formulation.name}: what encode() states, {what}\n{graph}\n{case.code()}"
                )
            done += 1
    finally:
        fixer.close()
    return done


def _some_models(case: Case, count: int, seed: int) -> list[DecisionGraph]:
    """A random choice among all models of the case, without tests that change no prediction."""
    out: dict[DecisionGraph, None] = {}
    for model in all_models(case.data, case.shape, rng=np.random.default_rng(seed)):
        plain = model.simplified(case.data)
        # Formulations may state a model in its plain form; in a diagram, some useless tests keep the layers apart.
        out[plain if misfit(plain, case.shape) is None else model] = None
        if len(out) == count:
            break
    return list(out)


def _applicable(
    formulations: Iterable[Formulation | str] | None, case: Case, bound: Requirement, report: Report
) -> list[Formulation]:
    out = []
    for given in formulation_names() if formulations is None else formulations:
        formulation = find_formulation(given)
        missing = bound.needs - derivable(formulation.offers)
        reason = f"it does not offer {', '.join(sorted(missing))}" if missing else None
        try:
            if reason is None:
                formulation.check(case.data, case.shape, case.goal, [bound])
        except SpecError as error:
            reason = (
                error.cause if error.what == f"{formulation.name} cannot state this problem" else error.what
            )
        if reason is None:
            out.append(formulation)
        else:
            report.skipped.add(f"{formulation.name}: {reason}")
    return out


def _backends(given: Iterable[Backend | str] | None) -> list[Backend]:
    if given is None:
        # Names without a package of their own combine the others.
        classes = ((cls, _variant(cls)) for cls in backend_classes() if cls.package)
        return [cls.named(variant) for cls, variant in classes if variant is not None]
    return [by_name(b) if isinstance(b, str) else b for b in given]


def _variant(cls: type[Backend]) -> str | None:
    """The preferred one of a backend's variants that can be used here."""
    return next((name for name in cls.variants() if cls.availability(name).available), None)


def _judge(formulation: Formulation, solvers: Sequence[Backend]) -> Backend:
    """The solver for single models: the first one, of those that need not optimise if there is one."""
    plain = [b for b in solvers if not b.capabilities.objective]
    return (plain if plain and formulation.name.startswith("sat") else list(solvers))[0]


__all__: list[Any] = ["Report", "check_formulation", "check_requirement"]
