"""Bounds under rows of a requirement's own are proved again by prices of these rows, against brute force."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import pytest
from own_rules import AtMost, OneFeature, noisy_table

import treeform as tf
from treeform.certify import reference, stated_rows
from treeform.certify.left_out import BY_ROWS, Reach, Written, write_out
from treeform.certify.stated_rows import LeftByRows, left_by_rows
from treeform.certify.tables import Table
from treeform.certify.verdicts import CheckRow, Verdict
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.testing import brute_force
from treeform.testing.cases import GROUP, Case, draw_cases
from treeform.utils.budget import Budget


class FewOnes(AtMost):
    """At most k leaves predict the class with code 1; with a column of its own, so that this is no sum."""

    needs: ClassVar[frozenset[str]] = frozenset({"label"})
    demands_tests: ClassVar[bool] = False

    def build(self, model: tf.Model, ports: Any) -> None:
        one = model.bool("one")
        model.add(one == 1)
        model.add(ports.label[:, 1].sum() <= self.k * one, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, int((graph.label[graph.feature < 0] == 1).sum()) - self.k)


class Demanding(OneFeature):
    """One that a test which decides nothing may satisfy, as far as is known."""

    demands_tests: ClassVar[bool] = True


def counted(case: Case, question: Question, value: Fraction) -> tuple[Written, LeftByRows | None]:
    """The graph of all trees below a value, and what rows leave of it."""
    part = priced_part(question)
    assert part is not None
    cost = part.upper(int(-(-value * question.scale // 1)))
    rows = [0] * len(part.task.totals.rows) if part.task.totals else []
    written = write_out(Table(case.data, part.task), part.task, Reach(cost, rows, 1, True), Budget())
    if not written.n_alternatives:
        return written, None
    sides = written.table.lo, written.table.hi
    graph = written.graph(case.data, cost)
    return written, left_by_rows(question, part, graph, sides, value, Budget())


@pytest.mark.parametrize("rule", [FewOnes, OneFeature])
@pytest.mark.parametrize("parity", [False, True])
def test_a_bound_is_proved_and_what_is_beyond_it_refuted(
    rule: type[FewOnes | OneFeature], parity: bool, nightly: bool
) -> None:
    proved = 0
    for case in draw_cases(200 if nightly else 12, 29, (tf.Tree(2), tf.Tree(1))):
        rules: list[tf.Requirement] = [rule()]
        if parity:
            rules.append(tf.StatisticalParity(groups=GROUP, difference="0.3", positive=0))
        bound = tuple(r.bind(case.data, sensitive_features=case.frame[GROUP]) for r in rules)
        question = Question(case.data, case.shape, case.goal, bound)
        best = brute_force(case.data, case.shape, case.goal, bound)
        if best is None or priced_part(question) is None:
            continue
        optimum = Fraction(best[0])
        _, left = counted(case, question, optimum)
        if left is not None:
            assert left.below is None, case.code()
            assert left.listed is not None
            proved += 1
        _, beyond = counted(case, question, optimum + 1)
        assert beyond is not None, case.code()
        assert beyond.below is not None and optimum <= beyond.below < optimum + 1, case.code()
    assert proved


def test_it_proves_nothing_where_trees_of_the_graph_stand_for_others() -> None:
    case = next(iter(draw_cases(1, 29, (tf.Tree(2),))))
    for rule, by_feature in ((OneFeature, False), (Demanding, True)):
        question = Question(case.data, case.shape, case.goal, (rule().bind(case.data),))
        part = priced_part(question)
        assert part is not None
        written = write_out(Table(case.data, part.task), part.task, Reach(10, [], 1, by_feature), Budget())
        graph, sides = written.graph(case.data, 10), (written.table.lo, written.table.hi)
        assert left_by_rows(question, part, graph, sides, Fraction(2), Budget()) is None


def problem() -> tuple[tf.Problem, Any, Any, Any]:
    X, y, group = noisy_table()
    stated = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    stated += [tf.StatisticalParity(difference="0.05", positive=1), FewOnes(1)]
    return stated, X, y, group


def test_a_certificate_under_a_rule_of_ones_own_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "MODELS", 0)
    stated, X, y, group = problem()
    certificate = stated.solve("highs", formulation="hypergraph-flow", warm_start=None).certificate()

    def last_bound(independent: bool = False) -> CheckRow:
        report = tf.check(certificate, X, y, sensitive_features=group, independent=independent)
        return [row for row in report.rows if row.what.startswith("no model")][-1]

    assert (last_bound().verdict, last_bound().proved_by) == (Verdict.VERIFIED, BY_ROWS)
    # What `build` states is the requirement's own word, which an independent check does not take.
    assert last_bound(independent=True).verdict is Verdict.ON_TRUST
    monkeypatch.setattr(stated_rows, "MOST_TREES", 0)
    assert last_bound().verdict is Verdict.ON_TRUST
