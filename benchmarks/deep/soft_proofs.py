"""What the search for trees costs a proof of what is paid for: CPU seconds of a limited run, and of one without limit.

Without a limit the parts of the objective are proved one after the other; with one, trees are searched for before and
between them. Each row is a process of its own; cases and tables are those of ``deep rules``.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

from benchmarks.deep.programs import interrupted_after, limits_count_work
from benchmarks.deep.rules import PRICE, _payable, cases, drawn
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds


def run(asked: str, name: str, depth: int, limit: float, rows: int) -> dict[str, Any]:
    """One case in this process; called in a fresh one."""
    import treeform as tf
    from treeform.data import Dataset
    from treeform.language.objective import Objective

    limits_count_work()
    X, y = drawn(name, rows)
    kinds = cases(X, y, Dataset.from_user(X, y))[asked]
    objective = sum((one.soft(PRICE) for one in kinds), Objective.parse("error"))
    answer: dict[str, Any] = {"version": commit()}
    for way, seconds in (("without", None), ("with", limit)):
        problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(objective)
        problem.question  # noqa: B018
        began = user_seconds()
        with interrupted_after(1e9 if seconds else limit):
            result = problem.solve(time_limit=seconds)
        is_proved = str(result.status) == "optimal"
        answer[way] = round(user_seconds() - began, 2) if is_proved else ""
        answer[f"objective {way}"] = "" if result.objective is None else f"{float(result.objective):.6g}"
    return answer


@table("deep_soft_proofs")
def soft_proofs(rows: Rows) -> Shown:
    """Cases and tables."""
    both = rows.frame[(rows.frame["with"] != "") & (rows.frame["without"] != "")]
    ratios = both["with"].astype(float).add(0.01) / both["without"].astype(float).add(0.01)
    mean = f"geometric mean of {len(both)} ratios {geometric_mean(ratios):.2f}. " if len(both) else ""
    note = (
        f"User CPU seconds until proof, at most {rows.facts['limit']}; empty: not proved. {mean}Objectives after them."
    )
    return Shown("Proofs of what is paid for", rows.frame.drop(columns="version"), note)


def main(asked: str = "", tables: str = "bits", depth: int = 3, limit: float = 10, rows: int = 3000) -> None:
    """Measure; ``asked``: some of the cases, separated by semicolons."""
    from treeform.data import Dataset

    figures = Figures("deep_soft_proofs", ("asked", "table"), depth=depth, limit=f"{limit:g}", rows=rows)
    few, y = drawn("wide", 200)
    data = Dataset.from_user(few, y)
    empty = dict.fromkeys(("version", "without", "with"), "")
    for name in tables.split(","):
        for one, kinds in cases(few, y, data).items():
            if (not asked or one in asked.split(";")) and kinds and all(_payable(kind, data) for kind in kinds):
                figures.measure(
                    lambda o=one, n=name: in_child(run, o, n, depth, limit, rows, seconds=9 * limit + 60).answer
                    or empty,
                    asked=one, table=name,
                )  # fmt: skip
