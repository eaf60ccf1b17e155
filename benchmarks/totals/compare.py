"""The native search beside pystreed, every optimum compared.

One thread each; user CPU seconds without reading the table, the median of several calls where they are short. Each call
of the native search has a table of its own, freshly encoded, so that nothing is known from an earlier one. The limits
are wall seconds for the native search and CPU seconds for pystreed, each of whose questions is a process of its own:
some end it.
"""

from __future__ import annotations

from functools import partial
from statistics import geometric_mean, median
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, in_child, named, read_set, repeated, table

SENSITIVE = {
    "compas": ("Race=African-American", 0),
    "adult": ("Sex=Male", 1),
    "german-credit": ("Gender=Male", 1),
    "student-mat": ("sex:M", 1),
}
"""The column whose groups are compared, and the positive class."""
DEEP = ("compas", "adult")
RULES: dict[str, tuple[type[tf.Requirement], dict[str, str], str | None]] = {
    "difference .05": (tf.StatisticalParity, {"difference": "0.05"}, "group-fairness"),
    "difference .01": (tf.StatisticalParity, {"difference": "0.01"}, "group-fairness"),
    "ratio .8": (tf.StatisticalParity, {"ratio": "0.8"}, None),
    "equal opportunity .05": (tf.EqualOpportunity, {"difference": "0.05"}, "equality-of-opportunity"),
}
"""The requirement, its amount, and pystreed's task for it, where it has one."""
KEY = ("set", "column", "rule", "depth", "program")


def own(name: str, column: str, rule: str, depth: int, seconds: float) -> dict[str, Any]:
    """The native search on one question."""
    from treeform.engines import EngineRun, TreeTask
    from treeform.engines.relaxation import relax
    from treeform.utils.budget import Budget

    X, y = read_set("fairness", name)
    sensitive, positive = SENSITIVE[name]
    kind, amount, _ = RULES[rule]
    tested = X if column == "allowed" else X.drop(columns=sensitive)
    problem: tf.Problem
    task: TreeTask

    def encode() -> None:
        nonlocal problem, task
        problem = tf.Problem(tested, y, shape=tf.Tree(depth))
        problem += kind(groups=X[sensitive], positive=positive, **amount)
        relaxation = relax(problem.question, tf.TotalsSearch())
        assert relaxation is not None
        task = relaxation.task

    result, solved = repeated(
        lambda: problem.solve(tf.TotalsSearch(), time_limit=seconds), before_each=encode
    )
    _, searched = repeated(
        lambda: tf.TotalsSearch().run(problem.data, task, EngineRun(Budget(seconds))), before_each=encode
    )
    counters = result.counters
    return {
        "tests": counters.get("totals-search: tests"),
        "errors": None if result.graph is None else result.errors, "bound": int(result.bound or 0),
        "multipliers' bound": counters.get("totals-search: multiplier_bound"), "status": result.status,
        "solve s": round(median(solved), 4), "search s": round(median(searched), 4),
    }  # fmt: skip


def fit_pystreed(name: str, rule: str, depth: int, seconds: float) -> tuple[int, bool, float]:
    """Errors, whether they are proved, user CPU seconds. It never tests the sensitive column, its first one."""
    from pystreed import STreeDGroupFairnessClassifier

    X, y = read_set("fairness", name)
    sensitive, positive = SENSITIVE[name]
    _, amount, task = RULES[rule]
    X = X[[sensitive, *(c for c in X.columns if c != sensitive)]].astype(int).to_numpy()
    y = (y == positive).astype(int).to_numpy()
    # Its own limit counts wall time, and it does not always stop: the limit that counts is the process's CPU time.
    model = STreeDGroupFairnessClassifier(
        task, 0, float(amount["difference"]), max_depth=depth, time_limit=100 * seconds
    )
    _, spent = repeated(lambda: model.fit(X, y))
    return int((model.predict(X) != y).sum()), bool(model.fit_result.is_optimal()), median(spent)


def pystreed(name: str, rule: str, depth: int, seconds: float) -> dict[str, Any]:
    """The same question in a process of its own."""
    if RULES[rule][2] is None:
        return {"status": "has no such rule"}
    done = in_child(fit_pystreed, name, rule, depth, seconds, seconds=seconds + 2)
    if done.answer is None:
        return {"status": f"open after {seconds:g} s" if done.how == "time" else "crash"}
    errors, proved, spent = done.answer
    return {"errors": errors, "status": "proved" if proved else "open", "search s": round(spent, 4)}


@table("totals")
def compared(rows: Rows) -> Shown:
    """A line for each question; a proved answer of the peer has to be the same."""
    every = {tuple(row[column] for column in KEY): row for row in rows.frame.to_dict("records")}
    lines, ratios, different = [], [], 0
    by_depth: dict[str, list[float]] = {}
    for (*question, program), row in every.items():
        if program != "treeform":
            continue
        peer = every.get((*question, "pystreed"), {"errors": "", "status": "", "search s": ""})
        outcome, ratio = peer["status"], ""
        if outcome == "proved":
            ratio = round(float(peer["search s"]) / float(row["search s"]), 1)
            ratios.append(ratio)
            by_depth.setdefault(row["depth"], []).append(ratio)
            if row["status"] == "optimal" and peer["errors"] != row["errors"]:
                outcome, different = "proved, DIFFERENT", different + 1
        name, column, rule, depth = question
        own = [row[c] for c in ("errors", "bound", "multipliers' bound", "status", "solve s", "search s")]
        lines.append(
            [name, row["tests"], column, rule, depth, *own, peer["errors"], outcome, peer["search s"], ratio]
        )
    columns = [
        "set", "tests", "column", "rule", "depth", "errors", "bound", "multipliers' bound", "status", "solve s",
        "search s", "pystreed errors", "pystreed", "pystreed CPU s", "times faster",
    ]  # fmt: skip
    proved = sum(line[8] == "optimal" for line in lines)
    note = (
        "*column*: whether tests may use the sensitive column (pystreed never does). *multipliers' bound*: the bound "
        "before any enumeration. *search s*: from the encoded data to the tree, as pystreed's *fit*; *solve s*: with "
        "the choice of what to run, and the exact recount of every model by code that knows no search. Medians of up "
        "to 15 calls, each on a table of its own. "
        f"{proved} of {len(lines)} questions proved. pystreed proves {len(ratios)} of its questions within "
        f"{rows.facts['peer seconds']} s; {different} of its proved optima differ; geometric mean of the ratio of "
        f"times over these: {geometric_mean(ratios) if ratios else 0:.1f}"
        + "".join(
            f", {geometric_mean(some):.1f} at depth {depth}" for depth, some in sorted(by_depth.items())
        )
        + "."
    )
    return Shown.of("Trees under requirements on totals", columns, lines, note)


def main(
    sets: str = ",".join(SENSITIVE),
    depths: str = "2,3,4,5",
    seconds: float = 60,
    peer_seconds: float = 30,
    peer: bool = True,
) -> None:
    """Measure."""
    facts = {"peer seconds": f"{peer_seconds:g}"}
    figures = Figures("totals", KEY, **facts)
    for name in named("fairness", sets):
        for column in ("left out", "allowed"):
            for rule in RULES:
                for depth in map(int, depths.split(",")):
                    if depth > 4 and name not in DEEP:
                        continue
                    key = {"set": name, "column": column, "rule": rule, "depth": depth}
                    figures.measure(
                        partial(own, name, column, rule, depth, seconds), **key, program="treeform"
                    )
                    if peer and column == "left out" and depth <= 4:
                        work = partial(pystreed, name, rule, depth, peer_seconds)
                        figures.measure(work, **key, program="pystreed")
