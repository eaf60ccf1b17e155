"""Wrong lines, drawn by lot, in the native core: each is compiled in a copy, and tests of its engine have to notice.

    python tests/support/native_mutants.py --count 40 --seed 1 --copy FOLDER --out native.jsonl
    python tests/support/native_mutants.py --out native.jsonl --report

The copy is a worktree of this repository with an environment of its own (``.venv``), in which the package is installed
in place. Each file is compiled alone there, at -O1 and by ``ccache`` where that is installed: a wrong line costs
what includes it. Only lines that compare, add or take the least of bounds are changed. A run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BOUNDS = re.compile(r"bound|lower|upper|least|most|best|cost|limit|target|price", re.IGNORECASE)
CHANGES = (
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" \+ ", " - "), (r" - ", " + "),
    (r"std::min\(", "std::max("), (r"std::max\(", "std::min("), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" && ", " || "),
)  # fmt: skip
TESTS = {
    "and_or": ["tests/engines/test_and_or_intervals.py", "tests/tradeoff/test_near_optimal.py"],
    "binary": ["tests/engines/test_binary_engine.py", "tests/engines/test_binary_engine_run.py",
               "tests/distribute/test_distributed_binary.py"],
    "common": ["tests/native/test_bindings.py", "tests/engines/test_memory.py"],
    "contree": ["tests/engines/test_contree.py", "tests/engines/test_contree_faces.py"],
    "continuous_totals": ["tests/engines/test_continuous_totals.py", "tests/engines/test_continuous_support.py"],
    "deep": ["tests/engines/test_deep_trees.py", "tests/engines/test_deep_regression.py"],
    "diagram": ["tests/engines/test_diagram_engine.py", "tests/engines/test_diagram_passes.py",
                "tests/engines/test_diagram_regions.py", "tests/engines/test_diagram_intervals.py",
                "tests/distribute/test_distributed_diagrams.py"],
    "regression": ["tests/engines/test_regression.py", "tests/solve/test_leaf_values.py"],
    "rup": ["tests/certify/test_proofs.py"],
    "totals": ["tests/engines/test_totals.py", "tests/engines/test_continuous_totals.py",
               "tests/distribute/test_distributed_totals.py"],
}  # fmt: skip
ALWAYS = [
    "tests/native/test_vector_paths.py",
    "tests/testing/test_attack.py",
    "tests/testing/test_differential.py",
]
SECONDS = 600
"""Of processor time for the tests of one mutant; one that does not end is noticed."""
MEMORY = 6 << 30
BUILD = Path("build/mutants")


def draw(count: int, seed: int) -> list[tuple[str, int, str, str]]:
    """(file, line, old, new) of so many lines about bounds."""
    every = []
    for path in sorted((ROOT / "treeform/native").rglob("*.[ch]pp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.partition("//")[0]
            if BOUNDS.search(code) and not code.lstrip().startswith(("#", "*", "static_assert")):
                for old, new in CHANGES:
                    changed = re.sub(old, new, code, count=1)
                    if changed != code and "template" not in code:
                        every.append((str(path.relative_to(ROOT)), number, line, changed))
    return random.Random(seed).sample(every, count)


def configure(copy: Path) -> None:
    """A build folder of its own: files apart, compiled quickly."""
    python = copy / ".venv/bin/python"
    command = ["cmake", "-G", "Ninja", "-S", "treeform/native", "-B", BUILD, f"-DPython_EXECUTABLE={python}",
               "-DTREEFORM_UNITY=OFF", "-DTREEFORM_OPTIMIZE=-O1"]  # fmt: skip
    command += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(command, cwd=copy, check=True, capture_output=True)


def built(copy: Path) -> bool:
    """Whether the core compiles as the copy has it; then it is the one that is installed there."""
    made = subprocess.run(["ninja", "-C", BUILD, "-j2", "_core"], cwd=copy, capture_output=True)
    if made.returncode:
        return False
    (core,) = (copy / BUILD).glob("_core*.so")
    (installed,) = (copy / ".venv").glob("lib/python3*/site-packages/treeform/_core*.so")
    installed.unlink()  # another process may have it open
    shutil.copy2(core, installed)
    return True


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copy", type=Path)
    parser.add_argument("--out", type=Path, default=Path("native.jsonl"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    known = (
        [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    )
    if options.report:
        print(report(known))
        return
    copy = options.copy.resolve()
    configure(copy)
    done = {(one["file"], one["line"], one["new"]) for one in known}
    for file, number, old, new in draw(options.count, options.seed):
        if (file, number, new.strip()) in done:
            continue
        target = copy / file
        plain = target.read_text()
        lines = plain.splitlines(keepends=True)
        assert lines[number - 1].rstrip("\n") == old, f"{file}:{number} is another line in the copy"
        lines[number - 1] = new + "\n"
        before = _used()
        target.write_text("".join(lines))
        try:
            said = tested(copy, file) if built(copy) else "does not compile"
        finally:
            target.write_text(plain)
        entry = {"file": file, "line": number, "old": old.strip(), "new": new.strip(), "killed_by": said}
        with options.out.open("a") as out:
            out.write(json.dumps({**entry, "seconds": round(_used() - before)}) + "\n")
    built(copy)


def _used() -> float:
    """Seconds of processor time of all children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tested(copy: Path, file: str) -> str:
    """The first test that fails, or how the tests ended; empty where all pass."""
    package = file.split("/")[2]
    for tests in (TESTS[package], ALWAYS):
        command = [
            ".venv/bin/python",
            "-m",
            "pytest",
            "-q",
            "-x",
            "-n0",
            "-p",
            "no:cacheprovider",
            "--timeout=0",
        ]
        done = subprocess.run(
            [*command, *tests], cwd=copy, capture_output=True, text=True, preexec_fn=_limited
        )
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        if found:
            return found[1]
        if done.returncode:
            name = signal.Signals(-done.returncode).name if done.returncode < 0 else str(done.returncode)
            return f"ended with {name}"
    return ""


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 10))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def report(found: list[dict[str, object]]) -> str:
    """How many were noticed in each folder, and the lines that were not."""
    drawn = [one for one in found if one["killed_by"] != "does not compile"]
    alive = [one for one in drawn if not one["killed_by"]]
    folders = Counter(str(one["file"]).split("/")[2] for one in drawn)
    missed = Counter(str(one["file"]).split("/")[2] for one in alive)
    out = [f"{len(drawn)} lines, {len(drawn) - len(alive)} noticed"]
    out += [f"  {folder}: {count - missed[folder]} of {count}" for folder, count in sorted(folders.items())]
    out += [f"{one['file']}:{one['line']}\n  {one['old']}\n  {one['new']}" for one in alive]
    return "\n".join(out)


if __name__ == "__main__":
    main()
