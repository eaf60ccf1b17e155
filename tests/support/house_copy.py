"""A copy of the house in which a check-list is followed with real files, and what was touched there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import treeform._core
from repository import ROOT

COPIED = ("treeform", "formulations", "docs/design/solve.rst", "pyproject.toml")
BEGIN = """
import sys
sys.meta_path = [one for one in sys.meta_path if not type(one).__module__.startswith("_editable")]
sys.path.insert(0, {folder!r})
"""


class HouseCopy:
    """The package and its pages in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "native", "*.so", "*.pyd")
        for name in COPIED:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=ignored, symlinks=True)
            else:
                shutil.copy(source, target)
        shutil.copy(str(treeform._core.__file__), folder / "treeform")
        self._before = self._contents()

    def _contents(self) -> dict[str, bytes]:
        files = [path for path in self.folder.rglob("*") if path.is_file() and path.suffix in {".py", ".rst", ".toml"}]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def write(self, name: str, text: str) -> None:
        """A new file."""
        path = self.folder / name
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add(self, name: str, before: str, text: str) -> None:
        """Put text before the one place of a file where `before` stands."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert content.count(before) == 1, (name, before)
        path.write_text(content.replace(before, text + before), encoding="utf-8")

    def touched(self) -> set[str]:
        """The files that are new, or differ."""
        return {name for name, text in self._contents().items() if self._before.get(name) != text}

    def run(self, code: str) -> str:
        """What a program prints that imports this treeform, installed with the entry points of its project file."""
        points = tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in points.items()]
        installed = self.folder / "treeform-0.dist-info"
        installed.mkdir(exist_ok=True)
        (installed / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: treeform\nVersion: 0\n", encoding="utf-8")
        program = BEGIN.format(folder=str(self.folder)) + code
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=self.folder, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def files_of(steps: str, name: str) -> set[str]:
    """The files that a check-list names, with NAME in place."""
    named = re.findall(r"``?((?:treeform|formulations|docs)/[\w./]+|pyproject\.toml)``?", steps)
    return {one.replace("NAME", name) for one in named}
