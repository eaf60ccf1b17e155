"""The attack on every verb: definitions against values worked out by hand, and faults put in that it has to find."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.engines import ConTree
from treeform.language.conditions import rows_where
from treeform.requirements.on_rows import OnRows, Part
from treeform.testing.attack import clock, cover, deep, families, graphs, models, rules, run, slices, values
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.case import Case
from treeform.testing.attack.plain import Plain
from treeform.testing.attack.world import BUNDLE, SLICED, World, draw_world

ERROR = Aim(({"term": "error", "price": "1"},))
AND = Plain({"a": (0, 0, 1, 1), "b": (0, 1, 0, 1)}, (0, 0, 0, 1), None, tuple("ppqq"))


def world(plain, depth=1, widths=None, of_values=False, pool=(), aim=ERROR):
    n_classes = 0 if of_values else len(plain.classes)
    listed = (
        models.trees(plain, depth, n_classes) if widths is None else models.diagrams(plain, widths, n_classes)
    )
    return World(plain, depth, widths, of_values, False, "binary", "none", listed, list(pool), [aim])


def attacked(where, verb="solve", specs=(), **more):
    return run.attack(Case(0, verb, more.pop("aim", where.aims[0]), tuple(specs), **more), where)


# -- the list of models, and definitions ------------------------------------------------------------------------


def test_all_models_are_listed():
    assert len(models.trees(AND, 1, 2)) == 2 + 2 * 4
    # a root, and on each side a leaf of two classes or a test of the other column with two leaves
    assert len(models.trees(AND, 2, 2)) == 2 + 2 * (2 + 4) ** 2
    # no test, a test with different heads, or a pass-through
    assert len(models.diagrams(AND, (1,), 2)) == 2 + 2 * 2 + 2


def test_graphs_are_read_as_they_are_built():
    data = tf.Dataset.from_user(pd.DataFrame(AND.columns), list(AND.target))
    for widths in (None, (1, 2)):
        for m in world(AND, 2, widths).models[::7]:
            back, wrong, _ = graphs.read(graphs.build(m, AND, data), AND, sharing=widths is not None)
            assert wrong is None and set(back.nodes) == set(m.nodes) and back.predicted == m.predicted


def test_the_best_values_under_a_bound_on_means_are_those_by_hand():
    # x <= 0.5 -> 34/25, else 83/50: the bound on the difference of the means holds with equality
    plain = Plain({"x": (2, 2, 0, 1, 2)}, tuple("30032"), None, tuple("AABBB"))
    parity = {"kind": "mean_parity", "groups": "array", "difference": "0.1"}
    where = world(plain, of_values=True, aim=Aim(({"term": "squared_error", "price": "1"},)))
    assert where.optimum(where.aims[0], [parity]) == Fraction(1039, 125)
    assert where.optimum(where.aims[0], []) < Fraction(1039, 125) < Fraction(46, 5)


def test_squares_are_projected_onto_equations():
    assert values.solve_system([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(3)]], [3, 5]) == [
        Fraction(4, 5),
        Fraction(7, 5),
    ]
    assert values.solve_system([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1)]], [1, 2]) is None


def test_definitions_by_hand():
    m = next(
        m for m in models.trees(AND, 2, 2) if m.tests == 2 and m.predicted == (0, 0, 0, 1) and m.depth == 2
    )
    first = AND.features[m.nodes[0].feature].column
    other = {"a": "b", "b": "a"}[first]

    def lack(kind, **more):
        return rules.lacking({"kind": kind, **more}, m, AND)

    assert lack("max_nodes", k=1) == 1 and lack("max_leaves", k=3) == 0
    assert lack("min_support", amount=2, share=False) == 1 and lack("stability", amount=2, share=False) == 0
    assert lack("below", column=other, above=first) == 0 and lack("below", column=first, above=other) == 1
    assert lack("interaction", sets=(("a",), ("b",))) == 1 and lack("once_per_path", columns=None) == 0
    assert lack("max_tests_per_path", columns=("a", "b"), k=1) == 1
    assert lack("feature_cost", costs={"a": "1", "b": "1/2"}, at_most="1", per_path=True) == Fraction(1, 2)
    parity = {"groups": "array", "positive": 1}
    assert lack("statistical_parity", difference="1/4", **parity) == Fraction(1, 4)
    assert lack("statistical_parity", ratio="1/2", **parity) == Fraction(1, 4)
    assert lack("equal_opportunity", difference="0", **parity) == 0


def test_slices_by_hand():
    """A stump that reads ``a``: right on the rows where both columns agree, and on (0, 1)."""
    plain = replace(AND, mask=(True, True, False, True))
    m = next(m for m in models.trees(plain, 1, 2) if m.predicted == (0, 0, 1, 1))

    def lack(kind, **more):
        return rules.lacking({"kind": kind, **more}, m, plain)

    errors = {"amount": "1/4", "share": True}
    assert lack("max_errors", **errors) == 0
    assert lack("max_errors", each="a", **errors) == Fraction(1, 2)  # one of two rows with a = 1
    assert lack("max_errors", each="a", on="mask", **errors) == 0
    assert lack("max_errors", on=("b == 0", (0, 2)), **errors) == Fraction(1, 2)
    parity = {"groups": "a", "positive": 1, "difference": "0"}
    assert lack("statistical_parity", **parity) == lack("statistical_parity", each="b", **parity) == 1
    assert lack("statistical_parity", on=("a == 1", (2, 3)), **parity) == 0  # no other group is there
    assert [part.kept for part in slices.slices({"each": "b", "on": "mask"}, plain)] == [(0,), (1, 3)]
    falling = {"column": "b", "direction": "decreasing", "positive": 1}
    reads_b = next(m for m in models.trees(plain, 1, 2) if m.predicted == (0, 1, 0, 1))
    for on, broken in ((None, 1), (("a == 1", (2, 3)), 1), (("b == 0", (0, 2)), 0)):
        spec = {"kind": "monotone", **falling} | ({} if on is None else {"on": on})
        assert rules.lacking(spec, reads_b, plain) == broken


def test_values_under_rules_on_slices_are_those_by_hand():
    """A stump on x has 1 and 3; on the rows of g = q only, p being free, the means of the halves differ by 2."""
    plain = Plain({"x": (0, 0, 1, 1), "g": tuple("pqpq")}, tuple("1133"), None, tuple("AABB"), ("g",))
    where = world(plain, of_values=True, aim=Aim(({"term": "squared_error", "price": "1"},)))
    parity = {"kind": "mean_parity", "groups": "array", "difference": "1"}
    for spec, least in ((parity, 1), ({**parity, "on": ("g == 'q'", (1, 3))}, 1), ({**parity, "each": "x"}, 0)):
        assert where.optimum(where.aims[0], [spec]) == least
    falling = {"kind": "monotone", "column": "x", "direction": "decreasing"}
    for spec, least in ((falling, 4), ({**falling, "each": "x"}, 0)):
        assert where.optimum(where.aims[0], [spec]) == least


def test_conditions_that_are_drawn_name_the_rows_that_they_say():
    for number in range(SLICED - 1, 12 * SLICED, SLICED):
        where = draw_world(7, number)
        for spec in where.pool:
            assert not slices.way(spec) or all(part.kept for part in slices.slices(spec, where.plain))
            if isinstance(spec.get("on"), tuple):
                frame = pd.DataFrame({n: list(v) for n, v in where.plain.columns.items()})
                text, rows = spec["on"]
                data = tf.Problem(
                    frame, [0, 1] * (len(frame) // 2) + [0] * (len(frame) % 2), shape="tree:1"
                ).data
                assert tuple(np.flatnonzero(rows_where(text, data))) == rows


# -- the driver ---------------------------------------------------------------------------------------------------


def test_the_clock_strikes_at_a_reading():
    with clock.striking(2, press=False) as seen:
        first, second = time.monotonic(), time.monotonic()
    assert second - first > clock.SECONDS and seen.count == 2 and seen.phase.startswith("test_attack.")


def test_an_attack_that_agrees():
    verdict = attacked(world(AND, 2), solver="contree")
    assert (verdict.wrong, verdict.status) == ([], "optimal")


def test_a_wrong_bound_is_found(monkeypatch):
    plain = ConTree.run
    monkeypatch.setattr(
        ConTree, "run", lambda self, *a: (lambda o: replace(o, lower=o.lower + 1))(plain(self, *a))
    )
    assert attacked(world(AND), solver="contree").wrong


def test_a_requirement_that_forgets_something_is_found(monkeypatch):
    monkeypatch.setattr(tf.MaxNodes, "violation", lambda self, graph, data: 0)
    spec = {"kind": "max_nodes", "k": 0}
    where = world(AND, 1, pool=[spec])
    model = next(i for i, m in enumerate(where.models) if m.tests == 1)
    assert attacked(where, "judge", [spec], more={"model": model}).wrong


def test_a_slice_that_is_forgotten_is_found(monkeypatch):
    """The search states the requirement of all rows: its model lacks it on the slice."""
    spec = {"kind": "max_errors", "amount": 0, "share": False, "on": ("b == 1", (1, 3))}
    unlike = replace(AND, target=(1, 0, 0, 1))
    where = world(unlike, 1, pool=[spec], aim=Aim(({"term": "nodes", "price": "1"}, ERROR.terms[0])))
    assert attacked(where, specs=[spec]).wrong == []
    monkeypatch.setattr(
        OnRows, "parts", lambda self, data: (Part("no row", np.zeros(0, int), data, tf.MaxErrors(4)),)
    )
    assert attacked(where, specs=[spec]).wrong


class Dealt(random.Random):
    """Deals with a certificate in one way, always."""

    way = "honest"

    def random(self):
        return 0.9

    def choice(self, seq):
        return self.way if self.way in seq else super().choice(seq)


@pytest.mark.parametrize("verb", ["size_table", "pareto", "frontier"])
@pytest.mark.parametrize("way", families.DEALINGS)
def test_certificates_of_families_are_dealt_with(verb, way, monkeypatch):
    monkeypatch.setattr(Dealt, "way", way)
    monkeypatch.setattr(run.random, "Random", Dealt)
    specs = [{"kind": "max_errors", "amount": 1, "share": False}] if verb == "frontier" else []
    more = {"prices": None} if verb == "size_table" else {}
    verdict = attacked(world(AND, 2), verb, specs, more=more)
    assert verdict.wrong == [] and verdict.family.startswith(f"{way}: ")
    if way == "forged":  # a check that believes what is written
        monkeypatch.setattr(families, "checked", lambda *args, **more: ("verified", ""))
        assert attacked(world(AND, 2), verb, specs, more=more).wrong


def test_an_error_that_is_none_of_ours_is_found(monkeypatch):
    def broken(*args, **more):
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(tf.Problem, "pareto", broken)
    assert "IndexError" in attacked(world(AND), "pareto").wrong[0]


def test_a_wrong_answer_of_a_kernel_is_found(monkeypatch):
    q = {
        "depth": 1, "engine": "contree", "simd": "plain", "X": [[0], [1]], "y": [0, 1], "weights": None, "price": "0",
        "support": 0, "most": None,
    }  # fmt: skip
    assert deep.attack(q).wrong == []
    monkeypatch.setattr(deep, "optimum", lambda q: Fraction(1))
    assert deep.attack(q).wrong


def test_runs_are_lines_and_what_they_cover(tmp_path):
    from treeform.testing.attack.__main__ import main

    out = tmp_path / "attack.jsonl"
    main(["--cases", "12", "--out", str(out)])
    lines = out.read_text()
    main(["--cases", "12", "--out", str(out)])
    assert out.read_text() == lines and len(run.read_records(out)) == 12
    text = cover.tables(run.read_records(out).values())
    assert "12 attacks" in text and "requirement x objective" in text and "NOT DRAWN" in text
    assert [json.loads(line)["case"] for line in lines.splitlines()] == list(range(12))


@pytest.mark.parametrize("kind", sorted(rules.CLASSES))
def test_every_requirement_is_attacked(kind):
    assert kind in rules.KINDS or kind == "mean_parity"
    assert rules.CLASSES[kind].name == kind


def test_no_requirement_that_states_more_than_inequalities_is_left_out():
    """What is judged by its inequalities alone has them as its definition; how they are read is defined elsewhere."""
    known = {cls.name for cls in rules.CLASSES.values()}
    public = {
        one.name
        for one in (getattr(tf, name) for name in tf.__all__)
        if isinstance(one, type) and issubclass(one, tf.Requirement) and one.name
        and one.violation is not tf.LinearRequirement.violation
    }  # fmt: skip
    assert public <= known


@pytest.mark.timeout(1800)
def test_a_drawn_slice_agrees(request, nightly):
    """Of seed 0, or of ``--draw``: a few attacks on each of many tables."""
    worlds, each = (300, 20) if nightly else (18, 11)
    numbers = [BUNDLE * w + i for w in range(worlds) for i in range(each)]
    found = list(run.records(numbers, request.config.getoption("draw")))
    wrong = [(r["case"], r["verb"], r["wrong"]) for r in found if "wrong" in r]
    assert not wrong, wrong[:5]
    assert len(found) == worlds * each
