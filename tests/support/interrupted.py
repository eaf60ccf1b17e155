"""Runs the command line in forks of one process, each ended by a signal at a drawn moment; one JSON line for each.

``python interrupted.py FOLDER TABLE SEED COUNT [PHASE]``: so many signals in a phase of the command, at a moment drawn
from its beginning on; without a phase, each draws one. All processes that belong to it have the same mark.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

MARK = "TREEFORM_INTERRUPTED"
LONG = 8.0
"""Seconds after which a fork has to say where it is."""
CONTREE, HIGHS, CPSAT = ("--solver", "contree"), ("--solver", "highs"), ("--solver", "cp-sat")
ROWS = ("--formulation", "odd", "--warm-start", "none")
PHASES = {
    # What is asked, and for how long after the beginning of the phase the signal may come.
    "reading": ((CONTREE, (*HIGHS, *ROWS)), 0.4),
    "quick bounds": ((CONTREE, (*HIGHS, *ROWS)), 0.05),
    "native search": ((CONTREE, (*CPSAT, "--formulation", "odd")), 0.8),
    "solver": (((*HIGHS, *ROWS), (*HIGHS, *ROWS, "--isolate"), (*CPSAT, *ROWS)), 1.2),
    "writing": (((*CONTREE, "--time-limit", "0.1"), (*HIGHS, *ROWS, "--time-limit", "0.3")), 0.1),
}


def main() -> None:
    folder, table, seed, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    from treeform.cli import app, main  # noqa: F401 - imported once, and not in every fork

    for number in range(count):
        draw = random.Random(seed * 10**6 + number)
        phase = sys.argv[5] if len(sys.argv) > 5 else draw.choice(list(PHASES))
        ways, longest = PHASES[phase]
        words, sent = list(draw.choice(ways)), draw.choice([signal.SIGINT, signal.SIGTERM])
        moment, twice = draw.uniform(0, longest), draw.random() < 0.3
        here = folder / str(number)
        here.mkdir()
        outputs = ["--model", str(here / "model.json"), "--certificate", str(here / "certificate.json")]
        receiving, sending = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(receiving)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1):
                os.dup2(null, stream)
            os.dup2(os.open(here.with_suffix(".log"), os.O_CREAT | os.O_WRONLY), 2)
            os.environ["TMPDIR"] = str(here)
            signal.signal(
                signal.SIGUSR1, signal.SIG_IGN
            )  # when the handler is gone, at the end of the process
            faulthandler.register(signal.SIGUSR1, all_threads=True)
            tell_phases(sending)
            fit = ["treeform", "fit", table, "--target", "y", "--shape", "tree:4"]
            sys.argv = [*fit, *words, *outputs]
            main()
        os.close(sending)
        reached = wait_for(receiving, phase)
        time.sleep(moment)
        used = cpu_seconds(pid)
        os.kill(pid, sent)  # a zombie at least is there
        start = time.monotonic()
        if twice:
            time.sleep(0.05)
            os.kill(pid, sent)
        code, whole = end_of(pid)
        os.close(receiving)
        row = {"phase": phase, "reached": reached, "words": words, "signal": sent.name, "moment": moment}
        row |= {"twice": twice, "code": code, "cpu": whole - used}
        row |= {"waited": time.monotonic() - start, "files": sorted(os.listdir(here)), "left": left()}
        row["log"] = here.with_suffix(".log").read_text(errors="replace")[-2000:]
        print(json.dumps(row), flush=True)
        shutil.rmtree(here)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; a zombie has it still."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_of(pid: int) -> tuple[int, float]:
    """The exit code of a fork and its CPU time; one that takes long is asked what it does, which its log then shows."""
    asked, begun = False, time.monotonic()
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        if not asked and time.monotonic() - begun > LONG:
            os.kill(pid, signal.SIGUSR1)
            asked = True
        time.sleep(0.01)


def tell_phases(pipe: int) -> None:
    """Write a line into the pipe at the beginning of each phase of the command."""
    from treeform import cli
    from treeform.solve.ledger import Ledger
    from treeform.utils import files

    def tell(phase: str) -> None:
        os.write(pipe, f"{phase}\n".encode())

    set_phase, replace = Ledger.set_phase, files._replace

    def phase_of(self: Ledger, name: str) -> None:
        native = name.startswith("warm start") or name == "contree"
        tell("quick bounds" if name == "quick bounds" else "native search" if native else "solver")
        set_phase(self, name)

    def put(path: Path, content: bytes) -> None:
        tell("writing")
        replace(path, content)

    Ledger.set_phase = phase_of  # type: ignore[method-assign]
    files._replace = put
    program = cli._program

    def begin() -> None:
        tell("reading")
        program()

    # Before this the interpreter starts, which handles signals in its own way.
    cli._program = begin


def wait_for(pipe: int, phase: str) -> bool:
    """Whether the phase began; False where the command ended before."""
    heard = b""
    while f"{phase}\n".encode() not in heard:
        chunk = os.read(pipe, 1 << 12)
        if not chunk:
            return False
        heard += chunk
    return True


def left() -> list[str]:
    """Processes with the mark beside this one, after a moment to end."""
    found: list[str] = []
    for _ in range(200):
        found = []
        for one in Path("/proc").glob("[0-9]*"):
            try:
                marked = f"{MARK}={os.environ[MARK]}".encode() in (one / "environ").read_bytes()
            except OSError:
                continue
            if marked and one.name != str(os.getpid()):
                found.append(f"{one.name} {(one / 'stat').read_text()}")
        if not found:
            break
        time.sleep(0.1)
    return found


if __name__ == "__main__":
    main()
