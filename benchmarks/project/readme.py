"""Makes the README's drawing and its table of figures.

Solves the problem of the README's first command, draws the tree, and rewrites the table between the two comments in
README.md from the figures in docs/benchmarks. No figure is typed by hand.
"""

from __future__ import annotations

import re
from statistics import geometric_mean

import pandas as pd

import treeform as tf
from benchmarks.harness import ROOT
from benchmarks.harness.tables import all_tables

BEGIN, END = "<!-- figures: python -m benchmarks project readme -->", "<!-- end of figures -->"


def rows_of(name: str) -> list[dict[str, str]]:
    """The lines of a table of the documentation."""
    shown, _ = all_tables()[name].shown()
    return shown.frame.to_dict("records")


def ratio_text(values: list[float], open_runs: bool) -> str:
    """Geometric mean and least of ratios; ``>=`` where the peer did not end within its limit."""
    mean = geometric_mean(values)
    return f"{'≥ ' if open_runs else ''}{mean:.0f} times (least {min(values):.1f})"


def continuous() -> list[list[str]]:
    """ConTree beside pycontree, a row for each depth."""
    rows = rows_of("contree")
    out = []
    for depth in sorted({row["depth"] for row in rows}):
        ratios = [row["ratio"] for row in rows if row["depth"] == depth and row["ratio"].strip("> ")]
        values = [float(ratio.strip("> ")) for ratio in ratios]
        if not values:
            continue  # the peer was not run at this depth
        line = ratio_text(values, any(ratio.startswith(">") for ratio in ratios))
        out.append([f"trees on continuous features, depth {depth}", f"pycontree, {len(values)} sets", line])
    return out


def binary() -> list[list[str]]:
    """DL85 beside the peers on 0/1 features, a row for each depth and peer."""
    out = []
    for row in rows_of("binary_proofs"):
        if row["solver"] != "DL85":
            what = f"trees on 0/1 features, depth {row['depth']}"
            out.append(
                [what, f"{row['solver']}, {row['sets']} sets", f"{float(row['times DL85']):.0f} times"]
            )
    return out


def fair() -> list[list[str]]:
    """The search for totals beside pystreed, a row for each depth, on what pystreed proves."""
    rows = [row for row in rows_of("totals") if row["times faster"] and row["pystreed"] == "proved"]
    out = []
    for depth in sorted({row["depth"] for row in rows}):
        values = [float(row["times faster"]) for row in rows if row["depth"] == depth]
        what = f"trees under a fairness rule, depth {depth}"
        out.append([what, f"pystreed, {len(values)} questions that it proves", ratio_text(values, False)])
    return out


def rows() -> list[list[str]]:
    """The cells of the table, its header first."""
    head = ["proof of optimality", "beside", "treeform is faster by (geometric mean)"]
    return [head, *fair(), *continuous(), *binary()]


def table() -> str:
    """The table in Markdown."""
    head, *body = rows()
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])


def with_table(text: str) -> str:
    """README's text with the table of today's figures."""
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    if not pattern.search(text):
        raise SystemExit(f"README.md lacks the comments {BEGIN} and {END}")
    return pattern.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", text)


def main_job(rules: bool = True) -> tf.Result:
    """The problem of the README's first command, with or without its two fairness rules."""
    data = pd.read_csv(ROOT / "examples" / "data" / "german-credit.csv")
    problem = tf.Problem(data, "creditworthy", shape=tf.Tree(3), exclude=["sex", "age_years"])
    if rules:
        problem += tf.StatisticalParity(groups="sex", difference=0.02, favourable="yes")
        problem += tf.StatisticalParity(groups="age_years", difference=0.02, favourable="yes")
    problem += tf.MinSupport(0.05)
    return problem.solve()


def main() -> None:
    """Draw, and rewrite the table."""
    graph = main_job().graph
    assert graph is not None
    graph.plot().save(ROOT / "docs" / "readme_tree.svg")
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
    print(table())
