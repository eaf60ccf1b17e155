"""Live progress on stderr: one block in a terminal, lines where they are asked for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from treeform.solve import Progress
from treeform.utils.budget import Step, observe_steps
from treeform.utils.text import count_of, value_text

BOUND_INTERVAL = 1.0
"""Seconds between lines in which only the bound moved."""
REFRESH = 8
"""Redrawings of the block in a second."""
BAR_WIDTH = 40


class ProgressDisplay:
    """One live block in a terminal: what goes on, how far it is, incumbent, bound, gap, speed and time.

    Elsewhere, as in pipes and files, nothing is shown. With ``log``, every improvement is a line as well, in a terminal
    above the block.

    Use as a context manager and pass it to ``solve(on_progress=...)``. Callbacks come from solvers' threads.
    """

    def __init__(self, console: Console, enabled: bool = True, log: bool = False) -> None:
        self._console = console
        self._enabled = enabled
        self._log = log
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._last: Progress | None = None
        self._work = ""
        self._step: Step | None = None
        self._shown: tuple[object, object, str] | None = None
        self._shown_at = float("-inf")
        self._headed = False
        self._live: Live | None = None
        self._spinner = Spinner("dots", style="cyan")

    def __enter__(self) -> ProgressDisplay:
        self._start = time.monotonic()
        if self._enabled and self._console.is_terminal:
            self._live = Live(
                get_renderable=self._block, console=self._console, refresh_per_second=REFRESH, transient=True
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        with self._lock:
            if self._last is not None and self._shown != self._state(self._last):
                self._print(self._last)

    def begin(self, work: str) -> None:
        """Show work that reports nothing by itself, such as the reading of a file, until something is reported."""
        with self._lock:
            self._work, self._step, self._last, self._start = work, None, None, time.monotonic()

    def on_step(self, step: Step) -> None:
        """Show how far such work has come."""
        self._step = step

    def __call__(self, progress: Progress) -> None:
        if not self._enabled:
            return
        with self._lock:
            self._last, self._start = progress, time.monotonic() - progress.seconds
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
        if not (self._log and self._enabled):
            return
        try:
            if not self._headed:
                head = f"{'time':>8}  {'incumbent':>10}  {'bound':>10}  {'gap':>7}  phase"
                self._console.print(Text(head, style="bold"), soft_wrap=True)
                self._headed = True
            self._console.print(Text(line(progress)), soft_wrap=True)
        except OSError:  # stderr was closed; the search goes on without a display
            self._enabled = False

    def _block(self) -> RenderableType:
        """What the terminal shows now; called several times a second, from a thread of its own."""
        now, last = time.monotonic(), self._last
        head = Table.grid(padding=(0, 1))
        doing = self._work if last is None else last.phase
        head.add_row(self._spinner, Text(doing, style="cyan", no_wrap=True, overflow="ellipsis"))
        if last is None:
            step = "" if self._step is None else f"   {self._step}"
            return Group(head, Text(f"  {clock(now - self._start)}{step}"))
        rows: list[RenderableType] = [head]
        if last.parts is not None:
            bar = Table.grid(padding=(0, 1))
            done, total = last.parts
            bar.add_row(
                " ",
                ProgressBar(total=total, completed=done, width=BAR_WIDTH),
                f"{done} of {count_of(total, 'part')}",
            )
            rows.append(bar)
        rows += [
            Text(f"  {text}", no_wrap=True, overflow="ellipsis") for text in facts(last, now - self._start)
        ]
        return Group(*rows)


@contextmanager
def shown_as(work: str, console: Console | None = None, *, enabled: bool = True) -> Iterator[None]:
    """Show work that has no incumbent and no bound, such as a check, and how far it has come."""
    with ProgressDisplay(console or err_console(), enabled=enabled) as display, observe_steps(display.on_step):
        display.begin(work)
        yield


def facts(progress: Progress, seconds: float) -> list[str]:
    """The lines of the block below its head: the answer so far, then speed and time."""
    known = f"incumbent {value_text(progress.upper)}   bound {value_text(progress.lower)}   gap {gap_text(progress)}"
    limit = ", no time limit" if progress.limit is None else f" of {clock(progress.limit)}"
    parts = [clock(seconds) + limit]
    if progress.step is not None:
        parts.append(str(progress.step))
        if progress.rate is not None:
            parts.append(f"{progress.rate:,.0f} {progress.step.unit.split()[0]} per second")
    return [known, "   ".join(parts)]


def line(progress: Progress) -> str:
    """One line of the log."""
    return (
        f"{progress.seconds:7.1f}s  {value_text(progress.upper):>10}  "
        f"{value_text(progress.lower):>10}  {gap_text(progress):>7}  {progress.phase}"
    ).rstrip()


def gap_text(progress: Progress) -> str:
    """The gap in per cent."""
    gap = progress.gap
    return "-" if gap is None else "inf" if gap == float("inf") else f"{100 * gap:.1f}%"


def clock(seconds: float) -> str:
    """A time for people: ``12.3 s``, ``4:05 min``, ``1:02:05 h``."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def err_console() -> Console:
    """A console for messages; colour only where a terminal shows it."""
    return Console(file=sys.stderr, highlight=False)
