"""Wrong lines, drawn by lot, in the native core: each is compiled in a copy, and tests of its engine have to notice.

    python tests/support/native_mutants.py --count 12 --seed 1 --copy FOLDER --out native.jsonl

The copy is a worktree of this repository with an environment of its own (``.venv``), in which the package is installed
in place; ``ccache`` keeps what does not change. Only lines that compare, add or take the least of bounds are changed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BOUNDS = re.compile(r"bound|lower|upper|least|most|best|cost|limit|target|price", re.IGNORECASE)
CHANGES = (
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" \+ ", " - "), (r" - ", " + "),
    (r"std::min\(", "std::max("), (r"std::max\(", "std::min("), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" && ", " || "),
)  # fmt: skip
TESTS = {
    "contree": ["tests/engines/test_contree.py", "tests/solve/test_judges_claims.py"],
    "binary": ["tests/engines/test_binary_engine.py"],
    "diagram": ["tests/engines/test_diagram_engine.py", "tests/engines/test_diagram_passes.py"],
    "totals": ["tests/engines/test_totals.py", "tests/engines/test_continuous_totals.py"],
    "continuous_totals": ["tests/engines/test_continuous_totals.py"],
    "rup": ["tests/certify/test_proofs.py"],
    "regression": ["tests/engines/test_regression.py", "tests/solve/test_leaf_values.py"],
}
ALWAYS = ["tests/testing/test_attack.py", "tests/testing/test_differential.py"]


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


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copy", type=Path, required=True)
    parser.add_argument(
        "--build", default=".venv/bin/python -m pip install -q --no-deps --no-build-isolation -e ."
    )
    parser.add_argument("--out", type=Path, default=Path("native.jsonl"))
    options = parser.parse_args()
    for file, number, old, new in draw(options.count, options.seed):
        target, began = options.copy / file, time.monotonic()
        plain = target.read_text()
        lines = plain.splitlines(keepends=True)
        assert lines[number - 1].rstrip("\n") == old
        lines[number - 1] = new + "\n"
        target.write_text("".join(lines))
        try:
            built = subprocess.run(
                options.build, shell=True, cwd=options.copy, capture_output=True, text=True
            )
            said = "does not compile" if built.returncode else _tested(options.copy, file)
        finally:
            target.write_text(plain)
        entry = {"file": file, "line": number, "old": old.strip(), "new": new.strip(), "killed_by": said}
        with options.out.open("a") as out:
            out.write(json.dumps({**entry, "seconds": round(time.monotonic() - began)}) + "\n")


def _tested(copy: Path, file: str) -> str:
    """The first test that fails; empty where none does."""
    package = file.split("/")[2]
    tests = [*TESTS.get(package, [t for of in TESTS.values() for t in of]), *ALWAYS]
    command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=1200)
    found = re.search(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    return "" if done.returncode == 0 else (found[1] if found else f"ended with {done.returncode}")


if __name__ == "__main__":
    main()
