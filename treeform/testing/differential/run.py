"""The standing run: cases in worker processes, one JSON line each, resumed where it stopped.

A worker that hangs or dies is replaced, and the case that it was at is recorded as such.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from treeform.testing.differential.cases import BUNDLE, draw_bundle, draw_case
from treeform.testing.differential.drive import run
from treeform.testing.differential.world import World

PATIENCE = 180.0
"""Seconds without news after which a worker is given up."""
TURNS = 40
"""Bundles after which a worker is replaced, so that nothing piles up in solvers' libraries."""

Record = dict[str, Any]


def read_records(path: Path) -> dict[int, Record]:
    """The last record of every case; a line cut off by an interruption is passed over."""
    records: dict[int, Record] = {}
    if path.exists():
        with path.open() as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    continue
                if "case" in record:
                    records[record["case"]] = record
    return records


def run_case(seed: int, number: int, bundle: Any = None, world: World | None = None) -> Record:
    """One case as a record."""
    shared = draw_bundle(seed, number // BUNDLE) if bundle is None else bundle
    case = draw_case(seed, number, shared)
    cpu = time.process_time()
    verdict = run(case, world or World(shared))
    record: Record = {
        "case": number,
        "seed": seed,
        "way": case.way.text,
        "shape": case.shape.text,
        "goal": case.goal.text,
        "requirements": "+".join(sorted(spec["kind"] for spec in case.requirements)),
        "status": verdict.status,
        "ms": round(1000 * verdict.seconds, 1),
        "cpu": round(1000 * (time.process_time() - cpu), 1),
    }
    if verdict.checked is not None:
        record["checked"] = verdict.checked
    if verdict.refusal is not None:
        record["refusal"] = verdict.refusal
    if verdict.wrong:
        record["wrong"] = verdict.wrong
        record["what"] = case.to_json()
    return record


def _work(seed: int, connection: Connection) -> None:
    """A worker: bundles in, one record per case out, and None at the end of each bundle."""
    while True:
        job = connection.recv()
        if job is None:
            return
        bundle = draw_bundle(seed, job[0] // BUNDLE)
        world = World(bundle)
        for number in job:
            connection.send(("begin", number))
            connection.send(("done", run_case(seed, number, bundle, world)))
        connection.send(("idle", None))


@dataclass
class _Worker:
    process: Any
    connection: Connection
    jobs_left: int
    open_cases: list[int]
    at: int | None = None
    heard: float = 0.0

    @classmethod
    def start(cls, seed: int) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(seed, theirs), daemon=False)
        process.start()
        theirs.close()
        return cls(process, ours, TURNS, [], None, time.monotonic())

    def stop(self) -> None:
        """End the process, kindly if it listens."""
        with suppress(OSError):
            self.connection.send(None)
        self.process.join(2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


def attack(
    cases: range | list[int],
    out: Path,
    seed: int = 0,
    processes: int = 1,
    again: bool = False,
    announce: Callable[[str], None] = print,
    seconds: float | None = None,
) -> dict[int, Record]:
    """Run the cases that ``out`` has no record of.

    Returns the last record of every case asked for that has one.

    Parameters
    ----------
    out : Path
        JSON lines, appended to.
    again : bool
        Whether the cases whose last record disagrees are run again.
    announce : callable
        Takes a line of progress.
    seconds : float, optional
        Stop after so long; what is left is run the next time.
    """
    records = read_records(out)
    alien = {record["seed"] for record in records.values()} - {seed}
    if alien:
        raise SystemExit(f"{out} holds cases of seed {sorted(alien)}, not {seed}")
    missing = [n for n in cases if n not in records or (again and "wrong" in records[n])]
    jobs = _bundles(missing)
    announce(f"{len(missing):,} of {len(cases):,} cases to run")
    out.parent.mkdir(parents=True, exist_ok=True)
    started, done, reported = time.monotonic(), 0, time.monotonic()
    workers: list[_Worker] = []
    with out.open("a") as file:
        try:
            workers = [_Worker.start(seed) for _ in range(min(processes, max(1, len(missing))))]
            for worker in workers:
                _next(worker, jobs)
            while workers:
                ready = wait([w.connection for w in workers], timeout=1.0)
                for worker in list(workers):
                    for record in _listen(worker, worker.connection in ready, seed):
                        records[record["case"]] = record
                        file.write(json.dumps(record, separators=(",", ":")) + "\n")
                        done += 1
                        if "wrong" in record:
                            announce(f"case {record['case']}: {record['way']}: {record['wrong'][0]}")
                    if worker.open_cases and worker.process.is_alive():
                        continue
                    over = seconds is not None and time.monotonic() - started > seconds
                    if (
                        worker.open_cases and not over
                    ):  # it died or was given up: go on behind the case it was at
                        left, jobs_left = worker.open_cases, iter([worker.open_cases])
                        worker.stop()
                        fresh = _Worker.start(seed)
                        workers[workers.index(worker)] = fresh
                        assert left
                        _next(fresh, jobs_left)
                        continue
                    if over or worker.jobs_left <= 0 or not worker.process.is_alive():
                        worker.stop()
                        fresh_or_none = None if over else _Worker.start(seed)
                        if fresh_or_none is None or not _next(fresh_or_none, jobs):
                            if fresh_or_none is not None:
                                fresh_or_none.stop()
                            workers.remove(worker)
                        else:
                            workers[workers.index(worker)] = fresh_or_none
                    elif not _next(worker, jobs):
                        worker.stop()
                        workers.remove(worker)
                file.flush()
                if time.monotonic() - reported > 30:
                    reported = time.monotonic()
                    rate = done / (reported - started)
                    bad = sum("wrong" in r for r in records.values())
                    announce(f"{done:,} of {len(missing):,} cases, {rate:.1f} a second, {bad} disagree")
        finally:
            for worker in workers:
                worker.stop()
    wanted = set(cases)
    return {n: r for n, r in records.items() if n in wanted}


def _bundles(numbers: list[int]) -> Iterator[list[int]]:
    """The numbers by bundle."""
    job: list[int] = []
    for number in sorted(numbers):
        if job and job[0] // BUNDLE != number // BUNDLE:
            yield job
            job = []
        job.append(number)
    if job:
        yield job


def _next(worker: _Worker, jobs: Iterator[list[int]]) -> bool:
    job = next(jobs, None)
    if job is None:
        return False
    worker.jobs_left -= 1
    worker.open_cases = list(job)
    worker.heard = time.monotonic()
    worker.connection.send(job)
    return True


def _listen(worker: _Worker, ready: bool, seed: int) -> Iterator[Record]:
    """Records that a worker sent; a record of its end when it died or went silent in the midst of a case."""
    try:
        while ready and worker.connection.poll():
            what, value = worker.connection.recv()
            worker.heard = time.monotonic()
            if what == "begin":
                worker.at = value
            elif what == "done":
                worker.open_cases.remove(value["case"])
                worker.at = None
                yield value
    except (EOFError, OSError):
        pass
    silent = time.monotonic() - worker.heard > PATIENCE
    if not worker.open_cases or (worker.process.is_alive() and not silent):
        return
    if silent:
        worker.process.kill()
    worker.process.join()
    code = worker.process.exitcode
    at = worker.at if worker.at is not None else worker.open_cases[0]
    worker.open_cases.remove(at)
    case = draw_case(seed, at)
    why = f"no answer within {PATIENCE:.0f} s" if silent else f"the process ended with code {code}"
    yield {
        "case": at,
        "seed": seed,
        "way": case.way.text,
        "shape": case.shape.text,
        "goal": case.goal.text,
        "requirements": "+".join(sorted(spec["kind"] for spec in case.requirements)),
        "status": "lost",
        "ms": 0.0,
        "cpu": 0.0,
        "wrong": [why],
        "what": case.to_json(),
    }
