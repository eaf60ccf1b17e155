"""``pytest --shuffle SEED``: tests in an order drawn with that seed, to find those that depend on what ran before."""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("drawing").addoption(
        "--shuffle", type=int, metavar="SEED", help="run the tests in an order drawn with that seed"
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("shuffle")
    return None if seed is None else f"order of tests: --shuffle {seed}"


@pytest.hookimpl(trylast=True)  # what runs does not depend on the order
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)
