"""What helps a solver where no engine supports a requirement: models, bounds, and bounds as rows.

Tables of 1000 rows, ODD on HiGHS and CP-SAT, and requirements of one's own that nothing but the solver can prove: at
most two columns, and a share of positive predictions in each tenth of the table. *engine's models*: those of the
native engine, leaves relabelled. *start*: with those of ``treeform.solve.neighbourhoods``. *bound*: the engine's
optimum without the requirement. *rows*: a bound for each test at the root, as a row. One thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.formulations.root_bounds import state_root_bounds
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE
from treeform.engines.relaxation import relax
from treeform.language.compiled import Compiled
from treeform.language.ports import Ports
from treeform.language.question import Question
from treeform.model import Model
from treeform.solve import schedule
from treeform.solve.choice import choose
from treeform.solve.engines import run_engine
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve
from treeform.solve.result import SolveOptions, as_number
from treeform.solve.search import CompiledSearch
from treeform.solve.stage.given_models import PROVER, constants, floor_bound
from treeform.utils.budget import Budget

AIDS = ("none", "engine's models", "start", "bound", "rows", "all")
MOST_ROWS = 1000
TENTHS = 10


class TwoColumns(tf.Requirement, listed=False):
    """At most two columns are read."""

    name = "two columns"
    needs = frozenset({"feature"})
    demands_tests = False
    most = 2

    def build(self, model: Model, ports: Ports) -> None:
        used = model.bool("used", ports.n_features)
        model.add(ports.feature <= used)
        model.add(used.sum() <= self.most)

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, len({c for test in graph.tests() for c in test.columns}) - self.most)


class Spread(tf.Requirement, listed=False):
    """In each tenth of the table a share of the samples is predicted the second class."""

    name = "share in each tenth"
    needs = frozenset({"predicted"})
    share = 0.6

    def _least(self, n: int) -> list[tuple[np.ndarray, int]]:
        return [(part, int(np.ceil(self.share * len(part)))) for part in np.array_split(np.arange(n), TENTHS)]

    def build(self, model: Model, ports: Ports) -> None:
        for part, least in self._least(ports.n_samples):
            model.add(ports.predicted[part, 1].sum() >= least)

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        chosen = graph.predict_codes(data.X) == 1
        return max(max(0, least - int(chosen[part].sum())) for part, least in self._least(data.n_samples))


RULES: dict[str, tf.Requirement] = {"two columns": TwoColumns(), "share in each tenth": Spread()}


def asked(name: str, rule: str, depth: int) -> Question:
    """The problem on at most `MOST_ROWS` rows."""
    X, y = read_set("fairness", name)
    if len(X) > MOST_ROWS:
        X = X.sample(MOST_ROWS, random_state=0)
        y = y.loc[X.index]
    problem = tf.Problem(X.reset_index(drop=True), y.reset_index(drop=True), shape=tf.Tree(depth))
    problem += RULES[rule]
    return problem.question


def one(name: str, rule: str, depth: int, solver: str, aid: str, seconds: float) -> dict[str, Any]:
    """One solver with one kind of help."""
    question, began = asked(name, rule, depth), user_seconds()
    budget = Budget(seconds)
    plan = choose(question, SolveOptions(solver, "odd"))
    assert plan.backend is not None and plan.formulation is not None
    engine = tf.DL85() if tf.DL85.suits(question.data) else tf.ConTree()
    relaxation = relax(question, engine)
    assert relaxation is not None
    ledger, native = Ledger(question, budget), Ledger(question, budget)
    for one_ledger in (ledger, native):
        constants(question, one_ledger)
        one_ledger.prove_lower(floor_bound(question), PROVER)
    if aid != "none":
        run_engine(engine, relaxation, native, schedule.WARM_START.of(budget))
    if aid in ("start", "all"):
        improve(engine, relaxation, native, schedule.NEIGHBOURHOODS.of(budget))
    assert native.graph is not None and native.lower is not None
    if aid in ("engine's models", "start", "all"):
        ledger.submit(native.graph, aid)
    if aid in ("bound", "all"):
        ledger.prove_lower(native.lower, aid)
    known, given = int(native.lower), as_number(question.to_units(ledger.upper or 0))

    def rows(compiled: Compiled) -> None:
        upper = None if ledger.upper is None else int(ledger.upper)
        state_root_bounds(compiled, engine, relaxation, known, upper, schedule.WARM_START.of(budget))

    more = rows if aid in ("rows", "all") else None
    search = CompiledSearch(plan.formulation, plan.backend, ledger, budget, None, more)
    search.run()
    assert ledger.upper is not None and ledger.lower is not None
    errors, bound = (question.to_units(side) for side in (ledger.upper, ledger.lower))
    return {
        "from": given, "errors": errors, "bound": bound, "gap": f"{100 * float((errors - bound) / errors):.1f} %",
        "wall s": round(budget.seconds, 1), "CPU s": round(user_seconds() - began, 1),
    }  # fmt: skip


@table("starts")
def starts(rows: Rows) -> Shown:
    """A line for each problem and solver, and for each kind of help what was reached."""
    have = rows.frame.to_dict("records")
    found = {(r["set"], r["rule"], r["solver"], r["help"]): r for r in have}
    lines = []
    for key in dict.fromkeys((r["set"], r["rule"], r["solver"]) for r in have):
        cells = []
        for aid in AIDS:
            row = found.get((*key, aid))
            done = row is not None and row["errors"] == row["bound"]
            cells.append("" if row is None else f"{row['errors']} / {row['bound']}")
            cells[-1] += f" in {row['wall s']} s" if row is not None and done else ""
        lines.append([*key, *cells])
    note = (
        f"Depth {rows.facts['depth']}, {MOST_ROWS} rows at most, {rows.facts['seconds']} wall seconds, all steps "
        "included: errors of the best model / proved bound, and the seconds where the two meet."
    )
    return Shown.of("What helps a solver", ["set", "requirement", "solver", *AIDS], lines, note)


def main(
    sets: str = "german-credit,compas", seconds: float = 30, depth: int = 3, rules: str = ",".join(RULES),
    solvers: str = "highs,cp-sat",
) -> None:  # fmt: skip
    """Measure."""
    figures = Figures("starts", ("set", "rule", "solver", "help"), seconds=f"{seconds:g}", depth=depth)
    for name in named("fairness", ",".join(s for s in sets.split(",") if s in SENSITIVE)):
        for rule in rules.split(","):
            for solver in solvers.split(","):
                for aid in AIDS:
                    figures.measure(
                        partial(one, name, rule, depth, solver, aid, seconds),
                        set=name, rule=rule, solver=solver, help=aid,
                    )  # fmt: skip
