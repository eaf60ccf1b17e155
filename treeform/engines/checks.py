"""Checks of the settings that several engines have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from treeform import _core
from treeform.data import Dataset
from treeform.engines.task import Engine, TreeTask, check_task
from treeform.errors import SpecError
from treeform.utils.arguments import whole_number

PATHS = ("auto", "avx512", "avx2", "plain")
"""Instruction sets of the native core; the answer is the same with each."""

SCAN_PATHS = ("auto", "avx512", "avx2", "portable", "plain")
"""Those of the scans over sorted columns; ``portable`` is the compiler's own vectors, on any processor."""

LARGEST_SEED = 2**62
"""Of the searches that choose by chance, and the largest limit on their work."""

FEWER_DIGITS = "use weights or costs with fewer digits, a smaller shape, or tf.HiGHS() or tf.CPSAT()"

MOST_THREADS = 1024
"""Of a native search (``treeform/native/common/checks.hpp``)."""


def take_plain_numbers(settings: Any) -> None:
    """Make whole numbers of NumPy in a frozen dataclass those of Python: they are printed and written to files."""
    for field in fields(settings):
        whole = whole_number(getattr(settings, field.name))
        if whole is not None:
            object.__setattr__(settings, field.name, whole)


def impossible(engine: str, name: str, value: object, cause: str, fix: str) -> SpecError:
    """The error for a value that a setting of an engine cannot have."""
    return SpecError(f"{engine}({name}={value!r}) is not possible", cause=cause, fix=fix)


def one_of(engine: str, name: str, value: object, allowed: Sequence[Any]) -> None:
    """Raise SpecError unless `value` is one of `allowed`, of which the message suggests the first."""
    if value not in allowed or isinstance(value, bool):
        cause = f"{name} is one of {', '.join(str(a) for a in allowed)}"
        raise impossible(engine, name, value, cause, f"use for example {name}={allowed[0]!r}")


def some_of(engine: str, value: str | tuple[str, ...], allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The chosen parts of a search, or the single one, in the order of ``allowed``. Raises SpecError for others."""
    chosen = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    for one in chosen:
        if one not in allowed:
            raise SpecError(
                f"{engine}(parts={chosen!r}) is not possible: there is no {one!r}",
                cause=f"the parts are {', '.join(allowed)}"
                if allowed
                else "its search has no parts to leave out",
                fix="leave it out",
            )
    return tuple(one for one in allowed if one in chosen)


def is_whole(value: object, least: int) -> bool:
    """Whether the value is an integer of 64 bits, at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def positive(engine: str, name: str, value: object, fix: str) -> None:
    """Raise SpecError unless `value` is a positive whole number."""
    if not is_whole(value, 1):
        raise impossible(engine, name, value, "it is a positive whole number", fix)


def check_between(engine: str, name: str, value: object, least: int, most: int, usual: int) -> None:
    """Raise SpecError unless `value` is a whole number from `least` to `most`; the message suggests `usual`."""
    if not is_whole(value, least) or (isinstance(value, int) and value > most):
        cause = f"it is a whole number between {least} and {most}"
        raise impossible(engine, name, value, cause, f"use for example {name}={usual}")


def check_flag(engine: str, name: str, value: object) -> None:
    """Raise unless `value` is True or False. Raises SpecError."""
    if not isinstance(value, bool):
        raise impossible(engine, name, value, "it is True or False", f"use {name}=True")


def check_seed(engine: str, seed: object) -> None:
    """Raise unless `seed` is a whole number from 0 to `LARGEST_SEED`. Raises SpecError."""
    check_between(engine, "seed", seed, 0, LARGEST_SEED, 1)


def check_threads(engine: str, threads: object) -> None:
    """Raise unless `threads` is a whole number from 1 to `MOST_THREADS`. Raises SpecError."""
    fix = "use for example threads=2"
    positive(engine, "threads", threads, fix)
    if isinstance(threads, int) and threads > MOST_THREADS:
        raise impossible(engine, "threads", threads, f"at most {MOST_THREADS} are", fix)


def check_memory(engine: str, memory_limit: object) -> None:
    """Raise unless `memory_limit` is a positive number of bytes or None. Raises SpecError."""
    if memory_limit is not None:
        positive(engine, "memory_limit", memory_limit, "give bytes, for example 2**30, or None")


def check_simd(engine: str, simd: object, paths: Sequence[str] = PATHS) -> None:
    """Raise unless this processor has that instruction set. Raises SpecError."""
    one_of(engine, "simd", simd, paths)
    if not _core.simd_available(simd):
        raise SpecError(
            f"{engine}(simd={simd!r}) cannot run here",
            cause="this processor lacks these instructions",
            fix="use simd='auto'",
        )


def not_exact(engine: str, reason: str, fix: str = FEWER_DIGITS) -> SpecError:
    """The error of an engine that cannot solve a problem exactly."""
    return SpecError(f"{engine} cannot solve this problem exactly", cause=reason, fix=fix)


def check_taken(engine: Engine, data: Dataset, task: TreeTask, fix: str = FEWER_DIGITS) -> None:
    """Refuse a task that is not possible, or that the engine does not take. Raises SpecError."""
    check_task(data, task)
    reason = engine.unsupported(data, task)
    if reason is not None:
        raise not_exact(engine.name, reason, fix)


@dataclass(frozen=True, kw_only=True)
class NativeSettings:
    """The settings that most native engines have, checked when they are made."""

    threads: int = 1
    memory_limit: int | None = None
    simd: str = "auto"
    parts: tuple[str, ...] = ()
    """The parts of the search in use, all exact: left out one by one to study their effect. The default has all."""

    paths: ClassVar[tuple[str, ...]] = PATHS
    """The instruction sets that the search has kernels for."""

    def __post_init__(self) -> None:
        take_plain_numbers(self)
        title = type(self).__name__
        check_threads(title, self.threads)
        check_memory(title, self.memory_limit)
        check_simd(title, self.simd, self.paths)
        object.__setattr__(self, "parts", some_of(title, self.parts, type(self).parts))
