"""The names that ``tf.`` offers, and those that go on working."""

from __future__ import annotations

import re

from repository import ROOT

import treeform as tf
from treeform.language.objective import Term
from treeform.language.requirement import Requirement


def test_dir_shows_what_a_problem_is_composed_of() -> None:
    shown = dir(tf)
    kinds = {name for name in shown if name[0].isupper()}
    values = {name: getattr(tf, name) for name in kinds}
    composed = {n for n, v in values.items() if isinstance(v, type) and issubclass(v, Requirement | Term)}
    others = {
        "Problem", "Tree", "Diagram", "Result", "Status", "Limit", "DecisionGraph", "Frontier", "SizeTable", "Study",
        "TreeformError", *(name for name in kinds if name.startswith("Optimal")),
    }  # fmt: skip
    assert kinds == composed | others
    modules = {"backends", "engines", "errors", "extend", "model", "report", "testing"}
    assert set(shown) - kinds == modules | {"check", "solvers", "sweep", "__version__"}


def test_every_name_in_the_documentation_works() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.rst")]
    pages = [page for page in pages if not {"_build", "generated", "auto_examples"} & set(page.parts)]
    used = {
        name
        for page in pages
        for name in re.findall(r"\btf\.([A-Za-z]\w*)", page.read_text(encoding="utf-8"))
    }
    missing = sorted(name for name in used - {"NAME"} if not hasattr(tf, name))
    assert not missing


def test_each_solver_and_engine_is_found_where_it_lives_too() -> None:
    for home in (tf.backends, tf.engines, tf.extend):
        for name in set(home.__all__) & set(tf.__all__):
            assert getattr(home, name) is not None and name not in set(dir(tf)) - {"Requirement"}


def test_objectives_and_requirements_are_offered_by_the_name_they_have_at_home() -> None:
    for home in (tf.objectives, tf.requirements):
        offered = set(home.__all__) & set(tf.__all__)
        assert set(home.__all__) - offered <= {"Groups", "OnRows"}
        assert all(getattr(tf, name) is getattr(home, name) for name in offered)
    for name in ("Groups", "OnRows", "__wrapped__", "MinRecal"):
        assert name not in dir(tf) and not hasattr(tf, name)
    names: dict[str, object] = {}
    exec("from treeform import *", names)
    assert set(tf.__all__) <= set(names) and names["MinRecall"] is tf.MinRecall
