"""The page of a report in headless Chromium: clicks, keys, the form, and what its security policy refuses."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_tables import mixed_table, models

import treeform as tf
from treeform import report
from treeform.report.facts import of_model


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({
        "age": rng.integers(20, 60, 80).astype(float), "owner": rng.integers(0, 2, 80),
        "job": rng.choice(["cook", "clerk", "smith"], 80), "sex": rng.choice(["f", "m"], 80),
    })  # fmt: skip
    table.loc[::9, "age"] = np.nan
    y = np.where((table["age"] > 40) ^ (table["job"] == "cook") ^ (table["owner"] == 1), "yes", "no")
    problem = tf.Problem(table, y, shape=tf.Tree(3), exclude=["sex"])
    problem += tf.StatisticalParity(groups="sex", difference="0.9")
    return problem, problem.solve()


def test_a_click_shows_the_facts_of_a_node(shown, small):
    _, result = small
    facts = report.of_result(result)
    page = shown(facts)
    nodes = facts.explore["nodes"]
    assert page.locator("#canvas .node").count() == len(nodes)
    assert page.locator("#canvas .arcs path").count() == len(nodes) - 1
    assert not page.locator("#static-drawing").is_visible()
    page.locator("#zoom-fit").click()
    for v in (0, 1, len(nodes) - 1):
        page.locator(f'#canvas [data-node="{v}"] .frame').click()
        panel = page.locator("#node-facts").inner_text()
        assert nodes[v]["text"].split(" <= ")[0] in panel
        for count in nodes[v]["counts"]:
            assert count in panel
        for label, rows, _ in nodes[v]["groups"][0]["rows"]:
            assert f"{label}\t{rows}\t" in panel
        assert page.locator("#node-facts svg.spread").count() == (1 if nodes[v]["arcs"] else 0)


def test_keys_zoom_collapse_and_search(shown, small):
    _, result = small
    facts = report.of_result(result)
    page = shown(facts)
    total = page.locator("#canvas .node").count()
    page.locator('#canvas [data-node="0"]').focus()
    page.keyboard.press("ArrowDown")
    first_child = facts.explore["nodes"][0]["arcs"][0][1]
    assert page.evaluate("document.activeElement.dataset.node") == str(first_child)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert page.locator("#canvas .node").count() == 1
    assert "collapsed" in page.locator('#canvas [data-node="0"]').get_attribute("aria-label")
    page.keyboard.press("Enter")
    assert page.locator("#canvas .node").count() == total
    before = page.locator("#canvas").get_attribute("viewBox")
    page.keyboard.press("+")
    page.locator("#zoom-in").click()
    zoomed = page.locator("#canvas").get_attribute("viewBox")
    assert float(zoomed.split()[2]) < float(before.split()[2])
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + box["height"] - 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + box["height"] - 60)
    page.mouse.up()
    assert page.locator("#canvas").get_attribute("viewBox") != zoomed
    page.locator("#find").fill("age")
    found = page.locator("#canvas .found").count()
    assert found > 0
    assert page.locator("#found").inner_text() == f"1 of {found}"
    page.locator("#find").press("Enter")
    assert page.locator("#found").inner_text() == f"{min(2, found)} of {found}"


def smallest_letters(page) -> float:
    """Size of the smallest text of the drawing, in CSS pixels as they are on the screen."""
    return page.evaluate(
        "Math.min(...[...document.querySelectorAll('#canvas text')].map(text =>"
        " parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"
    )


def outermost(page) -> float:
    """How far inside the drawing the outermost node is, in pixels; negative where one is cut off."""
    return page.evaluate(
        "(() => { const c = document.getElementById('canvas').getBoundingClientRect();"
        " return Math.min(...[...document.querySelectorAll('#canvas .node .frame')].map(n => {"
        " const b = n.getBoundingClientRect();"
        " return Math.min(b.left - c.left, c.right - b.right, b.top - c.top, c.bottom - b.bottom)})) })()"
    )


def test_a_diagram_of_fifty_tests_begins_legible_on_a_phone(shown):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 2, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    nodes = [
        {
            "feature": v % 6,
            "threshold": 0.1 * v - 2,
            "left": min(2 * v + 1, v + 7),
            "right": min(2 * v + 2, v + 8),
        }
        for v in range(50)
    ]
    graph = tf.DecisionGraph.build([*nodes, *({"label": v % 2} for v in range(8))], problem.data)
    assert graph.n_nodes == 50 and not graph.is_tree
    page = shown(of_model(graph, problem.question), width=380)
    assert smallest_letters(page) >= 11
    root, drawing = (
        page.locator(one).bounding_box() for one in ('#canvas [data-node="0"] .frame', "#canvas")
    )
    assert drawing["x"] <= root["x"] and root["x"] + root["width"] <= drawing["x"] + drawing["width"]


@pytest.fixture(scope="module")
def audited():
    """A tree of seven leaves under two parities that hold alone and not crossed; long names of columns."""
    table = pd.read_csv(Path(__file__).parents[2] / "examples" / "data" / "german-credit.csv")
    problem = tf.Problem(table, "creditworthy", shape=tf.Tree(3), exclude=["sex", "age_years"])
    for column in ("sex", "age_years"):
        problem += tf.StatisticalParity(groups=column, difference="0.02", positive="yes")
    result = problem.solve()
    return report.of_result(result, crossed=report.price_crossings(result))


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (1900, 900), (390, 844)])
def test_the_whole_model_is_the_first_view(shown, audited, width, height):
    page = shown(audited, width=width, height=height)
    canvas = page.locator("#canvas").bounding_box()
    assert canvas["x"] >= 0 and canvas["x"] + canvas["width"] <= width
    boxes = [one.bounding_box() for one in page.locator("#canvas .node .frame").all()]
    assert len(boxes) == len(audited.explore["nodes"])
    for box in boxes:
        assert canvas["x"] <= box["x"] and box["x"] + box["width"] <= canvas["x"] + canvas["width"]
        assert canvas["y"] <= box["y"] and box["y"] + box["height"] <= canvas["y"] + canvas["height"]
    for one, other in itertools.combinations(boxes, 2):
        assert (
            one["x"] + one["width"] <= other["x"] + 0.1 or other["x"] + other["width"] <= one["x"] + 0.1
            or one["y"] + one["height"] <= other["y"] + 0.1 or other["y"] + other["height"] <= one["y"] + 0.1
        )  # fmt: skip
    if width > 390:  # on a phone it goes on below, and nothing is cut off at the side
        assert max(box["y"] + box["height"] for box in boxes) <= height
    assert smallest_letters(page) >= 7.7
    assert page.locator(".legend").inner_text().split()[:2] == ["no", "yes"]
    assert page.locator("p.warn").first.bounding_box()["y"] < canvas["y"]


BROKEN_WORDS = r"""[...document.querySelectorAll(
  'th, td, dt, dd, h1, h2, h3, p, li, label, .label')].flatMap((element) => {
  const broken = [];
  for (const node of element.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    for (const match of node.data.matchAll(/[^\s,:-]+/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) broken.push(match[0]);
    }
  }
  return broken;
})"""


def test_nothing_is_wider_than_a_phone_and_no_word_is_broken(shown, audited):
    page = shown(audited, width=390, height=844)
    wide = page.evaluate(
        "[...document.querySelectorAll('table, svg.trace, svg.frontier, .scroll, section, dl, pre')]"
        ".filter((one) => one.checkVisibility() && (one.scrollWidth > 390 || one.getBoundingClientRect().right > 390))"
        ".map((one) => one.outerHTML.slice(0, 80))"
    )
    assert wide == []
    assert page.evaluate(BROKEN_WORDS) == []


def test_on_a_phone_the_buttons_are_in_the_frame_and_side_by_side(shown, audited):
    page = shown(audited, width=390, height=844)
    frame = page.locator("#canvas").bounding_box()
    folds = page.locator("#canvas .fold circle").all()
    assert folds
    for fold in folds:
        box = fold.bounding_box()
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
    tops = [page.locator(one).bounding_box()["y"] for one in ("#zoom-in", "#zoom-out")]
    assert tops[0] == tops[1]


def test_a_click_opens_the_facts_beside_the_whole_model(shown, audited):
    page = shown(audited, width=1280)
    assert not page.locator("#node-facts").is_visible()
    page.locator('#canvas [data-node="0"] .frame').click()
    assert page.locator("#node-facts").is_visible()
    canvas, panel = (page.locator(one).bounding_box() for one in ("#canvas", "#node-facts"))
    assert canvas["x"] + canvas["width"] <= panel["x"]
    page.set_viewport_size({"width": 390, "height": 844})
    canvas, panel = (page.locator(one).bounding_box() for one in ("#canvas", "#node-facts"))
    assert canvas["y"] + canvas["height"] <= panel["y"] and panel["x"] + panel["width"] <= 390


def test_a_deep_tree_begins_whole_and_on_its_first_levels(shown):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    from sklearn.tree import DecisionTreeClassifier

    data = tf.Problem(X, y, shape=tf.Tree(7)).data
    graph = tf.DecisionGraph.from_sklearn(DecisionTreeClassifier(max_depth=7, random_state=0).fit(X, y), data)
    page = shown(of_model(graph, tf.Problem(X, y, shape=tf.Tree(7)).question))
    assert page.locator("#canvas .node").count() == 15
    assert smallest_letters(page) >= 7.7
    assert outermost(page) >= 0
    page.locator('#canvas [data-node="0"] .frame').click()
    figure = page.locator("#node-facts figure")
    column = graph.columns[graph.feature[0]].source
    assert figure.locator("figcaption").inner_text() == f"Rows that come here, by {column}"
    drawn = figure.locator("svg").bounding_box()
    for box in [one.bounding_box() for one in figure.locator("svg text").all()]:  # long thresholds too
        assert drawn["x"] - 1 <= box["x"] and box["x"] + box["width"] <= drawn["x"] + drawn["width"] + 1
    page.locator("#expand").click()
    assert page.locator("#canvas .node").count() == len(graph.feature)
    assert smallest_letters(page) >= 11
    page.locator("#zoom-fit").click()
    assert smallest_letters(page) < 11  # the whole of it, to find one's way
    boxes = page.evaluate(
        "[...document.querySelectorAll('#canvas .node .frame')].map(n => {const b = n.getBoundingClientRect();"
        " return [b.left, b.right, b.top, b.bottom]})"
    )
    for (l1, r1, t1, b1), (l2, r2, t2, b2) in itertools.combinations(boxes, 2):
        assert r1 <= l2 + 0.1 or r2 <= l1 + 0.1 or b1 <= t2 + 0.1 or b2 <= t1 + 0.1


def fill(page, facts: report.Facts, row: dict[str, object]) -> None:
    """Put a row into the form, and have the page decide once."""
    values = []
    for field in facts.ask["fields"]:
        value = row[field["name"]]
        if field["kind"] in ("number", "date"):
            text = (
                "" if value is None else str(value.date()) if field["kind"] == "date" else repr(float(value))
            )
            values.append(text)
        elif value is None:
            values.append("\0missing")
        elif field["kind"] == "truth":
            values.append("true" if value else "false")
        elif field["kind"] == "yes-no":
            values.append(str(int(value)))
        else:
            known = [level for level, _ in field["levels"]]
            values.append(f'"{value}"'.replace('"k', '\\"k') if value in known else "\0other")
    page.evaluate(
        "values => { values.forEach((v, j) => { document.getElementById(`ask-${j}`).value = v; });"
        " document.getElementById('ask-form').dispatchEvent(new Event('input')); }",
        values,
    )


@pytest.mark.parametrize("which", [0, 2])
def test_the_form_decides_as_the_model_on_rows_with_gaps_levels_and_dates(shown, which):
    table, _ = mixed_table(0)
    graph = models(0)[which]
    problem = tf.Problem(table, np.resize(graph.classes, len(table)), shape=tf.Tree(1), dates="days")
    facts = of_model(graph, problem.question)
    page = shown(facts)
    rows = table.sample(25, random_state=1)
    labels = graph.predict(rows, unseen="other")
    rules = {node["rule"]: node["text"] for node in facts.explore["nodes"] if "rule" in node}
    for row, label in zip(rows.astype(object).to_dict("records"), labels, strict=True):
        plain = {name: None if pd.isna(value) else value for name, value in row.items()}
        fill(page, facts, plain)
        answer = page.locator("#ask-answer .decision").inner_text()
        assert answer.startswith(f"Decision: {label} (rule ")
        number = int(answer.split("(rule ")[1].rstrip(")"))
        assert rules[number] == str(label)
        assert page.locator(f"#rule-{number}.fires").count() == 1


def fewest_changes(
    graph: tf.DecisionGraph, row: dict[str, object], values: dict[str, list], fixed=()
) -> int | None:
    """By brute force over all values that the tests tell apart."""
    label = graph.predict(pd.DataFrame([row]), unseen="other")[0]
    free = [name for name in values if name not in fixed]
    for count in range(1, len(free) + 1):
        trials = [
            {**row, **dict(zip(names, chosen, strict=True))}
            for names in itertools.combinations(free, count)
            for chosen in itertools.product(*(values[name] for name in names))
        ]
        if (graph.predict(pd.DataFrame(trials), unseen="other") != label).any():
            return count
    return None


def test_what_would_change_the_decision_is_the_least(shown, small):
    problem, result = small
    facts = report.of_result(result)
    page = shown(facts)
    graph = result.graph
    tested = [field["name"] for field in facts.ask["fields"]]
    cuts = sorted(
        {
            t.threshold
            for t in graph.tests()
            if graph.columns[t.column].source == "age" and abs(t.threshold) < 1e9
        }
    )
    values = {
        "age": [None, *cuts, *[cut + 0.25 for cut in cuts]],
        "owner": [0, 1],
        "job": ["cook", "clerk", "smith", "x"],
    }
    values = {name: values[name] for name in tested}
    for row in problem.data.frame.sample(12, random_state=0).astype(object).to_dict("records"):
        row = {name: None if pd.isna(row[name]) else row[name] for name in ("age", "owner", "job", "sex")}
        fill(page, facts, row)
        text = page.locator("#ask-answer").inner_text()
        count = fewest_changes(graph, row, values)
        assert f"At least {count} column" in text
    box = page.locator(f'[aria-label="{tested[0]} may change"]')
    box.uncheck()
    count = fewest_changes(graph, row, values, fixed=(tested[0],))
    text = page.locator("#ask-answer").inner_text()
    assert (f"At least {count} column" if count else "Nothing among the columns") in text


@pytest.mark.parametrize("width", [1200, 380])
def test_accessible_by_the_rules_of_axe_and_no_wider_than_the_screen(shown, small, width):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not here"
    )
    _, result = small
    page = shown(report.of_result(result, about=report.About(owner="me", sensitive=("job",))), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).response
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in found["violations"]] == []


def test_the_phone_has_one_figure_a_line_and_texts_of_charts_that_can_be_read(shown, small):
    problem, result = small
    page = shown(report.of_result(result, frontiers=[problem.frontier(over="statistical_parity")]), 390)
    tops = page.evaluate("[...document.querySelectorAll('.figures div')].map(e => e.getBoundingClientRect().top)")
    assert len(tops) > 5 and tops == sorted(set(tops))
    size = page.evaluate("getComputedStyle(document.querySelector('svg.frontier text')).fontSize")
    assert size == "19px"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_dark_page_has_a_dark_drawing(shown, small):
    _, result = small
    page = shown(report.of_result(result))
    of = "getComputedStyle(document.querySelector('{}')).{}"
    colours = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        frame = [("#canvas .frame", "fill"), ("#canvas .frame", "stroke")]
        parts = [("#canvas", "backgroundColor"), *frame, ("#canvas text", "fill")]
        colours[scheme] = [page.evaluate(of.format(*part)) for part in parts]
    assert colours["light"][0] == "rgb(255, 255, 255)"
    assert all(light != dark for light, dark in zip(*colours.values(), strict=True))
