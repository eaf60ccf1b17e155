"""Native engines where the system gives no more memory: each ends with a limit, and keeps what it began with."""

from __future__ import annotations

import platform

import pytest
from short_memory import SPARE, ended


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs Linux with glibc: all such jobs of CI")
def test_a_lack_of_memory_is_a_limit_and_no_error() -> None:
    runs = ended()
    assert len({run[0] for run in runs}) == 7 and len(runs) == 13 * len(SPARE)
    for engine, threads, megabytes, status, limit, has_model in runs:
        run = (engine, threads, megabytes)
        assert limit == "memory" and status in ("feasible", "unknown", "error"), run
        # With less, not even the constant model can be judged, or the problem be stated.
        assert int(megabytes) < SPARE[-1] or (status, has_model) == ("feasible", "True"), run
