"""A report lists all problems of a size table, Pareto curve or frontier, with what is proved of each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pandas as pd

import treeform as tf
from treeform import report
from treeform.certify.certificate import read_any
from treeform.certify.check import family_from

TABLE = pd.DataFrame(
    {"a": [0, 0, 1, 1, 2, 2, 3, 3], "town": list("ppqqppqq"), "y": ["u", "u", "v", "v", "u", "u", "v", "u"]}
)
PROBLEM = tf.Problem(TABLE, "y", shape=tf.Tree(2))


def nested(certificate, row=1):
    family, answers = family_from(read_any(certificate), PROBLEM.data)
    return family, answers, report.nested_facts(family, answers, row)


def test_a_pareto_curve_has_a_row_for_each_size_and_a_drawing_for_each_depth():
    curve = PROBLEM.pareto()
    _, answers, facts = nested(curve.certificate())
    expected = {}
    for depth, table in curve.tables.items():
        for row in table.rows:
            words = ([] if depth == 2 else [f"depth {depth}"]) + (
                [] if row.tests == 2**depth - 1 else [f"at most {row.tests} test{'s' * (row.tests != 1)}"]
            )
            expected[", ".join(words) or "the whole shape"] = (str(row.upper), str(row.lower), "optimal")
    assert {one.problem: (one.objective, one.bound, one.status) for one in facts.rows} == expected
    assert len(facts.svg) == 2 and "depth 2" in facts.svg[0] and "depth 1" in facts.svg[1]
    assert "all of them proved" in facts.sentence and f"{len(answers)} answers" in facts.sentence
    for one in facts.rows:
        _, result = answers[one.answer - 1]
        assert one.objective == str(result.objective) and one.by


def test_what_is_not_proved_is_open_in_the_list_and_hollow_in_the_drawing():
    family, answers, _ = nested(PROBLEM.size_table().certificate())
    weaker = family.without_knowledge()
    for _, result in answers:
        weaker.enter(result.graph, result.objective)
    weaker.prove(weaker.place(), Fraction(-1), "counting")
    facts = report.nested_facts(weaker, answers, 1)
    assert {one.status for one in facts.rows} == {"feasible"} and {one.bound for one in facts.rows} == {"-1"}
    assert f"{len(facts.rows)} of them open" in facts.sentence
    assert 'class="proved"' not in facts.svg[0] and facts.svg[0].count('class="open"') == len(weaker.models)


def test_bounds_that_no_model_satisfies_are_infeasible():
    strict = tf.Problem(TABLE, "y", shape=tf.Tree(2))
    strict += [tf.MaxNodes(0), tf.MinRecall(1, positive="v")]
    certificate = strict.frontier(over=tf.MinSpecificity(0, positive="v")).certificate()
    family, answers = family_from(read_any(certificate), strict.data)
    facts = report.nested_facts(family, answers, 1)
    last = facts.rows[-1]
    assert (last.objective, last.bound, last.status, last.answer) == ("-", "no model", "infeasible", None)
    assert facts.sentence.startswith("The bound of min_specificity")


def test_pages_carry_the_list(tmp_path):
    _, answers, facts = nested(PROBLEM.size_table().certificate())
    shown = replace(report.of_result(answers[0][1]), nested=facts)
    page, text = report.render_html(shown), report.render_markdown(shown)
    assert (
        'href="#nested"' in page and page.count('<svg class="frontier"') == 1 and page.count("<style>") == 1
    )
    assert "| at most 1 test |" in text
