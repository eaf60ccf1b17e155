"""The form and the facts of nodes for hyperplanes and for regression, in headless Chromium, against the model."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from export_tables import plain_rows
from sum_tables import model, near_limits, table

import treeform as tf
from treeform import report
from treeform.report.facts import of_model

DAY = np.timedelta64(1, "D")


@pytest.fixture(scope="module")
def planes(shown):
    """A page about a diagram with three hyperplanes, and rows on their very limits."""
    rows = table()
    labels = np.arange(len(rows)) % 3
    problem = tf.Problem(rows, labels, shape="tree:1", dates="days")
    graph = model(problem)
    facts = of_model(graph, problem.question)
    assert facts.ask is not None and facts.ask["sums"]
    return graph, facts, shown(facts), near_limits(graph, rows)


def as_script(rows: pd.DataFrame) -> list[list[list[object]]]:
    """Rows as lists of (column, value) in the form's terms."""
    written = []
    for row in plain_rows(rows):
        entries: list[list[object]] = []
        for name, value in row.items():
            if isinstance(value, str | bool):
                value = json.dumps(value)
            elif hasattr(value, "toordinal"):
                value = float((pd.Timestamp(value).to_datetime64() - np.datetime64(0, "D")) / DAY)
            entries.append([name, value])
        written.append(entries)
    return written


EACH = 14

IN_PAGE = """([rows, each]) => {
  const { follow, changes } = decisions(JSON.parse(document.getElementById('ask-data').textContent));
  return rows.map((entries, j) => {
    const row = new Map(entries), { label } = follow(row);
    if (j % each) return [label, []];
    const { ways } = changes(row, other => other !== label, new Set());
    return [label, ways.map(({ label, needed }) => [label, needed.map(([name, region]) => [
      name, region.keys ? [...region.keys] : null, String(region.low), String(region.high)])])];
  });
}"""


def test_sums_are_followed_without_rounding_and_single_changes_are_exact(planes):
    graph, facts, page, rows = planes
    assert facts.headline == "A decision diagram"  # two ways lead to one node, whatever the shape says
    found = page.evaluate(IN_PAGE, [as_script(rows), EACH])
    assert [label for label, _ in found] == graph.predict(rows).tolist()
    trials, expected, checked = [], [], 0
    for index in range(0, len(rows), EACH):
        label, ways = found[index]
        row = rows.iloc[[index]]
        inside = {(name, way): low_high for way, needed in ways for name, _, *low_high in needed}
        assert label not in {way for _, way in inside}
        for way, ((name, keys, low, high),) in ways:
            if keys is not None:
                values = [(json.loads(key) if key[0] in '"tf' else None, way) for key in keys]
                values = [(value, outcome) for value, outcome in values if value is not None]
            elif name == "opened":
                continue  # whole days: pandas holds no others so far from 1970
            else:
                low, high = float(low), float(high)
                values = [(math.nextafter(low, math.inf), way), (high, way)]
                values = [(value, outcome) for value, outcome in values if math.isfinite(value)]
                checked += len(values)
                # one double further there is another class
                beyond = [v for v in (low, math.nextafter(high, math.inf)) if math.isfinite(v)]
                values += [(value, None) for value in beyond]
            for value, outcome in values:
                trials.append(row.assign(**{name: value}))
                expected.append((way, outcome))
        # completeness: values tried at random lead to nothing that is not among the ways
        reachable = {(name, way) for way, needed in ways for name, *_ in needed}
        for name, values in {
            "pay": [-1e9, -50.0, 0.0, 700.0, 1e9],
            "age": [-1e3, 0.0, 45.0, 50.5, 1e3],
        }.items():
            outcomes = graph.predict(pd.concat([row.assign(**{name: value}) for value in values]))
            assert {(name, way) for way in outcomes if way != label} <= reachable
    tried = pd.concat(trials).astype({"grade": rows["grade"].dtype, "owner": bool})
    for outcome, (way, wanted) in zip(graph.predict(tried), expected, strict=True):
        assert outcome == way if wanted is not None else outcome != way
    assert checked > 20


def test_the_page_says_sum_and_distance(planes):
    _, facts, page, _ = planes
    page.locator("#ask-0").fill("41.3")
    names = [field["name"] for field in facts.ask["fields"]]
    assert names[:2] == ["age", "pay"]
    page.locator("#ask-1").fill("0")
    steps = page.locator("#ask-answer .steps").inner_text()
    assert "(the sum is 41.3, on the threshold 41.3)" in steps
    page.locator("#ask-1").fill("10")
    assert "(the sum is 40.3, 1 below the threshold 41.3)" in page.locator("#ask-answer .steps").inner_text()
    assert "Each of these columns alone:" in page.locator("#ask-answer").inner_text()
    for name in range(len(names)):
        page.locator(f'[aria-label="{names[name]} may change"]').uncheck()
    assert "No single column among those that may change." in page.locator("#ask-answer").inner_text()
    page.locator('#canvas [data-node="0"] .frame').click()
    assert page.locator("#node-facts figcaption").inner_text() == "Rows that come here, by age - 0.1*pay"


@pytest.fixture(scope="module")
def values(shown):
    """A page about a regression tree over numbers with gaps, levels and a 0/1 column."""
    rng = np.random.default_rng(5)
    n = 90
    rows = pd.DataFrame({
        "area": rng.integers(20, 200, n).astype(float), "garden": rng.integers(0, 2, n),
        "town": rng.choice(["north", "south", "west"], n), "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip
    rows.loc[::8, "area"] = np.nan
    price = 3 * rows["area"].fillna(50) + 80 * rows["garden"] + 90 * (rows["town"] == "south")
    problem = tf.Problem(rows, price.to_numpy(), shape=tf.Tree(3), exclude=["sex"])
    result = problem.minimize(tf.SquaredError()).solve()
    facts = report.of_result(result, about=report.About(sensitive=("sex",)))
    return result.graph, facts, shown(facts), rows


def fill(page, facts, row: dict[str, object], across: float) -> str:
    inputs = []
    for field in facts.ask["fields"]:
        value = row[field["name"]]
        if field["kind"] == "levels":
            inputs.append(json.dumps(value))
        else:
            inputs.append("" if value is None else repr(value))
    page.evaluate(
        "([values, across]) => { values.forEach((v, j) => { document.getElementById(`ask-${j}`).value = v; });"
        " document.getElementById('ask-across').value = across;"
        " document.getElementById('ask-form').dispatchEvent(new Event('input')); }",
        [inputs, repr(across)],
    )
    return page.locator("#ask-answer").inner_text()


def fewest_to_cross(graph: tf.DecisionGraph, row: dict[str, object], across: float) -> int | None:
    """By brute force over all values that the tests tell apart."""
    cuts = [test.threshold for test in graph.tests() if graph.columns[test.column].source == "area"]
    values = {
        "area": [None, 1.0, *(cut for cut in cuts if abs(cut) < 1e9), *(c + 0.5 for c in cuts if c < 1e9)],
        "garden": [0, 1],
        "town": ["north", "south", "west"],
    }
    above = graph.predict(pd.DataFrame([row]))[0] > across
    for count in (1, 2, 3):
        trials = [
            {**row, **dict(zip(names, chosen, strict=True))}
            for names in itertools.combinations(values, count)
            for chosen in itertools.product(*(values[name] for name in names))
        ]
        if ((graph.predict(pd.DataFrame(trials)) > across) != above).any():
            return count
    return None


def test_the_form_of_a_regression_model_says_what_moves_the_value_across_a_number(values):
    graph, facts, page, rows = values
    assert page.locator("#ask h2").inner_text() == "Ask the model"
    limits = [*(round(value, 1) for value in sorted(map(float, graph.values))[1:-1:2]), 0.5]
    for row in rows.sample(8, random_state=2).astype(object).to_dict("records"):
        plain = {name: None if pd.isna(value) else value for name, value in row.items()}
        for across in limits:
            text = fill(page, facts, plain, float(across))
            value = graph.predict(pd.DataFrame([plain]))[0]
            assert abs(float(text.split("Value: ")[1].split(" ")[0]) - value) < 1e-3
            assert ("to %s or less" if value > across else "value above %s") % f"{across:g}" in text
            count = fewest_to_cross(graph, plain, across)
            assert (f"At least {count} column" if count else "Nothing among the columns") in text


def test_nodes_of_a_regression_model_show_their_targets(values):
    _, facts, page, rows = values
    nodes = facts.explore["nodes"]
    leaf = next(v for v, node in enumerate(nodes) if "rule" in node)
    target = 3 * rows["area"].fillna(50) + 80 * rows["garden"] + 90 * (rows["town"] == "south")
    page.locator('#canvas [data-node="0"] .frame').click()
    panel = page.locator("#node-facts")
    assert f"mean\t{target.mean():.6g}" in panel.inner_text()
    assert f"median\t{target.quantile(0.5, 'lower'):.6g}" in panel.inner_text()
    assert panel.locator("svg.spread").count() == 2  # the targets, and the tested column
    page.locator(f'#canvas [data-node="{leaf}"] .frame').click()
    text = panel.inner_text()
    assert f"Value: {nodes[leaf]['text']}" in text and "largest residual" in text
    assert "sex: who comes here" in text and "mean prediction" in text
    assert panel.locator("svg.spread").count() == 1
    label = panel.locator("svg.spread").get_attribute("aria-label")
    assert "prediction" in label


def test_accessible_by_the_rules_of_axe(values, shown):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not here"
    )
    page = shown(values[1], width=380)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found["violations"]] == []
