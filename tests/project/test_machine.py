"""Memory that this process may have: the machine's, or less in a container."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from treeform.utils import machine

GB = 2**30


def group(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("membership", "files", "limits"),
    [
        ("0::/a/b\n", {"a/memory.max": str(2 * GB), "a/b/memory.max": "max"}, {2 * GB}),
        ("0::/a/b\n", {"a/memory.max": str(2 * GB), "a/b/memory.max": str(GB)}, {GB, 2 * GB}),
        ("0::/\n", {"memory.max": str(GB)}, {GB}),
        ("0::/../outside\n", {"memory.max": str(GB)}, {GB}),
        ("5:cpu:/x\n4:memory:/x\n", {"memory/x/memory.limit_in_bytes": str(GB), "x/memory.max": "7"}, {GB}),
        ("0::/a\n", {"a/memory.max": "max"}, set()),
        ("nonsense\n", {"memory.max": "what"}, set()),
    ],
)
def test_limits_of_control_groups(tmp_path: Path, membership: str, files: dict, limits: set) -> None:
    root = tmp_path / "cgroup"
    for name, text in files.items():
        group((root / name).parent, Path(name).name, text)
    (tmp_path / "self").write_text(membership)
    assert set(machine._limits(root, tmp_path / "self")) == limits


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert machine._limits(tmp_path / "none", tmp_path / "neither") == []


def test_the_least_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total = psutil.virtual_memory().total
    try:
        for given, expected in (([], total), ([total * 2], total), ([GB, 2 * GB], min(GB, total))):
            machine.physical_memory.cache_clear()
            monkeypatch.setattr(machine, "_limits", lambda *_, given=given: given)
            assert machine.physical_memory() == expected
    finally:
        machine.physical_memory.cache_clear()
