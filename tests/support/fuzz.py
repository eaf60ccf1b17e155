"""Fuzzing by the clock: ``python tests/support/fuzz.py TARGET SECONDS FOLDER``, with a target of `fuzz_targets`.

Every example is made from a number, its seed. A child process does the examples. An exception that is not one of ours
is written down at once, with the example, and the child goes on. Where the child dies, or an example runs on, this
process writes down the seed and starts another child. ``python tests/support/fuzz.py TARGET --seed SEED`` does one
example again.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

MEMORY = 3 << 30
"""Bytes of data that a child may have."""
LONGEST = 60.0
"""CPU seconds of one example; it runs on if it takes more."""
STANDS_STILL = 300.0
"""Seconds of one example, whatever the CPU does."""
PAUSE = 0.5
WRITTEN = 5
"""Faults of one kind that are written down; the others are counted."""
LAYOUT = struct.Struct("qqqqd")
"""Examples, accepted ones, faults, the seed of the example in work, and when it began."""


def examples(target: str, first: int, until: float, shared: mmap.mmap, faults: Path) -> None:
    """Examples from the seed ``first`` on, until the monotonic clock reads ``until``."""
    from fuzz_targets import TARGETS

    draw, run = TARGETS[target]()
    kinds: Counter[str] = Counter()
    done, accepted, wrong, *_ = LAYOUT.unpack_from(shared)
    seed = first
    while (now := time.monotonic()) < until:
        LAYOUT.pack_into(shared, 0, done, accepted, wrong, seed, now)
        example: object = None
        try:
            example = draw(random.Random(seed))
            accepted += bool(run(example))
        except Exception as error:
            wrong += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {last.filename}:{last.lineno}"
            kinds[kind] += 1
            if kinds[kind] <= WRITTEN:
                note(
                    faults, seed=seed, kind=kind, trace=traceback.format_exc(), example=repr(example)[:20_000]
                )
        done, seed = done + 1, seed + 1
    LAYOUT.pack_into(shared, 0, done, accepted, wrong, -1, now)


def note(faults: Path, **what: object) -> None:
    """Add a fault to the file, for good."""
    with faults.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(what) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def child(target: str, first: int, until: float, shared: mmap.mmap, faults: Path) -> int:
    """Start a process that does examples."""
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        code = 1
        try:
            examples(target, first, until, shared, faults)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return pid


def watched(pid: int, shared: mmap.mmap, until: float) -> str | None:
    """Wait for the process; why it ended before the time, if it did."""
    seed_before, cpu_before = None, 0.0
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return None if code == 0 else f"the process ended with {code}"
        *_, seed, began = LAYOUT.unpack_from(shared)
        if seed != seed_before:
            seed_before, cpu_before = seed, cpu_seconds(pid)
        runs_on = cpu_seconds(pid) - cpu_before > LONGEST or (
            began and time.monotonic() - began > STANDS_STILL
        )
        if runs_on or time.monotonic() > until + STANDS_STILL:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "it ran on"
        time.sleep(PAUSE)


def main() -> None:
    target = sys.argv[1]
    if sys.argv[2] == "--seed":
        from fuzz_targets import TARGETS

        draw, run = TARGETS[target]()
        example = draw(random.Random(int(sys.argv[3])))
        print(repr(example))
        print("accepted" if run(example) else "refused")
        return
    seconds, folder = float(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    faults, first, began = folder / f"{target}.faults.jsonl", time.time_ns() // 1000, time.monotonic()
    shared, until, lost = mmap.mmap(-1, LAYOUT.size), began + seconds, 0
    seed = first
    while time.monotonic() < until:
        why = watched(child(target, seed, until, shared, faults), shared, until)
        if why is None:
            break
        done, accepted, wrong, at, _ = LAYOUT.unpack_from(shared)
        note(faults, seed=at, kind=why)
        lost, seed = lost + 1, max(at, seed) + 1
        LAYOUT.pack_into(shared, 0, done + 1, accepted, wrong, at, 0.0)
        time.sleep(PAUSE)  # a child that cannot begin is not started a thousand times
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    done, accepted, wrong, *_ = LAYOUT.unpack_from(shared)
    row = {
        "target": target,
        "first_seed": first,
        "wall_seconds": round(time.monotonic() - began),
        "cpu_seconds": round(used.ru_utime + used.ru_stime),
        "examples": done,
        "accepted": accepted,
        "exceptions": wrong,
        "processes_lost": lost,
        "most_megabytes": used.ru_maxrss // 1024,
    }
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
