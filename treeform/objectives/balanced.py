"""The balanced error: every class counts alike, however many samples it has."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.language.costs import ClassCost


@dataclass(frozen=True)
class BalancedError(ClassCost):
    """The mean over classes of the share of their weight that is misclassified.

    It is 1 less scikit-learn's ``balanced_accuracy_score``: errors cost 1 / (K W_k) for a sample of class k, with W_k
    the weight of the class and K the number of classes that have weight: on some of the rows a class may have none.

    Notes
    -----
    Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010.
    """

    name: ClassVar[str] = "balanced_error"

    def entry(self, data: Dataset, truth: int, guess: int) -> Fraction:
        weight = int(data.class_weights[truth]) * data.weight_unit
        classes = int(np.count_nonzero(data.class_weights))
        return Fraction(0) if truth == guess or not weight else 1 / (weight * classes)
