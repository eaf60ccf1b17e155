"""Makes the README's drawing and its table of figures, and from the README the description of a release.

Solves the problem of the README's first command, draws the tree, and rewrites the table between the two comments in
README.md from the figures in docs/benchmarks. No figure is typed by hand.
"""

from __future__ import annotations

import re
import tomllib
from statistics import geometric_mean

import pandas as pd

import treeform as tf
from benchmarks.harness import ROOT
from benchmarks.harness.tables import all_tables
from treeform.language.requirement_text import parse

BEGIN, END = "<!-- figures: python -m benchmarks project readme -->", "<!-- end of figures -->"


def rows_of(name: str) -> list[dict[str, str]]:
    """The lines of a table of the documentation."""
    shown, _ = all_tables()[name].shown()
    return shown.frame.to_dict("records")


def times(values: list[float], open_runs: bool = False) -> str:
    """The geometric mean of ratios; ``≥`` where the peer did not end within its limit."""
    return f"{'≥ ' if open_runs else ''}{geometric_mean(values):.0f}"


Cells = dict[str, str]
"""From a depth to what is shown there."""


def continuous() -> Cells:
    """ConTree beside pycontree."""
    rows = rows_of("contree")
    out = {}
    for depth in sorted({row["depth"] for row in rows}):
        ratios = [row["ratio"] for row in rows if row["depth"] == depth and row["ratio"].strip("> ")]
        if ratios:  # else the peer was not run at this depth
            values = [float(ratio.strip("> ")) for ratio in ratios]
            out[str(depth)] = times(values, any(ratio.startswith(">") for ratio in ratios))
    return out


def binary(peer: str) -> Cells:
    """DL85 beside a peer on 0/1 features."""
    rows = [row for row in rows_of("binary_proofs") if row["solver"].startswith(peer)]
    return {str(row["depth"]): f"{float(row['times DL85']):.0f}" for row in rows}


def fair() -> Cells:
    """The search for totals beside pystreed, on what pystreed proves."""
    rows = [row for row in rows_of("totals") if row["times faster"] and row["pystreed"] == "proved"]
    depths = sorted({row["depth"] for row in rows})
    return {
        str(depth): times([float(row["times faster"]) for row in rows if row["depth"] == depth])
        for depth in depths
    }


def rows() -> list[list[str]]:
    """The cells of the table, its header first."""
    lines = [
        ("trees under a fairness rule", "pystreed", fair()),
        ("trees on continuous features", "pycontree", continuous()),
        *(("trees on 0/1 features", peer, binary(peer)) for peer in ("pystreed", "pydl8.5", "pytrees-rs")),
    ]
    depths = sorted({depth for _, _, cells in lines for depth in cells})
    head = ["proof of optimality", "beside", *(f"depth {depth}" for depth in depths)]
    return [head, *([what, peer, *(cells.get(depth, "") for depth in depths)] for what, peer, cells in lines)]


def table() -> str:
    """The table in Markdown."""
    head, *body = rows()
    rule = ["---", "---", *["---:"] * (len(head) - 2)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *body])


def with_table(text: str) -> str:
    """README's text with the table of today's figures."""
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    if not pattern.search(text):
        raise SystemExit(f"README.md lacks the comments {BEGIN} and {END}")
    return pattern.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", text)


INSTALL = """    pip install treeform

Python 3.11 or newer. Learn a tree on 1000 credit applications under two fairness rules, and write a report:

    treeform fit --spec examples/credit.toml --report report.html

The folder `examples` is in the source distribution; other files that this page names are in the repository.
"""


def description(text: str) -> str:
    """README's text as a package index shows it: installed from there, without pictures and links to files."""
    first = text.index("Learn a tree on")
    text = text[:first] + INSTALL + text[text.index("\n![", first) :]
    text = re.sub(r":\n!\[[^\]]*\]\([^)]*\)\n", ".\n", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n+", "", text)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


SPEC = ROOT / "examples" / "credit.toml"


def main_job(rules: bool = True) -> tf.Result:
    """The problem of the README's first command, with or without its two fairness rules."""
    spec = tomllib.loads(SPEC.read_text(encoding="utf-8"))
    data = pd.read_csv(SPEC.parent / spec["data"])
    problem = tf.Problem(data, spec["target"], shape=spec["shape"], exclude=spec["exclude"])
    wanted = [text for text in spec["requirements"] if rules or not text.startswith("statistical_parity")]
    return problem.add([parse(text) for text in wanted]).solve()


def main() -> None:
    """Draw, rewrite the table, and write the description."""
    graph = main_job().graph
    assert graph is not None
    graph.plot().save(ROOT / "docs" / "readme_tree.svg")
    readme = ROOT / "README.md"
    text = with_table(readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")
    (ROOT / "DESCRIPTION.md").write_text(description(text), encoding="utf-8")
    print(table())
