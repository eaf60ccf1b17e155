"""What a release holds: one version everywhere, all that is needed, nothing large, nothing of the repository alone.

python .ci/release_files.py FILE...     checks source distributions (.tar.gz) and wheels (.whl)
python .ci/release_files.py --version   prints the version
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 500_000
"""Bytes of a file; compiled code may have more."""

NEEDED = {
    ".gz": ["pyproject.toml", "LICENSE", "README.md", "DESCRIPTION.md", "CHANGELOG.md",
            "treeform/native/CMakeLists.txt", "treeform/formulations/odd/__init__.py", "examples/credit.toml",
            "tests/conftest.py"],
    ".whl": ["treeform/__init__.py", "treeform/py.typed", "treeform/_core.pyi", "treeform/formulations/odd/__init__.py",
             "treeform/report/scripts/explore.js"],
}  # fmt: skip
REFUSED = {
    ".gz": r"(\.ci|\.github|benchmarks|docs|build|formulations|tests/project)/|\.(so|pyc)$|\.[^/]*$(?<!\.\w)",
    ".whl": r"treeform/native/|tests/|examples/|treeform/testing/(attack|differential)/|\.(pyc|cpp|hpp)$",
}


def version() -> str:
    """The one version that all files name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for name, pattern in {
        "treeform/__init__.py": r'^__version__ = "(.*)"$',
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## (\S+)",
    }.items():
        found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
        if found is None or found[1] != project:
            raise SystemExit(f"{name} names the version {found and found[1]}, pyproject.toml {project}")
    return str(project)


def contents(path: Path) -> dict[str, int]:
    """Names and sizes of the files of an archive, without the folder in which a source distribution has them."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return {info.filename: info.file_size for info in archive.infolist()}
    with tarfile.open(path) as archive:
        return {m.name.partition("/")[2]: m.size for m in archive.getmembers() if m.isfile()}


def described(path: Path) -> str:
    """The description that an index shows: what follows the fields of the metadata."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return archive.read(name).decode().partition("\n\n")[2]
    with tarfile.open(path) as archive:
        member = next(m for m in archive.getmembers() if m.name.count("/") == 1 and m.name.endswith("/PKG-INFO"))
        found = archive.extractfile(member)
        assert found is not None
        return found.read().decode().partition("\n\n")[2]


def broken_links(text: str) -> list[str]:
    """Links and pictures that lead nowhere outside of the repository."""
    return re.findall(r"\]\((?!https?://)([^)]*)\)", text)


def faults(path: Path) -> list[str]:
    """What is wrong with a file of a release."""
    files, kind = contents(path), path.suffix
    text = described(path)
    found = [f"the description links to {link}" for link in broken_links(text)]
    found += [] if text.startswith("# treeform") else ["it has no description"]
    found += [f"{name} is missing" for name in NEEDED[kind] if name not in files]
    found += [f"{name} is not needed" for name in files if re.match(REFUSED[kind], name)]
    large = {
        name: size for name, size in files.items() if size > LARGEST and not name.endswith((".so", ".pyd"))
    }
    return found + [f"{name} has {size:,} bytes" for name, size in large.items()]


def main(*words: str) -> None:
    """Check the files that are named."""
    if words == ("--version",):
        print(version())
        return
    failed = [f"{word}: {fault}" for word in words for fault in faults(Path(word))]
    for word in words:
        print(f"{Path(word).name}: {len(contents(Path(word)))} files, {Path(word).stat().st_size:,} bytes")
    if failed or version() not in Path(words[0]).name:
        raise SystemExit("\n".join(failed) or f"{words[0]} is not version {version()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
