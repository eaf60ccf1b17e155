"""What the root of the published documentation holds: the list of versions for the theme's switcher, and a redirect.

The site has a folder for each version (``1.2.0``), and ``dev`` for the main branch. ``stable`` is a copy of the newest
release, so that links to it stay.

    python docs/_ext/site_versions.py SITE https://OWNER.github.io/treeform
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

NUMBER = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def releases(site: Path) -> list[str]:
    """The releases whose documentation the site has, newest first."""
    found = [one.name for one in site.iterdir() if one.is_dir() and NUMBER.fullmatch(one.name)]
    return sorted(found, key=lambda name: tuple(map(int, name.split("."))), reverse=True)


def switcher(site: Path, address: str) -> list[dict[str, object]]:
    """The entries of the theme's ``switcher.json``; the newest release is the preferred one."""
    entries: list[dict[str, object]] = []
    if (site / "dev").is_dir():
        entries.append({"name": "dev", "version": "dev", "url": f"{address}/dev/"})
    for index, version in enumerate(releases(site)):
        newest = {"name": f"{version} (stable)", "preferred": True} if index == 0 else {"name": version}
        entries.append({**newest, "version": version, "url": f"{address}/{version}/"})
    return entries


def write(site: Path, address: str) -> None:
    """Write ``switcher.json``, ``stable`` and ``index.html``; without ``.nojekyll`` the host drops names with ``_``."""
    address = address.rstrip("/")
    newest = releases(site)[:1]
    if newest:
        shutil.rmtree(site / "stable", ignore_errors=True)
        shutil.copytree(site / newest[0], site / "stable")
    first = "stable" if newest else "dev"
    (site / "switcher.json").write_text(
        json.dumps(switcher(site, address), indent=1) + "\n", encoding="utf-8"
    )
    (site / "index.html").write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>treeform</title>\n'
        f'<meta http-equiv="refresh" content="0; url={first}/">\n'
        f'<link rel="canonical" href="{address}/{first}/"></head>\n'
        f'<body><a href="{first}/">treeform</a></body></html>\n',
        encoding="utf-8",
    )
    (site / ".nojekyll").touch()


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
