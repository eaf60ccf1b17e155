"""What the repository holds: plain words, no large file, one version, news of one line, links to sources."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

sys.path += [str(ROOT / ".ci"), str(ROOT / "docs" / "_ext")]

import release_files
import source_links

LARGEST = 500_000
TEXT = {".rst", ".md", ".py", ".hpp", ".cpp"}
PHRASES = ["as it likes", "comes along", "enter a claim", "faces of", "honours?", "(?:is|are) worth",
           "rows over totals", "told of", "what is known"]  # fmt: skip
"""Phrases that a reader has to read twice, in all text; the field has a term for each."""
WORDS = [*PHRASES, "roads?", "somebody", "whoever"]
"""The same in pages, where no name of the code has such a word."""


def tracked() -> list[Path]:
    """The files of the repository; in a folder that is no checkout the tests that need them are skipped."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def unwanted(text: str, phrases: list[str]) -> list[str]:
    """The lines with an unwanted word, each with its number."""
    found = re.compile(rf"\b(?:{'|'.join(phrases)})\b".replace(" ", r"\s+"), re.I)
    return [f"{text.count(chr(10), 0, m.start()) + 1}: {m[0]}" for m in found.finditer(text)]


def test_unwanted_words_are_found_across_lines() -> None:
    assert unwanted("one\nthat is\nworth it, Honours", PHRASES) == ["2: is\nworth", "3: Honours"]
    assert unwanted("crossroads, worthy", WORDS) == []


def test_no_text_has_an_unwanted_word() -> None:
    pages = [p for p in tracked() if p.suffix in TEXT and p != Path(__file__)]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in pages
        for line in unwanted(
            path.read_text(encoding="utf-8"), WORDS if path.suffix in {".rst", ".md"} else PHRASES
        )
    ]
    assert not found, "\n".join(found)


def test_the_top_level_is_fixed() -> None:
    parts = [path.relative_to(ROOT).parts for path in tracked()]
    folders = {first for first, *rest in parts if rest and not first.startswith(".")}
    assert folders == {"treeform", "formulations", "examples", "tests", "docs", "benchmarks"}


def test_no_file_is_large() -> None:
    large = {str(p.relative_to(ROOT)): p.stat().st_size for p in tracked() if p.stat().st_size > LARGEST}
    assert not large, "figures are packed (gzip -9n), drawings simplified"


def test_the_files_that_scripts_of_ci_name_are_there() -> None:
    scripts = [path for path in (ROOT / ".ci").glob("*") if path.is_file()]
    named = {name for path in scripts for name in re.findall(r"\btests/[\w/]+\.py\b", path.read_text())}
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_file_names_one_version() -> None:
    assert release_files.version()


def test_files_that_a_release_must_not_hold_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = dict.fromkeys(release_files.NEEDED[".whl"], 1)
    monkeypatch.setattr(release_files, "described", lambda _: "# treeform")
    for extra, fault in {
        "treeform/native/x.hpp": "is not needed",
        "treeform/big.csv": "600,000 bytes",
        "treeform/_core.so": None,
    }.items():
        monkeypatch.setattr(release_files, "contents", lambda _, extra=extra: needed | {extra: 600_000})
        faults = release_files.faults(Path("x.whl"))
        assert any(fault in one for one in faults) if fault else not faults
    monkeypatch.setattr(release_files, "contents", lambda _: {".ci/run": 1, "tests/project/test_x.py": 1})
    assert sum("is not needed" in one for one in release_files.faults(Path("x.tar.gz"))) == 2
    monkeypatch.setattr(release_files, "described", lambda _: "# treeform\n[a](docs/x.rst) [b](https://host/)")
    assert "the description links to docs/x.rst" in release_files.faults(Path("x.tar.gz"))
    assert sum("links to" in one for one in release_files.faults(Path("x.tar.gz"))) == 1


def test_news_are_lines_of_a_known_kind() -> None:
    for path in (ROOT / "docs" / "changes").iterdir():
        if path.name not in ("README.md", "template.md"):
            assert re.fullmatch(r"\+?[\w-]+\.(added|changed|deprecated|removed|fixed)\.md", path.name)
            assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1


def test_links_to_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    info = {"module": "treeform.certify.check", "fullname": "check"}
    monkeypatch.delenv("DOCS_SOURCE", raising=False)
    assert source_links.link_to("py", info) is None
    monkeypatch.setenv("DOCS_SOURCE", "https://host/files/")
    link = source_links.link_to("py", info)
    assert link is not None
    found = re.fullmatch(r"https://host/files/(treeform/certify/check\.py)#L(\d+)-L(\d+)", link)
    assert found is not None
    assert (ROOT / found[1]).read_text(encoding="utf-8").splitlines()[int(found[2]) - 1].startswith("def check(")
    assert source_links.link_to("py", {"module": "treeform", "fullname": "nothing"}) is None
