"""``python -m treeform.testing.differential``: run, resume, report, or reproduce one case."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from treeform.testing.differential.cases import case_from_json, draw_case
from treeform.testing.differential.report import summary
from treeform.testing.differential.run import attack, read_records, run_case
from treeform.testing.differential.shrink import as_code, shrink


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 when something disagrees."""
    parser = argparse.ArgumentParser(prog="python -m treeform.testing.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="run cases FIRST to FIRST + CASES - 1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("differential.jsonl"), help="JSON lines; resumed")
    parser.add_argument("--again", action="store_true", help="run the cases that disagreed again")
    parser.add_argument("--seconds", type=float, help="stop after so long, to be resumed")
    parser.add_argument("--report", action="store_true", help="only report what --out holds")
    parser.add_argument("--case", type=int, help="only run this case, shrink it and show it")
    options = parser.parse_args(arguments)
    if options.case is not None:
        return _one(options.seed, options.case)
    if options.report:
        records = read_records(options.out)
    else:
        began = time.monotonic()
        numbers = range(options.first, options.first + options.cases)
        records = attack(
            numbers, options.out, options.seed, options.processes, options.again, _say, options.seconds
        )
        _say(f"{time.monotonic() - began:,.0f} s")
    print(summary(records.values()))
    return int(any("wrong" in record for record in records.values()))


def _one(seed: int, number: int) -> int:
    record = run_case(seed, number)
    print(json.dumps({key: value for key, value in record.items() if key != "what"}, indent=1))
    case = case_from_json(record["what"]) if "what" in record else draw_case(seed, number)
    if "wrong" in record:
        case, wrong = shrink(case)
        print(*wrong, sep="\n")
    print(as_code(case))
    return int("wrong" in record)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
