"""Checking the claims of a certificate: each is refuted, proved again, or reported as unproved with its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from treeform.certify.certificate import with_version
from treeform.certify.family import IMPOSSIBLE, Proof
from treeform.certify.intervals import BY_INTERVALS, no_tree_below
from treeform.certify.left_out import BY_ROWS, count_left_out
from treeform.certify.proofs import Cnf, derived_clauses, verify_proof
from treeform.certify.provers import (
    BY_PRICES,
    Bound,
    Means,
    beyond,
    by_engines,
    by_multipliers,
    by_prices,
    is_least_depth,
    multipliers_of,
)
from treeform.certify.reference import least_value
from treeform.certify.regression_values import BY_VALUES, nothing_below
from treeform.certify.restated import restated
from treeform.certify.schema import ClaimPart, LagrangianRoute, ProofRoute
from treeform.certify.verdicts import CheckRow, Verdict, false, holds, on_trust
from treeform.errors import CertificateError, SolverNotAvailable, TreeformError
from treeform.graph import DecisionGraph
from treeform.language.losses import constant_models, leaf_loss
from treeform.language.numbers import is_whole
from treeform.language.question import Question, ceiling
from treeform.solve import schedule
from treeform.solve.driver import solve
from treeform.solve.in_parts import RELAXED, parts_of_claim
from treeform.solve.part_ledger import witnesses
from treeform.solve.result import CLAIMED, SolveOptions
from treeform.solve.stage.given_models import classes_bound, floor_bound
from treeform.solve.verification import verify
from treeform.utils.budget import Budget, ProcessorBudget, Share
from treeform.utils.out_of_reach import OutOfReach, Stopped
from treeform.utils.text import count_of, exact_text

REFERENCE = "the reference search"
OWN_FORMULATIONS = frozenset({"odd", "odd-paper", "sat-depth", "sat-size"})
"""Those whose clauses are tested against exhaustive enumeration here."""


def claim_rows(
    claims: list[ClaimPart],
    question: Question,
    graph: DecisionGraph | None,
    means: Means,
    known: Proof | None = None,
) -> list[CheckRow]:
    """One row for each claim, in their order; the strongest bounds are proved first, and imply the weaker ones.

    ``known`` is what was proved here of a problem around this one.
    """
    court = _Court(question.with_(restriction=None), graph, means, question.restriction is not None)
    if known is not None:
        court.proved_by, court.impossible = known.by, known.lower == IMPOSSIBLE
        court.proved = None if court.impossible else Fraction(known.lower)
    rows: dict[int, CheckRow] = {}
    for index in sorted(range(len(claims)), key=lambda i: _strength(claims[i])):
        rows[index] = court.row(claims[index])
    return [rows[index] for index in range(len(claims))]


def _strength(claim: ClaimPart) -> tuple[int, Fraction, int]:
    """What claims are sorted by: of those of one value, the smallest graph to be counted again comes first."""
    if claim.kind == "infeasible":
        return 0, Fraction(0), 0
    graph = claim.metadata.details.get("graph")
    nodes = graph.get("nodes") if isinstance(graph, dict) else None
    return 1, -Fraction(claim.value or 0), nodes if is_whole(nodes) else 0


class _Court:
    """The claims on one question: what refutes them, and what is proved already.

    The question is without a restriction: what is proved of it holds under one too. Where the certificate rests on one
    (``narrowed``), other models than its own refute nothing: they may not satisfy it.
    """

    def __init__(
        self, question: Question, graph: DecisionGraph | None, means: Means, narrowed: bool = False
    ) -> None:
        self.question = question
        self.stated = restated(question)
        """What the check's own provers read: nothing that requirements state of themselves."""
        self.has_loss = leaf_loss(question.objective) is not None
        """Of values at leaves, which one family of engines searches: other code comes first."""
        self.means = means
        self.narrowed = narrowed
        self.graph: DecisionGraph | None = None
        self.least: Fraction | None = None
        """The value of the best admissible model known."""
        self.worth: Fraction | None = None
        """The value of the certificate's model, if it is admissible."""
        self.proved: Fraction | None = None
        self.proved_by = ""
        self.impossible = False
        known = () if narrowed else constant_models(question.objective, question.data)
        for model in (*known, *(() if graph is None else (graph,))):
            judged = verify(question, model)
            if not judged.ok:
                continue
            value = question.to_units(judged.value)
            if model is graph:
                self.worth = value
            if self.least is None or value < self.least:
                self.graph, self.least = model, value

    def row(self, claim: ClaimPart) -> CheckRow:
        """The verdict on one claim, for which there is so much time, whatever is tried and in how many parts."""
        value = None if claim.value is None else Fraction(claim.value)
        stated = "" if value is None else f" {exact_text(value)}"
        what = f"{CLAIMED[claim.kind]}{stated}, by {claim.metadata.by}"
        if (value is None) != (claim.kind == "infeasible"):
            return false(what, "there is no such claim")
        if claim.kind == "upper":
            if claim.route is not None or self.worth is None or value is None or self.worth > value:
                return false(what, self._in_hand)
            return holds(what, self._in_hand)
        return self.claimed(what, claim, value, ProcessorBudget(self.means.time_limit))

    @property
    def _in_hand(self) -> str:
        return "no admissible model" if self.worth is None else f"its model has {exact_text(self.worth)}"

    def claimed(self, what: str, claim: ClaimPart, value: Fraction | None, budget: Budget) -> CheckRow:
        """The verdict on "no model is below ``value``"; None: on "there is no model"."""
        if self.least is not None and (value is None or value > self.least):
            return false(what, f"refuted by a model of value {self.least}")
        counted = self._by_counting(value)
        if counted is not None:
            return holds(what, counted, "counting")
        if self._is_proved(value):
            return holds(what, f"follows from what {self.proved_by} proved", self.proved_by)
        row = _Case(self, what, claim, value, budget).verdict()
        if row.verdict is Verdict.VERIFIED:
            self.proved_by = row.proved_by
            self.impossible |= value is None
            self.proved = value if self.proved is None or value is None else max(self.proved, value)
        return row

    def _is_proved(self, value: Fraction | None) -> bool:
        if self.impossible:
            return True
        return value is not None and self.proved is not None and value <= self.proved

    def _by_counting(self, value: Fraction | None) -> str | None:
        """Which simple bound shows the claim, or None; ``value`` None is one beyond what any model costs."""
        question = self.stated
        if value is None:
            value = question.to_units(ceiling(question)) + Fraction(1, question.scale)
        floor, by_classes = (question.to_units(f(question)) for f in (floor_bound, classes_bound))
        if value <= floor == 0:
            return "no model costs less than 0, so it says nothing"
        if value <= floor:
            return f"rows that agree on every feature cost at least {floor}"
        if value <= by_classes:
            return f"classes without a terminal, and tests, cost at least {by_classes}"
        least_depth = question.objective.terms[0][0] if is_least_depth(question.objective) else Fraction(0)
        if value <= least_depth and self.least != 0:
            return "no constant model is admissible"
        return None


class _Case:
    """One claim that is proved again: its time, and what was noted on the way.

    A prover gives a verdict, or None where it cannot tell.
    """

    def __init__(
        self, court: _Court, what: str, claim: ClaimPart, value: Fraction | None, budget: Budget
    ) -> None:
        self.court, self.question, self.means = court, court.question, court.means
        self.what, self.claim, self.value, self.budget = what, claim, value, budget
        self.details = claim.metadata.details
        self.notes: list[str] = []
        self.unfinished: set[str] = set()
        """Searches of the check's own that had too little time."""
        self.names = [claim.metadata.by]
        """What the claim rests on, if nothing here proves it."""

    def verdict(self) -> CheckRow:
        """The first verdict of a prover, or that the claim is taken on trust."""
        if not self.question.objective.is_sum:
            row = self._in_parts()
            proved = row.verdict is Verdict.VERIFIED or not self.means.independent
            return row if proved else self._by_reference() or row
        for found in self._provers():
            if found is not None:
                return found
        return on_trust(self.what, "; ".join(self.notes) or "nothing here can prove it again", *self.names)

    def _provers(self) -> Iterator[CheckRow | None]:
        route, alone = self.claim.route, self.means.independent
        if isinstance(route, ProofRoute):
            yield self._by_proof(route)
        if alone or self.court.has_loss:
            yield self._by_reference()
            yield self._by_reference_without()
            yield self._by_values()
            yield self._by_intervals()
        # A list cannot help a claim that names multipliers: it stands or falls with them.
        if not isinstance(route, LagrangianRoute):
            yield self._by_prices(schedule.PROVER if alone else schedule.LISTING)
        yield self._by_engines()
        if not alone and not self.court.has_loss:
            yield self._by_reference()
        yield self._by_count()
        if BY_PRICES in self.unfinished:
            yield self._by_prices(schedule.PROVER)
        if self.means.confirm is not None:
            yield self._by_another()

    def _in_parts(self) -> CheckRow:
        """The claim on an objective that is no sum: each of its parts is proved again."""
        parts = parts_of_claim(self.question, self.value, self.details)
        if parts is None:
            return on_trust(self.what, "neither its lines, nor its steps, nor what else it names show it", *self.names)
        names: list[str] = []
        for part, witness in zip(parts, witnesses(self.details, len(parts)), strict=True):
            details = {**self.details, "witness": witness} if witness else self.details
            metadata = self.claim.metadata.model_copy(update={"details": details})
            claim = self.claim.model_copy(update={"metadata": metadata, "route": None})
            court = _Court(part.question, self.court.graph, self.means, self.court.narrowed)
            # All parts are needed, so each may have what is left of the time.
            row = court.claimed(self.what, claim, part.target, self.budget)
            if row.verdict is Verdict.FALSE and RELAXED & self.details.keys():
                return on_trust(self.what, f"{part.question.objective} bounds it less", *self.names)
            if row.verdict is not Verdict.VERIFIED:
                return replace(row, detail=f"{part.question.objective}: {row.detail}")
            names.append(row.proved_by)
        by = ", ".join(dict.fromkeys(names))
        of = f": {parts[0].question.objective}" if len(parts) == 1 else f" in {count_of(len(parts), 'part')}"
        shown = "there is no admissible model" if self.value is None else f"at least {exact_text(self.value)}"
        return holds(self.what, f"proved again by {by}{of}: {shown}", by)

    def _by_proof(self, route: ProofRoute) -> CheckRow | None:
        if self.means.proofs is None:
            self.notes.append(f"a proof is in {route.file}: name its folder (proofs=, --proof) to verify it")
            return None
        try:
            bound, verification, cnf = verify_proof(
                route,
                self.question,
                self.value,
                self.means.proofs,
                self.means.time_limit,
                self.means.drat_trim,
            )
        except SolverNotAvailable:
            raise
        except TreeformError as error:
            return false(self.what, f"its proof cannot be verified: {error}")
        if verification.verdict in ("stopped", "memory"):
            self.notes.append(f"its proof was not verified to the end: {verification.detail}")
            return None
        if not verification.ok:
            return false(self.what, f"its proof proves nothing: {verification.detail}")
        enough = bound is None or (
            beyond(self.question, bound) if self.value is None else bound >= self.value
        )
        if not enough:
            return false(self.what, f"its proof shows only that nothing is below {bound}")
        steps = (
            f"{verification.counters['core_lemmas']:,} lemmas"
            if verification.counters
            else verification.detail
        )
        detail = f"proof verified ({steps}) against {cnf.n_clauses:,} clauses derived from the data"
        if route.formulation not in OWN_FORMULATIONS:
            return on_trust(self.what, detail, f"the formulation {route.formulation}")
        if self.means.independent and not self._says_the_same(route, cnf):
            stated = ", ".join(self.question.labels)
            return on_trust(
                self.what, f"{detail}, which state {stated} as the search does", f"the rows of {stated}"
            )
        return holds(self.what, detail, "the proof checker")

    def _says_the_same(self, route: ProofRoute, cnf: Cnf) -> bool:
        """Whether the clauses of a proof are those that the check's own statements of the requirements give."""
        if not self.question.requirements:
            return True
        try:
            return derived_clauses(route, self.court.stated, self.value).digest == cnf.digest
        except TreeformError:
            return False

    def _searched(
        self, by: str, search: Callable[[Budget], Bound | None], share: Share = schedule.PROVER
    ) -> CheckRow | None:
        """By a search of the check's own, in its part of the time; a note where it does not end."""
        try:
            proved = search(budget := share.of(self.budget))
        except OutOfReach as error:
            self.notes.append(f"out of reach of {by}: {error.cause}")
        except Stopped:
            self.notes.append(f"{by} was not finished{_within(budget)}")
            self.unfinished.add(by)
        else:
            return None if proved is None else self._decided(proved)
        return None

    def _by_reference(self) -> CheckRow | None:
        def search(budget: Budget) -> Bound:
            least = least_value(self.question, budget)
            return Bound(REFERENCE, least, least, True)

        return self._searched(REFERENCE, search)

    def _by_reference_without(self) -> CheckRow | None:
        """A claim that leaves requirements out, as it says: the optimum without some is a bound, whichever they are."""
        without = [label for label in self.question.labels if label in self.claim.metadata.relaxation]
        if not without or self.value is None:
            return None
        part = self.question.only([label for label in self.question.labels if label not in without])
        by = f"{REFERENCE} without {', '.join(without)}"
        return self._searched(by, lambda budget: Bound(by, least_value(part, budget), None, True))

    def _by_values(self) -> CheckRow | None:
        """The claim under requirements on the values of leaves: no tree with its best values is below it."""
        value = self.value
        if value is None or not self.court.has_loss:
            return None
        multipliers, unit = multipliers_of(self.details.get("witness"))
        prices = [Fraction(one, unit) for one in multipliers] if unit else []

        def search(budget: Budget) -> Bound | None:
            if nothing_below(self.court.stated, value, prices, budget):
                return Bound(BY_VALUES, value, None, True)
            self.notes.append(f"{BY_VALUES} found a tree that it cannot refute")
            return None

        return self._searched(BY_VALUES, search)

    def _by_intervals(self) -> CheckRow | None:
        """The claim where requirements are left out: no tree is below it."""
        value, stated = self.value, self.court.stated

        def search(budget: Budget) -> Bound | None:
            shown = None if value is None else no_tree_below(stated, value, budget)
            if shown is False:
                self.notes.append(f"{BY_INTERVALS} cannot refute all trees below it")
            return Bound(BY_INTERVALS, value, None, True) if shown else None

        return self._searched(BY_INTERVALS, search)

    def _by_prices(self, share: Share) -> CheckRow | None:
        stated, hint = self.court.stated, self.details.get("witness")
        return self._searched(BY_PRICES, lambda budget: by_prices(stated, self.value, hint, budget), share)

    def _by_count(self) -> CheckRow | None:
        """False where the graph that the claim rests on is another one; verified where nothing of it is below the
        claim, by rows that requirements state; else a note on what was counted."""
        try:
            shown = count_left_out(self.question, self.value, self.details, schedule.PROVER.of(self.budget))
        except CertificateError as error:
            return false(self.what, error.what)
        except OutOfReach as error:
            self.notes.append(f"its graph was not counted again: {error.cause}")
        except Stopped:
            self.notes.append(f"its graph was not counted again within {self.means.time_limit} s")
        else:
            if shown is not None and shown.proved and not self.means.independent:
                return holds(self.what, f"proved again by {BY_ROWS}: {shown.text}", BY_ROWS)
            self.notes += [] if shown is None else [shown.text]
        return None

    def _by_engines(self) -> CheckRow | None:
        route, budget, maker = self.claim.route, schedule.PROVER.of(self.budget), self.details.get("engine")
        strongest: Bound | None = None
        try:
            if isinstance(route, LagrangianRoute):
                proved = by_multipliers(self.question, route.multipliers, maker, budget)
                if (row := self._settled(proved)) is not None:
                    return row
                if proved.finished:
                    return false(self.what, f"its multipliers prove only {proved.lower}")
            for proved in by_engines(self.question, self.value, maker, budget, self.court.graph):
                if (row := self._settled(proved)) is not None:
                    return row
                strongest = proved
        except OutOfReach as error:
            self.notes.append(error.what)
            return None
        except (TreeformError, ArithmeticError) as error:
            return false(self.what, f"cannot be proved again: {error}")
        if strongest is None:
            return None
        within = "" if strongest.finished else _within(budget)
        self.notes.append(f"{strongest.by} proves only {strongest.lower}{within}")
        return None

    def _settled(self, proved: Bound) -> CheckRow | None:
        """The verdict when the bound proves the claim; on trust where an engine alone is not enough."""
        row = self._decided(proved)
        if row is not None and row.verdict is Verdict.VERIFIED and self.means.independent:
            longer = [f"a longer time limit may let {by} end" for by in sorted(self.unfinished)]
            detail = "; ".join([*self.notes, row.detail, *longer])
            return on_trust(self.what, detail, f"the native engine {proved.by}")
        return row

    def _by_another(self) -> CheckRow | None:
        """Solve again with another solver: a model may refute the claim; else the solver's name, if it confirms."""
        try:
            seconds = None if (left := self.budget.remaining) is None else max(left, 1e-3)
            options = SolveOptions(self.means.confirm, warm_start=self.court.graph, time_limit=seconds)
            result = solve(self.question, options)
        except SolverNotAvailable:
            raise
        except TreeformError as error:
            self.notes.append(f"not confirmed: {error.what}")
            return None
        lower = None if str(result.status) == "infeasible" else Fraction(result.bound or 0)
        best = None if result.objective is None else Fraction(result.objective)
        proved = Bound(result.solver, lower, best, True)
        if proved.refutes(self.value) and not self.court.narrowed:
            return false(self.what, f"refuted by a model of {result.solver} of value {best}")
        if not proved.shows(self.value):
            self.notes.append(f"not confirmed: {result.solver} proves only {lower}")
            return None
        if f" on {result.solver} " in f"{self.claim.metadata.by} ":
            self.notes.append(f"{result.solver} proves it once more; that is not independent")
            return None
        self.notes.append(f"confirmed by {result.solver}")
        self.names.append(with_version(result.solver))
        return None

    def _decided(self, proved: Bound) -> CheckRow | None:
        """Verified or false, where the bound decides; else None."""
        if proved.refutes(self.value) and not self.court.narrowed:
            return false(self.what, f"refuted by a model of value {proved.best}, found by {proved.by}")
        if proved.shows(self.value):
            least = "there is no admissible model"
            shown = least if proved.lower is None else f"at least {exact_text(proved.lower)}"
            return holds(self.what, f"proved again by {proved.by}: {shown}", proved.by)
        return None


def _within(budget: Budget) -> str:
    return "" if budget.limit is None else f" within {budget.limit:.3g} s"
