"""Expressions against dense NumPy, rows against direct evaluation, errors with names."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from treeform.errors import ModelError
from treeform.model import (
    Cardinality,
    Clause,
    Expr,
    Linear,
    Model,
    any_of,
    at_least,
    at_most,
    concatenate,
    concatenate_linear,
    constant,
    exact,
    exactly,
    stack,
)

# -- expressions ---------------------------------------------------------------------------------------------


class Program:
    """Random arithmetic done twice: on expressions, and on the values of their variables."""

    def __init__(self, rng):
        self.rng = rng
        self.model = Model()
        shapes = [(3, 4), (4,), (3, 1), (2, 3, 4), ()]
        self.exprs = [self.model.integer(f"v{i}", s, -9, 9) for i, s in enumerate(shapes)]
        self.point = rng.integers(-9, 10, self.model.n_cols).astype(float)
        self.values = [e.value(self.point) for e in self.exprs]

    def step(self, action):
        i = int(self.rng.integers(len(self.exprs)))
        e, v = self.exprs[i], self.values[i]
        made = getattr(self, action)(e, v)
        if made is not None and made[0].size <= 400:
            self.exprs.append(made[0])
            self.values.append(np.asarray(made[1], dtype=float))

    def numbers(self, shape):
        return self.rng.integers(-3, 4, shape)

    def scale(self, e, v):
        c = self.numbers(v.shape)
        return (c * e, c * v) if self.rng.random() < 0.5 else (e * 3.0, v * 3.0)

    def shift(self, e, v):
        c = self.numbers(v.shape[-1:])
        return c - e, c - v

    def divide(self, e, v):
        return e / 2, v / 2

    def negate(self, e, v):
        return ~(-e), 1 + v

    def add(self, e, v):
        j = int(self.rng.integers(len(self.exprs)))
        try:
            np.broadcast_shapes(v.shape, self.values[j].shape)
        except ValueError:
            with pytest.raises(ModelError, match="shape mismatch"):
                e + self.exprs[j]
            return None
        if self.rng.random() < 0.5:
            return e + self.exprs[j], v + self.values[j]
        return e - self.exprs[j], v - self.values[j]

    def total(self, e, v):
        axis = None if v.ndim == 0 or self.rng.random() < 0.3 else int(self.rng.integers(-v.ndim, v.ndim))
        return e.sum(axis), v.sum(axis)

    def pick(self, e, v):
        if v.ndim == 0 or v.shape[0] == 0:
            return None
        if self.rng.random() < 0.5:
            return e[..., ::-1], v[..., ::-1]
        index = self.rng.integers(0, v.shape[0], 5)
        return e[index], v[index]

    def grow_axis(self, e, v):
        return (e[None], v[None]) if v.ndim < 3 else None

    def mask(self, e, v):
        keep = self.rng.random(v.shape) < 0.5
        return (e[keep], v[keep]) if v.ndim else None

    def turn(self, e, v):
        return e.T, v.T

    def flatten(self, e, v):
        return e.ravel(), v.ravel()

    def left_product(self, e, v):
        if v.ndim not in (1, 2):
            return None
        a = self.numbers((2, v.shape[0]))
        return (sparse.csr_array(a) if self.rng.random() < 0.5 else a) @ e, a @ v

    def right_product(self, e, v):
        if v.ndim not in (1, 2):
            return None
        a = self.numbers((v.shape[-1], 3) if self.rng.random() < 0.7 else v.shape[-1])
        return e @ a, v @ a

    def join(self, e, v):
        if v.ndim == 0 or self.rng.random() < 0.5:
            return stack([e, 2 * e], axis=-1), np.stack([v, 2 * v], axis=-1)
        return concatenate([e, v, -e], axis=-1), np.concatenate([v, v, -v], axis=-1)


ACTIONS = [name for name in vars(Program) if not name.startswith("_") and name not in ("step", "numbers")]


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=12))
@settings(max_examples=150)
def test_expressions_agree_with_dense_numpy(seed, actions):
    program = Program(np.random.default_rng(seed))
    for action in actions:
        program.step(action)
    for e, v in zip(program.exprs, program.values, strict=True):
        assert isinstance(e, Expr)
        assert e.shape == v.shape
        assert np.array_equal(e.value(program.point), v)
        assert np.array_equal(e.coalesced().value(program.point), v)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["<=", ">=", "=="]))
@settings(max_examples=60)
def test_rows_are_counted_as_numpy_counts_them(seed, sense):
    rng = np.random.default_rng(seed)
    m = Model()
    x, w = m.integer("x", 4, -3, 3), m.bool("w", 3)
    a, b = rng.integers(-2, 3, (3, 4)), rng.integers(-4, 5, 3)
    compare = {"<=": np.less_equal, ">=": np.greater_equal, "==": np.equal}[sense]
    left = a @ x
    m.add(left <= b if sense == "<=" else left >= b if sense == ">=" else left == b, "row", when=w)
    point = np.concatenate([rng.integers(-3, 4, 4), rng.integers(0, 2, 3)]).astype(float)
    bad = ~compare(a @ point[:4], b) & (point[4:] == 1)
    assert m.check(point)["row"] == bad.sum()


def test_arrays_defer_on_both_sides():
    m = Model()
    x = m.bool("x", 3)
    for e in (
        np.ones(3) * x,
        np.float64(2) * x,
        np.int64(2) + x,
        np.ones(3) - x,
        True * x,
        Fraction(1, 2) * x,
    ):
        assert isinstance(e, Expr)
    assert (np.ones(3) <= x).sense == ">="
    assert (np.ones(3) == x).sense == "=="
    assert isinstance(sparse.csr_array(np.eye(3)) @ x, Expr)
    assert isinstance(sparse.csr_matrix(np.eye(3)) @ x, Expr)
    assert isinstance(np.sum(x[None], axis=0), Expr)


def test_repeated_columns_collapse_in_sums():
    m = Model()
    p = m.bool("p", (10, 2))
    view = p[np.repeat(np.arange(10), 1000)]
    assert view.shape == (10_000, 2)
    total = (np.arange(10_000)[:, None] * view).sum()
    assert total.n_terms == 20
    m.add(view.sum(axis=0) >= 3)
    assert m.blocks[0].n_terms == 20
    m.add(p[0, 0] + p[0, 0] - p[0, 1] + p[0, 1] <= 1)
    assert m.blocks[1].vals.tolist() == [2.0]


def test_names_in_errors():
    m = Model()
    flow, arc = m.bool("flow", (10, 3)), m.bool("arc", 4)
    with pytest.raises(ModelError, match=r"shape mismatch: 'flow' \(10, 3\) against 'arc' \(4,\)"):
        flow + arc
    with pytest.raises(ModelError, match=r"expression over 'flow', 'arc' \(10, 3\) against array \(2,\)"):
        m.add(flow + arc[:3] <= np.ones(2))
    with pytest.raises(ModelError, match=r"nan at \(1,\), in arithmetic with 'flow'"):
        flow * np.array([1, np.nan, 0])
    with pytest.raises(ModelError, match="not linear"):
        flow * flow
    with pytest.raises(ModelError, match="not linear"):
        flow @ arc[:3]
    with pytest.raises(ModelError, match="different models"):
        flow + Model().bool("other", 3)
    with pytest.raises(ModelError, match=r"when='arc' \(4,\) against the rows 'r' \(10, 3\)"):
        m.add(flow <= 1, "r", when=arc)
    with pytest.raises(ModelError, match=r"different models|another model"):
        m.add(Model().bool("z") <= 1)
    with pytest.raises(ModelError, match="divided"):
        flow / 0
    with pytest.raises(ModelError, match=r"reshaped to \(7,\)"):
        flow.reshape(7)
    with pytest.raises(ModelError, match="axis 2"):
        flow.sum(axis=2)
    with pytest.raises(ModelError, match="shape mismatch in @"):
        flow @ np.ones(4)
    with pytest.raises(IndexError, match="'flow'"):
        flow[10]


@pytest.mark.parametrize(
    "bad", [np.inf, "a", [None], 2**60, Fraction(1, 3), Fraction(10**400), 1j], ids=lambda b: str(b)[:12]
)
def test_unusable_numbers_are_refused(bad):
    x = Model().bool("x")
    with pytest.raises(ModelError):
        bad * x if not isinstance(bad, str | list) else x + np.array(bad)


def test_statements_that_state_nothing():
    m = Model()
    x = m.bool("x", 2)
    with pytest.raises(ModelError, match="no truth value"):
        bool(x <= 1)
    with pytest.raises(ModelError, match="no truth value"):
        m.add(0 <= x <= 1)
    with pytest.raises(ModelError, match="states no rows"):
        m.add(np.ones(2) <= 1)
    for strict in ("__lt__", "__gt__", "__ne__"):
        with pytest.raises(ModelError, match="is not possible"):
            getattr(x, strict)(1)
    with pytest.raises(ModelError, match="not a scalar"):
        m.minimize(x)
    with pytest.raises(ModelError, match="nothing"):
        any_of()
    with pytest.raises(ModelError, match="nothing to join"):
        concatenate([])
    with pytest.raises(ModelError, match="whole number"):
        at_most(x, 1.5)


def test_scalars_and_iteration():
    m = Model()
    x = m.bool("x", 3)
    assert [e.shape for e in x] == [()] * 3
    with pytest.raises(TypeError):
        len(x[0])
    assert constant([1, 2]).value([]).tolist() == [1, 2]
    assert (+x) is x
    assert x.reshape(-1, 1).shape == (3, 1)
    assert m.bool("empty", (0, 3)).sum(axis=0).value(np.zeros(3)).tolist() == [0, 0, 0]


# -- literals and logical rows -------------------------------------------------------------------------------


def test_literals():
    m = Model()
    x, z, r = m.bool("x", 2), m.integer("z", (), 0, 5), m.bool("r", relax=True)
    assert concatenate([x, ~x]).as_literals().tolist() == [1, 2, -1, -2]
    assert m.integer("b", (), 0, 1).as_literals() == 5
    for bad in (2 * x, x[0] + x[1], z, r, x - x):
        with pytest.raises(ModelError, match="is not a literal"):
            bad.as_literals()
    with pytest.raises(ModelError, match=r"entry \(1,\) of 'x' \(2,\).*2 x\[1\]"):
        (x * np.array([1, 2])).as_literals()


def test_clauses_are_normalised():
    m = Model()
    x = m.bool("x", (3, 2))
    assert m.add(any_of(x, axis=1)).lits.tolist() == [1, 2, 3, 4, 5, 6]
    assert m.add(any_of(~x[:, 0], x[0, 0])).n_rows == 2  # x or not x holds always
    assert m.add(any_of(x[0, 0], x[0, 0])).lits.tolist() == [1]
    # Constants take part: 0 is false, 1 is true.
    masked = x * np.array([[1, 0], [0, 0], [1, 1]])
    block = m.add(any_of(masked, axis=1))
    assert np.diff(block.indptr).tolist() == [1, 0, 2]
    assert m.add(any_of(x, np.array([1, 0]))).n_rows == 3
    assert any_of(x, axis=(0, 1)).shape == ()
    with pytest.raises(ModelError, match="shape mismatch in any_of: 'x'"):
        any_of(x, m.bool("y", 4))


def test_cardinalities_are_normalised():
    m = Model()
    x = m.bool("x", (2, 3))
    block = m.add(exactly(x, 1))
    assert isinstance(block, Cardinality)
    assert (block.lo.tolist(), block.hi.tolist()) == ([1, 1], [1, 1])
    assert m.add(at_most(x, 3)).n_rows == 0
    assert m.add(at_least(x, [0, 2])).n_rows == 1
    never = m.add(at_least(x, 4))
    assert (never.n_terms, never.lo.tolist(), never.hi.tolist()) == (0, [1, 1], [0, 0])
    pair = m.add(exactly(concatenate([x[0], ~x[0, :1]]), 2))
    assert (pair.lits.tolist(), pair.lo.tolist()) == ([2, 3], [1])
    twice = m.add(at_most(x[0][[0, 0, 1]], 2))
    assert isinstance(twice, Linear)
    assert at_most(x, 1, axis=None).shape == ()
    with pytest.raises(ModelError, match="limit of shape"):
        at_most(x, [1, 2, 3])


@given(st.lists(st.sampled_from([0, 1, 2, 3, -1, -2, -3, 9]), min_size=1, max_size=5), st.integers(-1, 5))
@settings(max_examples=80)
def test_logical_rows_mean_what_they_say(codes, k):
    for make, holds in [
        (lambda e: any_of(e, axis=0), lambda c: c >= 1),
        (lambda e: at_most(e, k), lambda c: c <= k),
        (lambda e: at_least(e, k), lambda c: c >= k),
        (lambda e: exactly(e, k), lambda c: c == k),
    ]:
        m = Model()
        x = m.bool("x", 3)
        parts = [constant(0), *x, constant(1)]
        row = stack([parts[4] if c == 9 else parts[c] if c >= 0 else ~parts[-c] for c in codes])
        m.add(make(row), "row")
        for point in product([0.0, 1.0], repeat=3):
            count = int(row.value(point).sum())
            assert (m.check(point)["row"] == 0) == holds(count)


def test_trivial_rows():
    m = Model()
    x = m.bool("x", 2)
    kept = m.add(np.array([[0, 0], [1, 1], [0, 0]]) @ x <= np.array([0, 1, -1]), "limits")
    assert np.diff(kept.indptr).tolist() == [2, 0]
    assert m.check([0, 0]) == {"limits": 1}
    assert m.add(0.1 * x[0] + 0.2 <= 0.1 * x[0] + 0.1 + 0.1).n_rows == 0


# -- the model -----------------------------------------------------------------------------------------------


def test_columns_and_names():
    m = Model()
    x = m.bool("x", 2)
    m.bool("x")
    m.continuous("t", (1, 2), -1, [[2, 3]])
    m.integer("k", (), 0.5, 3.5)
    assert [v.name for v in m.variables] == ["x", "x #2", "t", "k"]
    assert m.lb.tolist() == [0, 0, 0, -1, -1, 1]
    assert m.ub.tolist() == [1, 1, 1, 2, 3, 3]
    assert m.is_integer.tolist() == [True] * 3 + [False] * 2 + [True]
    assert m.is_binary.tolist() == [True] * 3 + [False] * 3
    assert [m.column_name(i) for i in range(6)] == ["x[0]", "x[1]", "x #2", "t[0, 0]", "t[0, 1]", "k"]
    before = m.mark()
    assert [m.add(x <= 1, "r").name for _ in range(3)] == ["r", "r #2", "r #3"]
    assert m.mark() == (before.n_cols, before.n_blocks + 3)
    for bad in (
        lambda: m.bool("b", -1),
        lambda: m.integer("i", (), 1.2, 1.8),
        lambda: m.continuous("c", 2, 1, 0),
    ):
        with pytest.raises(ModelError):
            bad()
    with pytest.raises(ModelError, match="shape mismatch: bounds"):
        m.continuous("c", 2, [0, 0, 0])


def test_objective():
    m = Model()
    x = m.bool("x", 3)
    m.minimize(2 * x.sum() + x[0] - x[1] * 2 + 5)
    assert m.objective.cols.tolist() == [0, 2]
    assert m.objective.value([1, 1, 1]) == 10


def test_check_is_exact_on_integer_columns():
    m = Model()
    x = m.bool("x", 10)
    m.add(0.1 * x.sum() <= 0.3, "tenths")
    m.add((0.1 * x).sum() >= 0.3, "at least")
    point = np.zeros(10)
    point[:3] = [1, 0.9999999, 1.0000001]
    assert m.check(point) == {"tenths": 0, "at least": 0}
    assert m.check(np.array([1.0] * 4 + [0] * 6))["tenths"] == 1
    t = m.continuous("t")
    m.add(t + x[0] <= 1, "mixed")
    assert m.check([*point, 5e-7])["mixed"] == 0
    assert m.check([*point, 1e-3])["mixed"] == 1
    assert m.check([*point, 1.5])["range of t"] == 1
    with pytest.raises(ModelError, match="11 columns"):
        m.check(point)
    assert exact(0.1) == Fraction(1, 10)


def test_enforcement_is_honoured():
    m = Model()
    x, w = m.bool("x", 3), m.bool("w")
    m.add(x.sum() >= 2, "linear", when=w)
    m.add(any_of(x, axis=0), "clause", when=~w)
    m.add(at_most(x, 1), "count", when=w)
    assert m.check([0, 0, 0, 1]) == {"linear": 1, "clause": 0, "count": 0}
    assert m.check([0, 0, 0, 0]) == {"linear": 0, "clause": 1, "count": 0}
    assert m.check([1, 1, 0, 1]) == {"linear": 0, "clause": 0, "count": 1}


def test_text_and_pickle():
    m = Model("demo")
    x = m.bool("x", (2, 2))
    m.add(x.sum(axis=1) <= 1, "rows", when=x[0])
    m.add(any_of(~x, axis=0), "clauses")
    m.add(at_most(x, 1, axis=None), "count")
    m.minimize(x.sum() - 3 * x[0, 0])
    shown = m.show()
    assert "x[0, 0] implies" in shown
    assert "~x[0, 0] or ~x[1, 0]" in shown
    assert "count(x[0, 0], x[0, 1], x[1, 0], x[1, 1]) <= 1" in shown
    assert "enforced linear" in m.stats()
    again = pickle.loads(pickle.dumps(m))
    assert again.show() == shown
    assert again.check(np.ones(4)) == m.check(np.ones(4))
    assert isinstance(again.blocks[1], Clause)
    assert repr(x) == "Expr('x' (2, 2), 4 terms)"


def test_linear_blocks_join():
    m = Model()
    x = m.bool("x", 3)
    joined = concatenate_linear([m.add(x <= 0), m.add(x.sum() >= 2)])
    assert joined.indptr.tolist() == [0, 1, 2, 3, 6]
    assert joined.lo.tolist() == [-np.inf] * 3 + [2]
    assert concatenate_linear([]).n_rows == 0
