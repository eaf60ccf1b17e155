"""Every bridge preserves the solutions on the columns that existed: all 0/1 points are tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeform.bridges import (
    BRIDGES,
    CARDINALITY,
    CLAUSE,
    ENFORCED_CARDINALITY,
    ENFORCED_CLAUSE,
    ENFORCED_LINEAR,
    FORMS,
    LINEAR,
    integer_rows,
    route,
)
from treeform.bridges.cardinality_to_clauses import CardinalityToClauses
from treeform.bridges.linear_to_clauses import LinearToClauses
from treeform.bridges.pseudo_boolean import _adder, encode
from treeform.errors import RouteError
from treeform.model import Clause, Kind, Model, any_of, at_least, at_most, concatenate, exactly

N = 5
POINTS = np.array(list(product([0.0, 1.0], repeat=N)))


@dataclass(frozen=True)
class Accepts:
    forms: frozenset
    continuous: bool = True
    integer: bool = True
    squares: bool = False


MIP = Accepts(frozenset({LINEAR}))
SAT = Accepts(frozenset({CLAUSE}), continuous=False, integer=False)
CP = Accepts(frozenset({LINEAR, ENFORCED_LINEAR, CLAUSE, ENFORCED_CLAUSE}), continuous=False)


def holds(model, x):
    return not any(model.check(x).values())


def extends(blocks, x):
    """Whether values of the appended columns exist with which a point satisfies the clauses."""
    from pysat.solvers import Solver

    with Solver("minisat22") as solver:
        for block in blocks:
            assert isinstance(block, Clause)
            assert block.when is None
            for r in range(block.n_rows):
                clause = block.lits[block.indptr[r] : block.indptr[r + 1]].tolist()
                if not clause:
                    return False
                solver.add_clause(clause)
        fixed = [int(i + 1 if v else -i - 1) for i, v in enumerate(x)]
        return solver.solve(assumptions=fixed)


def same_solutions(model, capabilities):
    lowered = route(capabilities).apply(model)
    for x in POINTS:
        if capabilities is SAT:
            found = extends(lowered.blocks, x)
        else:
            assert lowered.n_cols == model.n_cols
            found = holds(lowered, x)
        assert found == holds(model, x), (x, model.show())


literals = st.lists(st.tuples(st.integers(0, N - 1), st.booleans()), min_size=0, max_size=N + 1)
whens = st.none() | st.tuples(st.integers(0, N - 1), st.booleans())


def literal(x, pair):
    return x[pair[0]] if pair[1] else ~x[pair[0]]


def join(x, pairs):
    return concatenate([literal(x, p)[None] for p in pairs]) if pairs else x[:0]


@given(literals, whens, st.sampled_from([MIP, SAT, CP]))
@settings(max_examples=60)
def test_clauses(pairs, when, capabilities):
    m = Model()
    x = m.bool("x", N)
    m.add(any_of(join(x, pairs), axis=0), when=None if when is None else literal(x, when))
    same_solutions(m, capabilities)


@given(literals, st.integers(-1, 6), st.integers(-1, 6), whens, st.sampled_from([MIP, SAT, CP]))
@settings(max_examples=100)
def test_cardinalities(pairs, lo, hi, when, capabilities):
    m = Model()
    x = m.bool("x", N)
    enforcement = None if when is None else literal(x, when)
    m.add(at_least(join(x, pairs), lo), when=enforcement)
    m.add(at_most(join(x, pairs), hi), when=enforcement)
    same_solutions(m, capabilities)


@given(literals, st.integers(-1, 6), whens, st.sampled_from([MIP, SAT, CP]))
@settings(max_examples=60)
def test_exact_cardinalities(pairs, k, when, capabilities):
    m = Model()
    x = m.bool("x", N)
    m.add(exactly(join(x, pairs), k), when=None if when is None else literal(x, when))
    same_solutions(m, capabilities)


coefficients = st.sampled_from([-3, -2.5, -2, -1, -0.5, -0.3, 0, 0.1, 0.2, 0.75, 1, 2, 3, 5, 7])
sides = st.sampled_from([-6, -2.5, -1, -0.3, 0, 0.3, 0.6, 1, 2, 2.2, 4, 6, 11])


@given(
    st.lists(coefficients, min_size=N, max_size=N),
    sides,
    st.sampled_from(["<=", ">=", "=="]),
    whens,
    st.sampled_from([MIP, SAT, CP]),
)
@settings(max_examples=80)
def test_linear(coefs, side, sense, when, capabilities):
    m = Model()
    x = m.bool("x", N)
    left = np.array(coefs) @ x
    relation = left <= side if sense == "<=" else left >= side if sense == ">=" else left == side
    m.add(relation, "row", when=None if when is None else literal(x, when))
    same_solutions(m, capabilities)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(-3, 90), st.integers(-3, 90))
@settings(max_examples=60)
def test_diagram_and_adder_agree_with_the_sum(coefs, lo, hi):
    coefs = sorted(coefs, reverse=True)
    points = np.array(list(product([0, 1], repeat=len(coefs))))
    for make, low, high in product([encode, _adder], [lo, None], [hi, None]):
        template = make(coefs, low, high)
        flat = [*template.definitions, *template.assertions]
        indptr = np.cumsum([0, *map(len, flat)])
        block = Clause("sum", indptr, np.array([lit for c in flat for lit in c], dtype=np.int64))
        definitions = Clause("sum", indptr[: len(template.definitions) + 1], block.lits)
        for x in points:
            total = int(x @ coefs)
            expected = (low is None or total >= low) and (high is None or total <= high)
            assert extends([block], x) == expected
            # Definitions alone never exclude a point: an enforced row whose literal is false is free.
            assert extends([definitions], x)


def test_large_rows_use_the_adder_and_stay_small():
    rng = np.random.default_rng(0)
    coefs = sorted(rng.integers(10**8, 10**9, 40).tolist(), reverse=True)
    template = encode(coefs, None, sum(coefs) // 2)
    assert template.n_clauses < 20 * 40 * 30


@pytest.mark.parametrize("length", [7, 12, 40])
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_counting_encodings_on_longer_rows(length, limit):
    m = Model()
    x = m.bool("x", length)
    m.add(at_most(x, limit))
    m.add(at_least(x, limit))
    blocks = route(SAT).apply(m).blocks
    rng = np.random.default_rng(length)
    for count in (limit - 1, limit, limit + 1):
        point = np.zeros(length)
        point[rng.permutation(length)[:count]] = 1
        assert extends(blocks, point) == (count == limit)


def test_a_cardinality_network_counts_right(monkeypatch):
    monkeypatch.setattr("treeform.bridges.cardinality_to_clauses.COUNTER", 0)
    from treeform.bridges.cardinality_to_clauses import encode as count

    count.cache_clear()
    for lo, hi in [(2, 4), (3, 3), (0, 3), (2, 6)]:
        m = Model()
        x = m.bool("x", 6)
        m.add(at_least(x, lo))
        m.add(at_most(x, hi))
        blocks = route(SAT).apply(m).blocks
        for point in product([0, 1], repeat=6):
            assert extends(blocks, point) == (lo <= sum(point) <= hi)
    count.cache_clear()


def test_big_m_is_the_tightest_for_the_bounds():
    m = Model()
    w = m.bool("w")
    z = m.integer("z", 2, [-1, 0], [4, 3])
    m.add(2 * z[0] - z[1] <= 3, "side", when=w)
    block = route(MIP).apply(m).blocks[0]
    # max(2 z0 - z1) = 8, so M = 5 and the row is 2 z0 - z1 + 5 w <= 8.
    assert block.hi.tolist() == [8]
    assert dict(zip(block.cols.tolist(), block.vals.tolist(), strict=True)) == {0: 5, 1: 2, 2: -1}


def test_big_m_drops_what_the_bounds_imply():
    m = Model()
    w, z = m.bool("w"), m.integer("z", (), 0, 4)
    m.add(z <= 4, when=w)
    assert route(MIP).apply(m).blocks[0].n_rows == 0


def test_unbounded_columns_are_named():
    m = Model()
    w, z = m.bool("w"), m.integer("load", 3)
    m.add(z.sum() <= 3, "capacity", when=w)
    with pytest.raises(RouteError, match=r"capacity.*\n.*load\[0\], load\[1\], load\[2\]"):
        route(MIP).apply(m)


def test_clauses_need_boolean_columns():
    m = Model()
    m.bool("b", 2)
    z = m.integer("z", (), 0, 3)
    m.add(2 * z <= 3, "twice")
    with pytest.raises(RouteError, match="'z'"):
        route(SAT).apply(m)
    m = Model()
    t = m.continuous("t")
    m.add(t <= 0.5)
    with pytest.raises(RouteError, match=r"'t'.*\n.*continuous"):
        route(CP).apply(m)
    twice = Model()
    z = twice.integer("z", (), 0, 3)
    twice.add(2 * z <= 3, "twice")
    with pytest.raises(RouteError, match=r"'twice'.*\n.*z is an integer beyond"):
        LinearToClauses(enforced=False).apply(twice.blocks[0], twice)


def test_relaxed_columns_become_boolean_without_continuous_columns():
    m = Model()
    f = m.bool("f", 2, relax=True)
    m.add(f.sum() <= 1)
    assert route(SAT).apply(m).is_binary.all()
    assert not route(MIP).apply(m).is_integer.any()


def test_the_router_takes_the_cheapest_way():
    plan = route(MIP)
    assert set(plan.steps) == set(FORMS) - {LINEAR}
    assert plan.steps[CARDINALITY].name == "cardinality_to_linear"
    # New columns and weak encodings only where nothing else works.
    assert plan.steps[ENFORCED_CARDINALITY].name == "cardinality_to_linear"
    assert route(SAT).steps[CARDINALITY].name == "cardinality_to_clauses"
    assert route(CP).steps[CARDINALITY].name == "cardinality_to_linear"
    assert route(CP).steps[ENFORCED_CARDINALITY].name == "cardinality_to_linear"


def test_what_cannot_be_turned_is_named():
    m = Model()
    x = m.bool("x", 3)
    m.add(any_of(x, axis=0), "some x")
    plan = route(Accepts(frozenset({CARDINALITY})))
    with pytest.raises(RouteError, match=r"clause rows 'some x'(.|\n)*takes linear or clause rows"):
        plan.apply(m)
    assert plan.explain(m)[0].route.startswith("impossible")


def test_explain_gives_exact_sizes():
    m = Model()
    x = m.bool("x", (4, 3))
    m.add(exactly(x, 1), "one label")
    m.add(x[:, 0] <= x[:, 1], "order", when=x[:, 2])
    m.add(np.array([3, 2, 2]) @ x.T <= 4, "weights")
    rows = route(SAT).explain(m)
    assert [(r.block, r.kind, r.rows_in) for r in rows] == [
        ("one label", "cardinality", 4),
        ("order", "enforced linear", 4),
        ("weights", "linear", 4),
    ]
    assert rows[0].route == "cardinality_to_clauses"
    assert rows[1].route.split(" > ")[0] == "linear_to_clauses"
    lowered = route(SAT).apply(m)
    assert sum(b.n_rows for b in lowered.blocks) == sum(r.rows_out for r in rows)
    assert m.n_cols == 12


def test_a_growing_model_is_followed():
    m = Model()
    x = m.bool("x", 9)
    m.add(at_most(x, 2), "few")
    lowered = route(SAT).apply(m)
    before = lowered.mark()
    assert lowered.n_cols > 9
    assert lowered.columns.tolist() == list(range(9))
    y = m.bool("y", 2)
    m.add(any_of(x[0], y[1]), "late", when=y[0])
    m.minimize(y.sum())
    lowered.extend()
    assert lowered.columns[9:].tolist() == [before.n_cols, before.n_cols + 1]
    late = lowered.blocks[before.n_blocks]
    assert sorted(np.abs(late.lits).tolist()) == [1, before.n_cols + 1, before.n_cols + 2]
    assert lowered.objective.cols.tolist() == [before.n_cols, before.n_cols + 1]
    point = np.arange(m.n_cols, dtype=float)
    assert lowered.to_source(lowered.from_source(point)).tolist() == point.tolist()
    assert lowered.literals([-10, 1]).tolist() == [-before.n_cols - 1, 1]


def test_rows_of_one_shape_share_one_encoding(monkeypatch):
    calls = []
    import treeform.bridges.cardinality_to_clauses as module

    original = module.encode
    monkeypatch.setattr(module, "encode", lambda *a: calls.append(a) or original(*a))
    m = Model()
    m.add(exactly(m.bool("x", (500, 7)), 1))
    blocks = CardinalityToClauses(enforced=False).apply(m.blocks[0], m)
    assert len(calls) == 1
    assert blocks[0].n_rows % 500 == 0


def test_scaling_is_exact():
    m = Model()
    x = m.bool("x", 3)
    m.add(0.1 * x[0] + 0.2 * x[1] + 0.75 * x[2] <= 0.3, "decimals")
    m.add(4 * x[0] + 6 * x[1] <= 9, "divisor")
    m.add(2 * x[0] + 2 * x[1] == 1, "parity")
    first, second, third = map(integer_rows, m.blocks)
    assert first.vals.tolist() == [2, 4, 15]
    assert first.hi.tolist() == [6]
    assert second.vals.tolist() == [2, 3]
    assert second.hi.tolist() == [4]
    assert (third.n_terms, third.lo.tolist(), third.hi.tolist()) == (0, [1], [np.inf])
    m.add(0.1234567890123 * x[0] + 0.98765432101234 * x[1] + 1230.0 * x[2] <= 5, "fine")
    with pytest.raises(RouteError, match="fine"):
        integer_rows(m.blocks[-1])


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda b: f"{b.name}-{b.source.enforced}")
def test_bridges_declare_what_they_do(bridge):
    m = Model()
    x = m.bool("x", (6, 8))
    w = x[:, 0] if bridge.source.enforced else None
    if bridge.source.kind is Kind.CLAUSE:
        m.add(any_of(x, axis=1), when=w)
    elif bridge.source.kind is Kind.CARDINALITY:
        m.add(at_most(x, 3), when=w)
    else:
        m.add(x @ np.arange(1, 9) <= 17, when=w)
    blocks = bridge.apply(m.blocks[0], m)
    assert {b.form for b in blocks} <= bridge.target
