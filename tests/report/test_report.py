"""Reports: complete, self-contained, escaped, and right about what they state."""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import treeform as tf
from treeform import report
from treeform.language.objective_text import in_quotes
from treeform.report.facts import gap_text, of_model, of_result
from treeform.report.plot import trace_svg
from treeform.utils.text import value_text

NASTY = "<script>alert('x')</script>&\"é"


def nasty_table() -> tuple[pd.DataFrame, pd.Series]:
    n = 40
    X = pd.DataFrame(
        {
            f"age{NASTY}": [i / 4 for i in range(n)],
            "job": [NASTY if i % 3 else "cook" for i in range(n)],
            "sex": ["f" if i % 2 else NASTY for i in range(n)],
        }
    )
    y = pd.Series([NASTY if (i > 25) ^ (i % 3 == 0) else "no" for i in range(n)], name=f"y{NASTY}")
    return X, y


@pytest.fixture(scope="module")
def problem() -> tf.Problem:
    X, y = nasty_table()
    problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
    problem += tf.StatisticalParity(groups="sex", ratio=0.5, positive=NASTY)
    problem += tf.MinSupport(2)
    return problem


@pytest.fixture(scope="module")
def result(problem: tf.Problem) -> tf.Result:
    return problem.solve(tf.HiGHS(), formulation="odd")


class Outline(HTMLParser):
    """Collects tags, attributes and text of a page, and checks that tags are closed."""

    VOID = frozenset({"meta", "br", "hr", "img", "link", "input", "wbr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_page_is_self_contained_and_well_formed(result: tf.Result) -> None:
    outline = Outline(report.html(result, certificate=result.certificate(), source=NASTY))
    assert outline.open == []
    assert not {"link", "img", "iframe", "object", "embed"} & set(outline.tags)
    for key, value in outline.attributes:
        assert key not in {"src", "srcset", "xlink:href"} and not key.startswith("on"), (key, value)
        assert key != "href" or value.startswith(("#", "data:application/json;base64,"))
    assert "@import" not in "".join(outline.texts)
    assert "url(" not in "".join(outline.texts)
    curves = outline.attributes.count(("class", "frontier"))
    assert curves > 0
    bars = outline.attributes.count(("class", "bar"))
    classes = 2  # each has its colour in the legend
    assert (
        outline.tags.count("svg") == 3 + classes + curves + bars
    )  # two drawings, and where the script draws
    assert outline.tags.count("style") == 1
    assert "style" not in [key for key, _ in outline.attributes]


def test_the_policy_admits_only_the_pages_own_script_and_style(result: tf.Result) -> None:
    page = report.html(result)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert "unsafe" not in policy
    assert "default-src &#39;none&#39;" in policy
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src &#39;sha256-{digest}&#39;" in policy


def test_everything_of_the_data_is_escaped(result: tf.Result) -> None:
    page = report.html(result, source=NASTY)
    assert page.count("<script") == 3
    assert NASTY not in page
    text = " ".join(Outline(page).texts)
    for part in (f"age{NASTY}", f"y{NASTY}", f"positive={in_quotes(NASTY)}"):
        assert part in text


def test_page_states_the_facts(result: tf.Result) -> None:
    certificate = result.certificate()
    page = report.html(result, certificate=certificate)
    text = re.sub(r"\s+", " ", " ".join(Outline(page).texts))
    assert f"{result.errors} of 40" in text
    assert "satisfied" in text
    assert certificate["digest"] in text
    assert "Proved: no model of this shape" in text
    assert result.graph is not None
    for rule in result.graph.rules():
        assert re.sub(r"\s+", " ", rule) in text
    for claim in result.claims:
        assert claim.by in text


def test_group_rates_are_recounted(problem: tf.Problem, result: tf.Result) -> None:
    facts = of_result(result)
    parity = facts.requirements[0]
    assert result.graph is not None
    X, _ = nasty_table()
    positive = pd.Series(result.graph.predict(X) == NASTY)
    expected = positive.groupby(X["sex"]).mean()
    assert {rate.group: rate.share for rate in parity.rates} == pytest.approx(expected.to_dict())
    assert parity.ok
    assert "ratio" in parity.measured
    table = [list(row) for row in facts.confusion]
    assert sum(map(sum, table)) == 40
    assert table[0][1] + table[1][0] == result.errors


def test_violations_are_shown(problem: tf.Problem) -> None:
    X, y = nasty_table()
    free = tf.Problem(X, y, shape=tf.Tree(depth=2)).solve(tf.ConTree())
    strict = tf.Problem(X, y, shape=tf.Tree(depth=2))
    strict += tf.MinSupport(15)
    assert free.graph is not None
    facts = of_model(free.graph, strict.question)
    assert not facts.requirements[0].ok
    assert "VIOLATED" in report.render_text(facts)
    assert "violated: a side of a test gets" in report.render_html(facts)


def test_text_report(result: tf.Result) -> None:
    text = report.text(result)
    for word in ("training errors", "proved bound", "confusion", "claims", "min_support:2: satisfied"):
        assert word in text
    assert "confusion" not in report.render_text(of_result(result), verbose=False)


def test_results_without_a_model(result: tf.Result) -> None:
    for status in (tf.Status.INFEASIBLE, tf.Status.UNKNOWN):
        empty = replace(
            result, graph=None, status=status, limit=tf.Limit.TIME, objective=None, bound=None, errors=None,
            violations={}, trace=(), claims=(),
        )  # fmt: skip
        page = report.html(empty)
        assert Outline(page).open == []
        assert "<svg" not in page
        assert str(status) in report.text(empty)


def test_html_writes_the_file(result: tf.Result, tmp_path: Path) -> None:
    page = report.html(result, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "trace",
    [
        [],
        [(0.0, None, None)],
        [(0.0, 5, None)],
        [(0.0, None, 0), (0.1, 0, 0)],
        [(0.0, 300, None), (0.001, 300, 0), (1.5, 280, 100), (59.0, 250, 250)],
        [(0.5, Fraction(5, 2), Fraction(1, 3))],
        [(0.0, 10**15, 0), (1e-9, 7, 7)],
    ],
)
def test_trace_plots_are_xml(trace: list[tuple[float, object, object]]) -> None:
    svg = trace_svg(trace, 60.0)  # type: ignore[arg-type]
    if all(upper is None and lower is None for _, upper, lower in trace):
        assert svg is None
        return
    assert svg is not None
    ET.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg.replace("infinite", "")


def test_numbers_for_people() -> None:
    assert value_text(None) == "-"
    assert value_text(Fraction(10, 2)) == "5"
    assert (value_text(10**19), value_text(3 * 10**300)) == ("1" + 19 * "0", "3e+300")
    assert value_text(Fraction(1, 3)) == "0.333333"
    assert gap_text(None) == "-"
    assert gap_text(0.0) == "0 % (proved)"
    assert gap_text(float("inf")) == "unbounded"
    assert gap_text(0.125) == "12.50 %"
