"""Who is asked: the engine that leaves out the least of a question, and among equals the first of the list.

Engines declare what they support (`treeform.engines.Engine`): parts of a problem by ``understands``, shapes, and sizes
of tables. Nothing here knows one of them but by its place in the list.
"""

from __future__ import annotations

from collections.abc import Iterator

from treeform.engines import (
    DL85,
    ContinuousTotals,
    ConTree,
    DiagramSearch,
    Engine,
    PathSearch,
    RegressionSearch,
    TotalsSearch,
)
from treeform.engines.relaxation import Relaxation, relax
from treeform.language.question import Question
from treeform.shape import Shape, Tree
from treeform.solve.leaf_values import value_part

ENGINES: tuple[type[Engine], ...] = (
    DL85,
    ConTree,
    TotalsSearch,
    ContinuousTotals,
    PathSearch,
    DiagramSearch,
    RegressionSearch,
)
"""In the order in which equals are preferred: those that support less are the faster ones."""

FEW_TESTS = 500
"""Distinct tests up to which a proof is expected soon."""


def lowered(question: Question, engine: Engine) -> Relaxation | None:
    """What the engine, and the search for values of leaves after it, support of a question; None: nothing of use."""
    values = value_part(question, engine)
    return relax(question, engine) if values is None else values[0]


def candidates(
    question: Question, shape: type[Shape], any_size: bool = False
) -> Iterator[tuple[Engine, Relaxation]]:
    """Engines that take the table, with what each supports of the question.

    Parameters
    ----------
    question : Question
    shape : type of Shape
        Engines for this one count: a diagram unrolls to a tree.
    any_size : bool
        Whether engines count that are chosen on fewer tests only.
    """
    for kind in ENGINES:
        if (
            shape not in kind.shapes
            or not (any_size or _is_small(question, kind))
            or not kind.suits(question.data)
        ):
            continue
        engine = kind()
        part = lowered(question, engine)
        if part is not None and engine.unsupported(question.data, part.task) is None:
            yield engine, part


def _is_small(question: Question, kind: type[Engine]) -> bool:
    return kind.few_tests is None or not question.data.has_more_tests_than(kind.few_tests)


def usual_engine(question: Question, shape: type[Shape] | None = None) -> Engine | None:
    """The engine that leaves out the least; None where none searches such models, or such an objective.

    Parameters
    ----------
    question : Question
    shape : type of Shape, optional
        Among the engines for this one; left out: for the question's own.
    """
    best: tuple[Engine, Relaxation] | None = None
    for engine, part in candidates(question, shape or type(question.shape)):
        if best is None or len(part.dropped) < len(best[1].dropped):
            best = engine, part
        if part.exact:
            break
    return None if best is None else best[0]


def engine_beyond(question: Question) -> Engine | None:
    """An engine that supports all of a question on trees, and is chosen on tables of fewer tests only."""
    if not question.shape.own_leaves:
        return None
    limited = (pair for pair in candidates(question, Tree, any_size=True) if pair[0].few_tests is not None)
    return next((engine for engine, part in limited if part.exact), None)


def why_chosen(question: Question, engine: Engine) -> list[str]:
    """Why this engine was chosen, where there is a reason beside what it supports."""
    return [f"{engine.name} {engine.chosen_for} ({question.data.n_tests} here)"] if engine.chosen_for else []


def why_not(question: Question) -> list[str]:
    """That an engine would support all of the problem and was left out for the size of the table."""
    engine = engine_beyond(question)
    if engine is None or _is_small(question, type(engine)):
        return []
    return [
        f"{engine.name} supports all of the problem, but has only a part of the time: the table has "
        f"{question.data.n_tests} tests, more than {engine.few_tests}; solver=tf.{type(engine).__name__}() gives it all"
    ]
