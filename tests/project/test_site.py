"""The published documentation: its versions and its change log."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from repository import ROOT

sys.path.append(str(ROOT / "docs" / "_ext"))

import project_pages
import site_versions

ADDRESS = "https://example.org/treeform"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for version in ("dev", "0.9.0", "0.10.0", "notes", "0.10.0rc1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").write_text(version, encoding="utf-8")
    return tmp_path


def test_a_release_becomes_the_stable_version(site: Path) -> None:
    site_versions.write(site, ADDRESS + "/")
    entries = json.loads((site / "switcher.json").read_text(encoding="utf-8"))
    assert [entry["version"] for entry in entries] == ["dev", "0.10.0", "0.9.0"]
    assert [entry["version"] for entry in entries if entry.get("preferred")] == ["0.10.0"]
    assert all(entry["url"] == f"{ADDRESS}/{entry['version']}/" for entry in entries)
    assert (site / "stable" / "index.html").read_text(encoding="utf-8") == "0.10.0"
    (site / "0.11.0").mkdir()
    (site / "0.11.0" / "index.html").write_text("0.11.0", encoding="utf-8")
    site_versions.write(site, ADDRESS)
    assert (site / "stable" / "index.html").read_text(encoding="utf-8") == "0.11.0"
    assert "url=stable/" in (site / "index.html").read_text(encoding="utf-8")


def test_before_the_first_release_the_site_begins_with_dev(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    site_versions.write(tmp_path, ADDRESS)
    assert "url=dev/" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert not (tmp_path / "stable").exists()


def test_the_markdown_of_the_change_log_becomes_restructuredtext() -> None:
    shown = project_pages.as_rst("## New\n\n- `a*b`s of x_ and *y* [there](https://a.b)\n  more `c`.")
    assert shown == "\n".join(
        ["", "New", "---", "", "", r"- ``a*b``\ s of x\_ and \*y\* `there <https://a.b>`__", "  more ``c``."]
    )
