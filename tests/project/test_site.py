"""The published documentation: its versions and its change log."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from repository import ROOT

import treeform as tf
from treeform.language.objective import Term

sys.path.append(str(ROOT / "docs" / "_ext"))

import gallery_examples
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


def test_every_requirement_and_objective_has_an_example_in_the_reference() -> None:
    calls = gallery_examples.constructed()
    kinds = [
        getattr(tf, name)
        for name in dir(tf)
        if isinstance(getattr(tf, name), type) and issubclass(getattr(tf, name), tf.Requirement | Term)
    ]
    without = {kind.__name__ for kind in kinds if kind.__name__ not in calls and ">>>" not in (kind.__doc__ or "")}
    assert without == {"MeanParity", "Requirement", "Soft"}
    lines: list[str] = []
    gallery_examples.add_example(None, "class", "treeform.MinSupport", tf.MinSupport, None, lines)
    assert "   problem += tf.MinSupport('0.1')" in lines
    gallery_examples.add_example(None, "class", "treeform.Tree", tf.Tree, None, others := [])
    assert not others
