"""Pages of reports in headless Chromium."""

from __future__ import annotations

import os
import shutil

import pytest

from treeform import report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not here: pip install 'treeform[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("Chromium is not here")
    with api.sync_playwright() as started:
        made = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield made
        made.close()


@pytest.fixture(scope="module")
def shown(browser):
    """Opens the page of a model; every message of the console and every request but the page itself is an error."""
    opened = []

    def show(facts: report.Facts, width: int = 1200, height: int = 900):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.faults = []
        page.on("console", lambda message: page.faults.append(message.text))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda request: page.faults.append(request.url))
        page.set_content(report.render_html(facts), wait_until="load")
        opened.append(page)
        return page

    yield show
    for page in opened:
        faults = page.faults
        page.close()
        assert faults == []
