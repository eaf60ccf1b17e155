"""Linear programs that are solved again and again, each time from the last basis.

HiGHS solves them in this process, or in a child where it clashes with OR-Tools: which keeps them apart. The
child serves all linear programs of the process and stays alive between them.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.backends.child import Child
from treeform.backends.memory import cap_memory
from treeform.backends.packages import HIGHSPY, load, shared_library_clash
from treeform.errors import SolverFailed
from treeform.utils.arrays import Floats

Row = tuple[NDArray[np.int32], float, float]

__all__ = ["LinearProgram", "LinearSolution"]


@dataclass(frozen=True)
class LinearSolution:
    """What the simplex method claims; its user has to check it."""

    x: Floats
    """(n,) float64"""
    prices: Floats
    """(m,) float64: dual value of each row."""


class LinearProgram:
    """min cost @ x subject to low <= matrix @ x <= high, lower <= x <= upper.

    Raises SolverNotAvailable if highspy is not here.

    Examples
    --------
    >>> import numpy as np
    >>> from treeform.backends.linear_programs import LinearProgram
    >>> program = LinearProgram(np.array([[1.0, 1.0]]), np.array([1.0]), np.array([np.inf]))
    >>> program.solve(np.array([2.0, 3.0]), np.zeros(2), np.ones(2)).x.tolist()
    [1.0, 0.0]
    """

    def __init__(self, matrix: Floats, low: Floats, high: Floats) -> None:
        self._stated = (np.asarray(matrix, float), np.asarray(low, float), np.asarray(high, float))
        self._rows: list[Row] = []
        self._entered = 0  # rows added that the simplex has
        self._here = None if solved_apart() else Simplex(*self._stated)
        self._there: tuple[int, int] | None = None  # process of the child, and number in it
        self._number = next(_numbers)
        # Read at the time, since a fork has a server of its own.
        weakref.finalize(self, lambda number: _server.forget(number), self._number).atexit = False

    def add_row(self, cols: NDArray[np.integer[Any]], low: float, high: float) -> None:
        """A row ``low <= sum of x[cols] <= high``."""
        self._rows.append((np.asarray(cols, dtype=np.int32), low, high))

    def solve(self, cost: Floats, lower: Floats, upper: Floats) -> LinearSolution | None:
        """The optimum for this cost and these bounds of the columns, each ``(n,)``; None where HiGHS has none.

        Raises SolverFailed if the child died twice.
        """
        question = (np.asarray(cost, float), np.asarray(lower, float), np.asarray(upper, float))
        if self._here is not None:
            new, self._entered = self._rows[self._entered :], len(self._rows)
            return self._here.solve(new, *question)
        try:
            return self._solve_there(question)
        except SolverFailed:
            return self._solve_there(question)  # a new process takes all of it again

    def _solve_there(self, question: tuple[Floats, Floats, Floats]) -> LinearSolution | None:
        with _server.lock:
            pid = _server.start()
            if self._there != (pid, self._number):
                self._there, self._entered = (pid, self._number), 0
                stated: Any = self._stated
            else:
                stated = None
            new, self._entered = self._rows[self._entered :], len(self._rows)
            found: LinearSolution | None = _server.call(
                {"number": self._number, "stated": stated, "rows": new, "question": question}
            )
            return found


def solved_apart() -> bool:
    """Whether linear programs go to a child: HiGHS clashes with OR-Tools, and was not loaded here before it."""
    return shared_library_clash("highspy") is not None and "highspy" not in sys.modules


class Simplex:
    """A linear program in HiGHS, silent and on one thread."""

    def __init__(self, matrix: Floats, low: Floats, high: Floats) -> None:
        highspy = load("highspy", "highs", HIGHSPY)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs = highspy.Highs()
        for name, value in (
            ("output_flag", False), ("log_to_console", False), ("threads", 1), ("presolve", "off"),
            ("solver", "simplex"),
        ):  # fmt: skip
            self._highs.setOptionValue(name, value)
        n_rows, self._n = matrix.shape
        column, row = np.nonzero(matrix.T)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self._n, n_rows
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(self._n)
        lp.row_lower_, lp.row_upper_ = low, high
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.searchsorted(column, np.arange(self._n + 1)).astype(np.int32)
        lp.a_matrix_.index_ = row.astype(np.int32)
        lp.a_matrix_.value_ = matrix[row, column]
        self._highs.passModel(lp)
        self._every = np.arange(self._n, dtype=np.int32)

    def solve(self, rows: list[Row], cost: Floats, lower: Floats, upper: Floats) -> LinearSolution | None:
        """Add rows, set costs and bounds, and optimise."""
        for cols, low, high in rows:
            self._highs.addRow(low, high, len(cols), cols, np.ones(len(cols)))
        self._highs.changeColsCost(self._n, self._every, cost)
        self._highs.changeColsBounds(self._n, self._every, lower, upper)
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        solution = self._highs.getSolution()
        return LinearSolution(np.array(solution.col_value), np.array(solution.row_dual))


class _Server:
    """The child that solves linear programs; a fork of this process has its own."""

    def __init__(self) -> None:
        self._child = Child()
        self._forgotten: deque[int] = deque()
        self.lock = threading.Lock()

    def start(self) -> int:
        """The number of the process, which is started where there is none."""
        self._child.start()
        assert self._child.pid is not None
        return self._child.pid

    def call(self, task: dict[str, Any]) -> Any:
        """What the child returns; it is gone after an error, since its state is unknown then."""
        task["forget"] = [self._forgotten.popleft() for _ in range(len(self._forgotten))]
        try:
            return self._child.call(__name__, "solve_in_child", task)
        except BaseException:
            self._child.close()
            raise

    def forget(self, number: int) -> None:
        """This one is no longer asked for; the child learns of it with the next question."""
        self._forgotten.append(number)

_numbers = itertools.count()
_server = _Server()
_in_child: dict[int, Simplex] = {}


def _renew() -> None:
    global _server
    _server = _Server()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def solve_in_child(task: dict[str, Any]) -> LinearSolution | None:
    """What the child does with a question."""
    cap_memory(None)
    for number in task["forget"]:
        _in_child.pop(number, None)
    if task["stated"] is not None:
        _in_child[task["number"]] = Simplex(*task["stated"])
    return _in_child[task["number"]].solve(task["rows"], *task["question"])
