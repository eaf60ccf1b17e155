"""Labels for the leaves of a tree by an integer program, where there are too many to list all assignments.

With the tests kept, the cost of a tree and every row over predictions add up over its leaves: choose a label for each
leaf at the least cost so that all rows hold. Binary variables ``x[leaf, label]``, one label for each leaf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.language.question import Question
from treeform.solve.budget import Budget

SECONDS = 1.0
"""Of one program: the trees of a run are many, and most programs end within milliseconds."""


def cheapest_labels(
    question: Question,
    position: NDArray[np.int64],
    leaves: int,
    wrong: NDArray[np.int64],
    slack: float,
    budget: Budget,
) -> NDArray[np.int64] | None:
    """Labels of the fewest errors that satisfy all rows over predictions of the question; None where none are found.

    Parameters
    ----------
    question : Question
    position : (n,) int64
        The leaf that each sample reaches, from 0 on.
    leaves : int
    wrong : (leaves, K) int64
        The weight of errors of each leaf with each label.
    slack : float
        The part of the largest coefficient by which each row is tightened: the program's arithmetic is inexact.
    budget : Budget

    Returns
    -------
    (leaves,) int64 or None
        To be judged exactly.
    """
    # Here, as every process would spend a part of a second on it.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    data = question.data
    rows = [row for requirement in question.requirements for row in requirement.prediction_rows(data)]
    if not rows:
        return None
    sides, blocks = [], []
    for coef, most in rows:
        block = _by_leaf(data, position, leaves, coef)
        largest = max(1.0, float(np.abs(block).max()))
        blocks.append(block.reshape(-1) / largest)
        sides.append(float(most) / largest - slack)
    each = csr_array(np.kron(np.eye(leaves), np.ones(data.n_classes)))
    found = milp(
        wrong.reshape(-1).astype(float),
        integrality=np.ones(wrong.size),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(each, 1, 1),
            LinearConstraint(csr_array(np.stack(blocks)), -np.inf, sides),
        ],
        options={"time_limit": budget.share(SECONDS).remaining},
    )
    return None if found.x is None else np.asarray(found.x).reshape(leaves, -1).argmax(axis=1)


def _by_leaf(
    data: Dataset, position: NDArray[np.int64], leaves: int, coef: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(leaves, K): what each leaf adds to a row with each label."""
    weighted = coef.astype(float) * data.weights[:, None]
    return np.stack([np.bincount(position, weighted[:, k], leaves) for k in range(data.n_classes)], axis=1)
