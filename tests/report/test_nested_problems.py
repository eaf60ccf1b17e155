"""A report lists all problems of a size table, Pareto curve or frontier, with what is proved of each."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

import treeform as tf
from treeform import report
from treeform.certify.certificate import read_any
from treeform.certify.check import family_from
from treeform.report.nested import nested_facts

TABLE = pd.DataFrame(
    {"a": [0, 0, 1, 1, 2, 2, 3, 3], "town": list("ppqqppqq"), "y": ["u", "u", "v", "v", "u", "u", "v", "u"]}
)
PROBLEM = tf.Problem(TABLE, "y", shape=tf.Tree(2))


def nested(certificate, row=1):
    family, answers = family_from(read_any(certificate), PROBLEM.data)
    return family, answers, nested_facts(family, answers, row)


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
    facts = nested_facts(weaker, answers, 1)
    assert {one.status for one in facts.rows} == {"feasible"} and {one.bound for one in facts.rows} == {"-1"}
    assert f"{len(facts.rows)} of them open" in facts.sentence
    assert 'class="proved"' not in facts.svg[0] and facts.svg[0].count('class="open"') == len(weaker.models)


def test_bounds_that_no_model_satisfies_are_infeasible():
    strict = tf.Problem(TABLE, "y", shape=tf.Tree(2))
    strict += [tf.MaxNodes(0), tf.MinRecall(1, positive="v")]
    certificate = strict.frontier(over=tf.MinSpecificity(0, positive="v")).certificate()
    family, answers = family_from(read_any(certificate), strict.data)
    facts = nested_facts(family, answers, 1)
    last = facts.rows[-1]
    assert (last.objective, last.bound, last.status, last.answer) == ("-", "no model", "infeasible", None)
    assert facts.sentence.startswith("The bound of min_specificity")


def test_pages_carry_the_list(tmp_path):
    certificate = PROBLEM.size_table().certificate()
    shown = report.of_family(certificate, PROBLEM.data, 2)
    assert shown.nested == nested(certificate, 2)[2] and shown.status == "optimal"
    page, text = report.render_html(shown), report.render_markdown(shown)
    assert (
        'href="#nested"' in page and page.count('<svg class="frontier"') == 1 and page.count("<style>") == 1
    )
    assert "| at most 1 test |" in text


def test_what_is_no_answer_of_a_family_is_refused():
    certificate = PROBLEM.size_table().certificate()
    for row in (0, 99):
        with pytest.raises(tf.errors.SpecError, match=f"no answer {row}"):
            report.of_family(certificate, PROBLEM.data, row)
    with pytest.raises(tf.errors.CertificateError, match="of a single answer"):
        report.of_family(PROBLEM.solve().certificate(), PROBLEM.data)
