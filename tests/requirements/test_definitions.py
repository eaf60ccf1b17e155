"""Every requirement against its definition, on all models of tiny tables: what a model lacks, and each of its faces.

The definitions are those of `treeform.testing.attack`: written over listed models, in fractions, and called by neither
the search nor the check.
"""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.language.paths import PathTests
from treeform.requirements.groups import Groups
from treeform.testing.attack import draw, graphs, models, rules
from treeform.testing.attack.aims import Aim, paid_for
from treeform.testing.attack.hands import numbers

TABLES, MODELS = 12, 16
LITTLE = Fraction(1, 1000)
FRACTIONS = ("rate", "changed", "at_most")
KINDS = list(rules.KINDS)
OTHER_UNITS = ("interaction", "once_per_path", "max_errors", "min_coverage", "min_support", "stability")
"""Paths that end in different leaves are two there and one in the definition; weights that lack are whole units."""
ERROR = Aim(({"term": "error", "price": "1"},))


@cache
def tables():
    """(plain, problem, models, whether they are trees, whether a leaf may abstain)."""
    out, seed = [], 0
    while len(out) < TABLES:
        seed += 1
        rng = random.Random(seed)
        kind, weights = (
            draw.DATA_KINDS[seed % 6],
            ("none", "whole", "decimal", "zero", "normalised")[seed % 5],
        )
        plain = draw.draw_table(rng, kind, weights, False, False)
        trees, abstain = seed % 3 != 0, seed % 4 == 0
        if len(plain.classes) < 2:
            continue
        n_classes = len(plain.classes) + abstain
        try:
            listed = (
                models.trees(plain, 2, n_classes, 2000)
                if trees
                else models.diagrams(plain, (1, 2), n_classes, 2000)
            )
        except models.TooMany:
            continue
        problem = tf.Problem(
            pd.DataFrame({name: list(values) for name, values in plain.columns.items()}), list(plain.target),
            shape="tree:2" if trees else "diagram:1,2", sample_weight=numbers(plain.weights),
            exclude=plain.excluded, abstain="open" if abstain else None, sensitive_features=list(plain.groups),
        )  # fmt: skip
        out.append((plain, problem, listed, trees, abstain))
    return out


def stated(kind):
    """(plain, problem, requirement, specification, some models, trees) where a table has a place for the kind.

    Of a bound that is a fraction, also where a model meets it exactly, and where it misses it by little.
    """
    for number, (plain, problem, listed, trees, abstain) in enumerate(tables()):
        rng = random.Random(f"{kind}/{number}")
        spec = draw.draw_requirement(rng, kind, plain, listed, False, trees, abstain)
        if spec is None or spec["kind"] != kind:
            continue
        some = rng.sample(listed, min(MODELS, len(listed)))
        for one in [spec, *at_the_edge(spec, some, plain, rng)]:
            try:
                bound = rules.make(one, problem.data, list(plain.groups)).bind(
                    problem.data, sensitive_features=list(plain.groups)
                )
            except (tf.errors.Infeasible, tf.errors.DataError, tf.errors.SpecError):
                continue
            yield plain, problem, bound, one, some, trees


def at_the_edge(spec, some, plain, rng):
    """The same requirement, at the measure of a model and next to it on the tight side."""
    fractional = (
        spec["kind"] in rules.PARITIES or spec.get("share") or rules.BOUNDS.get(spec["kind"]) in FRACTIONS
    )
    if not fractional:
        return []
    found = {rules.measured(spec, m, plain) for m in some} - {None}
    inside = sorted(v for v in found if 0 < v < 1)
    if not inside:
        return []
    value = rng.choice(inside)
    tight = value * (1 + LITTLE) if rules.is_lower(spec) else value * (1 - LITTLE)
    return [rules.with_bound(spec, value), *([rules.with_bound(spec, tight)] if tight < 1 else [])]


@pytest.mark.parametrize("kind", KINDS)
def test_every_face_says_what_a_model_lacks(kind):
    """The violation; rows over predictions and totals, limits, sets of columns, rules on paths, and meetings."""
    seen = set()
    for plain, problem, bound, spec, some, trees in stated(kind):
        data = problem.data
        for m in some:
            graph, lack = graphs.build(m, plain, data), rules.lacking(spec, m, plain)
            found = bound.violation(graph, data)
            assert found == lack or (found and lack and kind in OTHER_UNITS), (spec, m, found, lack)
            faces = {
                "rows": of_rows(bound, graph, data),
                "totals": of_totals(bound, graph, data),
                "limits": of_limits(bound, m, plain, data),
                "columns": of_columns(bound, graph, data),
                "paths": of_paths(bound, m, plain, data) if trees else None,
                "meetings": of_meetings(bound, graph, data),
            }
            for name, holds in faces.items():
                assert holds is None or holds == (lack == 0), (name, spec, m, lack)
            if kind in draw.SOFT:
                assert bound.lacking(graph, data) == paid_for(spec, m, plain), (spec, m)
            seen.add(lack == 0)
    assert seen == {True, False}


def of_rows(bound, graph, data):
    rows = bound.prediction_rows(data)
    if not rows:
        return None
    code = graph.predict_codes(data.X)
    return all(int((coef[np.arange(len(code)), code] * data.weights).sum()) <= side for coef, side in rows)


def of_totals(bound, graph, data):
    totals = bound.totals(data)
    if totals is None or not totals.rows:
        return None
    code = graph.predict_codes(data.X)
    sums = (totals.per_sample[np.arange(len(code)), code] * np.asarray(data.weights)[:, None]).sum(axis=0)
    if totals.per_test is not None:
        read = [test.columns[0] for test in graph.tests() if test.columns]
        sums = sums + totals.per_test[read].sum(axis=0)
    return all(
        (row.lo is None or row.lo <= value) and (row.hi is None or value <= row.hi)
        for row in totals.rows
        for value in [int(np.dot(row.coef, sums))]
    )


def of_limits(bound, m, plain, data):
    limits = bound.limits(data)
    if limits is None:
        return None
    from treeform.testing.attack import counts

    unit = data.weight_unit
    return bool(
        counts.smallest_side(m, plain) >= limits.min_support * unit
        and counts.smallest_flow(m, plain) >= limits.min_flow * unit
        and (limits.max_nodes is None or m.tests <= limits.max_nodes)
        and (limits.max_errors is None or counts.wrong(m, plain) <= limits.max_errors * unit)
        and (limits.max_depth is None or m.depth <= limits.max_depth)
        and (limits.max_features is None or len(m.columns(plain)) <= limits.max_features)
    )


def of_columns(bound, graph, data):
    sets = bound.allowed_features(data)
    return None if sets is None else any(set(graph.features_used()) <= one for one in sets)


def of_paths(bound, m, plain, data):
    """The rule is read from the root downwards, as the search does it."""
    rule = bound.path_rule(data)
    if rule is None:
        return None
    keys = [graphs.key_of(column) for column in data.columns]
    own = graphs.keys(plain)
    rows = [plain.rows_of[p][0] for p in range(len(plain.points))]
    kept = np.asarray(data.kept_rows).tolist()
    order = [data.points.index[kept.index(row)] for row in rows]  # their numbering of the points

    def walk(state, mask, layer):
        node = next((n for n in m.nodes if n.layer == layer and n.reached == mask), None)
        if node is None:
            return rule.may_end(state)
        feature = keys.index(own[node.feature])
        right = np.zeros((len(order), 1), dtype=bool)
        for p, theirs in enumerate(order):
            right[theirs, 0] = node.right >> p & 1
        if not rule.allowed(state, PathTests(np.array([feature]), right)).all():
            return False
        return walk(rule.after(state, feature, False), mask & ~node.right, layer + 1) and walk(
            rule.after(state, feature, True), node.right, layer + 1
        )

    return bool(walk(rule.start, plain.everything, 0))


def of_meetings(bound, graph, data):
    meetings = bound.meetings(data)
    if meetings is None:
        return None
    code = graph.predict_codes(data.X)
    marks = meetings.per_sample[np.arange(len(code)), code]
    visits, left = graph.route(data.X), graph.goes_left(data.X)
    for test in graph.tests():
        for clash in meetings.clashes:
            if clash.feature not in test.columns:
                continue
            low, high = visits[:, test.node] & left[:, test.node], visits[:, test.node] & ~left[:, test.node]
            if marks[low][:, clash.lower].any() and marks[high][:, clash.upper].any():
                return False
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", [None, "path-search"])
def test_the_optimum_is_that_of_the_list(kind, solver):
    for plain, problem, bound, spec, _, trees in list(stated(kind))[:5]:
        listed = next(some for p, _, some, *_ in tables() if p is plain)
        best = min(
            (ERROR.value(m, plain) for m in listed if rules.lacking(spec, m, plain) == 0), default=None
        )
        if solver is not None and (not trees or bound.path_rule(problem.data) is None):
            continue
        result = (problem + bound).solve(solver)
        assert (str(result.status), result.objective) == (
            "infeasible" if best is None else "optimal",
            best,
        ), spec


@pytest.mark.parametrize("kind", [k for k in KINDS if k in rules.MEASURES or k in rules.PARITIES])
def test_nothing_is_between_a_measure_and_the_next(kind):
    """`Bounded.beyond`: the next tighter bound leaves out no model that is tighter, and the model itself."""
    for plain, problem, bound, spec, some, _ in list(stated(kind))[:12]:
        measures = {rules.measured(spec, m, plain) for m in some} - {None}
        for value in measures:
            try:
                after = bound.beyond(value, problem.data)
            except tf.errors.SpecError:
                continue  # a count of rows whose weights are fractions
            tighter = [x for x in measures if (x > value if rules.is_lower(spec) else x < value)]
            if after is None:
                assert not tighter, (spec, value, tighter)
            elif rules.is_lower(spec):
                assert value < after <= min(tighter, default=after), (spec, value, after, tighter)
            else:
                assert value > after >= max(tighter, default=after), (spec, value, after, tighter)


def test_texts_and_files_of_parameters():
    assert (
        tf.MeanParity("g", 1, whole="True").whole is True
        and tf.MeanParity("g", 1, whole="none").whole is None
    )
    for columns in ("a,,b", ["a", ""], [], ","):
        with pytest.raises(tf.errors.SpecError):
            tf.Uses(columns)
    with pytest.raises(tf.errors.CertificateError):
        Groups.from_json({"codes": [0, 2], "labels": ["p", "q"], "name": None})
    assert tf.FeatureCost({"a": 1}, at_most=5).largest_slack(None, None) == 0
    assert tf.FeatureCost({"a": 1, "b": "1/2"}, at_most="1/2").largest_slack(None, None) == 2


def test_the_next_bound_on_means_is_tighter():
    problem = tf.Problem([[0], [1], [2]], [0.0, 1.0, 3.0], shape="tree:1").minimize(tf.SquaredError())
    bound = tf.MeanParity(["p", "q", "q"], 1).bind(problem.data)
    assert bound.beyond(Fraction(1), problem.data) < 1 and bound.beyond(Fraction(0), problem.data) is None
