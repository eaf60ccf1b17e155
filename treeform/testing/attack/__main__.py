"""``python -m treeform.testing.attack``: run, resume, and print what was covered."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path

from treeform.testing.attack.cover import tables
from treeform.testing.attack.run import read_records, records


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m treeform.testing.attack", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="run attacks FIRST to FIRST + CASES - 1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("attack.jsonl"), help="JSON lines; resumed")
    parser.add_argument("--again", action="store_true", help="run those again that were wrong")
    parser.add_argument("--seconds", type=float, help="stop after so long, to be resumed")
    parser.add_argument("--report", action="store_true", help="only report what --out holds")
    parser.add_argument("--case", type=int, help="run this attack only, and show it")
    options = parser.parse_args(arguments)
    # A shell starts what runs in the background with Ctrl-C ignored, and attacks press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.case is not None:
        (record,) = records([options.case], options.seed)
        print(json.dumps(record, indent=1))
        return int("wrong" in record)
    known = read_records(options.out)
    if options.again:
        known = {n: r for n, r in known.items() if "wrong" not in r}
    if not options.report:
        wanted = [n for n in range(options.first, options.first + options.cases) if n not in known]
        began = time.monotonic()
        with options.out.open("a") as file:
            for record in records(wanted, options.seed):
                known[record["case"]] = record
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
                if "wrong" in record:
                    file.flush()
                    print(
                        record["case"], record["verb"], record["wrong"][0][:160], file=sys.stderr, flush=True
                    )
                if options.seconds is not None and time.monotonic() - began > options.seconds:
                    break
    print(tables(known.values()))
    return int(any("wrong" in record for record in known.values()))


if __name__ == "__main__":
    raise SystemExit(main())
