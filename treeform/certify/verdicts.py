"""The verdicts of a check, and the report that carries them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a check answers, for one statement and for the whole certificate."""

    VERIFIED = "verified"  #: it holds: counted, evaluated or proved again here
    ON_TRUST = "on trust"  #: not refuted, and not proved again: it rests on a solver or an engine alone
    VIOLATED = (
        "violated"  #: it is counted as stated, and what is stated is that a model violates a requirement
    )
    FALSE = "false"  #: it does not hold, or the evidence that is named for it does not show it


@dataclass(frozen=True)
class CheckRow:
    """One statement that was checked."""

    what: str
    """The statement."""
    verdict: Verdict
    detail: str
    """What was found."""
    rests_on: tuple[str, ...] = ()
    """In whom one has to trust, when the verdict is "on trust"."""
    proved_by: str = ""
    """The engine or proof that proved it again here; empty where nothing had to be proved."""


def holds(what: str, detail: str, proved_by: str = "") -> CheckRow:
    """A statement that is verified."""
    return CheckRow(what, Verdict.VERIFIED, detail, proved_by=proved_by)


def false(what: str, detail: str) -> CheckRow:
    """A statement that does not hold."""
    return CheckRow(what, Verdict.FALSE, detail)


def on_trust(what: str, detail: str, *names: str) -> CheckRow:
    """A statement that rests on ``names`` alone."""
    return CheckRow(what, Verdict.ON_TRUST, detail, rests_on=names)


def violated(what: str, detail: str) -> CheckRow:
    """A requirement that a given model violates, as its certificate states."""
    return CheckRow(what, Verdict.VIOLATED, detail)


def judged(what: str, holds_here: bool, detail: str) -> CheckRow:
    """A statement that was evaluated here: verified or false."""
    return CheckRow(what, Verdict.VERIFIED if holds_here else Verdict.FALSE, detail)


@dataclass(frozen=True)
class CheckReport:
    """The outcome of `treeform.check`."""

    rows: tuple[CheckRow, ...]
    """One for each statement."""

    @property
    def verdict(self) -> Verdict:
        """The worst of the statements: false, else violated, else on trust, else verified."""
        verdicts = {row.verdict for row in self.rows}
        for verdict in (Verdict.FALSE, Verdict.VIOLATED, Verdict.ON_TRUST):
            if verdict in verdicts:
                return verdict
        return Verdict.VERIFIED

    @property
    def rests_on(self) -> tuple[str, ...]:
        """In whom one has to trust, by name, when nothing is false; each once."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.rests_on))

    @property
    def ok(self) -> bool:
        """Whether all of it is verified: nothing is false, violated, or taken on trust."""
        return self.verdict is Verdict.VERIFIED

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.verdict is Verdict.FALSE:
            wrong = [f"{row.what} ({row.detail})" for row in self.rows if row.verdict is Verdict.FALSE]
            return "false: " + "; ".join(wrong)
        if self.verdict is Verdict.VIOLATED:
            rows = [row for row in self.rows if row.verdict is Verdict.VIOLATED]
            lacking = "; ".join(f"{row.what} ({row.detail})" for row in rows)
            trust = f"; the rest depends on {_list(self.rests_on)}" if self.rests_on else ""
            return f"violated: the model violates {lacking}. What the certificate states of it holds{trust}"
        if self.verdict is Verdict.ON_TRUST:
            return f"on trust: all that can be checked here holds; the rest depends on {_list(self.rests_on)}"
        return "verified: every statement was checked here and holds"

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        width = max(len(verdict) for verdict in Verdict)
        lines = [f"{row.verdict:<{width}}  {row.what}: {row.detail}" for row in self.rows]
        return "\n".join([*lines, self.sentence])


def _list(names: tuple[str, ...]) -> str:
    return " and of ".join(names)
