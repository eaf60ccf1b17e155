"""Requirements on some of the rows: what they say of a table that has no others."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.errors import CertificateError, DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.conditions import rows_where
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse, read
from treeform.requirements import OnRows
from treeform.testing import all_models

TABLE = pd.DataFrame(
    {
        "age": [20.0, 30, 40, 50, 60, 70, 35, 45],
        "region": list("nnssnsns"),
        "home town": list("abababab"),
        "vip": [True, False] * 4,
        "income": [1.0, np.nan, 3, 4, 5, 6, 7, 8],
        "sex": list("ffmmffmm"),
        "size": [1, 2, 3, 3, 2, 1, 2, 3],
        "day": [f"2024-0{month}-15" for month in range(1, 9)],
        "member": [True, None, False, True, None, True, False, True],
    }
)
LABELS = ["no", "yes", "yes", "no", "yes", "no", "yes", "yes"]
WEIGHTS = [1, 2, 1, 0, 1, 3, 1, 1]


def problem(*requirements: Requirement, depth: int = 1) -> tf.Problem:
    made = tf.Problem(
        TABLE,
        LABELS,
        sample_weight=WEIGHTS,
        shape=tf.Tree(depth),
        exclude=["sex", "vip", "region", "day", "member"],
    )
    return made + list(requirements)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("region == 'n'", "11001010"),
        ("region != 'n' and age < 50", "00100001"),
        ("30 <= age <= 45", "01100011"),
        ("not (region == 'n' or age > 60)", "00110001"),
        ("region in ['n', 'x'] or `home town` == 'b'", "11011111"),
        ("region not in ['n']", "00110101"),
        ("vip", "10101010"),
        ("not vip and 4 > income", "00000000"),
        ("day < '2024-03-01'", "11000000"),
        ("member", "10010101"),
        ("income != 3", "10011111"),  # a missing value satisfies no comparison
        ("income not in [3]", "10011111"),
    ],
)
def test_conditions(text: str, expected: str) -> None:
    data = tf.Problem(TABLE, LABELS, shape=tf.Tree(1), exclude=["day", "member"]).data
    assert "".join(map(str, rows_where(text, data).astype(int))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "region = 'n'", "region == north", "age < 'x'", "region < 3",
        "age", "age < [1]", "age == None", "1 < 2", "", "(",
        "region.str.len() > 1", "__import__('os').system('x')", "age + 1 < 3", "region in 'ns'",
        "age == 1 == 'x'", "region < 'o'", "day < 'May'",
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="is not understood"):
        problem(tf.MinRecall(0.5).on(text))


def test_a_column_of_lists_can_be_compared() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3], "tags": [["a"], ["b"], "c"]})
    data = Dataset.from_user(frame, [0, 1, 0], exclude=["tags"])
    assert rows_where("tags != 'c'", data).tolist() == [True, True, False]


def test_what_does_not_fit_the_table_is_refused() -> None:
    recall = tf.MinRecall("0.5")
    for rows, message in [
        ("town == 'x'", "there is no column 'town'"),
        ("region == 'west'", "no row satisfies"),
        ("age > 0 and day in ['2024-08-51']", "did you mean '2024-08-15'"),
        ([True], "1 entry for 8 rows"),
        ([1] * 8, "no mask"),
        ([None] * 8, "no mask"),
        ([False] * 8, "no row is in the mask"),
    ]:
        with pytest.raises(DataError, match=message):
            problem(recall.on(rows))
    with pytest.raises(DataError, match="there is no column 'quarter'"):
        problem(recall.each("quarter"))
    for requirement in (tf.MaxNodes(3), tf.Uses("age"), tf.MinSupport(1), tf.OncePerPath()):
        with pytest.raises(SpecError, match="cannot be asked of some rows only"):
            requirement.on("vip")
    with pytest.raises(SpecError, match="does not say which"):
        OnRows(recall)


@cache
def models() -> list[DecisionGraph]:
    """A model for each way in which trees of depth one decide."""
    data = problem().data
    every = all_models(data, tf.Tree(1), limit=10**6)
    return list({graph.predict_codes(data.X).tobytes(): graph for graph in every}.values())


def wrong(graph: DecisionGraph, data: Dataset) -> int:
    return int(data.weights[graph.predict_codes(data.X) != data.y].sum())


SLICED = [
    tf.MinRecall("0.8", positive="yes").on("region == 'n'"),
    tf.MinPrecision("2/3", positive="no").each("region"),
    tf.MaxFalsePositiveRate("0.3").on("age > 25").each("home town"),
    tf.MaxErrors(0.2).each("region"),
    tf.MaxErrors(1).on(TABLE.age.to_numpy() > 40),
    tf.StatisticalParity("sex", difference="0.2").each("region"),
    tf.EqualOpportunity("sex", ratio="0.8").on("vip or region == 's'"),
    tf.ConditionalParity("sex", given="home town", difference="0.5").on("age < 65"),
    tf.GroupErrorAtMost("sex", at_most="0.3").on("region == 'n'"),
    tf.AccuracyParity(TABLE.sex, difference="0.4").each("region"),
    tf.MaxCost([[0, 2], [1, 0]], at_most=1).on("region == 's'"),
    tf.MustClassifyRight([1, 5, 7]).on("region == 's'"),
]


@pytest.mark.parametrize("requirement", SLICED, ids=str)
def test_it_is_the_requirement_on_a_table_of_these_rows(requirement: Requirement) -> None:
    """The optimum is that of all models, judged row by row; the certificate is proved again."""
    asked = problem(requirement)
    bound = asked.requirements[0]
    data = asked.data
    every = models()
    good = [graph for graph in every if bound.violation(graph, data) == 0]
    result = asked.solve()
    least = min(wrong(graph, data) for graph in good)
    assert 0 < len(good) < len(every)
    assert result.objective == least
    given = {"sensitive_features": _arrays(requirement)} if _arrays(requirement) is not None else {}
    checked = tf.check(result.certificate(), TABLE, LABELS, sample_weight=WEIGHTS, **given)
    assert "every statement was checked" in str(checked)


def _arrays(requirement: Requirement) -> object:
    assert isinstance(requirement, OnRows)
    if isinstance(requirement.rows, np.ndarray):
        return requirement.rows
    return TABLE.sex if isinstance(requirement.of, tf.AccuracyParity) else None


def test_recall_by_hand() -> None:
    asked = problem(tf.MinRecall(1, positive="yes").on("region == 'n'"), tf.MinRecall("0.5").each("region"))
    on, each = asked.requirements
    graph = next(
        g
        for g in all_models(asked.data, tf.Tree(1), limit=10**6)
        if set(g.predict_codes(asked.data.X)) == {0}
    )
    assert on.violation(graph, asked.data) == 1
    assert each.violation(graph, asked.data) == Fraction(1, 2)
    assert each.measured(graph, asked.data) == 0  # type: ignore[attr-defined]


def test_groups_of_all_rows_of_which_a_slice_has_one() -> None:
    parity = tf.StatisticalParity("sex", difference=0).each("home town & region")
    table = TABLE.assign(sex=list("fmffmmfm"))
    asked = tf.Problem(table, LABELS, shape=tf.Tree(1), exclude=["sex", "day", "member"]) + parity
    bound = asked.requirements[0]
    assert "says nothing of" in str(bound.remark(asked.data))
    assert any("says nothing of" in note for note in asked.solve().notes)


def test_text_and_files() -> None:
    text = "min_recall:0.8,positive=yes,on=\"region == 'n' and age < 50\",each=vip"
    parsed = parse(text)
    assert str(parsed) == text
    assert parsed == tf.MinRecall("0.8", positive="yes").on("region == 'n' and age < 50").each("vip")
    assert Requirement.from_json(json.loads(json.dumps(parsed.to_json()))) == parsed
    soft = read(text + ",soft=3")
    assert str(soft) == f"3*soft[{text}]"
    assert parsed.in_words() == (
        "among the rows with region == 'n' and age < 50, within each value of vip, of the rows that are yes, at least "
        "80 % are predicted yes"
    )
    assert str(tf.MaxErrors(3).on("vip").on("age < 50")) == 'max_errors:3,on="(vip) and (age < 50)"'
    masked = problem(tf.MaxErrors(1).on(TABLE.vip)).requirements[0]
    assert Requirement.from_json(json.loads(json.dumps(masked.to_json()))).to_json() == masked.to_json()


def test_the_bound_moves() -> None:
    asked = problem(depth=1)
    asked += tf.MaxErrors(9).on("region == 's'")
    curve = asked.frontier(over=tf.MinRecall(0).each("region"))
    assert curve.complete
    measured = [point.value for point in curve.points]
    assert measured == sorted(set(measured)) or measured == sorted(set(measured), reverse=True)


def test_soft_is_paid_for_the_worst_slice() -> None:
    asked = problem()
    asked.minimize(tf.Error() + tf.MinRecall(1, positive="yes").each("region").soft(2))
    result = asked.solve()
    term = tf.MinRecall(1, positive="yes").each("region").bind(asked.data)
    data = asked.data
    best = min(wrong(graph, data) + 2 * term.violation(graph, data) for graph in models())
    assert result.objective == best
    with pytest.raises(SpecError, match="cannot be soft"):
        asked.minimize(tf.MaxErrors(1).on(TABLE.vip).soft(1))


class Approved(tf.LinearRequirement):
    """A requirement of one's own: at most a share of the rows is approved."""

    name = "approved_on_rows"

    def __init__(self, share):
        self.share = share

    def forms(self, rows):
        yield rows.weight(predicted="yes") / rows.weight() <= self.share


def test_a_requirement_of_ones_own_on_each_region() -> None:
    asked = problem(Approved("0.4").each("region"))
    data, bound = asked.data, asked.requirements[0]
    good = [g for g in models() if bound.violation(g, data) == 0]
    result = asked.solve()
    assert result.objective == min(wrong(g, data) for g in good)
    assert result.solver == "totals-search"
    for north in ("n", "s"):
        rows = data.column("region") == north
        approved = data.weights[rows & (result.graph.predict_codes(data.X) == 1)].sum()
        assert approved <= Fraction("0.4") * int(data.weights[rows].sum())


def test_a_requirement_on_rows_of_the_command_line_replaces_that_of_the_file(tmp_path) -> None:
    from treeform.cli.problems import gather
    from treeform.cli.spec import Settings

    spec = tmp_path / "problem.toml"
    spec.write_text(
        'requirements = ["max_errors:3,on=vip", "max_errors:2,each=region", '
        '{name = "max_errors", at_most = 4, each = "vip"}]'
    )
    settings = gather(spec, Settings(data=Path("table.csv"), target="y"), ["max_errors:5,each=region"])
    assert [str(one) for _, one in settings.requirements] == [
        "max_errors:3,on=vip",
        "max_errors:4,each=vip",
        "max_errors:5,each=region",
    ]


def test_a_mask_with_a_name_is_taken_again_by_the_check() -> None:
    result = problem(tf.MaxErrors(3).on(TABLE.vip)).solve()
    checked = tf.check(
        result.certificate(), TABLE, LABELS, sample_weight=WEIGHTS, sensitive_features=TABLE.vip
    )
    assert "every statement was checked" in str(checked)
    with pytest.raises(CertificateError, match="other data"):
        tf.check(result.certificate(), TABLE, LABELS, sample_weight=WEIGHTS, sensitive_features=~TABLE.vip)
