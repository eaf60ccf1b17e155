"""A measurement in a copy of the process."""

from __future__ import annotations

import sys

import pytest
from repository import ROOT

sys.path.append(str(ROOT))

from benchmarks.harness import in_fork


def _busy() -> None:
    while True:
        pass


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of copying a process with threads
def test_a_copy_of_the_process_is_limited_in_cpu_seconds() -> None:
    assert in_fork(max, 1, 2, seconds=5).answer == 2
    late = in_fork(_busy, seconds=1)
    assert (late.answer, late.how) == (None, "time")
    with pytest.raises(ZeroDivisionError):
        in_fork(divmod, 1, 0, seconds=5)
