"""The targets of ``tests/support/fuzz.py``: they make examples, and none of the first ones is a fault."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import fuzz
import fuzz_targets
import pytest

SOME = 12


@pytest.mark.drawn(1)
@pytest.mark.parametrize("target", list(fuzz_targets.TARGETS))
def test_some_examples_of_each_target(target: str, request: pytest.FixtureRequest) -> None:
    draw, run = fuzz_targets.TARGETS[target]()
    first = 1000 * request.config.getoption("draw")
    for seed in range(first, first + SOME):
        run(draw(random.Random(seed)))


FAULTY = """
import os, sys, time
sys.argv[1:] = ["faulty", "60", sys.argv[1]]
import fuzz, types
fuzz.STANDS_STILL, fuzz.PAUSE = 0.5, 0.02
def run(example):
    if example == 3:
        raise KeyError("x")
    if example == 6:
        os._exit(7)
    if example == 9:
        time.sleep(60)
    if example == 12:
        os._exit(0)
    return True
first = []
def draw(rng):
    return counted()
def counted():
    path = sys.argv[3] + "/count"
    with open(path, "a") as stream:
        stream.write(".")
    return os.path.getsize(path)
targets = types.ModuleType("fuzz_targets")
targets.TARGETS = {"faulty": lambda: (draw, run)}
sys.modules["fuzz_targets"] = targets
fuzz.main()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_faults_are_written_down_and_the_next_examples_follow(tmp_path: Path) -> None:
    words = [sys.executable, "-c", FAULTY, str(tmp_path)]
    env = {"PYTHONPATH": str(Path(fuzz.__file__).parent)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["examples"], row["exceptions"], row["processes_lost"]) == (11, 1, 2), done.stderr
    faults = [json.loads(line) for line in (tmp_path / "faulty.faults.jsonl").read_text().splitlines()]
    assert [fault["kind"].split(" at ")[0] for fault in faults] == [
        "KeyError",
        "the process ended with 7",
        "it ran on",
    ]
    assert faults[0]["example"] == "3"
