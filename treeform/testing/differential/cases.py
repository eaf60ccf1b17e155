"""Cases: one table, one question and one way to the answer, drawn from a number.

A bundle of `BUNDLE` cases shares a table, a shape and the reference over them; everything follows from the seed
and the number of the case.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from treeform.testing.differential import questions
from treeform.testing.differential.models import draw_model
from treeform.testing.differential.questions import Answer, Goal, Spec
from treeform.testing.differential.reference import Reference, TooLarge
from treeform.testing.differential.shapes import Shape
from treeform.testing.differential.table import Table
from treeform.testing.differential.terms import RateTerm
from treeform.testing.differential.ways import Way, draw_way

BUNDLE = 50
"""Cases that share a table."""
TREES = ((1, 4), (2, 12), (3, 4))
DIAGRAMS = (
    ((1,), 1),
    ((1, 1), 2),
    ((1, 2), 4),
    ((1, 1, 1), 1),
    ((1, 1, 2), 4),
    ((1, 2, 1), 4),
    ((1, 2, 2), 3),
    ((1, 1, 1, 1), 1),
    ((1, 1, 2, 2), 2),
    ((1, 2, 3), 2),
    ((1, 2, 1, 2), 2),
    ((1, 1, 2, 1), 1),
)


@dataclass(frozen=True)
class Case:
    """One run: the question, the way to its answer, and the number it was drawn from (-1 for a case made by hand)."""

    table: Table
    shape: Shape
    goal: Goal
    requirements: tuple[Spec, ...]
    way: Way
    number: int = -1

    def to_json(self) -> dict[str, Any]:
        """Plain values; `case_from_json` reads them."""
        return {
            "number": self.number,
            "table": asdict(self.table),
            "shape": asdict(self.shape),
            "goal": asdict(self.goal),
            "requirements": [dict(spec) for spec in self.requirements],
            "way": asdict(self.way),
        }


def case_from_json(value: Mapping[str, Any]) -> Case:
    """The case of `Case.to_json`."""
    t, s, g = value["table"], value["shape"], value["goal"]
    table = Table(
        {name: tuple(v) for name, v in t["columns"].items()},
        tuple(t["labels"]),
        None if t["weights"] is None else tuple(t["weights"]),
        None if t["groups"] is None else tuple(t["groups"]),
    )
    shape = Shape(s["depth"], None if s["widths"] is None else tuple(s["widths"]), s["hyperplanes"])
    matrix = None if g["matrix"] is None else tuple(map(tuple, g["matrix"]))
    term = None if g["term"] is None else RateTerm(**g["term"])
    goal = Goal(**{**g, "matrix": matrix, "term": term})
    return Case(table, shape, goal, tuple(value["requirements"]), Way(**value["way"]), value["number"])


@dataclass
class Bundle:
    """What the cases of a bundle share.

    Attributes
    ----------
    table : Table
    shape : Shape
    requirements : tuple of Spec
        The pool that questions draw from.
    goals : tuple of Goal
    reference : Reference
    """

    table: Table
    shape: Shape
    requirements: tuple[Spec, ...]
    goals: tuple[Goal, ...]
    _answers: dict[Any, Answer] = field(default_factory=dict)

    @cached_property
    def reference(self) -> Reference:
        """Over the pool's requirements; depths of trees are followed too."""
        follow = questions.tracked(self.table, self.requirements, depth=self.shape.widths is None)
        return Reference(self.table, self.shape.widths, self.shape.depth, self.shape.hyperplanes, follow)

    def answer(self, goal: Goal, requirements: tuple[Spec, ...]) -> Answer:
        """The truth about a question of this bundle."""
        key = (goal, tuple(sorted(map(repr, requirements))))
        if key not in self._answers:
            self._answers[key] = questions.answer(self.reference, goal, requirements)
        return self._answers[key]


def bundle_of(case: Case) -> Bundle:
    """The bundle of one case by itself."""
    return Bundle(case.table, case.shape, case.requirements, (case.goal,))


def draw_bundle(seed: int, number: int) -> Bundle:
    """Bundle ``number``; tables that are too large for the reference are drawn again."""
    for attempt in range(100):
        rng = random.Random(f"{seed}/{number}/{attempt}")
        shape = _draw_shape(rng)
        table = _draw_table(rng, shape)
        if len(table.classes) < 2:
            continue
        pool = _draw_pool(rng, table, shape)
        bundle = Bundle(table, shape, pool, _draw_goals(rng, table, shape))
        try:
            outcomes = bundle.reference.outcomes
        except TooLarge:
            continue
        if len(outcomes) < 12_000:
            return bundle
    raise AssertionError(f"no table small enough for bundle {number} of seed {seed}")


def draw_case(seed: int, number: int, bundle: Bundle | None = None) -> Case:
    """Case ``number``: its bundle is ``number // BUNDLE``."""
    shared = draw_bundle(seed, number // BUNDLE) if bundle is None else bundle
    rng = random.Random(f"{seed}/case/{number}")
    goal = rng.choice(shared.goals)
    how_many = rng.choices((0, 1, 2, 3), (42, 38, 15, 5))[0]
    chosen = list(rng.sample(shared.requirements, min(how_many, len(shared.requirements))))
    counts = goal.term is not None or "error" in goal.text or "cost" in goal.text
    if not counts and rng.random() < 0.85:
        # Fewest tests, leaves or levels are of interest under a bound on the errors only.
        chosen = [spec for spec in chosen if spec["kind"] != "max_errors"]
        chosen.append({"kind": "max_errors", "amount": rng.choice((0, 0, 1, 2))})
    requirements = tuple(chosen)
    way = draw_way(rng, shared.table, shared.shape, goal, requirements, draw_model)
    return Case(shared.table, shared.shape, goal, requirements, way, number)


# -- drawing ---------------------------------------------------------------------------------------------------


def _draw_shape(rng: random.Random) -> Shape:
    if rng.random() < 0.015:
        if rng.random() < 0.6:
            return Shape(rng.choice((1, 1, 2)), None, True)
        widths = rng.choice(((1,), (1, 1), (1, 2)))
        return Shape(len(widths), widths, True)
    if rng.random() < 0.6:
        return Shape(rng.choices(*zip(*TREES, strict=True))[0])
    widths = rng.choices(*zip(*DIAGRAMS, strict=True))[0]
    return Shape(len(widths), widths)


def _draw_table(rng: random.Random, shape: Shape) -> Table:
    n = rng.randint(4, 6 if shape.hyperplanes or shape.depth > 2 else 9)
    large = shape.depth > 2 or (shape.widths is not None and len(shape.widths) > 2)
    columns: dict[str, tuple[Any, ...]] = {}
    if shape.hyperplanes:
        kinds = rng.choice((["whole"], ["whole", "whole"], ["whole", "binary"], ["binary"] * 3))
    else:
        kinds = [
            rng.choices(("binary", "whole", "wide", "bool", "text", "fine"), (5, 5, 2, 3, 2, 1))[0]
            for _ in range(rng.choice((1, 2, 2) if large else (1, 2, 2, 3)))
        ]
    for name, kind in zip("abc", kinds, strict=False):
        columns[name] = _draw_column(rng, kind, n, large)
    classes = rng.choices(([0, 1], ["no", "yes"], [0, 1, 2]), (5, 3, 2 if not large else 1))[0]
    rows = list(zip(*columns.values(), strict=True))
    style = rng.random()
    if style < 0.35:  # labels that follow the columns: no contradictions
        label = {row: rng.choice(classes) for row in dict.fromkeys(rows)}
        labels = [label[row] for row in rows]
    elif style < 0.6:  # parities of columns, which need many tests
        cuts = [sorted(set(values))[len(set(values)) // 2] for values in columns.values()]
        ones = [sum(v >= cut for v, cut in zip(row, cuts, strict=True)) for row in rows]
        labels = [classes[k % len(classes)] for k in ones]
    else:
        labels = [rng.choice(classes) for _ in rows]
    weights = rng.choices(
        (
            None,
            [rng.randint(1, 3) for _ in rows],
            [rng.choice(("1/2", "1", "3/2", "2.25")) for _ in rows],
            [rng.choice((0, 1, 2)) for _ in rows],
        ),
        (6, 2, 1, 1),
    )[0]
    groups = tuple(rng.choice("pq") for _ in rows)
    return Table(columns, tuple(labels), None if weights is None else tuple(map(str, weights)), groups)


def _draw_column(rng: random.Random, kind: str, n: int, few: bool) -> tuple[Any, ...]:
    if kind == "binary":
        return tuple(rng.randint(0, 1) for _ in range(n))
    if kind == "bool":
        return tuple(rng.random() < 0.5 for _ in range(n))
    if kind == "text":
        return tuple(rng.choice("uvw"[: 2 + (not few and rng.random() < 0.5)]) for _ in range(n))
    if kind == "fine":  # neighbouring float64 values, and far ones
        return tuple(rng.choice((0.1, 0.1 + 2.0**-56, 0.30000000000000004, 1e9)) for _ in range(n))
    top = rng.randint(2, 3) if kind == "whole" else rng.randint(2, 3 if few else 5)
    return tuple(rng.randint(0, top) for _ in range(n))


def _draw_pool(rng: random.Random, table: Table, shape: Shape) -> tuple[Spec, ...]:
    kinds = rng.sample(
        [
            "max_nodes",
            "min_support",
            "stability",
            "max_errors",
            "parity",
            "feature_budget",
            "monotone",
            "max_nodes",
            "min_support",
            "parity",
            "accuracy_parity",
            "group_error",
            "confusion",
            "own",
        ],
        rng.choice((2, 3, 3, 4)),
    )
    made = [_draw_requirement(rng, kind, table, shape) for kind in kinds]
    return tuple(spec for spec in made if spec is not None)


def _draw_requirement(rng: random.Random, kind: str, table: Table, shape: Shape) -> Spec | None:
    most = len(table.kept)
    if kind == "max_nodes":
        return {"kind": kind, "k": rng.randint(0, 4)}
    if kind in ("min_support", "stability"):
        value: Any = rng.choice((1, 1, 2, 2, 3, "1/4", "3/10", "1/2"))
        return {"kind": kind, "amount": min(value, int(table.total)) if isinstance(value, int) else value}
    if kind == "max_errors":
        return {"kind": kind, "amount": rng.choice((0, 1, 1, 2, most, "1/10", "1/4", "1/3"))}
    if kind == "feature_budget":
        return {"kind": kind, "k": rng.randint(0, 2)}
    label = rng.choice(table.classes)
    if kind == "monotone":
        numeric = [name for c, name in enumerate(table.columns) if not table.is_text(c)]
        if not numeric:
            return None
        direction = rng.choice(("increasing", "decreasing"))
        return {"kind": kind, "column": rng.choice(numeric), "direction": direction, "positive": label}
    if kind == "confusion":
        which = rng.choice(("min_precision", "min_recall"))
        return {"kind": which, "rate": rng.choice(("1/2", "0.8", "1", "2/3")), "positive": label}
    if kind in ("parity", "accuracy_parity", "group_error"):
        return _draw_of_groups(rng, kind, table, label)
    which = rng.choice(("at_least_tests", "few_positive", "apart"))
    if which == "at_least_tests":
        return {"kind": which, "k": rng.randint(1, 3)}
    if which == "few_positive":
        return {"kind": which, "amount": rng.randint(0, 3), "positive": label}
    if len(table.columns) < 2:
        return None
    return {"kind": "apart", "columns": tuple(rng.sample(list(table.columns), 2))}


def _draw_of_groups(rng: random.Random, kind: str, table: Table, label: Any) -> Spec | None:
    by = _groups_of(table)
    if not by:
        return None
    spec: dict[str, Any] = {
        "kind": kind,
        "groups": rng.choice(by),
        "given": rng.choice(("problem", "directly")),
    }
    if kind == "group_error":
        return spec | {"rate": rng.choice(("0", "1/4", "1/3", "0.5"))}
    if kind == "parity":
        spec["positive"] = label
        spec["rate"] = rng.choice(("statistical", "statistical", "opportunity", "predictive", "odds"))
    if rng.random() < 0.5:
        spec["ratio"] = rng.choice(("4/5", "1/2", "1", "0.9"))
    else:
        spec["difference"] = rng.choice(("0", "1/10", "1/4", "0.5"))
    return spec


def _groups_of(table: Table) -> list[str]:
    """What makes at least two groups: the array beside the table, and columns."""
    by = ["array"] if table.groups and len({table.groups[i] for i in table.kept}) > 1 else []
    return by + [name for c, name in enumerate(table.columns) if 1 < len({p[c] for p in table.points}) <= 2]


def _draw_goals(rng: random.Random, table: Table, shape: Shape) -> tuple[Goal, ...]:
    price = rng.choice(("1/10", "1/2", "1", "3/10", "2"))
    k = len(table.classes)
    matrix = tuple(
        tuple(
            "0" if a == b and rng.random() < 0.9 else rng.choice(("1", "2", "5", "1/2", "0"))
            for b in range(k)
        )
        for a in range(k)
    )
    choices = [
        Goal(error=rng.choice(("1", "1", "1/2"))),
        Goal(nodes=price),
        Goal(nodes=price),
        Goal(error="0", matrix=matrix),
        Goal(error="0", matrix=matrix, nodes=price),
        Goal(error="0", nodes="1"),
        Goal(error="1", matrix=matrix),
    ]
    if shape.widths is None:
        choices += [Goal(leaves=price), Goal(error="0", leaves="1"), Goal(error="0", depth="1")]
    drawn = rng.sample(choices, 2)
    if rng.random() < 0.5:
        drawn[-1] = _draw_rate(rng, table, price)
    return (Goal(), *drawn)


def _draw_rate(rng: random.Random, table: Table, price: str) -> Goal:
    name = rng.choice(
        ("f1_loss", "f1_loss", "max_group_error", "max_group_error", "group_error", "balanced_error")
    )
    if name == "f1_loss":  # minimised alone
        return Goal(error="0", term=RateTerm(name, rng.choice(table.classes)))
    by = _groups_of(table)
    nodes = rng.choice(("0", "0", price, "1/20"))
    if name == "balanced_error" or not by:
        return Goal(error="0", nodes=nodes, term=RateTerm("balanced_error"))
    group = rng.choice(by)
    return Goal(error="0", nodes=nodes, term=RateTerm(name, None if group == "array" else group))
