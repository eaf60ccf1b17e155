"""Draws tables, shapes, objectives and requirements for the attack; everything follows from a `random.Random`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from treeform.testing.attack import given
from treeform.testing.attack.aims import Aim, Term
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain
from treeform.testing.attack.rules import KINDS, PARITIES, Spec

DATA_KINDS = ("binary", "whole", "text", "bool", "near", "gaps")
WEIGHT_KINDS = ("none", "whole", "decimal", "zero", "normalised", "huge")
OF_VALUES = (
    "mean_parity", "monotone", "max_nodes", "min_support", "stability", "feature_budget", "no_test_on",
    "max_leaves", "max_depth",
)  # fmt: skip
SOFT = (
    *PARITIES, "group_error_at_most", "min_precision", "min_recall", "min_specificity", "max_false_positive_rate",
    "must_classify_right", "max_cost", "max_errors", "stay_close_to", "max_nodes", "max_leaves", "max_depth",
)  # fmt: skip
SOFT_ON_SOLVERS = ("min_support", "stability", "feature_cost")


def draw_table(rng: random.Random, kind: str, weights: str, of_values: bool, large: bool) -> Plain:
    """A table whose columns are of one kind, besides one of zeros and ones."""
    n = rng.randint(5, 7 if large else 8)
    columns = {
        "a": _column(rng, kind, n),
        "b": _column(rng, rng.choice(("binary", "binary", "bool", kind)), n),
    }
    if rng.random() < 0.3 and not large:
        columns["c"] = tuple(rng.randint(0, 1) for _ in range(n))
    excluded: tuple[str, ...] = ()
    if rng.random() < 0.3:
        columns["g"] = _two(rng, "xy", n)
        excluded = ("g",)
    if of_values:
        scale = rng.choice(("1", "0.5", "1", "0.1"))
        target: tuple[Any, ...] = tuple(
            {"1": str(v), "0.5": str(v / 2), "0.1": str(v / 10)}[scale]
            for v in (rng.randint(0, 3) for _ in range(n))
        )
    else:
        labels = rng.choices(([0, 1], ["no", "yes"], [0, 1, 2]), (5, 3, 2 if not large else 0))[0]
        target = tuple(rng.choice(labels) for _ in range(n))
        if rng.random() < 0.35:
            rows = list(zip(*(v for k, v in columns.items() if k not in excluded), strict=True))
            known = {row: rng.choice(labels) for row in dict.fromkeys(rows)}
            target = tuple(known[row] for row in rows)
    return Plain(
        columns, target, _weights(rng, weights, n), _two(rng, rng.choice(("pq", "pq", "pqr")), n), excluded
    )


def _two(rng: random.Random, letters: str, n: int) -> tuple[str, ...]:
    values = [*letters, *(rng.choice(letters) for _ in range(n - len(letters)))]
    rng.shuffle(values)
    return tuple(values)


def _column(rng: random.Random, kind: str, n: int) -> tuple[Any, ...]:
    if kind == "binary":
        return tuple(rng.randint(0, 1) for _ in range(n))
    if kind == "bool":
        return tuple(rng.random() < 0.5 for _ in range(n))
    if kind == "text":
        return tuple(rng.choice("uvw") for _ in range(n))
    if kind == "near":  # neighbouring float64 values
        return tuple(rng.choice((0.1, 0.1 + 2.0**-56, 0.30000000000000004, 1e9)) for _ in range(n))
    if kind == "gaps":
        return tuple(rng.choice((None, 0.0, 1.0, 2.0)) for _ in range(n))
    return tuple(rng.randint(0, 3) for _ in range(n))


def _weights(rng: random.Random, kind: str, n: int) -> tuple[str, ...] | None:
    if kind == "none":
        return None
    if kind == "whole":
        return tuple(str(rng.randint(1, 3)) for _ in range(n))
    if kind == "decimal":
        return tuple(rng.choice(("0.5", "1", "1.5", "2.25")) for _ in range(n))
    if kind == "zero":
        return tuple(str(rng.choice((0, 1, 1, 2))) for _ in range(n))
    if kind == "normalised":  # few digits, far apart
        return tuple(rng.choice(("0.25", "0.125", "0.002", "0.5")) for _ in range(n))
    return tuple(rng.choice(("9007199254740992", "1", "1", "1000000")) for _ in range(n))


# -- requirements ------------------------------------------------------------------------------------------------


def group_choices(plain: Plain) -> list[Any]:
    """What makes at least two groups among the rows that count."""
    few = [
        name for name in plain.columns
        if 1 < len({plain.columns[name][i] for i in plain.kept}) <= 3
        and None not in plain.columns[name]
    ]  # fmt: skip
    array = ["array"] * 2 if len({plain.groups[i] for i in plain.kept}) > 1 else []
    return [*array, *few]


def draw_requirement(
    rng: random.Random, kind: str, plain: Plain, models: Sequence[Facts], of_values: bool, trees: bool,
    abstain: bool,
) -> Spec | None:  # fmt: skip
    """One of a kind; None where the table or the shape has no place for it."""
    spec: dict[str, Any] = {"kind": kind}
    tested, label = list(plain.tested), None if of_values else rng.choice(plain.classes)
    if kind in PARITIES or kind in ("group_error_at_most", "mean_parity"):
        groups = group_choices(plain)
        if not groups:
            return None
        spec |= {"groups": rng.choice(groups), "hand": rng.choice(("problem", "directly"))}
        return _of_groups(rng, spec, plain, label)
    if kind in ("min_support", "stability", "max_errors", "min_coverage"):
        if kind == "min_coverage" and not abstain:
            return None
        share = rng.random() < 0.5
        amount: Any = rng.choice(("1/4", "3/10", "1/2", "1/3", "0.8")) if share else rng.randint(0, 4)
        return spec | {"amount": amount, "share": share}
    if kind in ("max_nodes", "max_leaves", "max_depth", "feature_budget"):
        if kind == "max_leaves" and not trees:
            return None
        return spec | {"k": rng.randint(1 if kind in ("max_leaves", "max_depth") else 0, 3)}
    if kind in ("min_precision", "min_recall", "min_specificity", "max_false_positive_rate"):
        return spec | {"rate": rng.choice(("1/2", "0.8", "1", "2/3", "0.3", "0")), "positive": label}
    if kind == "must_classify_right":
        return spec | {"rows": tuple(sorted(rng.sample(range(plain.n_rows), rng.randint(1, 3))))}
    if kind == "monotone":
        known = [n for n in tested if not any(isinstance(v, str) for v in plain.columns[n])]
        direction = rng.choice(("increasing", "decreasing"))
        spec |= {"column": rng.choice(known) if known else "", "direction": direction}
        return None if not known else spec if of_values else spec | {"positive": label}
    return _of_columns(rng, spec, plain, models, trees, abstain)


def _of_groups(rng: random.Random, spec: dict[str, Any], plain: Plain, label: Any) -> Spec:
    kind = spec["kind"]
    if kind == "group_error_at_most":
        return spec | {"rate": rng.choice(("0", "1/4", "1/3", "0.5"))}
    if kind == "mean_parity":
        return spec | {"difference": rng.choice(("0", "0.1", "0.3", "1", "0.25"))}
    if kind == "conditional_parity":
        spec["given"] = rng.choice([n for n in plain.columns if None not in plain.columns[n]] or ["a"])
        if (
            None in plain.columns[spec["given"]]
            or len({plain.columns[spec["given"]][i] for i in plain.kept}) < 2
        ):
            spec["kind"] = "statistical_parity"
            spec.pop("given")
    if kind != "accuracy_parity":
        spec["positive"] = label
    if rng.random() < 0.5:
        return spec | {"ratio": rng.choice(("4/5", "1/2", "1", "0.9"))}
    return spec | {"difference": rng.choice(("0", "1/10", "1/4", "0.5"))}


def _of_columns(
    rng: random.Random,
    spec: dict[str, Any],
    plain: Plain,
    models: Sequence[Facts],
    trees: bool,
    abstain: bool,
) -> Spec | None:
    kind, tested = spec["kind"], list(plain.tested)
    column, some = rng.choice(tested), tuple(rng.sample(tested, rng.randint(1, len(tested))))
    if kind == "no_test_on":
        return spec | {"column": column}
    if kind == "max_thresholds":
        return spec | {"column": column, "k": rng.randint(0, 2)}
    if kind == "max_tests_per_path":
        return spec | {"columns": some, "k": rng.randint(0, 2)}
    if kind == "once_per_path":
        return spec | {"columns": rng.choice((None, some))}
    if kind == "uses":
        return spec | {"columns": some}
    if kind == "feature_cost":
        prices = {name: rng.choice(("1", "0.5", "2", "0", "1/3")) for name in some}
        at_most = rng.choice(("0", "1", "1.5", "2"))
        return spec | {"costs": prices, "at_most": at_most, "per_path": rng.random() < 0.5}
    if kind == "max_cost":
        k = range(len(plain.classes))
        matrix = tuple(tuple("0" if a == b else rng.choice(("1", "2", "0.5")) for b in k) for a in k)
        if abstain or rng.random() < 0.3:
            return spec | {"cost": "balanced_error", "at_most": rng.choice(("0.4", "1/4"))}
        return spec | {"cost": matrix, "at_most": rng.choice(("0", "1", "2.5", "3"))}
    if kind in ("fix", "stay_close_to"):
        if not trees:
            return None
        fitting = [m for m in models if 1 <= m.tests <= 2 and max(m.predicted) < len(plain.classes)]
        if not fitting:
            return None
        tree = given.tree_of(rng.choice(fitting), plain)
        changed = rng.choice(("0", "0.2", "1/3"))
        return spec | {"graph": tree} | ({"changed": changed} if kind == "stay_close_to" else {})
    if len(tested) < 2:
        return None
    two = tuple(rng.sample(tested, 2))
    if kind == "exclusive":
        return spec | {"columns": two}
    if kind == "below":
        return spec | {"column": two[0], "above": two[1]}
    assert kind == "interaction"
    return spec | {"sets": rng.choice((((two[0],),), ((two[0],), (two[1],)), (two,)))}


def draw_pool(
    rng: random.Random, plain: Plain, models: Sequence[Facts], of_values: bool, trees: bool, abstain: bool
) -> list[Spec]:
    """The requirements that the questions over one table draw from."""
    kinds = list(OF_VALUES if of_values else KINDS)
    chosen = rng.sample(kinds, min(len(kinds), 7))
    if of_values:
        chosen.insert(0, "mean_parity")
    made = [draw_requirement(rng, kind, plain, models, of_values, trees, abstain) for kind in chosen]
    return [spec for spec in made if spec is not None]


# -- objectives --------------------------------------------------------------------------------------------------


def draw_aims(
    rng: random.Random, plain: Plain, pool: Sequence[Spec], of_values: bool, trees: bool, abstain: bool
) -> list[Aim]:
    """The objectives that the questions over one table draw from."""
    price = rng.choice(("1/10", "1/2", "1", "2"))
    nodes: Term = {"term": "nodes", "price": price}
    if of_values:
        kind = rng.choice(("squared_error", "squared_error", "absolute_error"))
        one: Term = {"term": kind, "price": "1"}
        return [Aim((one,)), Aim((one, nodes))]
    k, label = range(len(plain.classes)), rng.choice(plain.classes)
    matrix = tuple(tuple("0" if a == b else rng.choice(("1", "2", "1/2")) for b in k) for a in k)
    error: Term = {"term": "error", "price": "1"}
    groups = group_choices(plain)
    choices = [
        Aim((error, nodes)), Aim(({"term": "cost", "price": "1", "matrix": matrix},)),
        Aim(({"term": "cost", "price": "1/2", "matrix": matrix}, nodes)), Aim((nodes,)),
        Aim(({"term": "balanced_error", "price": "1"},)), Aim(({"term": "balanced_error", "price": "1"}, nodes)),
        Aim(({"term": "f1_loss", "price": "1", "positive": label},)),
        Aim(({"term": "matthews_loss", "price": "1", "positive": label},)),
    ]  # fmt: skip
    if trees:
        choices += [Aim((error, {"term": "leaves", "price": price})), Aim(({"term": "depth", "price": "1"},))]
    if groups:
        for name in ("group_error", "max_group_error"):
            choices.append(Aim(({"term": name, "price": "1", "groups": rng.choice(groups)},)))
    if abstain:
        open_at = rng.choice(("0.2", "1/4", "1/2"))
        choices += [Aim(({"term": "abstain_cost", "price": "1", "open": open_at, "matrix": None},))] * 4
    soft = [s for s in pool if s["kind"] in SOFT and s.get("on") != "mask"]  # an objective is written as text
    rare = [s for s in pool if s["kind"] in SOFT_ON_SOLVERS]
    for spec in rng.sample(soft, min(2, len(soft))) + (rare[:1] if rng.random() < 0.1 else []):
        cost = rng.choice(("1", "5", "1/2"))
        choices += [Aim((error, {"term": "soft", "price": cost, "of": spec}))] * 2
    return [Aim((error,)), *rng.sample(choices, 3)]
