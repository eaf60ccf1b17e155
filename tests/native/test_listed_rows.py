"""Lists of rows in memory accounts and in counts of work: what no answer shows, asked in C++."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "treeform" / "native"
COMPILER = os.environ.get("CXX", "c++")


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="no compiler")
def test_lists_of_rows_count_as_memory_and_as_work(tmp_path: Path) -> None:
    program = tmp_path / "listed_rows"
    sources = [Path(__file__).parent / "listed_rows.cpp"]
    sources += [NATIVE / name for name in ("common/memory.cpp", "contree/spread.cpp")]
    options = ["-std=c++20", "-O0", "-w", f"-I{NATIVE}", "-o", str(program)]
    subprocess.run([COMPILER, *options, *map(str, sources)], check=True)
    subprocess.run([str(program)], check=True)
