"""The errors that treeform raises: each states what happened, why, and what to do."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable


class TreeformError(Exception):
    """Base of all errors that treeform raises on purpose.

    Parameters
    ----------
    what : str
        What happened, in one sentence.
    cause : str, optional
        Why it happened.
    fix : str, optional
        What the user can do about it.
    """

    def __init__(self, what: str, *, cause: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.cause = cause
        self.fix = fix
        parts = [what]
        if cause:
            parts.append(f"Why: {cause}")
        if fix:
            parts.append(f"Fix: {fix}")
        super().__init__("\n  ".join(parts))


class DataError(TreeformError, ValueError):
    """The table, the target, the weights or the groups cannot be used as given."""


class SpecError(TreeformError, ValueError):
    """The problem, a requirement or a setting is not possible as stated."""


class CallError(SpecError, TypeError):
    """An argument is missing, unknown, or one too many."""


class UnknownName(SpecError):
    """There is no solver, engine, formulation or requirement of that name."""


class Infeasible(SpecError):
    """A requirement that no model can satisfy on these data, seen before anything is solved."""


class PortError(TreeformError, LookupError):
    """A component reads a port that nothing in the formulation offers."""


class ModelError(TreeformError, ValueError):
    """An expression or a block of rows is malformed (shape, NaN, not a literal)."""


class RouteError(TreeformError):
    """No chain of bridges turns the model into what the solver accepts."""


class SolverNotAvailable(TreeformError, ImportError):
    """The solver's package is not installed, or it cannot be loaded here."""


class SolverFailed(TreeformError, RuntimeError):
    """A solver broke down; its own message is in ``cause``."""


class ContradictionError(TreeformError, RuntimeError):
    """Two proved claims cannot both be true: a solver, or treeform, has a bug."""


class CertificateError(TreeformError, ValueError):
    """A model file or a certificate is damaged, edited, or belongs to other data."""


class TreeformWarning(UserWarning):
    """Base of all warnings that treeform gives."""


class FormerName(TreeformWarning, DeprecationWarning):
    """A parameter was given by a name that it had in an earlier version."""


class UnseenLevels(TreeformWarning):
    """Rows to predict hold levels that were not there in training."""


def warn_caller(what: str, kind: type[Warning] = TreeformWarning) -> None:
    """Warn at the line of the user's code that called treeform."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("treeform."):
        level, frame = level + 1, frame.f_back
    warnings.warn(what, kind, stacklevel=level)


MOST_MEANT = 5
"""So many names that hold a word are proposed."""
LEAST_SHORT = 3
"""Letters of a beginning, or of initials, from which names are proposed."""


def _is_short_for(asked: str, name: str) -> bool:
    """Whether ``asked`` is the beginning of a name, or the initials of its last words."""
    return name.startswith(asked) or "".join(word[:1] for word in name.split("_")).endswith(asked)


def did_you_mean(word: object, known: Iterable[object], *, others: int = 0) -> str | None:
    """``did you mean ...?`` for a misspelt name, ignoring case; None where nothing is close.

    Parameters
    ----------
    word : object
        What was written.
    known : iterable
        What could have been meant.
    others : int
        How many names to propose beside the closest one.
    """
    by_lower = {str(item).lower(): str(item) for item in known}
    asked = str(word).lower()
    # "parity" is a word of four names, and one letter from none of them; "acc" is short, as "mse" is.
    words = [name for name in by_lower if asked in name.split("_")]
    short = [name for name in by_lower if len(asked) >= LEAST_SHORT and _is_short_for(asked, name)]
    close = next((some for some in (words, short) if 0 < len(some) <= MOST_MEANT), None)
    if close is None:
        close = difflib.get_close_matches(asked, by_lower, n=1 + others)
    if not close:
        return None
    *first, last = (repr(by_lower[item]) for item in close)
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"


def listing(names: Iterable[object], limit: int = 12) -> str:
    """Names for a message: the first few, and how many more."""
    shown = [str(name) for name in names]
    more = f", … ({len(shown) - limit} more)" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more


def no_column(what: str, column: object, names: Iterable[object], *, fix: str) -> DataError:
    """The error for a column that is not there: the columns that are, the closest one, or else ``fix``."""
    known = [str(name) for name in names]
    shown = listing(map(repr, known), limit=20)
    return DataError(what, cause=f"the table has {shown}", fix=did_you_mean(column, known) or fix)


def unknown_name(
    name: object, known: Iterable[str], what: str, *, fix: str | None = None, limit: int = 20
) -> UnknownName:
    """The error for a name that does not exist: the first ``limit`` that do, similar ones, or else ``fix``."""
    names = list(known)
    return UnknownName(
        f"there is no {what} {name!r}",
        cause=f"treeform knows {listing(names, limit) or 'none'}",
        fix=did_you_mean(name, names, others=2) or fix,
    )


def no_such_part(
    owner: str, what: str, key: object, known: Iterable[str], example: str | None = None
) -> SpecError:
    """The error for an unknown setting or parameter: it has the known ones, and the closest or an example."""
    names = list(known)
    cause = f"its {what}s are {', '.join(names) or 'none'}"
    fix = did_you_mean(key, names) or (None if example is None else f"write for example {example}")
    return SpecError(f"{owner} has no {what} {key!r}", cause=cause, fix=fix)


BREAKDOWNS = (TreeformError, MemoryError)
"""What a stage can break down with: a solver's fault, a table too large to list, memory that is spent."""


def is_breakdown(error: BaseException) -> bool:
    """Whether a run can go on after this error: claims that contradict each other mean that something is wrong."""
    return isinstance(error, BREAKDOWNS) and not isinstance(error, ContradictionError)


def is_refusal(error: BaseException) -> bool:
    """Whether the problem as stated, or its solver, is what cannot be: no run of the same stage would do better."""
    return isinstance(error, SpecError | PortError | ModelError | RouteError | SolverNotAvailable)


def broke_down(error: BaseException) -> str:
    """The end of a sentence about a solver, or a stage of the work, that raised this."""
    return f"{'broke down' if isinstance(error, SolverFailed) else 'could not go on'}: {one_line(error)}"


def one_line(error: object) -> str:
    """The text of an error in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, TreeformError):
        return error.what + (f" ({error.cause})" if error.cause else "")
    return " ".join(str(error).split())
