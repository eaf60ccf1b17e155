"""Runs the command line in forks of one process, each ended by a signal at a drawn moment; one JSON line for each.

``python interrupted.py FOLDER TABLE SEED COUNT``. All processes that belong to it have the same mark.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

MARK = "TREEFORM_INTERRUPTED"
WAYS = (
    ["--solver", "contree"],
    ["--solver", "highs", "--formulation", "odd", "--warm-start", "none"],
    ["--solver", "highs", "--formulation", "odd", "--warm-start", "none", "--isolate"],
    ["--solver", "cp-sat", "--formulation", "odd"],
)
LONGEST = 2.5
"""Seconds until the signal."""


def main() -> None:
    folder, table, seed, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    from treeform.cli import app, main  # noqa: F401 - imported once, and not in every fork

    for number in range(count):
        draw = random.Random(seed * 10**6 + number)
        words = draw.choice(WAYS)
        sent, moment, twice = (
            draw.choice([signal.SIGINT, signal.SIGTERM]),
            draw.uniform(0, LONGEST),
            draw.random() < 0.3,
        )
        here = folder / str(number)
        here.mkdir()
        outputs = ["--model", str(here / "model.json"), "--certificate", str(here / "certificate.json")]
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1):
                os.dup2(null, stream)
            os.dup2(os.open(here.with_suffix(".log"), os.O_CREAT | os.O_WRONLY), 2)
            os.environ["TMPDIR"] = str(here)
            sys.argv = ["treeform", "fit", table, "--target", "y", "--shape", "tree:4", *words, *outputs]
            main()
        time.sleep(moment)
        os.kill(pid, sent)
        start = time.monotonic()
        if twice:
            time.sleep(0.05)
            os.kill(pid, sent)  # a zombie at least is there
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        row = {"words": words, "signal": sent.name, "moment": moment, "twice": twice, "code": code}
        row |= {"waited": time.monotonic() - start, "files": sorted(os.listdir(here)), "left": left()}
        row["log"] = here.with_suffix(".log").read_text(errors="replace")[-2000:]
        print(json.dumps(row), flush=True)
        shutil.rmtree(here)


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
