"""Parameters of the public interface have the names of one table, and the table has no others."""

from __future__ import annotations

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import treeform as tf
from treeform import backends, engines
from treeform.extend import Backend, Engine

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
from vocabulary import names

FORMER = ("k", "amount", "rate", "changed", "favourable", "workers", "categorical", "limit", "prune", "techniques")
ANSWERS = (tf.DecisionGraph, tf.Result, tf.Frontier, tf.SizeTable, tf.Study)
"""Values that a user is given, and does not construct."""


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """What a user calls: constructors, functions, and methods of problems and answers."""
    for name in dir(tf):
        found = getattr(tf, name)
        answer = inspect.isclass(found) and issubclass(found, (*ANSWERS, BaseException, Enum))
        if inspect.isfunction(found) or (inspect.isclass(found) and not answer):
            yield name, found
    solvers = [getattr(backends, name) for name in backends.__all__]
    native = [getattr(engines, name) for name in engines.__all__]
    for found in [*solvers, *native]:
        if inspect.isclass(found) and issubclass(found, Backend | Engine) and found not in (Backend, Engine):
            yield found.__name__, found
    methods = {owner: dict(vars(owner)) for owner in ANSWERS} | {tf.Problem: dict(inspect.getmembers(tf.Problem))}
    for owner, members in methods.items():
        for name, method in members.items():
            if inspect.isfunction(method) and not name.startswith("_"):
                yield f"{owner.__name__}.{name}", method


def parameters() -> dict[str, set[str]]:
    """Parameters by name, with those who take them."""
    found: dict[str, set[str]] = defaultdict(set)
    for owner, call in public():
        for one in inspect.signature(call).parameters.values():
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and one.name != "self":
                found[one.name].add(owner)
    return found


def test_every_parameter_is_in_the_table_and_the_table_has_no_others():
    found = parameters()
    unknown = {name: sorted(owners) for name, owners in found.items() if name not in names()}
    assert not unknown, "add to docs/_ext/vocabulary.py, or use a name that is there"
    assert names() - set(found) == set()


def test_former_names_are_gone():
    found = parameters()
    left = {name: found[name] for name in FORMER if name in found}
    assert left == {"workers": {"Problem.solve", "sweep"}}  # processes


def test_threads_of_a_solve_are_those_of_what_is_chosen():
    rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, [0, 1, 1, 0] * 3
    problem = tf.Problem(rows, labels, shape=tf.Tree(depth=2))
    assert problem.solve(threads=2).errors == 0
    assert problem.solve(tf.CPSAT(), threads=2).errors == 0
    with pytest.warns(DeprecationWarning, match="workers of CPSAT is called threads now"):
        assert tf.CPSAT(workers=2).threads == 2
    with pytest.warns(DeprecationWarning, match="categorical of Problem is called categorical_features now"):
        tf.Problem(rows, labels, shape="tree:1", categorical=[])
    with pytest.warns(DeprecationWarning, match="limit of Problem.near_optimal is called max_models now"):
        former = problem.near_optimal(within=5, limit=3)
    assert len(former.models) == len(problem.near_optimal(within=5, max_models=3).models) > 0


def test_documented_parameters_are_those_of_the_call():
    wrong = {}
    for owner, call in public():
        text = call.__doc__ or ""
        section = re.search(r"\n *Parameters\n *-+\n(.*?)(?:\n\n *[A-Z][A-Za-z ]+\n *-+\n|\Z)", text, re.S)
        if section is None:
            continue
        lines = section[1].splitlines()
        margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        heads = [line.strip().partition(" :")[0] for line in lines if line.strip() and line[margin] != " "]
        named = {name.strip().lstrip("*") for head in heads for name in head.split(",")}
        taken = set(inspect.signature(call).parameters)
        if named - taken - {"common"}:  # parameters that several engines share are described once
            wrong[owner] = sorted(named - taken)
    assert not wrong
