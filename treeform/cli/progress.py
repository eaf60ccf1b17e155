"""Live progress on stderr: incumbent, bound, gap and time."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from treeform.solve import Progress

BOUND_INTERVAL = 1.0  # seconds between plain lines in which only the bound moved


class ProgressDisplay:
    """Shows every improvement as a line and, on a terminal, the state of the search below them.

    Use as a context manager and pass it to ``solve(on_progress=...)``. Callbacks come from solvers' threads.

    Parameters
    ----------
    console : Console
        Where to write; plain lines are printed when it is no terminal.
    enabled : bool
        When false nothing is shown.
    """

    def __init__(self, console: Console, enabled: bool = True) -> None:
        self._console = console
        self._enabled = enabled
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._last: Progress | None = None
        self._shown: tuple[object, object, str] | None = None
        self._shown_at = float("-inf")
        self._headed = False
        self._live: Live | None = None

    def __enter__(self) -> ProgressDisplay:
        self._start = time.monotonic()
        if self._enabled and self._console.is_terminal:
            self._live = Live(
                get_renderable=self._status, console=self._console, refresh_per_second=4, transient=True
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        with self._lock:
            if self._enabled and self._last is not None and self._shown != self._state(self._last):
                self._print(self._last)

    def __call__(self, progress: Progress) -> None:
        if not self._enabled:
            return
        with self._lock:
            self._last = progress
            state = self._state(progress)
            if state == self._shown:
                return
            bound_only = self._shown is not None and (state[0], state[2]) == (self._shown[0], self._shown[2])
            if bound_only and progress.seconds - self._shown_at < BOUND_INTERVAL:
                return
            self._shown, self._shown_at = state, progress.seconds
            self._print(progress)

    @staticmethod
    def _state(progress: Progress) -> tuple[object, object, str]:
        return (progress.upper, progress.lower, progress.phase)

    def _print(self, progress: Progress) -> None:
        try:
            if not self._headed:
                head = f"{'time':>8}  {'incumbent':>10}  {'bound':>10}  {'gap':>7}  phase"
                self._console.print(Text(head, style="bold"), soft_wrap=True)
                self._headed = True
            self._console.print(Text(line(progress)), soft_wrap=True)
        except OSError:  # stderr was closed; the search goes on without a display
            self._enabled = False

    def _status(self) -> Text:
        elapsed = time.monotonic() - self._start
        last = self._last
        if last is None:
            return Text(f"{elapsed:7.1f}s  …", style="cyan")
        return Text(line(last, elapsed), style="cyan")


def line(progress: Progress, seconds: float | None = None) -> str:
    """One line of the log."""
    gap = progress.gap
    shown = "-" if gap is None else "inf" if gap == float("inf") else f"{100 * gap:.1f}%"
    return (
        f"{progress.seconds if seconds is None else seconds:7.1f}s  {number(progress.upper):>10}  "
        f"{number(progress.lower):>10}  {shown:>7}  {progress.phase}"
    ).rstrip()


def number(value: object) -> str:
    """A value for people: whole numbers exactly, others to six digits."""
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{float(value):.6g}"  # type: ignore[arg-type]


def stderr_console() -> Console:
    """A console for messages; colour only where a terminal shows it."""
    return Console(file=sys.stderr, highlight=False)
