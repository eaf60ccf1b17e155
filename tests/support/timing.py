"""Assertions on seconds, which hold on a machine that is not busy, and waiting for what another thread does.

A test's verdict depends on the code alone. So how long something took is asserted with ``pytest --timed`` only, for an
idle machine; without it such a test asserts all the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

Timed = Callable[[float, float], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("timing").addoption(
        "--timed", action="store_true", help="assert seconds, too: for a machine without other work"
    )


@pytest.fixture
def timed(request: pytest.FixtureRequest) -> Timed:
    """``timed(seconds, most)``: with ``--timed``, assert that it took less."""

    def check(seconds: float, most: float) -> None:
        assert seconds < most or not request.config.getoption("timed"), f"{seconds:.2f} s, of {most} at most"

    return check


def wait_until(condition: Callable[[], object], seconds: float = 240.0) -> bool:
    """Whether the condition comes true; after so many seconds it is a fault of the code and not of the machine."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return bool(condition())
        time.sleep(0.01)
    return True
