"""Classes as users name them: by their labels, which are text, numbers or booleans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.data.labels import is_label
from treeform.errors import SpecError
from treeform.language.objective_text import quoted
from treeform.utils.rows import worded


def class_code(label: Any, data: Dataset, called: str = "positive") -> int:
    """The code of the class that ``label`` names; text that spells a label counts as that label.

    Raises SpecError, in which ``called`` is the name of the parameter, if there is no such class.
    """
    classes = [plain_label(c) for c in data.classes]
    refuse_no_label(label, called, classes)
    for code, known in enumerate(classes):
        if type(known) is type(label) and known == label:
            return code
    for code, known in enumerate(classes):
        if str(known) == str(label) or known == label:
            return code
    raise SpecError(
        f"there is no class {label!r}",
        cause=f"the classes are {', '.join(map(repr, classes))}",
        fix=f"use for example {called}={classes[-1]!r}",
    )


def no_abstention(what: str) -> SpecError:
    """That ``what`` is about decisions that are left open, where models decide every row."""
    return SpecError(
        f"{what} decisions that are left open, and there are none",
        cause="no label stands for them",
        fix="give one: " + worded("tf.Problem(..., abstain='ask')", "--abstain ask"),
    )


def refuse_no_label(label: Any, called: str, classes: Sequence[Any] = ("yes",)) -> None:
    """Refuse what is given in the place of a class: arrays, lists, missing values. Raises SpecError."""
    if not is_label(label):
        raise SpecError(
            f"{called}={label!r} is no class",
            cause="a class is named by its label: text, a number or a boolean",
            fix=f"use for example {called}={classes[-1]!r}",
        )


def positive_code(label: Any, data: Dataset, owner: object) -> int:
    """The code of the positive class; without a label the greater one of two.

    Raises SpecError if the label is unknown, or None with more than two classes; ``owner`` is the requirement.
    """
    if label is not None:
        return class_code(label, data)
    labels = data.n_classes - (data.abstain_code is not None)
    if labels > 2:
        shown = [plain_label(label) for label in data.classes[:labels]]
        raise SpecError(
            f"{owner} does not say which class is positive",
            cause=f"there are {labels} classes: {', '.join(map(repr, shown))}",
            fix=f"add positive={worded(repr(shown[-1]), quoted(str(shown[-1])))}",
        )
    return labels - 1


def plain_label(label: Any) -> Any:
    """A label as Python has it; what is no text, number or boolean as text."""
    value = plain(label)
    return value if isinstance(value, bool | int | float | str) else str(value)
