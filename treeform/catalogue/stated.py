"""A problem as rows, to look at, to write to a file, and to add rows to."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from treeform.backends.written import write_model
from treeform.catalogue.solvers import find_formulation
from treeform.errors import SpecError
from treeform.language.component import Component
from treeform.language.formulation import Formulation
from treeform.language.ports import PORTS, Ports
from treeform.language.question import Question
from treeform.model import Model


class StatedModel:
    """A problem as a formulation states it: columns, rows and objective. Nothing is solved.

    Attributes
    ----------
    formulation : Formulation
        With rows of one's own, if some were added; ``problem.solve(solver, formulation=stated.formulation)`` solves it.
    model : Model
        Columns, rows and objective, as `treeform.model.Model`.
    ports : Ports
        What the formulation published: expressions such as ``ports.active``.
    """

    def __init__(self, question: Question, formulation: Formulation) -> None:
        if formulation.columns_on_demand:
            raise SpecError(
                f"{formulation.name} states its columns while it is solved",
                cause="prices of the dynamic program choose them, so that there is no model before",
                fix="show another formulation, such as problem.model('odd')",
            )
        self.question = question
        self.formulation = formulation
        compiled = formulation.compile(
            question.data, question.shape, question.objective, question.requirements
        )
        self.model: Model = compiled.model
        self.ports: Ports = compiled.ports

    def add(self, rows: Component | Callable[..., None] | Iterable[Any]) -> StatedModel:
        """The same problem with rows of one's own.

        Raises SpecError if a function names no port, or the formulation does not offer it.

        Returns a new one.

        Parameters
        ----------
        rows : Component, function, or several of them
            A function takes the model and the ports that it reads, by their names:
            ``def few(model, active): model.add(active.sum() <= 3)``. Its rows narrow the problem; a
            `treeform.model.Component` can declare that they do not.
        """
        several = rows if isinstance(rows, list | tuple) else [rows]
        formulation = self.formulation
        for one in several:
            if not (callable(one) or isinstance(one, Component)):
                raise SpecError(
                    f"{type(one).__name__} states no rows",
                    cause="rows are added by a function or a component, each time that the problem is stated",
                    fix="write for example def few(model, active): model.add(active.sum() <= 3)",
                )
            formulation = formulation + (one if isinstance(one, Component) else OwnRows(one))
        return StatedModel(self.question, formulation)

    def show(self, rows_per_block: int = 3) -> None:
        """Print variables, objective, and the first rows of each block."""
        print(self.model.show(rows_per_block))

    def to_lp(self, path: str | Path) -> None:
        """Write the model as an LP file, in linear rows; see `treeform.backends.written.write_model`."""
        write_model(self.model, path, ".lp")

    def to_mps(self, path: str | Path) -> None:
        """Write the model as an MPS file, in linear rows; see `treeform.backends.written.write_model`."""
        write_model(self.model, path, ".mps")

    def __repr__(self) -> str:
        what = f"{self.question.objective} over {self.question.shape} by {self.formulation.name}"
        return f"<StatedModel: {what}, {self.model!r}>"

    def __str__(self) -> str:
        return self.model.stats()


class OwnRows(Component):
    """Rows that a function adds: ``function(model, port, port, ...)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        _, *names = inspect.signature(function).parameters or [""]
        unknown = [name for name in names if name not in PORTS]
        if not names or unknown:
            raise SpecError(
                f"{self!r} names {f'the port {unknown[0]!r}, which there is not' if unknown else 'no port'}",
                cause=f"rows are written on what a formulation publishes: {', '.join(PORTS)}",
                fix="write for example def few(model, active): model.add(active.sum() <= 3)",
            )
        self.names = tuple(names)
        self.needs = frozenset(names)

    def build(self, model: Model, ports: Ports) -> Any:
        return self.function(model, *(getattr(ports, name) for name in self.names))

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", "rows of one's own")


class StatesModel(ABC):
    """What has a question, and can be stated as rows: `treeform.Problem`."""

    @property
    @abstractmethod
    def question(self) -> Question:
        """The question to state."""

    def model(self, formulation: Any = None) -> StatedModel:
        """The problem as a formulation states it: rows to look at, to write to a file, and to add rows to.

        Raises SpecError if there is no such formulation, or it cannot state the problem.

        The answer has ``show()``, ``to_lp(path)``, ``to_mps(path)``, ``add(rows)`` and ``formulation``.

        Parameters
        ----------
        formulation : Formulation, class or str, optional
            As in `solve`; ``"odd"`` by default.

        Examples
        --------
        >>> import treeform as tf
        >>> problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Tree(depth=2))
        >>> def one_test(model, active):
        ...     model.add(active.sum() <= 1, "one test")
        >>> stated = problem.model("odd").add(one_test)
        >>> problem.solve("highs", formulation=stated.formulation).errors
        1
        """
        return StatedModel(self.question, find_formulation("odd" if formulation is None else formulation))
